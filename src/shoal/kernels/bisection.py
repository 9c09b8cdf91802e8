"""Some of the rows of a large sparse matrix, without a copy: their products with a vector, and their sum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["dot", "dots_of", "sum_of"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def dot(one: Floats, two: Floats) -> float:
    """Product of two vectors, summed from first to last: BLAS may sum in another order on more cores."""
    total = 0.0
    for column in range(one.shape[0]):
        total += one[column] * two[column]
    return total


@njit(cache=True, nogil=True)
def dots_of(indptr: Ints, indices: Ints, data: Floats, rows: Ints, vector: Floats) -> Floats:
    """Dot product of each of the `rows` with one dense vector."""
    dots = np.empty(rows.shape[0])
    for place in range(rows.shape[0]):
        total = 0.0
        for entry in range(indptr[rows[place]], indptr[rows[place] + 1]):
            total += data[entry] * vector[indices[entry]]
        dots[place] = total
    return dots


@njit(cache=True, nogil=True)
def sum_of(indptr: Ints, indices: Ints, data: Floats, rows: Ints, weights: Floats, n_columns: int) -> Floats:
    """Sum of the `rows`, each times its weight, as a dense vector."""
    total = np.zeros(n_columns)
    for place in range(rows.shape[0]):
        for entry in range(indptr[rows[place]], indptr[rows[place] + 1]):
            total[indices[entry]] += weights[place] * data[entry]
    return total
