"""Learning by gradients: the chance to draw the true link, made smooth, is raised step by step.

Of each record the nearest rivals are looked at, and how much farther they are than the true record, relative to both:

    r_ij = (D_ij - D_ii) / (D_ij + D_ii),      P_i = 1 / (1 + sum_j exp(-r_ij / t)).

The mean of P_i over the records is the rate for small t; the mean of its root is raised, which gives up on no record
too early. t falls stage by stage, and the rivals are looked up anew at
each. What is left after every stage is kept: whoever learns from few records takes an early one, nearer to where the
search began, and is not carried away by them.

Source: the objective is that of Goldberger et al., "Neighbourhood components analysis" (2004), on relative distances.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.risk.learned.distances import Ordered, Turn, Weights
from shoal.risk.learned.linking import nearest_rivals
from shoal.risk.learned.records import Records

__all__ = ["RIVALS", "STAGES", "learn_ordered", "learn_turn", "learn_weights", "pull"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STAGES = (0.5, 0.3, 0.2, 0.1, 0.05, 0.03)  # how smooth, stage by stage
STEPS = 30  # in a stage
RIVALS = 25
PACE = 0.05
TINY = 1e-12

# Of parameters: distances of the pairs, and the gradient of a sum of distances with these weights.
Forward = Callable[[Floats], Floats]
Backward = Callable[[Floats, Floats], Floats]


def learn_weights(records: Records, rows: Ints, start: Floats) -> list[Weights]:
    """Weighted means, from the start on, one a stage; `rows` are the records whose links are known."""

    def prepare(pairs: Floats) -> Floats:
        return pairs * pairs

    return _learn_simplex(records, rows, start, prepare, Weights)


def learn_ordered(records: Records, rows: Ints, start: Floats) -> list[Ordered]:
    """OWA weights, from the start on, one a stage."""

    def prepare(pairs: Floats) -> Floats:
        return np.flip(np.sort(pairs * pairs, axis=-1), axis=-1)

    return _learn_simplex(records, rows, start, prepare, Ordered)


def learn_turn(records: Records, rows: Ints, start: Floats) -> list[Turn]:
    """Linear maps, from the start on, one a stage."""

    def step(turn: Floats, pairs: Floats, smoothness: float, moves: _Adam, counts: Ints) -> Floats:
        turned = pairs @ turn
        distances = np.einsum("rmi,rmi->rm", turned, turned)
        weight = pull(distances, counts, smoothness)
        pulled = weight[:, :, None] * turned
        gradient = 2.0 * pairs.reshape(-1, len(turn)).T @ pulled.reshape(-1, turn.shape[1])
        scale = np.linalg.norm(turn)
        return turn - scale * moves(gradient * scale)

    return _staged(records, rows, start, lambda pairs: pairs, step, Turn)


def _learn_simplex(records: Records, rows: Ints, start: Floats, prepare: Any, distance: Any) -> list[Any]:
    def step(weights: Floats, pairs: Floats, smoothness: float, moves: _Adam, counts: Ints) -> Floats:
        weight = pull(pairs @ weights, counts, smoothness)
        slope = weight.ravel() @ pairs.reshape(-1, len(weights))
        # In the logarithms, so that weights stay positive and sum to 1.
        gradient = weights * (slope - weights @ slope)
        moved = np.log(np.maximum(weights, TINY)) - 4.0 * moves(gradient)
        moved = np.exp(moved - moved.max())
        found: Floats = moved / moved.sum()
        return found

    return _staged(records, rows, start, prepare, step, distance)


def _staged(records: Records, rows: Ints, start: Floats, prepare: Any, step: Any, distance: Any) -> list[Any]:
    """The start, and what each stage made of it."""
    found, parameters = [distance(start)], start
    for smoothness in STAGES:
        rivals, counts = nearest_rivals(records, distance(parameters), rows, RIVALS)
        pairs = prepare(records.pairs(rows, np.concatenate([rows[:, None], rivals], axis=1)))
        moves = _Adam()
        for _ in range(STEPS):
            parameters = step(parameters, pairs, smoothness, moves, counts)
        found.append(distance(parameters))
    return found


def pull(distances: Floats, counts: Ints, smoothness: float) -> Floats:
    """By how much less the objective grows with each distance, (rows, 1 + rivals); the first is the true record.

    `counts` (rows, rivals) says how many equal records each rival stands for.
    """
    own, rivals = distances[:, :1], distances[:, 1:]
    both = own + rivals + TINY
    relative = (rivals - own) / both
    odds = counts * np.exp(np.minimum(-relative / smoothness, 50.0))
    right = 1.0 / (1.0 + odds.sum(axis=1, keepdims=True))
    # Between the logarithm of the chance, which looks at hopeless records most, and the chance itself.
    weight = odds * right * np.sqrt(right) / smoothness / len(distances)
    pull = np.empty_like(distances)
    pull[:, 1:] = -weight * 2.0 * own / both**2
    pull[:, 0] = np.sum(weight * 2.0 * rivals / both**2, axis=1)
    return pull


class _Adam:
    """Steps of about even length, whatever the scale of the gradient (Kingma and Ba, 2015)."""

    def __init__(self) -> None:
        self._mean: Any = 0.0
        self._square: Any = 0.0
        self._count = 0

    def __call__(self, gradient: Floats) -> Floats:
        self._count += 1
        self._mean = 0.9 * self._mean + 0.1 * gradient
        self._square = 0.99 * self._square + 0.01 * float(np.sum(gradient * gradient))
        mean = self._mean / (1.0 - 0.9**self._count)
        square = self._square / (1.0 - 0.99**self._count)
        found: Floats = PACE * mean / (np.sqrt(square) + TINY)
        return found
