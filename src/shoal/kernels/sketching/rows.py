"""Sparse rows to sketches, each as long as it may be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

__all__ = ["add_components", "lengths_by_variance"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]


@njit(cache=True, nogil=True, parallel=True)
def add_components(
    indptr: Ints, indices: Ints, data: Floats, signs: Ints, first: int, offsets: Ints, values: Floats
) -> None:
    """Fill in components `first` to `first` + width of every sketch; `signs` are (columns, width) of these.

    The sketch of a row lies at values[offsets[row] : offsets[row + 1]], which starts as zeros.
    """
    for row in prange(indptr.shape[0] - 1):
        start = offsets[row] + first
        width = min(signs.shape[1], offsets[row + 1] - start)  # below 1 for a sketch that is complete
        for entry in range(indptr[row], indptr[row + 1]):
            value = data[entry]
            column = indices[entry]
            for component in range(width):
                values[start + component] += value * signs[column, component]


@njit(cache=True, nogil=True)
def lengths_by_variance(indptr: Ints, data: Floats, delta: float, most: int) -> Ints:
    """The most components, up to `most`, that leave every attribute a variance of `delta`; 0 if one is too many."""
    lengths = np.zeros(indptr.shape[0] - 1, np.int64)
    for row in range(indptr.shape[0] - 1):
        squares, largest = 0.0, 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            square = data[entry] * data[entry]
            squares += square
            largest = max(largest, square)
        allowed = min(np.floor((squares - largest) / delta), float(most))
        while allowed > 0.0 and (squares - largest) / allowed < delta:
            allowed -= 1.0  # the quotient was rounded up
        lengths[row] = int(allowed)
    return lengths
