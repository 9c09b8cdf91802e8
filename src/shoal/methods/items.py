"""Rows of numbers and labels as items, equal rows being one with a count, and their first groups.

As MDAV does, but with the centre of all rows throughout: time then grows little faster than the number of items.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal import progress
from shoal.kernels.grouping.euclidean import mixed_distances
from shoal.kernels.grouping.group_errors import Items, Problem
from shoal.kernels.grouping.labels import represent
from shoal.kernels.grouping.mixed import Classes, item_groups
from shoal.methods.mdav import numbered_by_first_row

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def numbered(keys: Ints) -> Ints:
    """Each key's place among the different ones: by counting where the keys are small, by sorting else."""
    if keys.max() < 4 * len(keys):
        number: Ints = np.cumsum(np.bincount(keys) > 0)[keys] - 1
        return number
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def equal_rows(numbers: Floats, codes: Ints) -> tuple[Items, Ints]:
    """The different rows with their counts, in the order in which they come first, and the item of each row."""
    key = np.zeros(len(numbers), dtype=np.int64)
    for column in (*codes.T, *(np.unique(column, return_inverse=True)[1] for column in numbers.T)):
        # Numbered anew at each step, so that products stay within the range of numbers.
        key = numbered(key * (int(column.max()) + 1) + column)
    item_of_row = numbered_by_first_row(key)
    counts = np.bincount(item_of_row).astype(np.int64)
    first = np.empty(len(counts), dtype=np.int64)
    first[item_of_row[::-1]] = np.arange(len(key))[::-1]
    return Items(counts, np.ascontiguousarray(codes[first]), np.ascontiguousarray(numbers[first])), item_of_row


def grouped_items(problem: Problem, k: int) -> Ints:
    """The group of each item, those far from the centre of all first; numbered by first item."""
    items = problem.items
    everybody = np.zeros(len(items.counts), dtype=np.int64)
    progress.step("grouping", 0, 1)
    centre = represent(problem.table, items.codes, items.counts, everybody)[0]
    mean = np.average(items.numbers, axis=0, weights=items.counts)
    distances = np.empty(len(items.counts))
    mixed_distances(items.numbers, items.codes, problem.apart, mean, centre, distances)
    groups = item_groups(problem, _classes(items), np.argsort(-distances, kind="stable"), k)
    progress.step("grouping", 1, 1)
    return numbered_by_first_row(groups)


def _classes(items: Items) -> Classes:
    """The items by their labels, those with the same by the first number."""
    along = items.numbers[:, 0] if items.numbers.shape[1] else np.zeros(len(items.counts))
    class_of = np.zeros(len(items.counts), dtype=np.int64)
    for column in items.codes.T:
        class_of = numbered(class_of * (int(column.max()) + 1) + column)
    order = np.lexsort((along, class_of))
    start = np.concatenate([[0], np.cumsum(np.bincount(class_of))])
    return Classes(order, start, np.ascontiguousarray(items.codes[order[start[:-1]]]), along[order])
