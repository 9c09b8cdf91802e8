"""Annealing of groups for common values: records move to groups that they hardly widen, or change places with others.

Steps are counted, not timed, and each search has a random stream of its own, so a seed gives the same groups.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal.kernels import Ints
from shoal.kernels.grouping.refinement import Cooling
from shoal.kernels.grouping.repair import draw
from shoal.kernels.grouping.widening import Columns, Groups, grouped, insert, measure, remove, width_after

NEAR = 16  # groups that a record may go to
NO_LIMIT = np.int64(2**62)
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
            for other in wider:
                if other >= 0:
                    width = width_after(cells, kinds, nodes, state, counts, other, -1, record)
                    if width < own[NEAR - 1]:
                        _put(near[record], own, other, width)
    return near


@njit(cache=True, nogil=True)
def anneal(columns: Columns, stratum: Ints, group_of: Ints, k: int, n_groups: int, cooling: Cooling) -> int:
    """Search for cheaper groups of k to 2k - 1 records while the temperature falls; `group_of` is changed.

    `cooling.work` is the number of steps. Returns the change of the cost.
    """
    cells, kinds, nodes = columns
    most = 2 * k - 1
    groups = grouped(columns, group_of, n_groups, most)
    near = near_groups(columns, stratum, groups)
    state = np.array([cooling.seed], np.uint64)
    n_steps = np.int64(cooling.work)
    temperature = cooling.warm
    cool = (cooling.cold / cooling.warm) ** (1000.0 / max(n_steps, 1000))
    change = np.int64(0)
    for step in range(n_steps):
        if step % 1000 == 999:
            temperature *= cool
        record = draw(state, len(group_of))
        home, away = groups.group_of[record], near[record, draw(state, NEAR)]
        if away < 0 or away == home:
            continue
        size_home, size_away = groups.size[home], groups.size[away]
        other = -1
        if size_home == k or size_away == most or draw(state, 2) == 0:
            other = groups.members[away, draw(state, size_away)]
        before = size_home * groups.width[home] + size_away * groups.width[away]
        limit = before - temperature * np.log((draw(state, 1 << 30) + 1) / (1 << 30))
        moved = 1 if other < 0 else 0
        after = np.int64(0)
        for side in range(2):
            group, leaving, joining = (away, other, record) if side == 0 else (home, record, other)
            size = size_away + moved if side == 0 else size_home - moved
            after += size * width_after(cells, kinds, nodes, groups.state, groups.counts, group, leaving, joining)
            if after > limit:
                break
        if after > limit:
            continue
        change += after - before
        remove(columns, groups, record)
        if other >= 0:
            remove(columns, groups, other)
            insert(columns, groups, other, home)
        insert(columns, groups, record, away)
        measure(columns, groups, home)
        measure(columns, groups, away)
    group_of[:] = groups.group_of
    return change
