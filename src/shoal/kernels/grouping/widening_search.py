"""Annealing of groups for common values: records move to groups that they hardly widen, or change places with others.

Steps are counted, not timed, and each search has a random stream of its own, so a seed gives the same groups.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels import Ints
from shoal.kernels.grouping.refinement import Cooling
from shoal.kernels.grouping.repair import draw
from shoal.kernels.grouping.widening import (
    Columns,
    Groups,
    grouped,
    insert,
    measure,
    remove,
    width_after,
    width_of,
)

NO_LIMIT = 2**62
NEAR = 16  # groups that a record may go to
DIVIDE = 4  # one step of so many divides two groups anew
DIVISION, DIVIDED_RECORD = 2.0, 0.2  # what that takes, and for each record, in steps
WIDER = 64  # groups near to a group, from which they are chosen


@njit(cache=True, nogil=True)
def _put(goals: Ints, widths: Ints, goal: int, width: int) -> None:
    """Put a goal into a list of the nearest, if it is nearer than the last."""
    position = len(goals)
    while position > 0 and width < widths[position - 1]:
        position -= 1
    if position == len(goals):
        return
    for later in range(len(goals) - 1, position, -1):
        goals[later], widths[later] = goals[later - 1], widths[later - 1]
    goals[position], widths[position] = goal, width


@njit(cache=True, nogil=True)
def near_groups(columns: Columns, stratum: Ints, groups: Groups) -> Ints:
    """(n, NEAR) other groups of the record's stratum that the record widens little, the nearest first; -1: no more.

    They are chosen among the groups that the first member of the record's group widens least.
    """
    cells, kinds, nodes = columns
    state, counts = groups.state, groups.counts
    n_groups = len(groups.size)
    near = np.full((len(stratum), NEAR), -1, np.int64)
    wider, widths = np.empty(WIDER, np.int64), np.empty(WIDER, np.int64)
    own = np.empty(NEAR, np.int64)
    for group in range(n_groups):
        first = groups.members[group, 0]
        wider[:], widths[:] = -1, NO_LIMIT
        for other in range(n_groups):
            if other == group or stratum[groups.members[other, 0]] != stratum[first]:
                continue
            width = width_after(cells, kinds, nodes, state, counts, other, -1, first)
            if width < widths[WIDER - 1]:
                _put(wider, widths, other, width)
        for slot in range(groups.size[group]):
            record = groups.members[group, slot]
            own[:] = NO_LIMIT
            for position in range(WIDER):
                candidate = int(wider[position])
                if candidate >= 0:
                    width = width_after(cells, kinds, nodes, state, counts, candidate, -1, record)
                    if width < own[NEAR - 1]:
                        _put(near[record], own, candidate, width)
    return near


class Divided(NamedTuple):
    """Room for the records of two groups that are divided anew."""

    records: Ints  # (2 most,)
    n_tries: Ints  # (1,) how many divisions there were
    seen: Ints  # (v,)


@njit(cache=True, nogil=True)
def _divide(columns: Columns, groups: Groups, home: int, away: int, divided: Divided, limit: float, state: Ints) -> int:
    """Order the records of two groups by a column, then another, both random; the first ones may be one group.

    Returns the cost of both groups with their sizes as they are, anything above `limit` if it is above it.
    """
    cells, kinds, nodes = columns
    size, n = groups.size[home], groups.size[home] + groups.size[away]
    first, second = draw(state, len(kinds)), draw(state, len(kinds))
    for position in range(n):
        group, slot = (home, position) if position < size else (away, position - size)
        record = groups.members[group, slot]
        # An insertion sort: groups are small, and nearly in order when they have been divided before.
        one, other = cells[record, first], cells[record, second]
        at = position
        while at > 0:
            before = divided.records[at - 1]
            key = cells[before, first]
            if key < one or (key == one and cells[before, second] <= other):
                break
            divided.records[at] = before
            at -= 1
        divided.records[at] = record
    mark = 2 * divided.n_tries[0]
    divided.n_tries[0] += 1
    cost = size * width_of(cells, kinds, nodes, divided.records[:size], divided.seen, mark)
    if cost <= limit:
        cost += (n - size) * width_of(cells, kinds, nodes, divided.records[size:n], divided.seen, mark + 1)
    return cost


@njit(cache=True, nogil=True)
def _take(columns: Columns, groups: Groups, home: int, away: int, divided: Divided) -> None:
    """Make the first records of the order one group, the others the other."""
    size, n = groups.size[home], groups.size[home] + groups.size[away]
    for position in range(n):
        remove(columns, groups, divided.records[position])
    for position in range(n):
        insert(columns, groups, divided.records[position], home if position < size else away)


@njit(cache=True, nogil=True)
def anneal(columns: Columns, stratum: Ints, group_of: Ints, k: int, n_groups: int, cooling: Cooling) -> None:
    """Search for cheaper groups of k to 2k - 1 records while the temperature falls; `group_of` is changed.

    `cooling.work` is the number of steps; dividing two groups counts for several.
    """
    cells, kinds, nodes = columns
    most = 2 * k - 1
    groups = grouped(columns, group_of, n_groups, most)
    near = near_groups(columns, stratum, groups)
    state = np.array([cooling.seed], np.uint64)
    temperature = cooling.warm
    divided = Divided(np.empty(2 * most, np.int64), np.zeros(1, np.int64), np.full(len(nodes), -1, np.int64))
    done, step = 0.0, 0
    while done < cooling.work:
        done += 1.0
        step += 1
        if step % 1000 == 0:
            temperature = cooling.warm * (cooling.cold / cooling.warm) ** (done / cooling.work)
        record = draw(state, len(group_of))
        home, away = groups.group_of[record], near[record, draw(state, NEAR)]
        if away < 0 or away == home or groups.width[home] == 0:  # no step can make a group of equal records better
            continue
        size_home, size_away = groups.size[home], groups.size[away]
        before = size_home * groups.width[home] + size_away * groups.width[away]
        limit = before - temperature * np.log((draw(state, 1 << 30) + 1) / (1 << 30))
        if draw(state, DIVIDE) == 0:
            done += DIVISION + DIVIDED_RECORD * (size_home + size_away)
            if _divide(columns, groups, home, away, divided, limit, state) <= limit:
                _take(columns, groups, home, away, divided)
                measure(columns, groups, home)
                measure(columns, groups, away)
            continue
        other = -1
        if size_home == k or size_away == most or draw(state, 2) == 0:
            other = groups.members[away, draw(state, size_away)]
        moved = 1 if other < 0 else 0
        after = 0
        for side in range(2):
            group, leaving, joining = (away, other, record) if side == 0 else (home, record, other)
            size = size_away + moved if side == 0 else size_home - moved
            after += size * width_after(cells, kinds, nodes, groups.state, groups.counts, group, leaving, joining)
            if after > limit:
                break
        if after > limit:
            continue
        remove(columns, groups, record)
        if other >= 0:
            remove(columns, groups, other)
            insert(columns, groups, other, home)
        insert(columns, groups, record, away)
        measure(columns, groups, home)
        measure(columns, groups, away)
    group_of[:] = groups.group_of
