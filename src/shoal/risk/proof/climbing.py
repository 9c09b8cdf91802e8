"""Better parameters from good ones: the best point on a line, on one line after the other, from many places near by."""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.linking.cones import Cones, add_others
from shoal.kernels.linking.line_search import climb, found_at
from shoal.risk.proof.conditions import Conditions

__all__ = ["Climbers"]

Floats = NDArray[np.float64]

CHAINS, LINES = 4, 200
STEPS = (0.001, 0.003, 0.01, 0.03, 0.1)  # away from the best, of its length, before it climbs again
WORSE = 0.6  # records that a chain gives up in one of e tries


class Climbers:
    """Several chains that begin at the same parameters and go on from where each of them is."""

    def __init__(self, conditions: Conditions, start: Floats) -> None:
        self._conditions = conditions
        self._chains = [_Chain(conditions, start, number) for number in range(CHAINS)]

    def climb(self, tries: int, pool: ThreadPoolExecutor, until: float = math.inf) -> Floats | None:
        """The best parameters that any has seen, None when they are not allowed; no try begins after `until`."""
        for cones in list(pool.map(lambda chain: chain.climb(tries, until), self._chains)):
            self._conditions.remember(cones)
        return self._conditions.parameters(max(self._chains, key=lambda chain: chain.best).where)


class _Chain:
    def __init__(self, conditions: Conditions, start: Floats, number: int) -> None:
        self._conditions, self._rng = conditions, np.random.default_rng(number)
        self._place = self.where = conditions.point(start)
        self._value = self.best = -1.0

    def climb(self, tries: int, until: float = math.inf) -> Cones:
        """Climb from near by; it goes on from there unless that is worse by too much. The rows that it looked at."""
        rng, cones, share = self._rng, self._conditions.copy(), self._conditions.rivals.share
        for _ in range(tries):
            if time.monotonic() > until:
                break
            away = rng.normal(size=len(self._place)) * rng.choice(STEPS) if self.best >= 0 else 0.0
            tried = self._place / np.linalg.norm(self._place) + away
            value = _top(cones, share, tried, rng)
            if value >= self._value or rng.random() < np.exp((value - self._value) / WORSE):
                self._place, self._value = tried, value
            if value > self.best:
                self.where, self.best = tried, value
        return cones


def _top(cones: Cones, share: Floats, point: Floats, rng: np.random.Generator) -> float:
    """Climb in place, until no row that was left out matters; what is found there."""
    while True:
        value = climb(cones, share, point, _directions(rng, len(point)))
        if not add_others(cones, found_at(cones, point), point, 0.0):
            return value


def _directions(rng: np.random.Generator, d: int) -> Floats:
    """Of all kinds: all parameters at once, a few, one."""
    directions = rng.normal(size=(LINES, d))
    directions[1::3] *= rng.random((len(directions[1::3]), d)) < 0.3
    directions[2::3] = np.eye(d)[rng.integers(d, size=len(directions[2::3]))]
    return directions
