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


@njit(cache=True, nogil=True)
def near_groups(columns: Columns, stratum: Ints, groups: Groups, n_near: int) -> Ints:
    """(n, near) other groups of the record's stratum that the record widens least, the nearest first; -1: no more."""
    n, n_groups = len(stratum), len(groups.size)
    near = np.full((n, n_near), -1, np.int64)
    widths = np.empty(n_near)
    for record in range(n):
        widths[:] = np.inf
        for group in range(n_groups):
            if group == groups.group_of[record] or stratum[groups.members[group, 0]] != stratum[record]:
                continue
            width = width_after(columns, groups, group, -1, record)
            position = n_near
            while position > 0 and width < widths[position - 1]:
                position -= 1
            if position < n_near:
                for later in range(n_near - 1, position, -1):
                    widths[later] = widths[later - 1]
                    near[record, later] = near[record, later - 1]
                widths[position] = width
                near[record, position] = group
    return near


@njit(cache=True, nogil=True)
def anneal(columns: Columns, stratum: Ints, group_of: Ints, k: int, n_groups: int, cooling: Cooling) -> float:
    """Search for cheaper groups of k to 2k - 1 records while the temperature falls; `group_of` is changed.

    `cooling.work` is the number of steps. Returns the change of the cost.
    """
    most = 2 * k - 1
    groups = grouped(columns, group_of, n_groups, most)
    near = near_groups(columns, stratum, groups, NEAR)
    state = np.array([cooling.seed], np.uint64)
    n_steps = np.int64(cooling.work)
    temperature = cooling.warm
    cool = (cooling.cold / cooling.warm) ** (1000.0 / max(n_steps, 1000))
    change = 0.0
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
        after = (size_away + moved) * width_after(columns, groups, away, other, record)
        if after > limit:
            continue
        after += (size_home - moved) * width_after(columns, groups, home, record, other)
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
