"""Items in groups: moved one by one, with the error of every group about its own centre."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels import Floats, Ints
from shoal.kernels.grouping.euclidean import put_in_order
from shoal.kernels.grouping.labels import Concepts, Sets, centroid, empty_sets, join


class Items(NamedTuple):
    """What is grouped: rows, or different rows with counts."""

    counts: Ints  # (n,)
    codes: Ints  # (n, m)
    numbers: Floats  # (n, d)


class Problem(NamedTuple):
    """What is grouped, and what a group of it costs: see `group_errors`."""

    items: Items
    table: Concepts
    apart: Floats  # (m, c, v) what a value costs when a concept stands for it
    of_mean: bool  # the sum over the attributes is squared


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
def shift(problem: Problem, groups: Groups, item: int, to: int) -> None:
    """Move an item to a group; from none when it has none yet."""
    items = problem.items
    home = groups.group_of[item]
    if home >= 0:
        groups.n_items[home] -= 1
        join(problem.table, groups.labels, home, items.codes, item, -items.counts[item])
        if groups.before[item] >= 0:
            groups.after[groups.before[item]] = groups.after[item]
        else:
            groups.first[home] = groups.after[item]
        if groups.after[item] >= 0:
            groups.before[groups.after[item]] = groups.before[item]
    join(problem.table, groups.labels, to, items.codes, item, items.counts[item])
    groups.after[item] = groups.first[to]
    groups.before[item] = -1
    if groups.first[to] >= 0:
        groups.before[groups.first[to]] = item
    groups.first[to] = item
    groups.group_of[item] = to
    groups.n_items[to] += 1


@njit(cache=True, nogil=True)
def error_of(problem: Problem, groups: Groups, group: int) -> float:
    """Error of a group about its own centre: see `group_errors`."""
    items = problem.items
    n_attributes, n_numbers = items.codes.shape[1], items.numbers.shape[1]
    centres = np.empty(n_attributes, np.int64)
    for attribute in range(n_attributes):
        centres[attribute] = centroid(problem.table, groups.labels, group, attribute)
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
            own += problem.apart[attribute, centres[attribute], items.codes[item, attribute]]
        if problem.of_mean:
            own *= own
        for column in range(n_numbers):
            difference = items.numbers[item, column] - mean[column]
            own += difference * difference
        total += items.counts[item] * own
        item = groups.after[item]
    return total


@njit(cache=True, nogil=True)
def grouped(problem: Problem, group_of: Ints, n_slots: int) -> Groups:
    """The items in their groups; errors are not known yet."""
    n_items = group_of.shape[0]
    groups = Groups(
        np.full(n_items, -1, np.int64),
        np.full(n_slots, -1, np.int64),
        np.full(n_items, -1, np.int64),
        np.full(n_items, -1, np.int64),
        np.zeros(n_slots, np.int64),
        empty_sets(problem.table, n_slots),
        np.zeros(n_slots),
    )
    for item in range(n_items - 1, -1, -1):  # the lists then run by number
        shift(problem, groups, item, group_of[item])
    return groups


@njit(cache=True, nogil=True)
def group_errors(problem: Problem, group_of: Ints, n_groups: int) -> Floats:
    """The error of each group about its own centre.

    `apart` is added up over the attributes for every item and squared if the error is `of_mean`; numbers add the
    squared distance to the mean.
    """
    groups = grouped(problem, group_of, n_groups)
    for group in range(n_groups):
        groups.error[group] = error_of(problem, groups, group)
    return groups.error


@njit(cache=True, nogil=True)
def _with_numbers(problem: Problem, by_labels: float, first: int, second: int) -> float:
    """The distance of two items whose labels are so far apart."""
    numbers = problem.items.numbers
    total = by_labels * by_labels if problem.of_mean else by_labels
    for column in range(numbers.shape[1]):
        difference = numbers[first, column] - numbers[second, column]
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def between(problem: Problem, first: int, second: int) -> float:
    """The distance of two items."""
    codes = problem.items.codes
    total = 0.0
    for attribute in range(codes.shape[1]):
        own = problem.table.concept_of_value[attribute, codes[first, attribute]]
        total += problem.apart[attribute, own, codes[second, attribute]]
    return _with_numbers(problem, total, first, second)


@njit(cache=True, nogil=True)
def nearest_others(problem: Problem, count: int) -> Ints:
    """The `count` other items nearest to each, (n, count); ties to the lower item."""
    items, apart = problem.items, problem.apart
    n_items, n_attributes = items.codes.shape
    nearest = np.empty((n_items, count), np.int64)
    best = np.empty(count)
    to_values = np.empty((n_attributes, apart.shape[2]))  # distances of the item's labels to all values
    for item in range(n_items):
        for attribute in range(n_attributes):
            own = problem.table.concept_of_value[attribute, items.codes[item, attribute]]
            for value in range(apart.shape[2]):
                to_values[attribute, value] = apart[attribute, own, value]
        best[:] = np.inf
        for other in range(n_items):
            by_labels = 0.0
            for attribute in range(n_attributes):
                by_labels += to_values[attribute, items.codes[other, attribute]]
            distance = _with_numbers(problem, by_labels, item, other)
            if distance < best[count - 1] and other != item:
                put_in_order(distance, other, best, nearest[item])
    return nearest
