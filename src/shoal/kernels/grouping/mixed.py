"""Groups of different rows of numbers and labels, each of which stands for as many records as are equal.

Items with the same labels are a class, in the order of their first number. A search for the nearest looks at classes by
the distance of their labels, and inside a class at items on both sides of the seed's number, until nothing nearer can
come: few items are looked at, however many there are. Items that were taken are skipped by pointers that grow longer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels import Floats, Ints
from shoal.kernels.grouping.group_errors import Problem


class Classes(NamedTuple):
    """Items by class: those of class c have the positions start[c] to start[c + 1]."""

    item: Ints  # (n,) the item at each position
    start: Ints  # (classes + 1,)
    codes: Ints  # (classes, labels) the values that they share
    along: Floats  # (n,) the number by which positions rise, 0 if there is none


class Taken(NamedTuple):
    """Which positions are taken; from one that is, steps to the next on either side that may not be."""

    up: Ints  # (n + 2,) shifted by one, so that there is room at both ends
    down: Ints


class Nearest(NamedTuple):
    """The seed and the nearest items so far, nearest first; one more than can be needed."""

    items: Ints  # (k + 1,)
    distances: Floats  # (k + 1,) that of the seed is below all


@njit(cache=True, nogil=True)
def item_groups(problem: Problem, classes: Classes, seeds: Ints, k: int) -> Ints:
    """The group of each item, each of at least k records; items stay whole.

    Each item in the order of the seeds that has no group yet gets one with the nearest, as few as have k records, ties
    to the lower item. The last fewer than 2k records are one group; fewer than k go where their nearest item is.
    """
    n_items, n_classes = len(seeds), len(classes.codes)
    counts = problem.items.counts
    position_of = np.empty(n_items, np.int64)
    position_of[classes.item] = np.arange(n_items)
    taken = Taken(np.arange(n_items + 2), np.arange(n_items + 2))
    group_of = np.full(n_items, -1, np.int64)
    apart = np.empty(n_classes)
    nearest = Nearest(np.empty(k + 1, np.int64), np.empty(k + 1))
    left, n_groups = counts.sum(), 0
    for seed in seeds:
        if group_of[seed] >= 0:
            continue
        if left < 2 * k:
            break
        _label_distances(problem, classes, seed, apart)
        filled = _nearest(problem, classes, taken, apart, seed, k, nearest)
        for place in range(filled):
            item = nearest.items[place]
            group_of[item] = n_groups
            left -= counts[item]
            _take(taken, position_of[item])
        n_groups += 1
    _group_rest(problem, group_of, n_groups if left >= k or n_groups == 0 else -1)
    return group_of


@njit(cache=True, nogil=True)
def _group_rest(problem: Problem, group_of: Ints, group: int) -> None:
    """Items without a group get this one, or where it is -1 that of the nearest item that has one."""
    rest = np.flatnonzero(group_of < 0)
    found = np.full(len(rest), group)
    for place in range(len(rest)):
        if group < 0:
            nearest = np.inf
            for other in range(len(group_of)):
                if group_of[other] >= 0:
                    distance = _distance(problem, rest[place], other)
                    if distance < nearest:
                        nearest, found[place] = distance, group_of[other]
    group_of[rest] = found


@njit(cache=True, nogil=True)
def _distance(problem: Problem, item: int, other: int) -> float:
    codes, numbers = problem.items.codes, problem.items.numbers
    total = 0.0
    for label in range(codes.shape[1]):
        total += problem.apart[label, problem.table.concept_of_value[label, codes[item, label]], codes[other, label]]
    for column in range(numbers.shape[1]):
        total += (numbers[item, column] - numbers[other, column]) ** 2
    return total


@njit(cache=True, nogil=True)
def _label_distances(problem: Problem, classes: Classes, seed: int, apart: Floats) -> None:
    """The squared distance of the seed's labels to those of each class."""
    apart[:] = 0.0
    for label in range(classes.codes.shape[1]):
        own = problem.table.concept_of_value[label, problem.items.codes[seed, label]]
        row = problem.apart[label, own]
        for number in range(len(apart)):
            apart[number] += row[classes.codes[number, label]]


@njit(cache=True, nogil=True)
def _nearest(
    problem: Problem, classes: Classes, taken: Taken, apart: Floats, seed: int, k: int, nearest: Nearest
) -> int:
    """The seed and the nearest after it, as few as have k records, into `nearest`; returns how many."""
    distances = nearest.distances
    nearest.items[0], distances[0] = seed, -1.0
    filled, records = 1, problem.items.counts[seed]
    low, high = -1.0, 0.0  # classes are looked at whose labels are farther than one and as near as the other
    while records < k or (filled > 1 and low <= distances[filled - 1]):
        least = np.inf
        for number in range(len(apart)):
            if apart[number] > low and (records < k or apart[number] <= distances[filled - 1]):
                if apart[number] <= high:
                    filled, records = _look_into(
                        problem, classes, taken, number, apart[number], seed, k, nearest, filled, records
                    )
                else:
                    least = min(least, apart[number])
        if least == np.inf:
            break
        low, high = high, max(2.0 * high, least)
    return filled


@njit(cache=True, nogil=True)
def _look_into(
    problem: Problem,
    classes: Classes,
    taken: Taken,
    number: int,
    by_labels: float,
    seed: int,
    k: int,
    nearest: Nearest,
    filled: int,
    records: int,
) -> tuple[int, int]:
    """Look at a class's items, from where the seed would be outwards; returns how many are kept, and their records."""
    start, end = classes.start[number], classes.start[number + 1]
    numbers, counts = problem.items.numbers, problem.items.counts
    best, distances = nearest
    value = numbers[seed, 0] if numbers.shape[1] > 0 else 0.0
    middle = start + np.searchsorted(classes.along[start:end], value)
    below, above = _find(taken.down, middle - 1), _find(taken.up, middle)
    while below >= start or above < end:
        gap_below = value - classes.along[below] if below >= start else np.inf
        gap_above = classes.along[above] - value if above < end else np.inf
        gap = min(gap_below, gap_above)
        if records >= k and by_labels + gap * gap > distances[filled - 1]:
            break
        if gap_below < gap_above:
            item = classes.item[below]
            below = _find(taken.down, below - 1)
        else:
            item = classes.item[above]
            above = _find(taken.up, above + 1)
        distance = by_labels
        for column in range(numbers.shape[1]):
            distance += (numbers[item, column] - numbers[seed, column]) ** 2
        if item == seed or (records >= k and not _before(distance, item, distances, best, filled - 1)):
            continue
        place = filled
        while place > 1 and _before(distance, item, distances, best, place - 1):
            best[place], distances[place] = best[place - 1], distances[place - 1]
            place -= 1
        best[place], distances[place] = item, distance
        records += counts[item]
        filled += 1
        while filled > 1 and records - counts[best[filled - 1]] >= k:  # the last is not needed any more
            filled -= 1
            records -= counts[best[filled]]
    return filled, records


@njit(cache=True, nogil=True)
def _before(distance: float, item: int, distances: Floats, best: Ints, place: int) -> bool:
    return distance < distances[place] or (distance == distances[place] and item < best[place])


@njit(cache=True, nogil=True)
def _find(steps: Ints, position: int) -> int:
    """The first position from here on, this one included, that is not taken; the ends beyond all are not."""
    place = position + 1
    while steps[place] != place:
        steps[place] = steps[steps[place]]  # half the way next time
        place = steps[place]
    return place - 1


@njit(cache=True, nogil=True)
def _take(taken: Taken, position: int) -> None:
    taken.up[position + 1] = position + 2
    taken.down[position + 1] = position
