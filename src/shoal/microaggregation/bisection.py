"""Bisection: rows that are near to each other into one block, blocks of about one size.

Balanced 2-means: the rows are sorted along the difference of two centres, cut in two, and the centres are those of the
two sides; a few times over. Only sums and products of sparse rows are needed, on the sphere as in Euclidean space.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.kernels import bisection as kernel

__all__ = ["bisected"]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

POWER_ITERATIONS = 8  # towards the first principal component, which the centres start from
CENTRE_ITERATIONS = 8


def bisected(X: sp.csr_matrix, rows: Rows, n_blocks: int, spherical: bool) -> list[Rows]:
    """Divide the rows (numbers, rising) into `n_blocks` blocks of as many each, or one more; rising in each block."""
    if n_blocks == 1:
        return [rows]
    below = n_blocks // 2
    cut = len(rows) * below // n_blocks
    order = _order(X, rows, cut, spherical)
    low, high = np.sort(rows[order[:cut]]), np.sort(rows[order[cut:]])
    return bisected(X, low, below, spherical) + bisected(X, high, n_blocks - below, spherical)


def _order(X: sp.csr_matrix, rows: Rows, cut: int, spherical: bool) -> Rows:
    """The rows' places in an order whose first `cut` are one side. Ties go to the lower row, so any rows can be cut."""
    arrays = X.indptr, X.indices, X.data
    total = kernel.sum_of(*arrays, rows, np.ones(len(rows)), X.shape[1])
    along = kernel.dots_of(*arrays, rows, _principal_direction(X, rows, total / len(rows)))
    order = np.argsort(along, kind="stable")
    low = np.zeros(len(rows), dtype=np.bool_)
    for _ in range(CENTRE_ITERATIONS):
        low_before = low
        low = np.zeros(len(rows), dtype=np.bool_)
        low[order[:cut]] = True
        if np.array_equal(low, low_before):
            break
        low_sum = kernel.sum_of(*arrays, rows, low.astype(np.float64), X.shape[1])
        high_sum = total - low_sum
        low_centre, high_centre = low_sum / cut, high_sum / (len(rows) - cut)
        direction = _unit(high_centre) - _unit(low_centre) if spherical else high_centre - low_centre
        order = np.argsort(kernel.dots_of(*arrays, rows, direction), kind="stable")
    return order


def _principal_direction(X: sp.csr_matrix, rows: Rows, mean: Floats) -> Floats:
    """About the direction in which the rows differ most; power iteration from the row farthest off the mean."""
    arrays = X.indptr, X.indices, X.data
    # Lowest product with the mean: farthest on the sphere, and as good a start elsewhere.
    start = rows[[np.argmin(kernel.dots_of(*arrays, rows, mean))]]
    direction = _unit(kernel.sum_of(*arrays, start, np.ones(1), X.shape[1]) - mean)
    for _ in range(POWER_ITERATIONS):
        along = kernel.dots_of(*arrays, rows, direction) - kernel.dot(mean, direction)
        direction = _unit(kernel.sum_of(*arrays, rows, along, X.shape[1]) - along.sum() * mean)
    return direction


def _unit(vector: Floats) -> Floats:
    length = np.sqrt(kernel.dot(vector, vector))
    return vector / length if length > 0 else vector
