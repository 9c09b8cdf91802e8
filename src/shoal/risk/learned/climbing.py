"""Better parameters from good ones: the best point on a line, on one line after the other, from many places near by."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.conflicts import POSITIVE, Cones, add_others
from shoal.kernels.lines import climb, found_at
from shoal.risk.learned.conditions import Conditions

__all__ = ["climbed"]

Floats = NDArray[np.float64]

CHAINS, LINES = 4, 200
STEPS = (0.003, 0.01, 0.03, 0.1, 0.3)  # away from the best, of its length, before it climbs again
WORSE = 0.6  # records that a chain gives up in one of e tries


def climbed(conditions: Conditions, start: Floats, pool: ThreadPoolExecutor, seed: int, tries: int) -> Floats | None:
    """The best parameters of several chains, None when they are not allowed."""
    chains = list(pool.map(partial(_chain, conditions, start, seed, tries), range(CHAINS)))
    for _, _, cones in chains:
        conditions.remember(cones)
    return conditions.parameters(max(chains, key=lambda one: one[0])[1])


def _chain(conditions: Conditions, start: Floats, seed: int, tries: int, number: int) -> tuple[float, Floats, Cones]:
    rng, cones = np.random.default_rng((seed, number)), conditions.copy()
    place = conditions.point(start)
    value = best = _top(cones, conditions.rivals.share, place, rng)
    where = place
    for _ in range(tries):
        away = rng.normal(size=len(place)) * rng.choice(STEPS)
        tried = place / np.linalg.norm(place) + away
        new = _top(cones, conditions.rivals.share, tried, rng)
        if new >= value or rng.random() < np.exp((new - value) / WORSE):
            place, value = tried, new
        if new > best:
            where, best = tried, new
    return best, where, cones


def _top(cones: Cones, share: Floats, point: Floats, rng: np.random.Generator) -> float:
    """Climb in place, until no row that was left out matters; what is found there."""
    while True:
        value = climb(cones, share, point, _directions(rng, len(point)))
        if not add_others(cones, found_at(cones, point), point, POSITIVE):
            return value


def _directions(rng: np.random.Generator, d: int) -> Floats:
    """Of all kinds: all parameters at once, a few, one."""
    found = rng.normal(size=(LINES, d))
    found[1::3] *= rng.random((len(found[1::3]), d)) < 0.3
    found[2::3] = np.eye(d)[rng.integers(d, size=len(found[2::3]))]
    return found
