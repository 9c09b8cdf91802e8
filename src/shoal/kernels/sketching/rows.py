"""Sparse rows to sketches, each as long as it may be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels.grouping.spherical import Csr
from shoal.kernels.threads import runs, side_by_side

__all__ = ["add_components", "lengths_by_variance"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]


def add_components(rows: Csr, signs: Ints, first: int, offsets: Ints, values: Floats) -> None:
    """Fill in components `first` to `first` + width of every sketch; `signs` are (columns, width) of these.

    The sketch of a row lies at values[offsets[row] : offsets[row + 1]], which starts as zeros.
    """
    parts = runs(len(offsets) - 1)
    side_by_side(_add_components, [(rows, run.start, run.stop, signs, first, offsets, values) for run in parts])


@njit(cache=True, nogil=True)
def _add_components(
    rows: Csr, start_row: int, end_row: int, signs: Ints, first: int, offsets: Ints, values: Floats
) -> None:
    for row in range(start_row, end_row):
        start = offsets[row] + first
        # A slice of its own, so that many components are added at once; empty for a sketch that is complete.
        sketch = values[start : max(start, min(start + signs.shape[1], offsets[row + 1]))]
        entry, end = rows.indptr[row], rows.indptr[row + 1]
        by_four = entry + (end - entry) % 4
        for single in range(entry, by_four):
            value, sign = rows.data[single], signs[rows.indices[single]]
            for component in range(sketch.shape[0]):
                sketch[component] += value * sign[component]
        for first_of_four in range(by_four, end, 4):  # a quarter of the reading and writing
            values_here = rows.data[first_of_four : first_of_four + 4]
            a, b, c, d = values_here[0], values_here[1], values_here[2], values_here[3]
            columns = rows.indices[first_of_four : first_of_four + 4]
            of_a, of_b, of_c, of_d = signs[columns[0]], signs[columns[1]], signs[columns[2]], signs[columns[3]]
            for place in range(sketch.shape[0]):
                sketch[place] += a * of_a[place] + b * of_b[place] + (c * of_c[place] + d * of_d[place])


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
