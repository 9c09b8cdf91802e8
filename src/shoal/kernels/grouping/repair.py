"""Divide a few records anew: seeds and their nearest, then moves and swaps while they help.

Records are known by their dot products (`gram`) only. A group's worth is |sum|² / size in Euclidean space and |sum| on
the sphere; what a partition lacks of the records' squared lengths is its error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["Ints", "Floats", "draw", "improve", "rebuild", "sum_up", "worth"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]


@njit(cache=True, nogil=True, inline="always")
def worth(square: float, size: int, spherical: bool) -> float:
    """What a group is worth, from the squared length of its sum and its size."""
    if spherical:
        return np.sqrt(max(square, 0.0))
    return square / size


@njit(cache=True, nogil=True, inline="always")
def draw(state: Ints, below: int) -> Any:
    """A random number from 0 to `below` - 1 (xorshift64*)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return np.int64(((x * np.uint64(2685821657736338717)) >> np.uint64(33)) % np.uint64(below))


@njit(cache=True, nogil=True)
def rebuild(gram: Floats, count: int, n_groups: int, k: int, group_of: Ints, size: Ints, state: Ints) -> None:
    """Divide `count` records among `n_groups`: random seeds far apart, each with its nearest, the rest where near."""
    group_of[:count] = -1
    seed = draw(state, count)
    for group in range(n_groups):
        if group > 0:
            # Of three random free records, the one farthest from the seed before: spread, but never the same.
            farthest = -np.inf
            previous = seed
            for _ in range(3):
                candidate = draw(state, count)
                while group_of[candidate] >= 0:
                    candidate = candidate + 1 if candidate + 1 < count else 0
                distance = gram[candidate, candidate] - 2.0 * gram[candidate, previous]
                if distance > farthest:
                    farthest = distance
                    seed = candidate
        group_of[seed] = group
        size[group] = 1
        while size[group] < k:
            nearest = -1
            nearest_distance = np.inf
            for other in range(count):
                if group_of[other] < 0:
                    distance = gram[other, other] - 2.0 * gram[seed, other]
                    if distance < nearest_distance:
                        nearest_distance = distance
                        nearest = other
            group_of[nearest] = group
            size[group] += 1
    for record in range(count):
        if group_of[record] < 0:
            nearest_group = -1
            nearest_distance = np.inf
            for other in range(count):
                group = group_of[other]
                if group >= 0 and size[group] < 2 * k - 1:
                    distance = gram[other, other] - 2.0 * gram[record, other]
                    if distance < nearest_distance:
                        nearest_distance = distance
                        nearest_group = group
            group_of[record] = nearest_group
            size[nearest_group] += 1


@njit(cache=True, nogil=True)
def sum_up(gram: Floats, count: int, n_groups: int, group_of: Ints, toward: Floats, square: Floats) -> None:
    """Product of every group's sum with every record (groups, records), and the squared length of these sums."""
    toward[:n_groups, :count] = 0.0
    square[:n_groups] = 0.0
    for other in range(count):
        group = group_of[other]
        for record in range(count):
            toward[group, record] += gram[other, record]
    for record in range(count):
        square[group_of[record]] += toward[group_of[record], record]


@njit(cache=True, nogil=True, inline="always")
def slope(square: float, size: int, spherical: bool) -> float:
    """How fast a group's worth grows with the squared length of its sum; at least, since worth is concave."""
    if spherical:
        return 0.5 / max(np.sqrt(max(square, 0.0)), 1e-9)
    return 1.0 / size


@njit(cache=True, nogil=True)
def improve(
    gram: Floats,
    count: int,
    k: int,
    n_groups: int,
    group_of: Ints,
    size: Ints,
    toward: Floats,
    square: Floats,
    spherical: bool,
) -> int:
    """Move and swap records between the groups while that raises their worth. Returns a count of the work."""
    slopes = np.empty(n_groups)
    for group in range(n_groups):
        slopes[group] = slope(square[group], size[group], spherical)
    # Nothing can have changed for a record between groups that have not changed since it was last tried.
    changed = np.zeros(n_groups, np.int64)
    last_tried = np.full(count, -1)
    tick = 0
    tried = 0
    improved = True
    while improved:
        improved = False
        for one in range(count):
            home = group_of[one]
            since = last_tried[one]
            home_changed = changed[home] > since
            last_tried[one] = tick
            own = gram[one, one]
            away = -1
            tried += n_groups
            if size[home] > k:
                left = square[home] - 2.0 * toward[home, one] + own
                loss = worth(square[home], size[home], spherical) - worth(left, size[home] - 1, spherical)
                for group in range(n_groups):
                    if group == home or size[group] >= 2 * k - 1 or not (home_changed or changed[group] > since):
                        continue
                    joined = square[group] + 2.0 * toward[group, one] + own
                    gain = worth(joined, size[group] + 1, spherical) - worth(square[group], size[group], spherical)
                    if gain > loss + 1e-10:
                        away = group
                        break
            if away >= 0:
                square[home] = left
                square[away] = joined
                size[home] -= 1
                size[away] += 1
                group_of[one] = away
                for record in range(count):
                    toward[home, record] -= gram[one, record]
                    toward[away, record] += gram[one, record]
            else:
                for two in range(one + 1, count):
                    group = group_of[two]
                    if group == home or not (home_changed or changed[group] > since):
                        continue
                    tried += 1
                    change = own + gram[two, two] - 2.0 * gram[one, two]  # |one - two|²
                    more_home = 2.0 * (toward[home, two] - toward[home, one]) + change
                    more_away = 2.0 * (toward[group, one] - toward[group, two]) + change
                    gain = more_home * slopes[home] + more_away * slopes[group]
                    if gain <= 1e-10:
                        continue
                    if spherical:  # the slope promises too much
                        gain = (
                            worth(square[home] + more_home, size[home], True)
                            + worth(square[group] + more_away, size[group], True)
                            - worth(square[home], size[home], True)
                            - worth(square[group], size[group], True)
                        )
                        if gain <= 1e-10:
                            continue
                    away = group
                    square[home] += more_home
                    square[away] += more_away
                    group_of[one] = away
                    group_of[two] = home
                    for record in range(count):
                        difference = gram[two, record] - gram[one, record]
                        toward[home, record] += difference
                        toward[away, record] -= difference
                    break
            if away >= 0:
                slopes[home] = slope(square[home], size[home], spherical)
                slopes[away] = slope(square[away], size[away], spherical)
                tick += 1
                tried += count
                changed[home] = tick
                changed[away] = tick
                improved = True
    return tried
