"""Groups whose records share a band, a set of values or an ancestor: what that costs, and how it changes by a record.

A group's *width* is the sum over the columns of what a cell of it loses: of numbers the width of the band; of values
without structure the number of different ones, 0 if there is one only; of values of a hierarchy the leaves below their
lowest common ancestor, 0 if they are equal. The group costs its size times its width. Costs are whole numbers, so that
sums are exact, and no column costs more than its `whole`: a missing value is so far from the others that it costs that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels import Floats, Ints

NUMBER, SET, TREE = 0, 1, 2
KIND, UNIT, WHOLE, ROOT = 0, 1, 2, 3  # of `kinds`
PARENT, WEIGHT = 0, 1  # of `nodes`


class Columns(NamedTuple):
    """The records of a part of a table. Values and the nodes above them share one numbering, all columns together."""

    cells: Ints  # (n, c) the number, scaled, or the value's node
    kinds: Ints  # (c, 4) NUMBER, SET or TREE; cost of a leaf or value; of the column at most; root of a hierarchy
    nodes: Ints  # (v, 2) node above (lower than its own, -1: none); leaves below, or 1: a value, all: a missing one


class Groups(NamedTuple):
    """Records in groups, with what it takes to say how a group's width changes by a record more or less.

    `state` of a number: lowest, second lowest, second highest, highest, equal ones apart; of a set: how many different
    values, and their weight; of a hierarchy: the nodes of the first two members, and the first member.
    """

    group_of: Ints  # (n,)
    slot_of: Ints  # (n,) the record's position among the group's members
    members: Ints  # (g, most records)
    size: Ints  # (g,)
    width: Ints  # (g,)
    state: Ints  # (g, c, 4)
    counts: Ints  # (g, v) members at or below each node


@njit(cache=True, nogil=True)
def grouped(columns: Columns, group_of: Ints, n_groups: int, most: int) -> Groups:
    """The groups of records, with room for `most` in each; a record whose group is -1 is in none."""
    n, n_columns = columns.cells.shape
    groups = Groups(
        np.full(n, -1, np.int64),
        np.zeros(n, np.int64),
        np.zeros((n_groups, most), np.int64),
        np.zeros(n_groups, np.int64),
        np.zeros(n_groups, np.int64),
        np.zeros((n_groups, n_columns, 4), np.int64),
        np.zeros((n_groups, len(columns.nodes)), np.int32),
    )
    for record in range(n):
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
    for column in range(len(columns.kinds)):
        if columns.kinds[column, KIND] == NUMBER:
            continue
        node = columns.cells[record, column]
        if groups.counts[group, node] == 0 and columns.kinds[column, KIND] == SET:
            groups.state[group, column, 0] += 1
            groups.state[group, column, 1] += columns.nodes[node, WEIGHT]
        while node >= 0:
            groups.counts[group, node] += 1
            node = columns.nodes[node, PARENT]


@njit(cache=True, nogil=True)
def remove(columns: Columns, groups: Groups, record: int) -> None:
    """Take a record out of its group; `measure` comes afterwards."""
    group = groups.group_of[record]
    groups.size[group] -= 1
    last = groups.members[group, groups.size[group]]
    groups.members[group, groups.slot_of[record]] = last
    groups.slot_of[last] = groups.slot_of[record]
    groups.group_of[record] = -1
    for column in range(len(columns.kinds)):
        if columns.kinds[column, KIND] == NUMBER:
            continue
        node = columns.cells[record, column]
        if groups.counts[group, node] == 1 and columns.kinds[column, KIND] == SET:
            groups.state[group, column, 0] -= 1
            groups.state[group, column, 1] -= columns.nodes[node, WEIGHT]
        while node >= 0:
            groups.counts[group, node] -= 1
            node = columns.nodes[node, PARENT]


@njit(cache=True, nogil=True)
def measure(columns: Columns, groups: Groups, group: int) -> None:
    """The state and the width of a group of two or more, from its members."""
    cells, state, members = columns.cells, groups.state, groups.members
    for column in range(len(columns.kinds)):
        if columns.kinds[column, KIND] == NUMBER:
            one, other = cells[members[group, 0], column], cells[members[group, 1], column]
            low, low2, high2, high = min(one, other), max(one, other), min(one, other), max(one, other)
            for slot in range(2, groups.size[group]):
                number = cells[members[group, slot], column]
                low2 = min(low2, max(low, number))
                low = min(low, number)
                high2 = max(high2, min(high, number))
                high = max(high, number)
            state[group, column, 0], state[group, column, 1] = low, low2
            state[group, column, 2], state[group, column, 3] = high2, high
        elif columns.kinds[column, KIND] == TREE:
            state[group, column, 0] = cells[members[group, 0], column]
            state[group, column, 1] = cells[members[group, 1], column]
            state[group, column, 2] = members[group, 0]
    groups.width[group] = width_after(cells, columns.kinds, columns.nodes, state, groups.counts, group, -1, -1)


# Arrays one by one, not in tuples: this is called some ten million times a second.
@njit(cache=True, nogil=True)
def width_after(
    cells: Ints, kinds: Ints, nodes: Ints, state: Ints, counts: Ints, group: int, leaving: int, joining: int
) -> int:
    """The width of a group once a record has left and another has joined; -1: none does."""
    total = 0
    for column in range(len(kinds)):
        left = cells[leaving, column] if leaving >= 0 else -1
        joined = cells[joining, column] if joining >= 0 else -1
        if kinds[column, KIND] == NUMBER:
            low, high = state[group, column, 0], state[group, column, 3]
            if leaving >= 0:
                if left == low:
                    low = state[group, column, 1]
                if left == high:
                    high = state[group, column, 2]
            if joining >= 0:
                low, high = min(low, joined), max(high, joined)
            total += min(high - low, kinds[column, WHOLE])
        elif kinds[column, KIND] == SET:
            n_values, weight = state[group, column, 0], state[group, column, 1]
            if left != joined:
                if left >= 0 and counts[group, left] == 1:
                    n_values -= 1
                    weight -= nodes[left, WEIGHT]
                if joined >= 0 and counts[group, joined] == 0:
                    n_values += 1
                    weight += nodes[joined, WEIGHT]
            if n_values > 1:
                total += min(weight * kinds[column, UNIT], kinds[column, WHOLE])
        else:
            staying = 1 if leaving == state[group, column, 2] else 0
            start = joined if joining >= 0 else state[group, column, staying]
            leaves = _leaves(nodes, counts, group, kinds[column, ROOT], left, start)
            total += min(leaves * kinds[column, UNIT], kinds[column, WHOLE])
    return total


@njit(cache=True, nogil=True)
def _leaves(nodes: Ints, counts: Ints, group: int, root: int, left: int, value: int) -> int:
    """Leaves below the lowest node that is above `value` and all members but one at `left` (-1: none is left out).

    0 if they are all equal.
    """
    needed = counts[group, root] - (1 if left >= 0 else 0)
    node = left
    while node >= 0:
        counts[group, node] -= 1
        node = nodes[node, PARENT]
    above = value
    while counts[group, above] < needed:
        above = nodes[above, PARENT]
    node = left
    while node >= 0:
        counts[group, node] += 1
        node = nodes[node, PARENT]
    return nodes[above, WEIGHT] if above != value else 0


@njit(cache=True, nogil=True)
def meet(nodes: Ints, one: int, other: int) -> int:
    """The lowest common ancestor of two nodes."""
    while one != other:
        if one > other:
            one = nodes[one, PARENT]
        else:
            other = nodes[other, PARENT]
    return one


@njit(cache=True, nogil=True)
def width_of(cells: Ints, kinds: Ints, nodes: Ints, records: Ints, seen: Ints, mark: int) -> int:
    """The width of a group of these records; `seen` (v,) has no `mark` yet."""
    total = 0
    for column in range(len(kinds)):
        first = cells[records[0], column]
        low, high, above, weight = first, first, first, 0
        for record in records:
            cell = cells[record, column]
            low, high = min(low, cell), max(high, cell)
            if kinds[column, KIND] == TREE:
                above = meet(nodes, above, cell)
            elif kinds[column, KIND] == SET and seen[cell] != mark:
                seen[cell] = mark
                weight += nodes[cell, WEIGHT]
        if low == high:
            continue
        if kinds[column, KIND] == NUMBER:
            total += min(high - low, kinds[column, WHOLE])
        else:
            leaves = weight if kinds[column, KIND] == SET else nodes[above, WEIGHT]
            total += min(leaves * kinds[column, UNIT], kinds[column, WHOLE])
    return total


@njit(cache=True, nogil=True)
def costs(columns: Columns, records: Ints, indptr: Ints) -> Floats:
    """Cost of each group, a run of `records`."""
    cells, kinds, nodes = columns
    cost = np.empty(len(indptr) - 1)
    seen = np.full(len(nodes), -1, np.int64)
    for group in range(len(cost)):
        own = records[indptr[group] : indptr[group + 1]]
        cost[group] = float(len(own)) * float(width_of(cells, kinds, nodes, own, seen, group))
    return cost


@njit(cache=True, nogil=True)
def common_ancestors(indptr: Ints, values: Ints, parent: Ints) -> Ints:
    """(g,) lowest node at or above the nodes that are a run of `values`; -1 if there is none, or -1 among them."""
    found = np.empty(len(indptr) - 1, np.int64)
    path = np.full(len(parent), -1, np.int64)  # the last group whose candidate this node is
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
