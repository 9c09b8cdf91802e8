"""Groups for common values by the k-member rule: a seed far away, then always the record that widens the group least.

A group only gets wider as it grows. So the records nearest to the seed are enough as candidates, as long as the best of
them widens the group no more than the others would have done when they were last looked at. They are found in a tree
of boxes: the result is that of looking at all records at every step, unless a search ends after SEEN of them. The rule
is that of Byun et al. (2007).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels import Ints
from shoal.kernels.grouping.record_tree import Tree, least_width, most_width, planted, take
from shoal.kernels.grouping.widening import (
    KIND,
    NUMBER,
    SET,
    TREE,
    UNIT,
    WEIGHT,
    WHOLE,
    Columns,
    meet,
    width_of,
)

NO_LIMIT = 2**62
CANDIDATES = 32
SEEN = 4096  # records that a search looks at before it takes the best so far


class Growing(NamedTuple):
    """A group that grows, and the records that it may grow by."""

    state: Ints  # (c, 2) number: lowest, highest; set: values, their weight; hierarchy: 1 or several, common ancestor
    has: Ints  # (v,) the last group that had each value
    candidates: Ints  # (CANDIDATES,) the nearest first
    widths: Ints  # (CANDIDATES,)


@njit(cache=True, nogil=True)
def gather(columns: Columns, stratum: Ints, k: int) -> tuple[Ints, int]:
    """Groups of k records of one stratum, and how many; a rest of fewer than k of a stratum has group -1.

    Strata are runs of equal numbers. Each seed is the record farthest from the one before; ties go to the lower record.
    """
    n = len(stratum)
    group_of = np.full(n, -1, np.int64)
    growing = Growing(
        np.empty((len(columns.kinds), 2), np.int64),
        np.full(len(columns.nodes), -1, np.int64),
        np.empty(CANDIDATES, np.int64),
        np.empty(CANDIDATES, np.int64),
    )
    n_groups = 0
    start = 0
    while start < n:
        end = start
        while end < n and stratum[end] == stratum[start]:
            end += 1
        n_groups = _gather_stratum(columns, growing, group_of, start, end, k, n_groups)
        start = end
    return group_of, n_groups


@njit(cache=True, nogil=True)
def _gather_stratum(
    columns: Columns, growing: Growing, group_of: Ints, start: int, end: int, k: int, n_groups: int
) -> int:
    """Groups of the records from `start` to before `end`, numbered from `n_groups`; returns the next number."""
    tree = planted(columns, start, end)
    stack, bounds = np.empty(len(tree.start), np.int64), np.empty(len(tree.start), np.int64)
    first_free = start
    _begin(columns, growing, start, n_groups)
    seed = _farthest(columns, growing, tree, group_of, stack, bounds, n_groups)
    growing.has[:] = -1
    while tree.free[0] >= k:
        _begin(columns, growing, seed, n_groups)
        group_of[seed] = n_groups
        take(tree, seed - start)
        if tree.free[0] > 0:
            farthest = _farthest(columns, growing, tree, group_of, stack, bounds, n_groups)
        n_candidates, bound = 0, -1
        for _ in range(k - 1):
            chosen, width = _best(columns, growing, group_of, n_candidates, n_groups)
            if width > bound:
                n_candidates, bound = _look(columns, growing, tree, group_of, stack, bounds, n_groups)
                chosen, width = _best(columns, growing, group_of, n_candidates, n_groups)
            group_of[chosen] = n_groups
            take(tree, chosen - start)
            _grow(columns, growing, chosen, n_groups)
        n_groups += 1
        seed = farthest
        if tree.free[0] > 0 and group_of[seed] >= 0:
            while group_of[first_free] >= 0:
                first_free += 1
            seed = first_free
    return n_groups


@njit(cache=True, nogil=True)
def _begin(columns: Columns, growing: Growing, seed: int, group: int) -> None:
    for column in range(len(columns.kinds)):
        cell = columns.cells[seed, column]
        growing.state[column, 0] = growing.state[column, 1] = cell
        if columns.kinds[column, KIND] != NUMBER:
            growing.state[column, 0] = 1
        if columns.kinds[column, KIND] == SET:
            growing.state[column, 1] = columns.nodes[cell, WEIGHT]
            growing.has[cell] = group


@njit(cache=True, nogil=True)
def _grow(columns: Columns, growing: Growing, record: int, group: int) -> None:
    state = growing.state
    for column in range(len(columns.kinds)):
        cell = columns.cells[record, column]
        if columns.kinds[column, KIND] == NUMBER:
            state[column, 0], state[column, 1] = min(state[column, 0], cell), max(state[column, 1], cell)
        elif columns.kinds[column, KIND] == TREE:
            if state[column, 1] != cell:
                state[column, 0] = 2
                state[column, 1] = meet(columns.nodes, state[column, 1], cell)
        elif growing.has[cell] != group:
            growing.has[cell] = group
            state[column, 0] += 1
            state[column, 1] += columns.nodes[cell, WEIGHT]


@njit(cache=True, nogil=True)
def _width(cells: Ints, kinds: Ints, nodes: Ints, state: Ints, has: Ints, record: int, group: int, limit: int) -> int:
    """Width of the group once the record has joined; anything above `limit` if it is above it."""
    total = 0
    for column in range(len(kinds)):
        cell = cells[record, column]
        if kinds[column, KIND] == NUMBER:
            total += min(max(state[column, 1], cell) - min(state[column, 0], cell), kinds[column, WHOLE])
        elif kinds[column, KIND] == SET:
            new = has[cell] != group
            if new or state[column, 0] > 1:
                weight = state[column, 1] + (nodes[cell, WEIGHT] if new else 0)
                total += min(weight * kinds[column, UNIT], kinds[column, WHOLE])
        elif state[column, 0] > 1 or state[column, 1] != cell:
            leaves = nodes[meet(nodes, state[column, 1], cell), WEIGHT]
            total += min(leaves * kinds[column, UNIT], kinds[column, WHOLE])
        if total > limit:
            break
    return total


@njit(cache=True, nogil=True)
def _look(
    columns: Columns, growing: Growing, tree: Tree, group_of: Ints, stack: Ints, bounds: Ints, group: int
) -> tuple[int, int]:
    """Fill in the candidates: the free records that widen the group least, the nearest boxes first.

    Returns how many there are, and the least width that any other record may have.
    """
    cells, kinds, nodes = columns
    state, has, candidates, widths = growing
    n_candidates, bound = 0, NO_LIMIT
    stack[0], bounds[0], height, n_seen = 0, 0, 1, 0
    while height > 0 and n_seen < SEEN:
        height -= 1
        box = stack[height]
        if bounds[height] >= bound:
            continue
        child = tree.child[box]
        if child >= 0:
            one, other = NO_LIMIT, NO_LIMIT
            if tree.free[child] > 0:
                one = least_width(kinds, nodes, state, has, group, tree.low[child], tree.high[child])
            if tree.free[child + 1] > 0:
                other = least_width(kinds, nodes, state, has, group, tree.low[child + 1], tree.high[child + 1])
            near = child if one <= other else child + 1
            if max(one, other) < bound:
                stack[height], bounds[height] = 2 * child + 1 - near, max(one, other)
                height += 1
            if min(one, other) < bound:
                stack[height], bounds[height] = near, min(one, other)
                height += 1
            continue
        for record in tree.records[tree.start[box] : tree.end[box]]:
            if group_of[record] >= 0:
                continue
            n_seen += 1
            width = _width(cells, kinds, nodes, state, has, record, group, bound)
            if width >= bound:
                continue
            n_candidates = min(n_candidates + 1, CANDIDATES)
            position = n_candidates - 1
            while position > 0 and width < widths[position - 1]:
                candidates[position], widths[position] = candidates[position - 1], widths[position - 1]
                position -= 1
            candidates[position], widths[position] = record, width
            if n_candidates == CANDIDATES:
                bound = widths[CANDIDATES - 1]
    return n_candidates, bound


@njit(cache=True, nogil=True)
def _farthest(
    columns: Columns, growing: Growing, tree: Tree, group_of: Ints, stack: Ints, bounds: Ints, group: int
) -> int:
    """The free record that widens the group most, the lower one of two."""
    cells, kinds, nodes = columns
    state, has, _, _ = growing
    most, farthest, n_seen = -1, -1, 0
    stack[0], bounds[0], height = 0, NO_LIMIT, 1
    while height > 0 and n_seen < SEEN:
        height -= 1
        box = stack[height]
        if bounds[height] < most:
            continue
        child = tree.child[box]
        if child >= 0:
            one, other = -1, -1
            if tree.free[child] > 0:
                one = most_width(kinds, nodes, state, has, group, tree.low[child], tree.high[child])
            if tree.free[child + 1] > 0:
                other = most_width(kinds, nodes, state, has, group, tree.low[child + 1], tree.high[child + 1])
            far = child if one >= other else child + 1
            if min(one, other) >= max(most, 0):
                stack[height], bounds[height] = 2 * child + 1 - far, min(one, other)
                height += 1
            if max(one, other) >= max(most, 0):
                stack[height], bounds[height] = far, max(one, other)
                height += 1
            continue
        for record in tree.records[tree.start[box] : tree.end[box]]:
            if group_of[record] >= 0:
                continue
            n_seen += 1
            width = _width(cells, kinds, nodes, state, has, record, group, NO_LIMIT)
            if width > most or (width == most and record < farthest):
                most, farthest = width, record
    return farthest


@njit(cache=True, nogil=True)
def _best(columns: Columns, growing: Growing, group_of: Ints, n_candidates: int, group: int) -> tuple[int, int]:
    """The free candidate that widens the group least, the lower one of two, and the width that it makes."""
    cells, kinds, nodes = columns
    state, has, candidates, widths = growing
    least, chosen = NO_LIMIT, -1
    for position in range(n_candidates):
        record = candidates[position]
        if widths[position] > least:
            break
        if group_of[record] >= 0:
            continue
        width = _width(cells, kinds, nodes, state, has, record, group, least)
        if width < least or (width == least and record < chosen):
            least, chosen = width, record
    return chosen, least


@njit(cache=True, nogil=True)
def place_rest(columns: Columns, stratum: Ints, group_of: Ints, n_groups: int, most: int) -> None:
    """Put every record without a group into the group of its stratum that costs least, of fewer than `most` records."""
    cells, kinds, nodes = columns
    members, size = np.zeros((n_groups, most), np.int64), np.zeros(n_groups, np.int64)
    for record in range(len(group_of)):
        group = group_of[record]
        if group >= 0:
            members[group, size[group]] = record
            size[group] += 1
    seen, mark = np.full(len(nodes), -1, np.int64), 0
    for record in range(len(group_of)):
        if group_of[record] >= 0:
            continue
        best, goal = NO_LIMIT, -1
        for group in range(n_groups):
            n = size[group]
            if n < most and stratum[members[group, 0]] == stratum[record]:
                members[group, n] = record
                before = n * width_of(cells, kinds, nodes, members[group, :n], seen, mark)
                added = (n + 1) * width_of(cells, kinds, nodes, members[group, : n + 1], seen, mark + 1) - before
                mark += 2
                if added < best:
                    best, goal = added, group
        group_of[record] = goal
        members[goal, size[goal]] = record
        size[goal] += 1
