"""The nearest rows of every row, through inverted lists."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from shoal.kernels.repair import Floats, Ints
from shoal.kernels.spherical import similarities

__all__ = ["nearest_rows"]


@njit(cache=True, nogil=True, parallel=True)
def nearest_rows(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    list_ptr: Ints,
    list_row: Ints,
    list_weight: Floats,
    count: int,
    n_blocks: int,
) -> Ints:
    """The `count` other rows nearest to each (n, count), nearest first; ties to the lower row. `count` < n.

    The lists are those of the same rows. Rows are cut into blocks, so that each block needs one array of scores.
    """
    n_rows = indptr.shape[0] - 1
    squares = np.zeros(n_rows)
    for row in range(n_rows):
        for entry in range(indptr[row], indptr[row + 1]):
            squares[row] += data[entry] * data[entry]
    found = np.empty((n_rows, count), np.int64)
    for block in prange(n_blocks):
        scores = np.empty(n_rows)
        best = np.empty(count)
        for row in range(block * n_rows // n_blocks, (block + 1) * n_rows // n_blocks):
            start, end = indptr[row], indptr[row + 1]
            similarities(list_ptr, list_row, list_weight, indices[start:end], data[start:end], scores)
            best[:] = np.inf
            for other in range(n_rows):
                distance = squares[other] - 2.0 * scores[other]
                if distance >= best[count - 1] or other == row:
                    continue
                place = count - 1
                while place > 0 and distance < best[place - 1]:
                    best[place] = best[place - 1]
                    found[row, place] = found[row, place - 1]
                    place -= 1
                best[place] = distance
                found[row, place] = other
    return found
