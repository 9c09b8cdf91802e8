"""Products of sketches of any two lengths, over the components that both have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels.threads import runs, side_by_side

__all__ = ["mean_products", "nearest_centres", "paired_products", "sums_by_centre"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _mean_product(one: Floats, other: Floats) -> float:
    shared = min(one.shape[0], other.shape[0])
    total = 0.0
    for component in range(shared):
        total += one[component] * other[component]
    return total / shared


def mean_products(offsets: Ints, values: Floats, other_offsets: Ints, other_values: Floats) -> Floats:
    """The estimated dot product of every sketch with every other one; no sketch is empty."""
    found = np.empty((len(offsets) - 1, len(other_offsets) - 1))
    parts = runs(len(found), least=1)
    others = other_offsets, other_values
    side_by_side(_mean_products, [(offsets[r.start : r.stop + 1], values, *others, found[r]) for r in parts])
    return found


@njit(cache=True, nogil=True)
def _mean_products(offsets: Ints, values: Floats, other_offsets: Ints, other_values: Floats, found: Floats) -> None:
    for row in range(found.shape[0]):
        sketch = values[offsets[row] : offsets[row + 1]]
        for column in range(found.shape[1]):
            other = other_values[other_offsets[column] : other_offsets[column + 1]]
            found[row, column] = _mean_product(sketch, other)


def nearest_centres(offsets: Ints, values: Floats, centres: Floats, centre_lengths: Ints) -> tuple[Ints, Floats]:
    """For every sketch the centre with the largest product, ties to the lower one, and that product."""
    nearest, products = np.zeros(len(offsets) - 1, np.int64), np.empty(len(offsets) - 1)
    parts = runs(len(nearest))
    given = values, centres, centre_lengths
    side_by_side(_nearest_centres, [(offsets[r.start : r.stop + 1], *given, nearest[r], products[r]) for r in parts])
    return nearest, products


@njit(cache=True, nogil=True)
def _nearest_centres(
    offsets: Ints, values: Floats, centres: Floats, centre_lengths: Ints, nearest: Ints, products: Floats
) -> None:
    for row in range(nearest.shape[0]):
        sketch = values[offsets[row] : offsets[row + 1]]
        products[row] = -np.inf
        for centre in range(centres.shape[0]):
            product = _mean_product(sketch, centres[centre, : centre_lengths[centre]])
            if product > products[row]:
                products[row] = product
                nearest[row] = centre


@njit(cache=True, nogil=True)
def sums_by_centre(
    offsets: Ints, values: Floats, scale: Floats, centre_of: Ints, n_centres: int, width: int
) -> tuple[Floats, Ints]:
    """Sums of the scaled sketches of each centre, and how many have each component: both (centres, width)."""
    sums = np.zeros((n_centres, width))
    counts = np.zeros((n_centres, width), np.int64)
    for row in range(offsets.shape[0] - 1):
        centre = centre_of[row]
        for component in range(offsets[row + 1] - offsets[row]):
            sums[centre, component] += scale[row] * values[offsets[row] + component]
            counts[centre, component] += 1
    return sums, counts


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def paired_products(
    offsets: Ints, values: Floats, other_offsets: Ints, other_values: Floats
) -> tuple[Floats, Floats, Floats]:
    """Of each sketch and the other of the same place, over what both have: mean product, and mean squares of both."""
    n_rows = offsets.shape[0] - 1
    products, squares, other_squares = np.zeros(n_rows), np.zeros(n_rows), np.zeros(n_rows)
    for row in range(n_rows):
        one = values[offsets[row] : offsets[row + 1]]
        other = other_values[other_offsets[row] : other_offsets[row + 1]]
        shared = min(one.shape[0], other.shape[0])
        product, square, other_square = 0.0, 0.0, 0.0
        for component in range(shared):
            product += one[component] * other[component]
            square += one[component] * one[component]
            other_square += other[component] * other[component]
        products[row], squares[row], other_squares[row] = product / shared, square / shared, other_square / shared
    return products, squares, other_squares
