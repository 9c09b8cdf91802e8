"""Sparse rows to sketches, each as long as it may be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels.grouping.spherical import Csr
from shoal.kernels.threads import runs, side_by_side

__all__ = ["fill_components", "lengths_by_variance"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]


def fill_components(rows: Csr, signs: Ints, first: int, offsets: Ints, values: Floats) -> None:
    """Fill in components `first` to `first` + width of every sketch; `signs` are (columns, width) of these.

    The sketch of a row lies at values[offsets[row] : offsets[row + 1]].
    """
    parts = runs(len(offsets) - 1)
    side_by_side(_fill_components, [(rows, run.start, run.stop, signs, first, offsets, values) for run in parts])


@njit(cache=True, nogil=True)
def _fill_components(
    rows: Csr, start_row: int, end_row: int, signs: Ints, first: int, offsets: Ints, values: Floats
) -> None:
    room = np.empty(signs.shape[1])  # added up in the cache, written once
    for row in range(start_row, end_row):
        start = offsets[row] + first
        width = max(0, min(signs.shape[1], offsets[row + 1] - start))  # none of a sketch that is complete
        sketch = room[:width]
        sketch[:] = 0.0
        entry, end = rows.indptr[row], rows.indptr[row + 1]
        by_four = entry + (end - entry) % 4
        for single in range(entry, by_four):
            value, sign = rows.data[single], signs[rows.indices[single]]
            for component in range(width):
                sketch[component] += value * sign[component]
        for first_of_four in range(by_four, end, 4):  # a quarter of the reading and writing
            values_here = rows.data[first_of_four : first_of_four + 4]
            a, b, c, d = values_here[0], values_here[1], values_here[2], values_here[3]
            columns = rows.indices[first_of_four : first_of_four + 4]
            of_a, of_b, of_c, of_d = signs[columns[0]], signs[columns[1]], signs[columns[2]], signs[columns[3]]
            for place in range(width):
                sketch[place] += a * of_a[place] + b * of_b[place] + (c * of_c[place] + d * of_d[place])
        values[start : start + width] = sketch


def lengths_by_variance(indptr: Ints, data: Floats, delta: float, most: int) -> Ints:
    """The most components, up to `most`, that leave every attribute a variance of `delta`; 0 if one is too many."""
    lengths = np.zeros(len(indptr) - 1, np.int64)
    parts = runs(len(lengths))
    side_by_side(
        _lengths_by_variance, [(indptr[run.start : run.stop + 1], data, delta, most, lengths[run]) for run in parts]
    )
    return lengths


@njit(cache=True, nogil=True)
def _lengths_by_variance(indptr: Ints, data: Floats, delta: float, most: int, lengths: Ints) -> None:
    for row in range(lengths.shape[0]):
        squares, largest = 0.0, 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            square = data[entry] * data[entry]
            squares += square
            largest = max(largest, square)
        allowed = min(np.floor((squares - largest) / delta), float(most))
        while allowed > 0.0 and (squares - largest) / allowed < delta:
            allowed -= 1.0  # the quotient was rounded up
        lengths[row] = int(allowed)
