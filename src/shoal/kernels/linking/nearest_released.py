"""What the released records nearest to a target tell of it, by looking at all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

__all__ = ["nearest_by_both", "nearest_tell"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def _distances(columns: Floats, target: Floats, distances: Floats) -> None:
    """Squared distance of a target to every record, given columns first (d, n), into `distances`."""
    distances[:] = 0.0
    for column in range(columns.shape[0]):
        for row in range(columns.shape[1]):
            difference = columns[column, row] - target[column]
            distances[row] += difference * difference


@njit(cache=True, nogil=True)
def _limit(distances: Floats, relative: float, absolute: float) -> float:
    """The largest squared distance that ties with the least."""
    nearest = distances.min()
    return max((np.sqrt(nearest) * (1.0 + relative) + absolute) ** 2, nearest)


@njit(cache=True, nogil=True, parallel=True)
def nearest_by_both(
    one: Floats, other: Floats, targets_one: Floats, targets_other: Floats, relative: float, absolute: Floats
) -> Ints:
    """How many records are nearest to a target by one set of columns, by the other, and by both (m, 3).

    Records come columns first (d, n). `absolute` is the slack of a distance by each of the two sets.
    """
    counts = np.zeros((targets_one.shape[0], 3), np.int64)
    for place in prange(targets_one.shape[0]):
        by_one = np.empty(one.shape[1])
        by_other = np.empty(one.shape[1])
        _distances(one, targets_one[place], by_one)
        _distances(other, targets_other[place], by_other)
        limit_one = _limit(by_one, relative, absolute[0])
        limit_other = _limit(by_other, relative, absolute[1])
        for row in range(one.shape[1]):
            near_one = by_one[row] <= limit_one
            near_other = by_other[row] <= limit_other
            counts[place, 0] += near_one
            counts[place, 1] += near_other
            counts[place, 2] += near_one and near_other
    return counts


@njit(cache=True, nogil=True, parallel=True)
def nearest_tell(
    known: Floats,
    secret: Floats,
    targets: Floats,
    truths: Floats,
    tolerance: float,
    relative: float,
    absolute: float,
) -> Floats:
    """Of the records nearest to each target by what is known, the share that tells its secret within `tolerance`.

    Records come columns first, `known` (d, n), and `secret` (n,).
    """
    shares = np.empty(targets.shape[0])
    for place in prange(targets.shape[0]):
        distances = np.empty(known.shape[1])
        _distances(known, targets[place], distances)
        limit = _limit(distances, relative, absolute)
        ties = 0
        right = 0
        for row in range(known.shape[1]):
            if distances[row] <= limit:
                ties += 1
                right += abs(secret[row] - truths[place]) <= tolerance
        shares[place] = right / ties
    return shares
