"""Groups for common values by the k-member rule: a seed far away, then always the record that widens the group least.

A group only gets wider as it grows. So the records nearest to the seed are enough as candidates, as long as the best of
them widens the group no more than the others would have done when they were last looked at: the result is that of
looking at all records at every step. The rule is that of Byun et al. (2007).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels import Ints
from shoal.kernels.grouping.widening import (
    KIND,
    NUMBER,
    SET,
    TREE,
    UNIT,
    WEIGHT,
    WHOLE,
    Columns,
    Groups,
    insert,
    measure,
    meet,
    width_after,
)

CANDIDATES = 128
NO_LIMIT = 2**62


class Growing(NamedTuple):
    """A group that grows, and the records that it may grow by."""

    state: Ints  # (c, 2) number: lowest, highest; set: values, their weight; hierarchy: 1 or several, common ancestor
    has: Ints  # (v,) the last group that had each value
    candidates: Ints  # (2 CANDIDATES,)
    widths: Ints  # (2 CANDIDATES,)


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
        np.empty(2 * CANDIDATES, np.int64),
        np.empty(2 * CANDIDATES, np.int64),
    )
    left = np.arange(n)
    n_groups = 0
    start = 0
    while start < n:
        end = start
        while end < n and stratum[end] == stratum[start]:
            end += 1
        n_groups = _gather_stratum(columns, growing, group_of, left[start:end], k, n_groups)
        start = end
    return group_of, n_groups


@njit(cache=True, nogil=True)
def _gather_stratum(columns: Columns, growing: Growing, group_of: Ints, left: Ints, k: int, n_groups: int) -> int:
    """Groups of the records that are left, numbered from `n_groups`. Returns the number after the last."""
    n_free = len(left)
    _begin(columns, growing, left[0], n_groups)
    n_left, _, _, seed = _look(columns, growing, group_of, left, n_free, n_groups)
    while n_free >= k:
        growing.has[:] = -1
        _begin(columns, growing, seed, n_groups)
        group_of[seed] = n_groups
        n_left, n_candidates, bound, farthest = _look(columns, growing, group_of, left, n_left, n_groups)
        for _ in range(k - 1):
            chosen, width = _best(columns, growing, group_of, n_candidates, n_groups)
            if width > bound:
                n_left, n_candidates, bound, _ = _look(columns, growing, group_of, left, n_left, n_groups)
                chosen, width = _best(columns, growing, group_of, n_candidates, n_groups)
            group_of[chosen] = n_groups
            _grow(columns, growing, chosen, n_groups)
        n_free -= k
        n_groups += 1
        seed = farthest
        if n_free > 0 and group_of[seed] >= 0:
            for record in left[:n_left]:
                if group_of[record] < 0:
                    seed = record
                    break
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
    columns: Columns, growing: Growing, group_of: Ints, left: Ints, n_left: int, group: int
) -> tuple[int, int, int, int]:
    """Fill in the candidates: the free records that widen the group least.

    Records with a group are taken off `left`. Returns how many are left, how many candidates there are, the least width
    that any other record may have, and the record that widens the group most.
    """
    cells, kinds, nodes = columns
    state, has, candidates, widths = growing
    n_candidates, n_free = 0, 0
    bound = NO_LIMIT
    most, farthest = -1, left[0]
    for position in range(n_left):
        record = left[position]
        if group_of[record] >= 0:
            continue
        left[n_free] = record
        n_free += 1
        width = _width(cells, kinds, nodes, state, has, record, group, NO_LIMIT)
        if width > most:
            most, farthest = width, record
        if width >= bound:
            continue
        candidates[n_candidates], widths[n_candidates] = record, width
        n_candidates += 1
        if n_candidates == 2 * CANDIDATES:  # the nearer half stays
            order = np.argsort(widths, kind="mergesort")[: CANDIDATES + 1]
            bound = widths[order[CANDIDATES]]
            candidates[:CANDIDATES] = candidates[order[:CANDIDATES]]
            widths[:CANDIDATES] = widths[order[:CANDIDATES]]
            n_candidates = CANDIDATES
    return n_free, n_candidates, bound, farthest


@njit(cache=True, nogil=True)
def _best(columns: Columns, growing: Growing, group_of: Ints, n_candidates: int, group: int) -> tuple[int, int]:
    """The free candidate that widens the group least, the lower one of two, and the width that it makes."""
    cells, kinds, nodes = columns
    state, has, candidates, widths = growing
    least, chosen = NO_LIMIT, -1
    for position in range(n_candidates):
        record = candidates[position]
        if group_of[record] >= 0 or widths[position] > least:
            continue
        width = _width(cells, kinds, nodes, state, has, record, group, least)
        if width < least or (width == least and record < chosen):
            least, chosen = width, record
    return chosen, least


@njit(cache=True, nogil=True)
def place_rest(columns: Columns, stratum: Ints, groups: Groups, most: int) -> None:
    """Put every record without a group into the group of its stratum that costs least, of fewer than `most` records."""
    cells, kinds, nodes = columns
    for record in range(len(stratum)):
        if groups.group_of[record] >= 0:
            continue
        best, goal = NO_LIMIT, -1
        for group in range(len(groups.size)):
            size = groups.size[group]
            if size < most and stratum[groups.members[group, 0]] == stratum[record]:
                width = width_after(cells, kinds, nodes, groups.state, groups.counts, group, -1, record)
                added = (size + 1) * width - size * groups.width[group]
                if added < best:
                    best, goal = added, group
        insert(columns, groups, record, goal)
        measure(columns, groups, goal)
