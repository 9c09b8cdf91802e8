"""Search for better groups of rows of labels and numbers: move, swap, dissolve, gather, split, with annealing.

A step moves a few items between groups; what it changes is the error of the groups it touches, each computed afresh
with its centre. What is not kept is moved back. Work is counted, not timed, so a seed gives the same groups everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from shoal.kernels.grouping.concepts import Concepts, Ints
from shoal.kernels.grouping.group_errors import Floats, Groups, Items, between, error_of, grouped, nearest_others, shift
from shoal.kernels.grouping.repair import draw

__all__ = ["anneal", "anneal_regions"]

NEIGHBOURS = 20
# Work is counted in nanoseconds of one core, as measured once; it only has to be about right.
STEP, ATTRIBUTE, CONCEPT, CELL, PAIR = 150.0, 50.0, 3.5, 6.0, 3.0


@njit(cache=True, nogil=True)
def _plan_split(
    items: Items,
    concepts: Concepts,
    apart: Floats,
    of_mean: bool,
    groups: Groups,
    one: int,
    two: int,
    k: int,
    moving: Ints,
) -> int:
    """Who leaves the group with `two`: those nearer to it than to `one`. Returns how many; 0 if a side is too small."""
    group = groups.group_of[one]
    size = np.int64(0)
    count = 0
    item = groups.first[group]
    while item >= 0:
        near_one = between(items, concepts, apart, of_mean, one, item)
        near_two = between(items, concepts, apart, of_mean, two, item)
        if item == two or (item != one and near_two < near_one):
            moving[count] = item
            count += 1
            size += items.counts[item]
        item = groups.after[item]
    return count if size >= k and groups.labels.size[group] - size >= k else 0


@njit(cache=True, nogil=True)
def _plan_dissolution(groups: Groups, group: int, near: Ints, moving: Ints, target: Ints) -> int:
    """Every item of a group goes where the nearest item of another group is. Returns how many; 0 if one finds none."""
    count = 0
    item = groups.first[group]
    while item >= 0:
        goal = -1
        for place in range(near.shape[1]):
            if groups.group_of[near[item, place]] != group:
                goal = groups.group_of[near[item, place]]
                break
        if goal < 0:
            return 0
        moving[count] = item
        target[count] = goal
        count += 1
        item = groups.after[item]
    return count


@njit(cache=True, nogil=True)
def _plan_gathering(items: Items, groups: Groups, one: int, near: Ints, k: int, leaving: Ints, moving: Ints) -> int:
    """Who would make a new group with `one`: the nearest that their groups can spare. Returns how many; 0 if too few.

    `leaving` (groups), all 0, counts the records that are to leave each group; it is all 0 again at the end.
    """
    size = np.int64(0)
    count = 0
    for place in range(-1, near.shape[1]):
        item = one if place < 0 else near[one, place]
        group = groups.group_of[item]
        left = groups.labels.size[group] - leaving[group] - items.counts[item]
        if left < k and left != 0:
            if place < 0:
                break
            continue
        leaving[group] += items.counts[item]
        moving[count] = item
        count += 1
        size += items.counts[item]
        if size >= k:
            break
    for place in range(count):
        leaving[groups.group_of[moving[place]]] = 0
    return count if size >= k and count > 1 else 0


@njit(cache=True, nogil=True)
def anneal(
    items: Items,
    concepts: Concepts,
    apart: Floats,
    of_mean: bool,
    group_of: Ints,
    k: int,
    work: float,
    warm: float,
    cold: float,
    seed: int,
) -> None:
    """Search for better groups of at least k records while the temperature falls from `warm` to `cold`.

    The best groups met, never worse than those given, are left in `group_of`.
    """
    n_items = items.codes.shape[0]
    if n_items < 2:
        return
    n_slots = min(n_items, items.counts.sum() // k)
    groups = grouped(items, concepts, group_of, n_slots)
    n_empty = 0
    empty = np.empty(n_slots, np.int64)  # a stack of unused groups
    for group in range(n_slots):
        if groups.labels.size[group] == 0:
            empty[n_empty] = group
            n_empty += 1
        else:
            groups.error[group] = error_of(items, concepts, apart, of_mean, groups, group)
    best = group_of.copy()
    gain, best_gain = 0.0, 0.0
    near = nearest_others(items, concepts, apart, of_mean, min(NEIGHBOURS, n_items - 1))
    n_cells = items.codes.shape[1] + items.numbers.shape[1]
    done = PAIR * n_cells * n_items * n_items
    a_pass = ATTRIBUTE * items.codes.shape[1] + CONCEPT * concepts.n_concepts.sum()

    state = np.array([seed], np.uint64)
    moving, target, home = np.empty(n_items, np.int64), np.empty(n_items, np.int64), np.empty(n_items, np.int64)
    touched, error = np.empty(2 * n_items, np.int64), np.empty(2 * n_items)
    seen, leaving = np.full(n_slots, -1, np.int64), np.zeros(n_slots, np.int64)
    tick = 0
    while done < work:
        done += STEP
        tick += 1
        one = draw(state, n_items)
        # Now and then from anywhere: an outlier's best company need not be near.
        two = near[one, draw(state, near.shape[1])] if draw(state, 8) > 0 else draw(state, n_items)
        here, there = groups.group_of[one], groups.group_of[two]
        n_moving = 0
        new_group = False
        if here == there:
            if one == two or groups.labels.size[here] < 2 * k or n_empty == 0:
                continue
            n_moving = _plan_split(items, concepts, apart, of_mean, groups, one, two, k, moving)
            done += 2 * CELL * n_cells * groups.n_items[here]
            new_group = True
            for place in range(n_moving):
                target[place] = empty[n_empty - 1]
        else:
            left = groups.labels.size[here] - items.counts[one]
            kind = draw(state, 16)
            if kind == 0:
                n_moving = _plan_dissolution(groups, here, near, moving, target)
                done += NEIGHBOURS * n_moving
            elif kind == 1:
                if n_empty > 0:
                    n_moving = _plan_gathering(items, groups, one, near, k, leaving, moving)
                    new_group = True
                    for place in range(n_moving):
                        target[place] = empty[n_empty - 1]
            elif kind < 8 and (left >= k or left == 0):
                moving[0], target[0] = one, there
                n_moving = 1
            else:
                swapped = items.counts[two] - items.counts[one]
                if groups.labels.size[here] + swapped >= k and groups.labels.size[there] - swapped >= k:
                    moving[0], target[0] = one, there
                    moving[1], target[1] = two, here
                    n_moving = 2
        if n_moving == 0:
            continue

        n_touched = 0
        old = 0.0
        for place in range(n_moving):
            home[place] = groups.group_of[moving[place]]
            for group in (target[place], home[place]):
                if seen[group] != tick:
                    seen[group] = tick
                    touched[n_touched] = group
                    n_touched += 1
                    old += groups.error[group]
        temperature = warm * (cold / warm) ** (done / work) * old
        limit = old - temperature * np.log((draw(state, 1 << 30) + 1) / (1 << 30))
        for place in range(n_moving):
            shift(items, concepts, groups, moving[place], target[place])
        new = 0.0
        for place in range(n_touched):
            error[place] = 0.0
            if groups.labels.size[touched[place]] > 0 and new <= limit:
                error[place] = error_of(items, concepts, apart, of_mean, groups, touched[place])
                done += a_pass + CELL * n_cells * groups.n_items[touched[place]]
            new += error[place]
        done += a_pass * n_moving
        if new > limit:
            for place in range(n_moving - 1, -1, -1):
                shift(items, concepts, groups, moving[place], home[place])
            done += a_pass * n_moving
            continue
        n_empty -= new_group
        for place in range(n_touched):
            groups.error[touched[place]] = error[place]
            if groups.labels.size[touched[place]] == 0:
                empty[n_empty] = touched[place]
                n_empty += 1
        gain += old - new
        if gain > best_gain + 1e-9:
            best_gain = gain
            best[:] = groups.group_of
    group_of[:] = best


@njit(cache=True, nogil=True, parallel=True)
def anneal_regions(
    items: Items,
    concepts: Concepts,
    apart: Floats,
    of_mean: bool,
    order: Ints,
    region_end: Ints,
    group_of: Ints,
    k: int,
    work: Floats,
    warm: Floats,
    cold: float,
    seeds: Any,
) -> None:
    """Search every region, side by side.

    `order` lists the items region by region, `group_of` in the same order their groups, numbered from 0 in each region.
    """
    for region in prange(region_end.shape[0]):
        start = region_end[region - 1] if region > 0 else 0
        inside = order[start : region_end[region]]
        some = Items(items.counts[inside], items.codes[inside], items.numbers[inside])
        groups = group_of[start : region_end[region]]
        anneal(some, concepts, apart, of_mean, groups, k, work[region], warm[region], cold, seeds[region])
