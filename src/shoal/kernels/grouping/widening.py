"""Groups whose records share a band, a set of values or an ancestor: what that costs, and how it changes by a record.

A group's *width* is the sum over the columns of what a cell of it loses: of numbers the width of the band; of values
without structure the number of different ones, 0 if there is one only; of values of a hierarchy the leaves below their
lowest common ancestor, 0 if they are equal. The group costs its size times its width. `Columns` are scaled so that
widths add up, and no column costs more than `whole`: a missing value is so far from the others that it costs that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels import Floats, Ints


class Columns(NamedTuple):
    """The records of a part of a table. Values and the nodes above them share one numbering, all columns together."""

    numbers: Floats  # (n, a) scaled
    nodes: Ints  # (n, b) the value of each record as a node
    parent: Ints  # (v,) node above, -1: none
    weight: Ints  # (v,) leaves below the node; of a value without structure 1, of a missing one all
    is_tree: Ints  # (b,) whether the column has a hierarchy
    unit: Floats  # (b,) cost of a leaf or value
    whole: Floats  # (a + b,) cost of a column at most


class Groups(NamedTuple):
    """Records in groups, with what it takes to say how a group's width changes by a record more or less."""

    group_of: Ints  # (n,)
    slot_of: Ints  # (n,) the record's position among the group's members
    members: Ints  # (g, most records)
    size: Ints  # (g,)
    width: Floats  # (g,)
    bounds: Floats  # (g, a, 4): lowest number, second lowest, second highest, highest, equal ones apart
    counts: Ints  # (g, v) members at or below each node
    n_values: Ints  # (g, b) different values; only of columns without a hierarchy
    weight: Ints  # (g, b) and the sum of their weights


@njit(cache=True, nogil=True)
def no_groups(columns: Columns, n_groups: int, most: int) -> Groups:
    """Room for groups of up to `most` records."""
    n, n_numbers = columns.numbers.shape
    n_nodes, n_values = columns.parent.shape[0], columns.nodes.shape[1]
    return Groups(
        np.full(n, -1, np.int64),
        np.zeros(n, np.int64),
        np.zeros((n_groups, most), np.int64),
        np.zeros(n_groups, np.int64),
        np.zeros(n_groups),
        np.zeros((n_groups, n_numbers, 4)),
        np.zeros((n_groups, n_nodes), np.int32),
        np.zeros((n_groups, n_values), np.int64),
        np.zeros((n_groups, n_values), np.int64),
    )


@njit(cache=True, nogil=True)
def grouped(columns: Columns, group_of: Ints, n_groups: int, most: int) -> Groups:
    """The groups of records, with room for `most` in each; a record whose group is -1 is in none."""
    size = np.zeros(n_groups, np.int64)
    for record in range(len(group_of)):
        if group_of[record] >= 0:
            size[group_of[record]] += 1
    groups = no_groups(columns, n_groups, max(most, size.max()))
    for record in range(len(group_of)):
        if group_of[record] >= 0:
            insert(columns, groups, record, group_of[record])
    for group in range(n_groups):
        measure(columns, groups, group)
    return groups


@njit(cache=True, nogil=True)
def insert(columns: Columns, groups: Groups, record: int, group: int) -> None:
    """Put a record into a group; `measure` comes afterwards."""
    groups.group_of[record] = group
    groups.slot_of[record] = groups.size[group]
    groups.members[group, groups.size[group]] = record
    groups.size[group] += 1
    for column in range(columns.nodes.shape[1]):
        node = columns.nodes[record, column]
        if groups.counts[group, node] == 0 and not columns.is_tree[column]:
            groups.n_values[group, column] += 1
            groups.weight[group, column] += columns.weight[node]
        while node >= 0:
            groups.counts[group, node] += 1
            node = columns.parent[node]


@njit(cache=True, nogil=True)
def remove(columns: Columns, groups: Groups, record: int) -> None:
    """Take a record out of its group; `measure` comes afterwards."""
    group = groups.group_of[record]
    groups.size[group] -= 1
    last = groups.members[group, groups.size[group]]
    groups.members[group, groups.slot_of[record]] = last
    groups.slot_of[last] = groups.slot_of[record]
    groups.group_of[record] = -1
    for column in range(columns.nodes.shape[1]):
        node = columns.nodes[record, column]
        if groups.counts[group, node] == 1 and not columns.is_tree[column]:
            groups.n_values[group, column] -= 1
            groups.weight[group, column] -= columns.weight[node]
        while node >= 0:
            groups.counts[group, node] -= 1
            node = columns.parent[node]


@njit(cache=True, nogil=True)
def measure(columns: Columns, groups: Groups, group: int) -> None:
    """The bounds and the width of a group, from its members."""
    size = groups.size[group]
    for column in range(columns.numbers.shape[1]):
        low, low2, high2, high = np.inf, np.inf, -np.inf, -np.inf
        for slot in range(size):
            number = columns.numbers[groups.members[group, slot], column]
            if number < low:
                low, low2 = number, low
            elif number < low2:
                low2 = number
            if number > high:
                high, high2 = number, high
            elif number > high2:
                high2 = number
        bounds = groups.bounds[group, column]
        bounds[0], bounds[1], bounds[2], bounds[3] = low, low2, high2, high
    groups.width[group] = width_after(columns, groups, group, -1, -1) if size > 0 else 0.0


@njit(cache=True, nogil=True, inline="always")
def width_after(columns: Columns, groups: Groups, group: int, leaving: int, joining: int) -> float:
    """The width of a group once a record has left and another has joined; -1: none does. One must stay or join."""
    total = 0.0
    n_numbers = columns.numbers.shape[1]
    for column in range(n_numbers):
        bounds = groups.bounds[group, column]
        low, high = bounds[0], bounds[3]
        if leaving >= 0:
            number = columns.numbers[leaving, column]
            if number == low:
                low = bounds[1]
            if number == high:
                high = bounds[2]
        if joining >= 0:
            number = columns.numbers[joining, column]
            low, high = min(low, number), max(high, number)
        total += min(high - low, columns.whole[column])
    for column in range(columns.nodes.shape[1]):
        if columns.is_tree[column]:
            leaves = _leaves_after(columns, groups, group, column, leaving, joining)
        else:
            leaves = _values_after(columns, groups, group, column, leaving, joining)
        total += min(leaves * columns.unit[column], columns.whole[n_numbers + column])
    return total


@njit(cache=True, nogil=True, inline="always")
def _values_after(columns: Columns, groups: Groups, group: int, column: int, leaving: int, joining: int) -> int:
    """The weight of a group's values in a column without a hierarchy, 0 if there is one value only."""
    n_values, weight = groups.n_values[group, column], groups.weight[group, column]
    left = columns.nodes[leaving, column] if leaving >= 0 else -1
    joined = columns.nodes[joining, column] if joining >= 0 else -1
    if left != joined:
        if left >= 0 and groups.counts[group, left] == 1:
            n_values -= 1
            weight -= columns.weight[left]
        if joined >= 0 and groups.counts[group, joined] == 0:
            n_values += 1
            weight += columns.weight[joined]
    return weight if n_values > 1 else 0


@njit(cache=True, nogil=True, inline="always")
def _leaves_after(columns: Columns, groups: Groups, group: int, column: int, leaving: int, joining: int) -> int:
    """The leaves below the lowest common ancestor of a group's values, 0 if they are equal."""
    size = groups.size[group]
    start = joining if joining >= 0 else groups.members[group, 0]
    if start == leaving:
        start = groups.members[group, 1]
    node = columns.nodes[leaving, column] if leaving >= 0 else -1
    while node >= 0:
        groups.counts[group, node] -= 1
        node = columns.parent[node]
    needed = size - 1 if leaving >= 0 else size
    value = columns.nodes[start, column]
    above = value
    while groups.counts[group, above] < needed:
        above = columns.parent[above]
    node = columns.nodes[leaving, column] if leaving >= 0 else -1
    while node >= 0:
        groups.counts[group, node] += 1
        node = columns.parent[node]
    return columns.weight[above] if above != value else 0


@njit(cache=True, nogil=True, inline="always")
def _between(columns: Columns, one: int, other: int) -> float:
    """The width of a group of two records."""
    total = 0.0
    n_numbers = columns.numbers.shape[1]
    for column in range(n_numbers):
        total += min(abs(columns.numbers[one, column] - columns.numbers[other, column]), columns.whole[column])
    for column in range(columns.nodes.shape[1]):
        first, second = columns.nodes[one, column], columns.nodes[other, column]
        if first != second:
            if columns.is_tree[column]:
                leaves = columns.weight[_meet(columns.parent, first, second)]
            else:
                leaves = columns.weight[first] + columns.weight[second]
            total += min(leaves * columns.unit[column], columns.whole[n_numbers + column])
    return total


@njit(cache=True, nogil=True, inline="always")
def _meet(parent: Ints, one: int, other: int) -> int:
    """The lowest common ancestor of two nodes: children have higher numbers than their parents."""
    while one != other:
        if one > other:
            one = parent[one]
        else:
            other = parent[other]
    return one


@njit(cache=True, nogil=True)
def gather(columns: Columns, stratum: Ints, k: int) -> tuple[Ints, int]:
    """Groups of k records of one stratum by the k-member rule, and how many; a rest of fewer than k is in group -1.

    Strata are runs of equal numbers. A group starts from the record farthest from the seed before, and grows by the
    record that widens it least; ties go to the lower record.
    """
    n = len(stratum)
    group_of = np.full(n, -1, np.int64)
    growing = no_groups(columns, 1, k)
    left = np.empty(n, np.int64)
    n_groups = 0
    start = 0
    while start < n:
        end = start
        while end < n and stratum[end] == stratum[start]:
            left[end - start] = end
            end += 1
        n_left = end - start
        seed = start
        while n_left >= k:
            seed = _farthest(columns, left, n_left, seed)
            chosen = seed
            for _ in range(k):
                insert(columns, growing, chosen, 0)
                measure(columns, growing, 0)
                group_of[chosen] = n_groups
                n_left = _without(left, n_left, chosen)
                chosen = _best_addition(columns, growing, left, n_left)
            for _ in range(k):
                remove(columns, growing, growing.members[0, 0])
            n_groups += 1
        start = end
    return group_of, n_groups


@njit(cache=True, nogil=True)
def _farthest(columns: Columns, left: Ints, n_left: int, seed: int) -> int:
    best, farthest = -1.0, left[0]
    for position in range(n_left):
        width = _between(columns, seed, left[position])
        if width > best:
            best, farthest = width, left[position]
    return farthest


@njit(cache=True, nogil=True)
def _best_addition(columns: Columns, growing: Groups, left: Ints, n_left: int) -> int:
    best, chosen = np.inf, -1
    for position in range(n_left):
        width = width_after(columns, growing, 0, -1, left[position])
        if width < best:
            best, chosen = width, left[position]
            if width <= growing.width[0]:
                break
    return chosen


@njit(cache=True, nogil=True)
def _without(left: Ints, n_left: int, record: int) -> int:
    """Take a record off a rising list."""
    position = np.searchsorted(left[:n_left], record)
    for later in range(position, n_left - 1):
        left[later] = left[later + 1]
    return n_left - 1


@njit(cache=True, nogil=True)
def place_rest(columns: Columns, stratum: Ints, groups: Groups, most: int) -> None:
    """Put every record without a group into the group of its stratum that costs least, of fewer than `most` records."""
    for record in range(len(stratum)):
        if groups.group_of[record] >= 0:
            continue
        best, goal = np.inf, -1
        for group in range(len(groups.size)):
            size = groups.size[group]
            if size < most and stratum[groups.members[group, 0]] == stratum[record]:
                added = (size + 1) * width_after(columns, groups, group, -1, record) - size * groups.width[group]
                if added < best:
                    best, goal = added, group
        insert(columns, groups, record, goal)
        measure(columns, groups, goal)


@njit(cache=True, nogil=True)
def costs(columns: Columns, rows: Ints, indptr: Ints) -> Floats:
    """(g,) size times width of the groups that are runs of `rows`."""
    found = np.empty(len(indptr) - 1)
    seen = np.full(len(columns.parent), -1, np.int64)
    nothing = rows[:0]
    for group in range(len(found)):
        own = rows[indptr[group] : indptr[group + 1]]
        found[group] = len(own) * _width(columns, own, nothing, seen, group)
    return found


@njit(cache=True, nogil=True)
def joined_costs(columns: Columns, rows: Ints, indptr: Ints, joining: Ints, chosen: Ints) -> Floats:
    """Cost of each chosen group once the `joining` rows are in it as well."""
    found = np.empty(len(chosen))
    seen = np.full(len(columns.parent), -1, np.int64)
    for position in range(len(chosen)):
        own = rows[indptr[chosen[position]] : indptr[chosen[position] + 1]]
        found[position] = (len(own) + len(joining)) * _width(columns, own, joining, seen, position)
    return found


@njit(cache=True, nogil=True)
def _width(columns: Columns, some: Ints, others: Ints, seen: Ints, mark: int) -> float:
    """Width of a group of two lists of records. `seen` (v,) has no `mark` yet."""
    total = 0.0
    n_numbers = columns.numbers.shape[1]
    for column in range(n_numbers):
        low, high = np.inf, -np.inf
        for record in some:
            low, high = min(low, columns.numbers[record, column]), max(high, columns.numbers[record, column])
        for record in others:
            low, high = min(low, columns.numbers[record, column]), max(high, columns.numbers[record, column])
        total += min(high - low, columns.whole[column])
    for column in range(columns.nodes.shape[1]):
        first = columns.nodes[some[0], column]
        above, weight, different = first, np.int64(0), False
        for position in range(len(some) + len(others)):
            record = some[position] if position < len(some) else others[position - len(some)]
            node = columns.nodes[record, column]
            different |= node != first
            if columns.is_tree[column]:
                above = _meet(columns.parent, above, node)
            elif seen[node] != mark:
                seen[node] = mark
                weight += columns.weight[node]
        if different:
            leaves = columns.weight[above] if columns.is_tree[column] else weight
            total += min(leaves * columns.unit[column], columns.whole[n_numbers + column])
    return total


@njit(cache=True, nogil=True)
def common_ancestors(indptr: Ints, values: Ints, parent: Ints) -> Ints:
    """(g,) lowest node at or above the nodes that are a run of `values`; -1 if there is none, or -1 among them."""
    found = np.empty(len(indptr) - 1, np.int64)
    path = np.full(len(parent), -1, np.int64)  # the last group whose path this node is on
    for group in range(len(found)):
        above = values[indptr[group]]
        node = above
        while node >= 0:
            path[node] = group
            node = parent[node]
        for position in range(indptr[group] + 1, indptr[group + 1]):
            node = values[position] if above >= 0 else -1
            while node >= 0 and path[node] != group:
                node = parent[node]
            while above >= 0 and above != node:  # nodes below the meeting point are no candidates any more
                path[above] = -1
                above = parent[above]
        found[group] = above
    return found
