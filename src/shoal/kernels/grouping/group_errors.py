"""Items in groups: moved one by one, with the error of every group about its own centre."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels.grouping.concepts import Concepts, Ints, Sets, centroid, empty_sets, join

__all__ = ["Floats", "Groups", "Items", "between", "error_of", "group_errors", "grouped", "nearest_others", "shift"]

Floats = NDArray[np.float64]


class Items(NamedTuple):
    """What is grouped: rows, or different rows with counts."""

    counts: Ints  # (n,)
    codes: Ints  # (n, m)
    numbers: Floats  # (n, d)


class Groups(NamedTuple):
    """Groups of items in linked lists, each with all that its centre depends on."""

    group_of: Ints  # (n,)
    first: Ints  # (g,) an item, -1 for an empty group
    after: Ints  # (n,) the next item of the group, -1 for the last
    before: Ints  # (n,)
    n_items: Ints  # (g,)
    labels: Sets
    error: Floats  # (g,)


@njit(cache=True, nogil=True)
def shift(items: Items, concepts: Concepts, groups: Groups, item: int, to: int) -> None:
    """Move an item to a group; from none when it has none yet."""
    home = groups.group_of[item]
    if home >= 0:
        groups.n_items[home] -= 1
        join(concepts, groups.labels, home, items.codes, item, -items.counts[item])
        if groups.before[item] >= 0:
            groups.after[groups.before[item]] = groups.after[item]
        else:
            groups.first[home] = groups.after[item]
        if groups.after[item] >= 0:
            groups.before[groups.after[item]] = groups.before[item]
    join(concepts, groups.labels, to, items.codes, item, items.counts[item])
    groups.after[item] = groups.first[to]
    groups.before[item] = -1
    if groups.first[to] >= 0:
        groups.before[groups.first[to]] = item
    groups.first[to] = item
    groups.group_of[item] = to
    groups.n_items[to] += 1


@njit(cache=True, nogil=True)
def error_of(items: Items, concepts: Concepts, apart: Floats, of_mean: bool, groups: Groups, group: int) -> float:
    """Error of a group about its own centre: see `group_errors`."""
    n_attributes, n_numbers = items.codes.shape[1], items.numbers.shape[1]
    centres = np.empty(n_attributes, np.int64)
    for attribute in range(n_attributes):
        centres[attribute] = centroid(concepts, groups.labels, group, attribute)
    mean = np.zeros(n_numbers)
    if n_numbers > 0:
        item = groups.first[group]
        while item >= 0:
            for column in range(n_numbers):
                mean[column] += items.counts[item] * items.numbers[item, column]
            item = groups.after[item]
        mean /= groups.labels.size[group]
    total = 0.0
    item = groups.first[group]
    while item >= 0:
        own = 0.0
        for attribute in range(n_attributes):
            own += apart[attribute, centres[attribute], items.codes[item, attribute]]
        if of_mean:
            own *= own
        for column in range(n_numbers):
            difference = items.numbers[item, column] - mean[column]
            own += difference * difference
        total += items.counts[item] * own
        item = groups.after[item]
    return total


@njit(cache=True, nogil=True)
def grouped(items: Items, concepts: Concepts, group_of: Ints, n_slots: int) -> Groups:
    """The items in their groups; errors are not known yet."""
    n_items = items.codes.shape[0]
    groups = Groups(
        np.full(n_items, -1, np.int64),
        np.full(n_slots, -1, np.int64),
        np.full(n_items, -1, np.int64),
        np.full(n_items, -1, np.int64),
        np.zeros(n_slots, np.int64),
        empty_sets(concepts, n_slots),
        np.zeros(n_slots),
    )
    for item in range(n_items - 1, -1, -1):  # the lists then run by number
        shift(items, concepts, groups, item, group_of[item])
    return groups


@njit(cache=True, nogil=True)
def group_errors(
    items: Items, concepts: Concepts, apart: Floats, of_mean: bool, group_of: Ints, n_groups: int
) -> Floats:
    """The error of each group about its own centre.

    `apart` (m, c, v) is added up over the attributes for every item and squared if the error is `of_mean`; numbers add
    the squared distance to the mean.
    """
    groups = grouped(items, concepts, group_of, n_groups)
    for group in range(n_groups):
        groups.error[group] = error_of(items, concepts, apart, of_mean, groups, group)
    return groups.error


@njit(cache=True, nogil=True)
def between(items: Items, concepts: Concepts, apart: Floats, of_mean: bool, one: int, two: int) -> float:
    total = 0.0
    for attribute in range(items.codes.shape[1]):
        own = concepts.concept_of_value[attribute, items.codes[one, attribute]]
        total += apart[attribute, own, items.codes[two, attribute]]
    if of_mean:
        total *= total
    for column in range(items.numbers.shape[1]):
        difference = items.numbers[one, column] - items.numbers[two, column]
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def nearest_others(items: Items, concepts: Concepts, apart: Floats, of_mean: bool, count: int) -> Ints:
    """The `count` other items nearest to each, (n, count); ties to the lower item."""
    n_items, n_attributes = items.codes.shape
    found = np.empty((n_items, count), np.int64)
    best = np.empty(count)
    to_values = np.empty((n_attributes, apart.shape[2]))  # distances of the item's labels to all values
    for item in range(n_items):
        for attribute in range(n_attributes):
            own = concepts.concept_of_value[attribute, items.codes[item, attribute]]
            to_values[attribute] = apart[attribute, own]
        best[:] = np.inf
        for other in range(n_items):
            distance = 0.0
            for attribute in range(n_attributes):
                distance += to_values[attribute, items.codes[other, attribute]]
            if of_mean:
                distance *= distance
            for column in range(items.numbers.shape[1]):
                difference = items.numbers[item, column] - items.numbers[other, column]
                distance += difference * difference
            if distance >= best[count - 1] or other == item:
                continue
            place = count - 1
            while place > 0 and distance < best[place - 1]:
                best[place] = best[place - 1]
                found[item, place] = found[item, place - 1]
                place -= 1
            best[place] = distance
            found[item, place] = other
    return found
