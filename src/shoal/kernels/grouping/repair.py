"""A few records divided into groups anew: seeds with their nearest, then moves and swaps while they help.

Records are known by their dot products (`gram`) only. A group's worth is |sum|² / size in Euclidean space and |sum| on
the sphere; what a partition lacks of the records' squared lengths is its error.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["EUCLIDEAN", "SPHERE", "Division", "Floats", "Ints", "draw", "improve", "rebuild", "sum_up", "worth"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]

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
    slopes = np.empty(n_groups)
    # Nothing can have changed for a record between groups that have not changed since it was last tried.
    changed = np.zeros(n_groups, np.int64)
    last_tried = np.full(count, -1)
    for group in range(n_groups):
        slopes[group] = _slope(space, division.square[group], division.size[group])
    tick = 0
    tried = 0
    improved = True
    while improved:
        improved = False
        for one in range(count):
            home = division.group_of[one]
            since = last_tried[one]
            last_tried[one] = tick
            tried += n_groups
            away = _better_group(gram, division, one, k, n_groups, space, changed, since)
            if away >= 0:
                _move(gram, division, count, one, away)
            else:
                two, swaps_tried = _better_swap(gram, division, count, one, space, slopes, changed, since)
                tried += swaps_tried
                if two < 0:
                    continue
                away = division.group_of[two]
                _swap(gram, division, count, one, two)
            slopes[home] = _slope(space, division.square[home], division.size[home])
            slopes[away] = _slope(space, division.square[away], division.size[away])
            tick += 1
            tried += count
            changed[home] = tick
            changed[away] = tick
            improved = True
    return tried


@njit(cache=True, nogil=True)
def _better_group(
    gram: Floats, division: Division, one: int, k: int, n_groups: int, space: int, changed: Ints, since: int
) -> int:
    """The first group that a record had better move to, of those that changed or whose own did; -1: there is none."""
    size, square, toward = division.size, division.square, division.toward
    home = division.group_of[one]
    if size[home] <= k:
        return -1
    own = gram[one, one]
    home_changed = changed[home] > since
    left = square[home] - 2.0 * toward[home, one] + own
    loss = worth(space, square[home], size[home]) - worth(space, left, size[home] - 1)
    for group in range(n_groups):
        if group == home or size[group] >= 2 * k - 1 or not (home_changed or changed[group] > since):
            continue
        joined = square[group] + 2.0 * toward[group, one] + own
        gain = worth(space, joined, size[group] + 1) - worth(space, square[group], size[group])
        if gain > loss + 1e-10:
            return group
    return -1


@njit(cache=True, nogil=True)
def _move(gram: Floats, division: Division, count: int, one: int, away: int) -> None:
    size, square, toward = division.size, division.square, division.toward
    home = division.group_of[one]
    square[home] = square[home] - 2.0 * toward[home, one] + gram[one, one]
    square[away] = square[away] + 2.0 * toward[away, one] + gram[one, one]
    size[home] -= 1
    size[away] += 1
    division.group_of[one] = away
    for record in range(count):
        toward[home, record] -= gram[one, record]
        toward[away, record] += gram[one, record]


@njit(cache=True, nogil=True)
def _swapped(gram: Floats, division: Division, one: int, two: int) -> tuple[float, float]:
    """By how much the squared lengths of the sums of the groups of `one` and `two` grow if they change places."""
    toward = division.toward
    home, away = division.group_of[one], division.group_of[two]
    change = gram[one, one] + gram[two, two] - 2.0 * gram[one, two]  # |one - two|²
    more_home = 2.0 * (toward[home, two] - toward[home, one]) + change
    more_away = 2.0 * (toward[away, one] - toward[away, two]) + change
    return more_home, more_away


@njit(cache=True, nogil=True)
def _better_swap(
    gram: Floats,
    division: Division,
    count: int,
    one: int,
    space: int,
    slopes: Floats,
    changed: Ints,
    since: int,
) -> tuple[int, int]:
    """The first later record that one had better change places with, or -1, and how many were tried."""
    size, square = division.size, division.square
    home = division.group_of[one]
    home_changed = changed[home] > since
    tried = 0
    for two in range(one + 1, count):
        away = division.group_of[two]
        if away == home or not (home_changed or changed[away] > since):
            continue
        tried += 1
        more_home, more_away = _swapped(gram, division, one, two)
        if more_home * slopes[home] + more_away * slopes[away] <= 1e-10:
            continue
        if space == SPHERE:  # the slope promises too much
            gain = (
                worth(space, square[home] + more_home, size[home])
                + worth(space, square[away] + more_away, size[away])
                - worth(space, square[home], size[home])
                - worth(space, square[away], size[away])
            )
            if gain <= 1e-10:
                continue
        return two, tried
    return -1, tried


@njit(cache=True, nogil=True)
def _swap(gram: Floats, division: Division, count: int, one: int, two: int) -> None:
    home, away = division.group_of[one], division.group_of[two]
    more_home, more_away = _swapped(gram, division, one, two)
    division.square[home] += more_home
    division.square[away] += more_away
    division.group_of[one] = away
    division.group_of[two] = home
    for record in range(count):
        difference = gram[two, record] - gram[one, record]
        division.toward[home, record] += difference
        division.toward[away, record] -= difference
