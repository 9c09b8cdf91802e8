"""Search for better groups of rows of labels and numbers: move, swap, dissolve, gather, split, with annealing.

A step moves a few items between groups; what it changes is the error of the groups it touches, each computed afresh
with its centre. What is not kept is moved back. Work is counted, not timed, so a seed gives the same groups everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels import Floats, Ints
from shoal.kernels.grouping.group_errors import (
    Groups,
    Items,
    Problem,
    between,
    error_of,
    grouped,
    nearest_others,
    shift,
)
from shoal.kernels.grouping.refinement import Cooling, copy_into
from shoal.kernels.grouping.repair import draw

NEIGHBOURS = 20
# Work is counted in nanoseconds of one core, as measured once; it only has to be about right.
STEP, PASS, ATTRIBUTE, CONCEPT, CELL, PAIR = 150.0, 350.0, 50.0, 3.5, 6.0, 3.0


class Step(NamedTuple):
    """Items that move at once, and the groups that this touches."""

    moving: Ints  # (n,)
    target: Ints  # (n,) the group that each goes to
    home: Ints  # (n,) and the one it comes from
    touched: Ints  # (2n,)
    error: Floats  # (2n,) of these groups afterwards
    seen: Ints  # (g,) the last step that touched the group
    leaving: Ints  # (g,) all 0: room for `_plan_gathering`


@njit(cache=True, nogil=True)
def _no_step(n_items: int, n_slots: int) -> Step:
    return Step(
        np.empty(n_items, np.int64),
        np.empty(n_items, np.int64),
        np.empty(n_items, np.int64),
        np.empty(2 * n_items, np.int64),
        np.empty(2 * n_items),
        np.full(n_slots, -1, np.int64),
        np.zeros(n_slots, np.int64),
    )


@njit(cache=True, nogil=True)
def _plan_split(problem: Problem, groups: Groups, first: int, second: int, k: int, moving: Ints) -> int:
    """Items that leave with `second`: nearer to it than to `first`. Returns how many; 0 if a side is too small."""
    group = groups.group_of[first]
    size = np.int64(0)
    count = 0
    item = groups.first[group]
    while item >= 0:
        to_first = between(problem, first, item)
        to_second = between(problem, second, item)
        if item == second or (item != first and to_second < to_first):
            moving[count] = item
            count += 1
            size += problem.items.counts[item]
        item = groups.after[item]
    return count if size >= k and groups.labels.size[group] - size >= k else 0


@njit(cache=True, nogil=True)
def _plan_dissolution(groups: Groups, group: int, near: Ints, moving: Ints, target: Ints) -> int:
    """Every item of a group goes where the nearest item of another group is. Returns how many; 0 if one finds none."""
    count = 0
    item = groups.first[group]
    while item >= 0:
        goal = -1
        for position in range(near.shape[1]):
            if groups.group_of[near[item, position]] != group:
                goal = groups.group_of[near[item, position]]
                break
        if goal < 0:
            return 0
        moving[count] = item
        target[count] = goal
        count += 1
        item = groups.after[item]
    return count


@njit(cache=True, nogil=True)
def _plan_gathering(items: Items, groups: Groups, centre: int, near: Ints, k: int, leaving: Ints, moving: Ints) -> int:
    """Items for a new group with `centre`: the nearest that their groups can spare. Returns how many; 0 if too few.

    `leaving` (groups), all 0, counts the records that are to leave each group; it is all 0 again at the end.
    """
    size = np.int64(0)
    count = 0
    for position in range(-1, near.shape[1]):
        item = centre if position < 0 else near[centre, position]
        group = groups.group_of[item]
        left = groups.labels.size[group] - leaving[group] - items.counts[item]
        if left < k and left != 0:
            if position < 0:
                break
            continue
        leaving[group] += items.counts[item]
        moving[count] = item
        count += 1
        size += items.counts[item]
        if size >= k:
            break
    for position in range(count):
        leaving[groups.group_of[moving[position]]] = 0
    return count if size >= k and count > 1 else 0


@njit(cache=True, nogil=True)
def _plan_between_groups(
    items: Items, groups: Groups, near: Ints, first: int, second: int, k: int, unused: int, step: Step, state: Ints
) -> tuple[int, int]:
    """Dissolve the group of `first`, gather a new one about it, move it to the group of `second`, or swap both.

    Returns how many items move, and how many neighbours were looked at. `unused` is a group without items, -1: none.
    """
    moving, target = step.moving, step.target
    home, away = groups.group_of[first], groups.group_of[second]
    left = groups.labels.size[home] - items.counts[first]
    kind = draw(state, 16)
    if kind == 0:
        n_moving = _plan_dissolution(groups, home, near, moving, target)
        return n_moving, NEIGHBOURS * n_moving
    if kind == 1:
        n_moving = _plan_gathering(items, groups, first, near, k, step.leaving, moving) if unused >= 0 else 0
        for position in range(n_moving):
            target[position] = unused
        return n_moving, 0
    if kind < 8 and (left >= k or left == 0):
        moving[0], target[0] = first, away
        return 1, 0
    swapped = items.counts[second] - items.counts[first]
    if groups.labels.size[home] + swapped >= k and groups.labels.size[away] - swapped >= k:
        moving[0], target[0] = first, away
        moving[1], target[1] = second, home
        return 2, 0
    return 0, 0


@njit(cache=True, nogil=True)
def _touch(groups: Groups, step: Step, n_moving: int, tick: int) -> tuple[int, float]:
    """List the groups that the step touches: how many, and their error as it is."""
    n_touched = 0
    error = 0.0
    for position in range(n_moving):
        step.home[position] = groups.group_of[step.moving[position]]
        for group in (step.target[position], step.home[position]):
            if step.seen[group] != tick:
                step.seen[group] = tick
                step.touched[n_touched] = group
                n_touched += 1
                error += groups.error[group]
    return n_touched, error


@njit(cache=True, nogil=True)
def _take_step(
    problem: Problem, groups: Groups, step: Step, n_moving: int, n_touched: int, limit: float
) -> tuple[float, int, int]:
    """Move the items. Returns the error of the touched groups, once it is above `limit` of those before only.

    And how many groups and items were measured.
    """
    for position in range(n_moving):
        shift(problem, groups, step.moving[position], step.target[position])
    error = 0.0
    n_groups, n_items = 0, 0
    for position in range(n_touched):
        group = step.touched[position]
        step.error[position] = 0.0
        if groups.labels.size[group] > 0 and error <= limit:
            step.error[position] = error_of(problem, groups, group)
            n_groups += 1
            n_items += groups.n_items[group]
        error += step.error[position]
    return error, n_groups, n_items


@njit(cache=True, nogil=True)
def anneal(problem: Problem, group_of: Ints, k: int, cooling: Cooling) -> None:
    """Search for better groups of at least k records while the temperature falls.

    The best groups met, never worse than those given, are left in `group_of`.
    """
    work, warm, cold, seed = cooling
    items = problem.items
    n_items = group_of.shape[0]
    if n_items < 2:
        return
    n_slots = min(n_items, items.counts.sum() // k)
    groups = grouped(problem, group_of, n_slots)
    n_empty = 0
    empty = np.empty(n_slots, np.int64)  # a stack of unused groups
    for group in range(n_slots):
        if groups.labels.size[group] == 0:
            empty[n_empty] = group
            n_empty += 1
        else:
            groups.error[group] = error_of(problem, groups, group)
    best = group_of.copy()
    gain, best_gain = 0.0, 0.0
    near = nearest_others(problem, min(NEIGHBOURS, n_items - 1))
    n_cells = items.codes.shape[1] + items.numbers.shape[1]
    done = PAIR * n_cells * n_items * n_items
    a_pass = PASS + ATTRIBUTE * items.codes.shape[1] + CONCEPT * problem.table.n_concepts.sum()
    state = np.array([seed], np.uint64)
    step = _no_step(n_items, n_slots)
    tick = 0
    while done < work:
        done += STEP
        tick += 1
        first = draw(state, n_items)
        # Now and then from anywhere: an outlier's best company need not be near.
        second = near[first, draw(state, near.shape[1])] if draw(state, 8) > 0 else draw(state, n_items)
        home = groups.group_of[first]
        unused = empty[n_empty - 1] if n_empty > 0 else -1
        if home == groups.group_of[second]:
            if first == second or groups.labels.size[home] < 2 * k or unused < 0:
                continue
            n_moving = _plan_split(problem, groups, first, second, k, step.moving)
            done += 2 * CELL * n_cells * groups.n_items[home]
            for position in range(n_moving):
                step.target[position] = unused
        else:
            n_moving, looked_at = _plan_between_groups(items, groups, near, first, second, k, unused, step, state)
            done += looked_at
        if n_moving == 0:
            continue
        n_touched, old = _touch(groups, step, n_moving, tick)
        temperature = warm * (cold / warm) ** (done / work) * old
        limit = old - temperature * np.log((draw(state, 1 << 30) + 1) / (1 << 30))
        new, n_measured, n_items_measured = _take_step(problem, groups, step, n_moving, n_touched, limit)
        done += a_pass * (n_moving + n_measured) + CELL * n_cells * n_items_measured
        if new > limit:
            for position in range(n_moving - 1, -1, -1):
                shift(problem, groups, step.moving[position], step.home[position])
            done += a_pass * n_moving
            continue
        if step.target[0] == unused:
            n_empty -= 1
        for position in range(n_touched):
            group = step.touched[position]
            groups.error[group] = step.error[position]
            if groups.labels.size[group] == 0:
                empty[n_empty] = group
                n_empty += 1
        gain += old - new
        if gain > best_gain + 1e-9:
            best_gain = gain
            copy_into(groups.group_of, best)
    copy_into(best, group_of)
