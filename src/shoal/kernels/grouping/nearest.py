"""Who is nearest and who is farthest, from distances; ties always go to the lower row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["farthest", "nearest", "put_in_order"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def nearest(distances: Floats, alive: Ints, row: int, count: int) -> Ints:
    """`row` and the `count` - 1 living rows with the smallest distances."""
    best = np.empty(count, np.int64)
    best[0] = row
    filled = 1
    bar = np.inf  # what a row must beat once there are enough
    for other in range(distances.shape[0]):
        distance = distances[other]
        if distance >= bar or not alive[other] or other == row:
            continue
        place = filled if filled < count else count - 1
        while place > 1 and distance < distances[best[place - 1]]:
            best[place] = best[place - 1]
            place -= 1
        best[place] = other
        if filled < count:
            filled += 1
        if filled == count and count > 1:
            bar = distances[best[count - 1]]
    return best[:filled]


@njit(cache=True, nogil=True)
def farthest(distances: Floats, alive: Ints) -> int:
    """The living row with the largest distance."""
    best = -1
    for row in range(distances.shape[0]):
        if alive[row] and (best < 0 or distances[row] > distances[best]):
            best = row
    return best


@njit(cache=True, nogil=True)
def put_in_order(distance: float, other: int, best: Floats, found: Ints) -> None:
    """Put a row that is nearer than the last of those found where it belongs; `best` are their distances, rising."""
    place = best.shape[0] - 1
    while place > 0 and distance < best[place - 1]:
        best[place] = best[place - 1]
        found[place] = found[place - 1]
        place -= 1
    best[place] = distance
    found[place] = other
