"""Learning by gradients: the chance to draw the true link, made smooth, is raised step by step.

Of each record the nearest rivals are looked at, and how much farther they are than the true record, relative to both:

    r_ij = (D_ij - D_ii) / (D_ij + D_ii),      P_i = 1 / (1 + sum_j exp(-r_ij / t)).

The mean of P_i over the records is the rate for small t; the mean of its root is raised, which gives up on no record
too early. t falls stage by stage, and the rivals are looked up anew at each. The result of every stage is kept: an
attacker who learns from few records takes an early one, nearer to where the search began, and is not carried away by
them.

A fuzzy measure, for the Choquet integral, is learned in the same stages by HRLA: it begins as |A| / n, the plain mean.
Records are gone through block by block; where a rival comes near, the sets that make up the true link's distance are
lowered and those of the rival's raised, and the measure is made monotone again.

Sources: the objective is that of Goldberger et al., "Neighbourhood components analysis" (2004), on relative distances;
HRLA is the idea of Murillo, Abril and Torra, "Heuristic supervised approach for record linkage" (2012).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.attacks.learned.distances import LinearMap, Measure, Ordered, Weights, chains, made_monotone, uniform
from shoal.attacks.learned.linking import nearest_rivals
from shoal.attacks.learned.records import Records
from shoal.kernels import Floats, Ints

STAGES = (0.5, 0.3, 0.2, 0.1, 0.05, 0.03)  # how smooth, stage by stage
RIVALS = 25
STEPS = 30  # in a stage
PACE = 0.05
TINY = 1e-12

WIDE = 50  # attributes beyond which maps have that many directions, and orders of attributes are not learned
MOST_ATTRIBUTES = 10  # of a measure
PASSES = 6  # through all records, per stage
BLOCKS = 4
MEASURE_PACE = 0.04  # at the first stage; less as stages get sharper


def learn_weights(records: Records, rows: Ints) -> list[Weights]:
    """Weighted means, from even weights on, one per stage; `rows` are the records whose links are known."""
    return _learn_simplex(records, rows, Weights, lambda squares: squares)


def learn_ordered(records: Records, rows: Ints) -> list[Ordered]:
    """OWA weights, from even ones on, one per stage."""
    return _learn_simplex(records, rows, Ordered, lambda squares: np.flip(np.sort(squares, axis=-1), axis=-1))


def _learn_simplex(records: Records, rows: Ints, distance: Any, features: Any) -> list[Any]:
    """Distances that are linear in weights that sum to 1; `features` are what is weighed, of squared differences."""
    weights = np.full(records.n_attributes, 1.0 / records.n_attributes)
    stages = [distance(weights)]
    for smoothness in STAGES:
        differences, counts = _to_own_and_rivals(records, distance(weights), rows)
        weighed, moves = features(differences * differences), _Adam()
        for _ in range(STEPS):
            slope = pull(weighed @ weights, counts, smoothness).ravel() @ weighed.reshape(-1, len(weights))
            # In the logarithms, so that weights stay positive and sum to 1.
            gradient = weights * (slope - weights @ slope)
            moved = np.log(np.maximum(weights, TINY)) - 4.0 * moves(gradient)
            moved = np.exp(moved - moved.max())
            weights = moved / moved.sum()
        stages.append(distance(weights))
    return stages


def learn_linear_map(records: Records, rows: Ints, start: Floats | None = None) -> list[LinearMap]:
    """Linear maps, from the start on, one per stage; the start is the plain distance by default."""
    matrix = np.eye(records.n_attributes) if start is None else start
    stages = [LinearMap(matrix)]
    for smoothness in STAGES:
        differences, counts = _to_own_and_rivals(records, LinearMap(matrix), rows)
        moves = _Adam()
        for _ in range(STEPS):
            mapped = differences @ matrix
            distances = np.einsum("rmi,rmi->rm", mapped, mapped)
            pulled = pull(distances, counts, smoothness)[:, :, None] * mapped
            gradient = 2.0 * differences.reshape(-1, len(matrix)).T @ pulled.reshape(-1, matrix.shape[1])
            scale = np.linalg.norm(matrix)
            matrix = matrix - scale * moves(gradient * scale)
        stages.append(LinearMap(matrix))
    return stages


def learn_measure(records: Records, rows: Ints, start: Floats | None = None, random_state: int = 0) -> list[Measure]:
    """Measures, from the start on, one per stage; the start is the plain mean by default."""
    random = np.random.default_rng(random_state)
    mu = uniform(records.n_attributes) if start is None else start
    stages = [Measure(mu)]
    for smoothness in STAGES:
        differences, counts = _to_own_and_rivals(records, Measure(mu), rows)
        steps, sets = chains(differences * differences)
        for _ in range(PASSES):
            for block in np.array_split(random.permutation(len(rows)), min(BLOCKS, len(rows))):
                mu = _moved_measure(mu, steps[block], sets[block], counts[block], smoothness)
        stages.append(Measure(mu))
    return stages


def _moved_measure(mu: Floats, steps: Floats, sets: Ints, counts: Ints, smoothness: float) -> Floats:
    distances = np.sum(steps * mu[sets], axis=-1)
    weights = pull(distances, counts, smoothness)[..., None] * steps
    slope = np.bincount(sets.ravel(), weights=weights.ravel(), minlength=len(mu))
    slope[[0, -1]] = 0.0  # of no set and of all attributes: fixed
    length = np.sqrt(np.sum(slope * slope))
    pace = MEASURE_PACE * np.sqrt(smoothness / STAGES[0])
    return made_monotone(mu - pace * slope / length) if length > 0 else mu


def _to_own_and_rivals(records: Records, distance: Any, rows: Ints) -> tuple[Floats, Ints]:
    """Differences to the own masked record and to the nearest rivals, (rows, 1 + rivals, n); what each stands for."""
    rivals, counts = nearest_rivals(records, distance, rows, RIVALS)
    return records.differences(rows, np.concatenate([rows[:, None], rivals], axis=1)), counts


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
        step: Floats = PACE * mean / (np.sqrt(square) + TINY)
        return step
