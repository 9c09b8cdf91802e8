"""Search for better groups of rows of labels and numbers: move, swap, dissolve, gather, split, with annealing.

A step moves a few items between groups; what it changes is the error of the groups it touches, each computed afresh
with its centre. What is not kept is moved back. Work is counted, not timed, so a seed gives the same groups everywhere.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from shoal.kernels.concepts import Concepts, Ints, Sets, centroid, empty_sets, join
from shoal.kernels.repair import draw

__all__ = ["Items", "anneal_regions", "group_errors"]

Floats = NDArray[np.float64]

NEIGHBOURS = 20
# Work is counted in nanoseconds of one core, as measured once; it only has to be about right.
STEP, CONCEPT, CELL, PAIR = 150.0, 4.0, 4.0, 3.0


class Items(NamedTuple):
    """What is grouped: rows, or different rows with counts."""

    counts: Ints  # (n,)
    codes: Ints  # (n, m)
    numbers: Floats  # (n, d)


class Groups(NamedTuple):
    """Groups of items in linked lists, each with all that its centre depends on."""

    group_of: Ints  # (n,)
    first: Ints  # (g,) an item, -1 for an empty group
    after: Ints  # (n,) the next item of the group, -1 for the last
    before: Ints  # (n,)
    labels: Sets
    error: Floats  # (g,)


@njit(cache=True, nogil=True)
def _shift(items: Items, concepts: Concepts, groups: Groups, item: int, to: int) -> None:
    """Move an item to a group; from none when it has none yet."""
    home = groups.group_of[item]
    if home >= 0:
        join(concepts, groups.labels, home, items.codes, item, -items.counts[item])
        if groups.before[item] >= 0:
            groups.after[groups.before[item]] = groups.after[item]
        else:
            groups.first[home] = groups.after[item]
        if groups.after[item] >= 0:
            groups.before[groups.after[item]] = groups.before[item]
    join(concepts, groups.labels, to, items.codes, item, items.counts[item])
    groups.after[item] = groups.first[to]
    groups.before[item] = -1
    if groups.first[to] >= 0:
        groups.before[groups.first[to]] = item
    groups.first[to] = item
    groups.group_of[item] = to


@njit(cache=True, nogil=True)
def _error(
    items: Items, concepts: Concepts, apart: Floats, of_mean: bool, groups: Groups, group: int
) -> tuple[float, int]:
    """Error of a group about its own centre, and how many items it has."""
    n_attributes, n_numbers = items.codes.shape[1], items.numbers.shape[1]
    centres = np.empty(n_attributes, np.int64)
    for attribute in range(n_attributes):
        centres[attribute] = centroid(concepts, groups.labels, group, attribute)
    mean = np.zeros(n_numbers)
    if n_numbers > 0:
        item = groups.first[group]
        while item >= 0:
            for column in range(n_numbers):
                mean[column] += items.counts[item] * items.numbers[item, column]
            item = groups.after[item]
        mean /= groups.labels.size[group]
    total = 0.0
    n_items = 0
    item = groups.first[group]
    while item >= 0:
        own = 0.0
        for attribute in range(n_attributes):
            own += apart[attribute, centres[attribute], items.codes[item, attribute]]
        if of_mean:
            own *= own
        for column in range(n_numbers):
            difference = items.numbers[item, column] - mean[column]
            own += difference * difference
        total += items.counts[item] * own
        n_items += 1
        item = groups.after[item]
    return total, n_items


@njit(cache=True, nogil=True)
def _grouped(items: Items, concepts: Concepts, group_of: Ints, n_slots: int) -> Groups:
    n_items = items.codes.shape[0]
    groups = Groups(
        np.full(n_items, -1, np.int64),
        np.full(n_slots, -1, np.int64),
        np.full(n_items, -1, np.int64),
        np.full(n_items, -1, np.int64),
        empty_sets(concepts, n_slots),
        np.zeros(n_slots),
    )
    for item in range(n_items - 1, -1, -1):  # the lists then run by number
        _shift(items, concepts, groups, item, group_of[item])
    return groups


@njit(cache=True, nogil=True)
def group_errors(
    items: Items, concepts: Concepts, apart: Floats, of_mean: bool, group_of: Ints, n_groups: int
) -> Floats:
    """The error of each group about its own centre.

    `apart` (m, c, v) is added up over the attributes for every item and squared if the error is `of_mean`; numbers add
    the squared distance to the mean.
    """
    groups = _grouped(items, concepts, group_of, n_groups)
    for group in range(n_groups):
        groups.error[group], _ = _error(items, concepts, apart, of_mean, groups, group)
    return groups.error


@njit(cache=True, nogil=True)
def _between(items: Items, concepts: Concepts, apart: Floats, of_mean: bool, one: int, two: int) -> float:
    total = 0.0
    for attribute in range(items.codes.shape[1]):
        own = concepts.concept_of_value[attribute, items.codes[one, attribute]]
        total += apart[attribute, own, items.codes[two, attribute]]
    if of_mean:
        total *= total
    for column in range(items.numbers.shape[1]):
        difference = items.numbers[one, column] - items.numbers[two, column]
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def _nearest_others(items: Items, concepts: Concepts, apart: Floats, of_mean: bool, count: int) -> Ints:
    """The `count` other items nearest to each, (n, count); ties to the lower item."""
    n_items = items.codes.shape[0]
    found = np.empty((n_items, count), np.int64)
    best = np.empty(count)
    for item in range(n_items):
        best[:] = np.inf
        for other in range(n_items):
            if other == item:
                continue
            distance = _between(items, concepts, apart, of_mean, item, other)
            if distance >= best[count - 1]:
                continue
            place = count - 1
            while place > 0 and distance < best[place - 1]:
                best[place] = best[place - 1]
                found[item, place] = found[item, place - 1]
                place -= 1
            best[place] = distance
            found[item, place] = other
    return found


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
        near_one = _between(items, concepts, apart, of_mean, one, item)
        near_two = _between(items, concepts, apart, of_mean, two, item)
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
    n_slots = min(n_items, items.counts.sum() // k)
    groups = _grouped(items, concepts, group_of, n_slots)
    n_empty = 0
    empty = np.empty(n_slots, np.int64)  # a stack of unused groups
    for group in range(n_slots):
        if groups.labels.size[group] == 0:
            empty[n_empty] = group
            n_empty += 1
        else:
            groups.error[group], _ = _error(items, concepts, apart, of_mean, groups, group)
    best = group_of.copy()
    gain, best_gain = 0.0, 0.0
    near = _nearest_others(items, concepts, apart, of_mean, min(NEIGHBOURS, n_items - 1))
    done = PAIR * n_items * n_items * (items.codes.shape[1] + items.numbers.shape[1])
    n_cells = items.codes.shape[1] + items.numbers.shape[1]
    n_concepts = concepts.n_concepts.sum()

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
            new_group = True
            for place in range(n_moving):
                target[place] = empty[n_empty - 1]
        else:
            left = groups.labels.size[here] - items.counts[one]
            kind = draw(state, 16)
            if kind == 0:
                n_moving = _plan_dissolution(groups, here, near, moving, target)
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
            _shift(items, concepts, groups, moving[place], target[place])
        new = 0.0
        for place in range(n_touched):
            error[place] = 0.0
            if groups.labels.size[touched[place]] > 0 and new <= limit:
                error[place], count = _error(items, concepts, apart, of_mean, groups, touched[place])
                done += CONCEPT * n_concepts + CELL * n_cells * count
            new += error[place]
        done += CONCEPT * n_concepts * n_moving
        if new > limit:
            for place in range(n_moving - 1, -1, -1):
                _shift(items, concepts, groups, moving[place], home[place])
            done += CONCEPT * n_concepts * n_moving
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
