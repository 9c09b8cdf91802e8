"""Record linkage by distance: each masked record is linked to the nearest original; and by equality of all values.

Source: Pagliuca and Seri (1999), Domingo-Ferrer and Torra (2001); ties count by their chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from shoal.attacks.rates import identical_rows, rate_of, shared
from shoal.data.pairs import numeric_pair
from shoal.errors import InputError
from shoal.kernels import Floats
from shoal.results.attacks import Rate

# Distances tie within this share of themselves and the rounding of the tables' values: the mean of two records is as
# far from one as from the other, and must not be nearer to either by the last digit.
RELATIVE = 1e-9
FEW_ROUNDINGS = 8 * np.finfo(np.float64).eps
SMALLEST_ROOT = 1e-10  # of the correlation matrix: directions with less variance than this are rounding, not data


@dataclass(frozen=True)
class Scale:
    """Values to comparable numbers: (values - centre) @ matrix."""

    centre: Floats  # (d,)
    matrix: Floats  # (d, directions); fewer directions than columns when some are constant or follow from others
    rounding: float  # how far rounding of the values may move a distance

    def __call__(self, values: Floats) -> Floats:
        return np.ascontiguousarray((values - self.centre) @ self.matrix)


def standard(values: Floats, others: Floats) -> Scale:
    """Each column in its standard deviations; constant ones are left out."""
    deviation = values.std(axis=0)
    varying = deviation > 1e-12 * np.abs(values).max(axis=0)
    matrix = np.zeros((values.shape[1], int(varying.sum())))
    matrix[varying, np.arange(matrix.shape[1])] = 1.0 / deviation[varying]
    return _scale(values.mean(axis=0), matrix, values, others)


def principal(values: Floats, others: Floats) -> Scale:
    """Standard deviations, turned to the principal axes: the same distances, and a table that lies along the axes."""
    plain = standard(values, others)
    return _scale(plain.centre, plain.matrix @ _axes(plain(values))[1], values, others)


def whitening(values: Floats, others: Floats) -> Scale:
    """Directions that are uncorrelated and of variance 1: distances on this scale are Mahalanobis'."""
    plain = standard(values, others)
    roots, vectors = _axes(plain(values))
    used = roots > SMALLEST_ROOT * max(float(roots.max(initial=0.0)), 1.0)
    return _scale(plain.centre, plain.matrix @ (vectors[:, used] / np.sqrt(roots[used])), values, others)


def _scale(centre: Floats, matrix: Floats, values: Floats, others: Floats) -> Scale:
    largest = np.maximum(np.abs(values).max(axis=0), np.abs(others).max(axis=0))
    return Scale(centre, matrix, float(FEW_ROUNDINGS * np.linalg.norm(largest @ np.abs(matrix))))


def _axes(Z: Floats) -> tuple[Floats, Floats]:
    """Variances along the principal axes, falling, and the axes as columns."""
    roots, vectors = np.linalg.eigh(Z.T @ Z / len(Z))
    return roots[::-1], vectors[:, ::-1]


METRICS: dict[str, Callable[[Floats, Floats], Scale]] = {"euclidean": principal, "mahalanobis": whitening}


class DistanceLinkage:
    """Link each masked record to the nearest original, and count how often that is its own.

    The intruder has the original values of everybody, the worst that can be, and asks whose record this is. Both tables
    are put on the original's scale: standard deviations, or for Mahalanobis the directions in which it is uncorrelated.
    Of several originals equally near the intruder picks one at random, so the chance is 1 / |ties|. Distances that
    differ by rounding only are equal. Masked records that are equal share what is found.

    The nearest neighbours are exact, by a k-d tree: memory grows with the number of rows, time with little more than
    that unless the masked records are far from all originals in many columns.

    Parameters
    ----------
    metric : {"euclidean", "mahalanobis"}

    Examples
    --------
    >>> from shoal.attacks.distance import DistanceLinkage
    >>> DistanceLinkage().run([[1.0], [2.0], [8.0], [9.0]], [[1.5], [1.5], [8.5], [8.5]]).rate
    0.5
    """

    def __init__(self, metric: str = "euclidean") -> None:
        self.metric = metric

    def run(self, original: Any, protected: Any) -> Rate:
        """The share of records found; `chances` says with what chance each is."""
        if self.metric not in METRICS:
            raise InputError(f"metric={self.metric!r} is not known; use one of: {', '.join(METRICS)}")
        pair = numeric_pair(original, protected)
        scale = METRICS[self.metric](pair.original, pair.protected)
        linked = _chances(scale(pair.original), scale(pair.protected), scale.rounding)
        chances = shared(linked, identical_rows(pair.protected))
        return rate_of(f"distance-based linkage, {self.metric}", chances, baseline=1.0 / len(chances))


def _chances(originals: Floats, masked: Floats, rounding: float) -> Floats:
    """The chance of each masked record that its own original is picked from the nearest."""
    n_rows, n_columns = originals.shape
    if n_columns == 0:  # all records are equally near
        return np.full(n_rows, 1.0 / n_rows)
    tree = cKDTree(originals)
    different, number_of_row = np.unique(masked, axis=0, return_inverse=True)
    nearest = tree.query(different, workers=-1)[0][number_of_row]
    own = np.linalg.norm(originals - masked, axis=1)
    reach = nearest * (1.0 + RELATIVE) + rounding
    found = np.flatnonzero(own <= reach)
    chances = np.zeros(n_rows)
    around = masked[found], reach[found] * (1.0 + RELATIVE)
    chances[found] = 1.0 / tree.query_ball_point(*around, return_length=True, workers=-1)
    return chances


def linked_by_equality(original: ArrayLike, protected: ArrayLike) -> float:
    """The mean chance, from 0 to 1, that an intruder links a protected record to its original.

    Rows of the two tables belong together. A protected record is compared with all originals; if its own is among the
    equal ones, the intruder picks it with chance 1 / their number, else never. Values are compared as text; missing
    ones (None, NaN) equal each other only. (RL of the literature is 100 times this.)
    """
    before, after = _rows(original), _rows(protected)
    if len(before) != len(after) or len(before[0]) != len(after[0]):
        raise InputError(
            f"{len(before)} rows of {len(before[0])} columns, and {len(after)} of {len(after[0])}; give both the same"
        )
    equals = Counter(before)
    chances = (1.0 / equals[own] if own == released else 0.0 for own, released in zip(before, after, strict=True))
    return sum(chances) / len(before)


def _rows(table: ArrayLike) -> list[tuple[str | None, ...]]:
    """Each row as texts, None where a value is missing."""
    cells = np.asarray(table, dtype=object)
    if cells.ndim != 2 or not cells.size:
        raise InputError("give two tables, (rows, columns), of at least 1 row and 1 column")
    return [tuple(None if cell is None or cell != cell else str(cell) for cell in row) for row in cells.tolist()]
