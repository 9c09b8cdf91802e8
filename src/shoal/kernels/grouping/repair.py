"""A few records divided into groups anew: seeds with their nearest, then moves and swaps while they help.

Records are known by their dot products (`gram`) only. A group's worth is |sum|² / size in Euclidean space and |sum| on
the sphere; what a partition lacks of the records' squared lengths is its error.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from shoal.kernels import Floats, Ints

EUCLIDEAN, SPHERE = 0, 1  # spaces: numbers, so that a kernel is compiled once for both


class Division(NamedTuple):
    """Records divided into groups."""

    group_of: Ints  # (records,)
    size: Ints  # (groups,)
    toward: Floats  # (groups, records) product of every group's sum with every record
    square: Floats  # (groups,) squared length of these sums


@njit(cache=True, nogil=True)
def worth(space: int, square: float, size: int) -> float:
    """What a group is worth, from the squared length of its sum and its size."""
    if space == SPHERE:
        return np.sqrt(max(square, 0.0))
    return square / size


@njit(cache=True, nogil=True)
def _slope(space: int, square: float, size: int) -> float:
    """How fast a group's worth grows with the squared length of its sum; at least, since worth is concave."""
    if space == SPHERE:
        return 0.5 / max(np.sqrt(max(square, 0.0)), 1e-9)
    return 1.0 / size


@njit(cache=True, nogil=True)
def draw(state: Ints, below: int) -> Any:
    """A random number from 0 to `below` - 1 (xorshift64*)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return np.int64(((x * np.uint64(2685821657736338717)) >> np.uint64(33)) % np.uint64(below))


@njit(cache=True, nogil=True)
def rebuild(gram: Floats, division: Division, count: int, n_groups: int, k: int, state: Ints) -> None:
    """Divide `count` records among `n_groups`: random seeds far apart, each with its nearest, the rest where near."""
    group_of, size = division.group_of, division.size
    for record in range(count):
        group_of[record] = -1
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
def sum_up(gram: Floats, division: Division, count: int, n_groups: int) -> None:
    """Fill `toward` and `square` of a division."""
    group_of, toward, square = division.group_of, division.toward, division.square
    for group in range(n_groups):
        square[group] = 0.0
        for record in range(count):
            toward[group, record] = 0.0
    for other in range(count):
        group = group_of[other]
        for record in range(count):
            toward[group, record] += gram[other, record]
    for record in range(count):
        square[group_of[record]] += toward[group_of[record], record]


@njit(cache=True, nogil=True)
def improve(gram: Floats, division: Division, count: int, n_groups: int, k: int, space: int) -> int:
    """Move and swap records between the groups while that raises their worth. Returns a count of the work."""
    # The two searches stand in the loop itself: as functions of their own they would make it a sixth slower.
    group_of, size, toward, square = division
    slopes = np.empty(n_groups)
    for group in range(n_groups):
        slopes[group] = _slope(space, square[group], size[group])
    # Nothing can have changed for a record between groups that have not changed since it was last tried.
    changed = np.zeros(n_groups, np.int64)
    last_tried = np.full(count, -1)
    tick = 0
    tried = 0
    improved = True
    while improved:
        improved = False
        for first in range(count):
            home = group_of[first]
            since = last_tried[first]
            home_changed = changed[home] > since
            last_tried[first] = tick
            own = gram[first, first]
            away, partner = -1, -1
            tried += n_groups
            if size[home] > k:
                left = square[home] - 2.0 * toward[home, first] + own
                loss = worth(space, square[home], size[home]) - worth(space, left, size[home] - 1)
                for group in range(n_groups):
                    if group == home or size[group] >= 2 * k - 1 or not (home_changed or changed[group] > since):
                        continue
                    joined = square[group] + 2.0 * toward[group, first] + own
                    gain = worth(space, joined, size[group] + 1) - worth(space, square[group], size[group])
                    if gain > loss + 1e-10:
                        away = group
                        break
            if away < 0:
                for second in range(first + 1, count):
                    group = group_of[second]
                    if group == home or not (home_changed or changed[group] > since):
                        continue
                    tried += 1
                    change = own + gram[second, second] - 2.0 * gram[first, second]  # |one - two|²
                    more_home = 2.0 * (toward[home, second] - toward[home, first]) + change
                    more_away = 2.0 * (toward[group, first] - toward[group, second]) + change
                    if more_home * slopes[home] + more_away * slopes[group] <= 1e-10:
                        continue
                    if space == SPHERE:  # the slope promises too much
                        grown = worth(space, square[home] + more_home, size[home])
                        grown += worth(space, square[group] + more_away, size[group])
                        grown -= worth(space, square[home], size[home])
                        if grown - worth(space, square[group], size[group]) <= 1e-10:
                            continue
                    away, partner = group, second
                    break
            if away < 0:
                continue
            if partner < 0:
                _move(gram, group_of, size, toward, square, count, first, away)
            else:
                square[home] += more_home
                square[away] += more_away
                _swap(gram, group_of, toward, count, first, partner)
            slopes[home] = _slope(space, square[home], size[home])
            slopes[away] = _slope(space, square[away], size[away])
            tick += 1
            tried += count
            changed[home] = tick
            changed[away] = tick
            improved = True
    return tried


@njit(cache=True, nogil=True)
def _move(
    gram: Floats, group_of: Ints, size: Ints, toward: Floats, square: Floats, count: int, moved: int, away: int
) -> None:
    """Record `moved` goes to group `away`."""
    home = group_of[moved]
    square[home] = square[home] - 2.0 * toward[home, moved] + gram[moved, moved]
    square[away] = square[away] + 2.0 * toward[away, moved] + gram[moved, moved]
    size[home] -= 1
    size[away] += 1
    group_of[moved] = away
    for record in range(count):
        toward[home, record] -= gram[moved, record]
        toward[away, record] += gram[moved, record]


@njit(cache=True, nogil=True)
def _swap(gram: Floats, group_of: Ints, toward: Floats, count: int, first: int, second: int) -> None:
    """Records `first` and `second` change places."""
    home, away = group_of[first], group_of[second]
    group_of[first] = away
    group_of[second] = home
    for record in range(count):
        difference = gram[second, record] - gram[first, record]
        toward[home, record] += difference
        toward[away, record] -= difference
