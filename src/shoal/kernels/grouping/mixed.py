"""Rows of numbers and labels: squared distances to a point, which is numbers and a concept for every label.

Rows of numbers alone have no columns of labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels.threads import runs, side_by_side

__all__ = ["mixed_distances", "nearest_point"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def mixed_distances(
    numbers: Floats, codes: Ints, squares: Floats, point: Floats, concepts: Ints, distances: Floats
) -> None:
    """Squared distance of every row to one point, into `distances`.

    `squares` (labels, concepts, values) has the squared distance of every value to every concept.
    """
    for row in range(numbers.shape[0]):
        total = 0.0
        for column in range(numbers.shape[1]):
            difference = numbers[row, column] - point[column]
            total += difference * difference
        for column in range(codes.shape[1]):
            total += squares[column, concepts[column], codes[row, column]]
        distances[row] = total


def nearest_point(numbers: Floats, codes: Ints, squares: Floats, points: Floats, concepts: Ints) -> Ints:
    """For every row the nearest of the points; ties to the lower."""
    parts = [(numbers[run], codes[run], squares, points, concepts) for run in runs(len(numbers))]
    return np.concatenate(side_by_side(_nearest_point, parts))


@njit(cache=True, nogil=True)
def _nearest_point(numbers: Floats, codes: Ints, squares: Floats, points: Floats, concepts: Ints) -> Ints:
    found = np.empty(numbers.shape[0], np.int64)
    for row in range(numbers.shape[0]):
        best = np.inf
        best_point = 0
        for point in range(points.shape[0]):
            total = 0.0
            for column in range(codes.shape[1]):
                total += squares[column, concepts[point, column], codes[row, column]]
            for column in range(numbers.shape[1]):
                difference = numbers[row, column] - points[point, column]
                total += difference * difference
                if total >= best:
                    break
            if total < best:
                best = total
                best_point = point
        found[row] = best_point
    return found
