"""Search for better partitions: free a few neighbouring groups, divide their records anew, keep what is better.

Destroy and repair with annealing. The rows are cut into regions that are searched side by side; each has a random
stream and an amount of work of its own, so neither the number of threads nor the machine's speed shows in the result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange

from shoal.kernels.grouping.repair import Floats, Ints, draw, improve, rebuild, sum_up, worth

__all__ = ["Rows", "anneal_regions", "total_worth"]

NEIGHBOURS = 20
LARGEST_REGION = 2048  # rows whose products with each other are kept at a time: 32 MB a core
# Work is counted in nanoseconds of one core, as measured once; it only has to be about right.
STEP, PRODUCT, SCAN, PAIR = 1500.0, 1.8, 12.0, 4.5


class Rows(NamedTuple):
    """Records as CSR arrays."""

    indptr: Ints
    indices: Ints
    data: Floats
    n_columns: int


@njit(cache=True, nogil=True)
def total_worth(rows: Rows, order: Ints, group_end: Ints, spherical: bool) -> float:
    """The worth of a whole partition, summed afresh; `order` lists the rows group by group."""
    total = 0.0
    vector = np.zeros(rows.n_columns)
    start = 0
    for end in group_end:
        square = 0.0
        for row in order[start:end]:
            for entry in range(rows.indptr[row], rows.indptr[row + 1]):
                column = rows.indices[entry]
                square += rows.data[entry] * (2.0 * vector[column] + rows.data[entry])
                vector[column] += rows.data[entry]
        for row in order[start:end]:
            for entry in range(rows.indptr[row], rows.indptr[row + 1]):
                vector[rows.indices[entry]] = 0.0
        total += worth(square, end - start, spherical)
        start = end
    return total


@njit(cache=True, nogil=True)
def products(rows: Rows, chosen: Ints, gram: Floats) -> int:
    """Dot products of the chosen rows with each other, into `gram`. Returns the number of multiplications."""
    entries = 0
    vector = np.zeros(rows.n_columns)
    for one in range(chosen.shape[0]):
        row = chosen[one]
        for entry in range(rows.indptr[row], rows.indptr[row + 1]):
            vector[rows.indices[entry]] = rows.data[entry]
        for two in range(one + 1):
            other = chosen[two]
            total = 0.0
            for entry in range(rows.indptr[other], rows.indptr[other + 1]):
                total += rows.data[entry] * vector[rows.indices[entry]]
            gram[one, two] = total
            gram[two, one] = total
            entries += rows.indptr[other + 1] - rows.indptr[other]
        for entry in range(rows.indptr[row], rows.indptr[row + 1]):
            vector[rows.indices[entry]] = 0.0
    return entries


@njit(cache=True, nogil=True)
def nearest_others(gram: Floats, count: int) -> Ints:
    """The `count` other records nearest to each, (n, count); ties to the lower record."""
    n_records = gram.shape[0]
    found = np.empty((n_records, count), np.int64)
    best = np.empty(count)
    for record in range(n_records):
        best[:] = np.inf
        for other in range(n_records):
            distance = gram[other, other] - 2.0 * gram[record, other]
            if distance >= best[count - 1] or other == record:
                continue
            place = count - 1
            while place > 0 and distance < best[place - 1]:
                best[place] = best[place - 1]
                found[record, place] = found[record, place - 1]
                place -= 1
            best[place] = distance
            found[record, place] = other
    return found


@njit(cache=True, nogil=True)
def free_groups(group_of: Ints, members: Ints, size: Ints, near: Ints, freed: Ints, state: Ints) -> int:
    """A random record's group and some that near records are in, into `freed`. Returns how many."""
    n_records = group_of.shape[0]
    freed[0] = group_of[draw(state, n_records)]
    n_freed = 1
    wanted = 2 + draw(state, freed.shape[0] - 1)
    for _ in range(3 * freed.shape[0]):
        if n_freed == wanted:
            break
        base = freed[draw(state, n_freed)]
        other = near[members[base, draw(state, size[base])], draw(state, near.shape[1])]
        if draw(state, 8) == 0:  # now and then from anywhere: an outlier's best company need not be near
            other = draw(state, n_records)
        known = False
        for place in range(n_freed):
            known |= freed[place] == group_of[other]
        if not known:
            freed[n_freed] = group_of[other]
            n_freed += 1
    return n_freed


@njit(cache=True, nogil=True)
def anneal(
    gram: Floats,
    group_of: Ints,
    k: int,
    spherical: bool,
    most_freed: int,
    work: float,
    warm: float,
    cold: float,
    seed: int,
) -> None:
    """Search for better groups of records known by their products, while the temperature falls from `warm` to `cold`.

    The best groups met, never worse than those given, are left in `group_of`.
    """
    n_records = group_of.shape[0]
    n_slots = n_records // k
    largest = 2 * k - 1
    members = np.empty((n_slots, largest), np.int64)
    size = np.zeros(n_slots, np.int64)
    for record in range(n_records):
        members[group_of[record], size[group_of[record]]] = record
        size[group_of[record]] += 1
    empty = np.empty(n_slots, np.int64)  # a stack of unused group numbers
    n_empty = 0
    for group in range(n_slots):
        if size[group] == 0:
            empty[n_empty] = group
            n_empty += 1
    worth_of = np.full(n_slots, -1.0)  # not known yet
    best = group_of.copy()
    gain, best_gain = 0.0, 0.0
    near = nearest_others(gram, min(NEIGHBOURS, n_records - 1))
    done = SCAN * n_records * n_records

    capacity = most_freed * largest
    most_groups = capacity // k
    state = np.array([seed], np.uint64)
    freed = np.empty(most_freed, np.int64)
    chosen = np.empty(capacity, np.int64)
    small = np.empty((capacity, capacity))  # gram of the chosen
    old_group = np.empty(capacity, np.int64)
    new_group = np.empty(capacity, np.int64)
    kept = np.empty(most_groups, np.int64)
    new_size = np.empty(most_groups, np.int64)
    toward = np.empty((most_groups, capacity))
    square = np.empty(most_groups)
    while done < work:
        n_freed = free_groups(group_of, members, size, near, freed, state)
        count = 0
        for place in range(n_freed):
            for member in range(size[freed[place]]):
                chosen[count] = members[freed[place], member]
                old_group[count] = place
                count += 1
        done += STEP + SCAN * count * count
        if n_freed < 2:
            continue
        unknown = False
        before = 0.0
        for place in range(n_freed):
            unknown |= worth_of[freed[place]] < 0
        for one in range(count):
            for two in range(count):
                small[one, two] = gram[chosen[one], chosen[two]]
        if unknown:
            sum_up(small, count, n_freed, old_group, toward, square)
            for place in range(n_freed):
                worth_of[freed[place]] = worth(square[place], size[freed[place]], spherical)
        for place in range(n_freed):
            before += worth_of[freed[place]]

        n_groups = n_freed
        if draw(state, 3) == 0:
            fewest = (count + largest - 1) // largest
            n_groups = fewest + draw(state, min(count // k, n_freed + n_empty) - fewest + 1)
        rebuild(small, count, n_groups, k, new_group, new_size, state)
        sum_up(small, count, n_groups, new_group, toward, square)
        done += PAIR * improve(small, count, k, n_groups, new_group, new_size, toward, square, spherical)
        after = 0.0
        for place in range(n_groups):
            after += worth(square[place], new_size[place], spherical)
        if after <= before:
            # Relative to the error of the groups that change: a few far-out records would drown all others otherwise.
            kept[:n_groups] = -1
            for record in range(count):
                place = new_group[record]
                if kept[place] == -1 and size[freed[old_group[record]]] == new_size[place]:
                    kept[place] = old_group[record]
                elif kept[place] != old_group[record]:
                    kept[place] = -2
            error = -before
            for place in range(n_groups):
                if kept[place] >= 0:
                    error += worth_of[freed[kept[place]]]
            for record in range(count):
                if kept[new_group[record]] < 0:
                    error += small[record, record]
            temperature = warm * (cold / warm) ** (done / work) * max(error, 1e-12)
            if draw(state, 1 << 30) >= np.exp((after - before) / temperature) * (1 << 30):
                continue
        for place in range(n_groups, n_freed):
            size[freed[place]] = 0
            empty[n_empty] = freed[place]
            n_empty += 1
        for place in range(n_groups):
            if place < n_freed:
                group = freed[place]
            else:
                n_empty -= 1
                group = empty[n_empty]
            size[group] = 0
            for record in range(count):
                if new_group[record] == place:
                    members[group, size[group]] = chosen[record]
                    group_of[chosen[record]] = group
                    size[group] += 1
            worth_of[group] = worth(square[place], size[group], spherical)
        gain += after - before
        if gain > best_gain + 1e-9:
            best_gain = gain
            best[:] = group_of
    group_of[:] = best


@njit(cache=True, nogil=True)
def descend(rows: Rows, inside: Ints, group_of: Ints, k: int, spherical: bool, work: float, seed: int) -> None:
    """Move and swap records of groups too large to be divided anew: a random few at a time, the others stay."""
    n_records, n_movable = inside.shape[0], LARGEST_REGION // 2
    n_groups = group_of.max() + 1
    place = np.arange(n_records)
    state = np.array([seed], np.uint64)
    gram = np.empty((n_movable, n_movable))
    moved = np.empty(n_movable, np.int64)
    toward = np.empty((n_groups, n_movable))
    square = np.empty(n_groups)
    vector = np.zeros(rows.n_columns)
    size = np.zeros(n_groups, np.int64)
    for record in range(n_records):
        size[group_of[record]] += 1
    done = 0.0
    while done < work:
        for here in range(n_movable):
            there = here + draw(state, n_records - here)
            place[here], place[there] = place[there], place[here]
            moved[here] = group_of[place[here]]
        done += PRODUCT * products(rows, inside[place[:n_movable]], gram)
        sum_up(gram, n_movable, n_groups, moved, toward, square)
        for group in range(n_groups):
            vector[:] = 0.0
            for record in place[n_movable:]:
                if group_of[record] == group:
                    for entry in range(rows.indptr[inside[record]], rows.indptr[inside[record] + 1]):
                        column = rows.indices[entry]
                        square[group] += rows.data[entry] * (2.0 * vector[column] + rows.data[entry])
                        vector[column] += rows.data[entry]
            for here in range(n_movable):
                row = inside[place[here]]
                product = 0.0
                for entry in range(rows.indptr[row], rows.indptr[row + 1]):
                    product += rows.data[entry] * vector[rows.indices[entry]]
                toward[group, here] += product
                if moved[here] == group:
                    square[group] += 2.0 * product
        done += PAIR * improve(gram, n_movable, k, n_groups, moved, size, toward, square, spherical)
        for here in range(n_movable):
            group_of[place[here]] = moved[here]


@njit(cache=True, nogil=True, parallel=True)
def anneal_regions(
    rows: Rows,
    order: Ints,
    region_end: Ints,
    group_of: Ints,
    k: int,
    spherical: bool,
    most_freed: int,
    work: Floats,
    warm: Floats,
    cold: float,
    seeds: Ints,
) -> None:
    """Search every region, side by side.

    `order` lists the rows region by region, `group_of` in the same order their groups, numbered from 0 in each region.
    """
    for region in prange(region_end.shape[0]):
        start = region_end[region - 1] if region > 0 else 0
        inside = order[start : region_end[region]]
        groups = group_of[start : region_end[region]]
        if inside.shape[0] > LARGEST_REGION:
            descend(rows, inside, groups, k, spherical, work[region], seeds[region])
        else:
            gram = np.empty((inside.shape[0], inside.shape[0]))
            left = work[region] - PRODUCT * products(rows, inside, gram)
            anneal(gram, groups, k, spherical, most_freed, left, warm[region], cold, seeds[region])
