"""Search for better partitions: free a few neighbouring groups, divide their records anew, keep what is better.

Destroy and repair with annealing. The groups are cut into regions that are searched side by side; each has a random
stream and an amount of work of its own, so neither the number of threads nor the machine's speed shows in the result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange

from shoal.kernels.repair import Floats, Ints, draw, improve, rebuild, sum_up, worth

__all__ = ["Partition", "Rows", "anneal_regions", "total_worth"]

MOST_MOVABLE = 512  # of larger groups only so many records are divided anew at a time


# Work is counted in nanoseconds of one core of the machine on which it was measured.
FIXED = 300.0
PRODUCT = 1.0
PAIR = 2.0


class Rows(NamedTuple):
    """Records as CSR arrays, with their squared lengths."""

    indptr: Ints
    indices: Ints
    data: Floats
    squares: Floats
    n_columns: int


class Partition(NamedTuple):
    """Groups in slots; a region owns consecutive slots, some of them empty."""

    group_of_row: Ints  # (n,) slot of each row
    members: Ints  # (slots, 2k - 1)
    size: Ints  # (slots,)


@njit(cache=True, nogil=True)
def total_worth(rows: Rows, partition: Partition, spherical: bool) -> float:
    """The worth of a whole partition, summed afresh."""
    total = 0.0
    vector = np.zeros(rows.n_columns)
    for group in range(partition.size.shape[0]):
        if partition.size[group] > 0:
            square = 0.0
            for place in range(partition.size[group]):
                row = partition.members[group, place]
                for entry in range(rows.indptr[row], rows.indptr[row + 1]):
                    column = rows.indices[entry]
                    square += rows.data[entry] * (2.0 * vector[column] + rows.data[entry])
                    vector[column] += rows.data[entry]
            for place in range(partition.size[group]):
                row = partition.members[group, place]
                for entry in range(rows.indptr[row], rows.indptr[row + 1]):
                    vector[rows.indices[entry]] = 0.0
            total += worth(square, partition.size[group], spherical)
    return total


@njit(cache=True, nogil=True)
def products(rows: Rows, chosen: Ints, count: int, vector: Floats, gram: Floats) -> int:
    """Dot products of the first `count` chosen rows with each other, into `gram`. `vector` is zero before and after.

    Returns the number of multiplications.
    """
    entries = 0
    for one in range(count):
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
        for entry in range(rows.indptr[row], rows.indptr[row + 1]):
            vector[rows.indices[entry]] = 0.0
        entries += (rows.indptr[row + 1] - rows.indptr[row]) * (count - one)
    return entries


@njit(cache=True, nogil=True)
def add_settled(
    rows: Rows,
    chosen: Ints,
    movable: int,
    count: int,
    n_groups: int,
    group_of: Ints,
    vector: Floats,
    toward: Floats,
    square: Floats,
) -> None:
    """Add to the sums of the movable records those that stay where they are, places `movable` to `count`."""
    for group in range(n_groups):
        for place in range(movable, count):
            if group_of[place] == group:
                row = chosen[place]
                for entry in range(rows.indptr[row], rows.indptr[row + 1]):
                    column = rows.indices[entry]
                    square[group] += rows.data[entry] * (2.0 * vector[column] + rows.data[entry])
                    vector[column] += rows.data[entry]
        for place in range(movable):
            row = chosen[place]
            product = 0.0
            for entry in range(rows.indptr[row], rows.indptr[row + 1]):
                product += rows.data[entry] * vector[rows.indices[entry]]
            toward[place, group] += product
            if group_of[place] == group:
                square[group] += 2.0 * product
        for place in range(movable, count):
            row = chosen[place]
            for entry in range(rows.indptr[row], rows.indptr[row + 1]):
                vector[rows.indices[entry]] = 0.0


@njit(cache=True, nogil=True)
def free_groups(
    partition: Partition,
    neighbours: Ints,
    region_rows: Ints,
    region: int,
    region_of_row: Ints,
    freed: Ints,
    state: Ints,
) -> int:
    """A random record's group and some that near records are in, into `freed`. Returns how many."""
    freed[0] = partition.group_of_row[region_rows[draw(state, region_rows.shape[0])]]
    n_freed = 1
    wanted = 2 + draw(state, freed.shape[0] - 1)
    for _ in range(3 * freed.shape[0]):
        if n_freed == wanted:
            break
        base = freed[draw(state, n_freed)]
        row = partition.members[base, draw(state, partition.size[base])]
        near = neighbours[row, draw(state, neighbours.shape[1])]
        # Now and then from anywhere: an outlier's best company need not be near.
        if draw(state, 8) == 0:
            near = region_rows[draw(state, region_rows.shape[0])]
        if region_of_row[near] != region:
            continue
        group = partition.group_of_row[near]
        known = False
        for place in range(n_freed):
            known |= freed[place] == group
        if not known:
            freed[n_freed] = group
            n_freed += 1
    return n_freed


@njit(cache=True, nogil=True)
def anneal_region(
    rows: Rows,
    partition: Partition,
    neighbours: Ints,
    region_rows: Ints,
    region: int,
    region_of_row: Ints,
    first_slot: int,
    end_slot: int,
    k: int,
    spherical: bool,
    most_freed: int,
    work: float,
    warm: float,
    cold: float,
    seed: int,
) -> int:
    """Search one region, in place, for an amount of work while the temperature falls from `warm` to `cold`."""
    largest = 2 * k - 1
    capacity = most_freed * largest
    movable_capacity = min(capacity, MOST_MOVABLE)
    most_groups = capacity // k + 1
    vector = np.zeros(rows.n_columns)
    gram = np.empty((movable_capacity, movable_capacity))
    chosen = np.empty(capacity, np.int64)
    old_group = np.empty(capacity, np.int64)
    new_group = np.empty(capacity, np.int64)
    new_size = np.empty(most_groups, np.int64)
    toward = np.empty((movable_capacity, most_groups))
    square = np.empty(most_groups)
    freed = np.empty(most_freed, np.int64)
    state = np.array([seed], np.uint64)
    free_slots = np.empty(end_slot - first_slot, np.int64)
    n_free = 0
    for slot in range(first_slot, end_slot):
        if partition.size[slot] == 0:
            free_slots[n_free] = slot
            n_free += 1

    done = 0.0
    steps = 0
    while done < work:
        steps += 1
        done += FIXED
        n_freed = free_groups(partition, neighbours, region_rows, region, region_of_row, freed, state)
        if n_freed < 2:
            continue
        count = 0
        error = 0.0
        for place in range(n_freed):
            new_size[place] = partition.size[freed[place]]
            for member in range(partition.size[freed[place]]):
                row = partition.members[freed[place], member]
                chosen[count] = row
                old_group[count] = place
                error += rows.squares[row]
                count += 1
        movable = min(count, movable_capacity)
        if movable < count:
            for place in range(movable):
                other = place + draw(state, count - place)
                chosen[place], chosen[other] = chosen[other], chosen[place]
                old_group[place], old_group[other] = old_group[other], old_group[place]
        done += PRODUCT * products(rows, chosen, movable, vector, gram)
        sum_up(gram, movable, n_freed, old_group, toward, square)
        if movable < count:
            add_settled(rows, chosen, movable, count, n_freed, old_group, vector, toward, square)
        before = 0.0
        for place in range(n_freed):
            before += worth(square[place], new_size[place], spherical)
        error -= before

        n_groups = n_freed
        new_group[:count] = old_group[:count]
        if movable == count:
            fewest = (count + largest - 1) // largest
            most = min(count // k, n_freed + n_free)
            if draw(state, 3) == 0:
                n_groups = fewest + draw(state, most - fewest + 1)
            rebuild(gram, count, n_groups, k, new_group, new_size, state)
            sum_up(gram, count, n_groups, new_group, toward, square)
        done += PAIR * improve(gram, movable, k, n_groups, new_group, new_size, toward, square, spherical)
        done += PAIR * count * count
        after = 0.0
        for place in range(n_groups):
            after += worth(square[place], new_size[place], spherical)

        if after <= before:
            # Relative to the error of the freed groups: a few far-out records would drown all others otherwise.
            temperature = warm * (cold / warm) ** (done / work) * max(error, 1e-12)
            if draw(state, 1 << 30) >= np.exp((after - before) / temperature) * (1 << 30):
                continue
        for place in range(n_groups, n_freed):
            partition.size[freed[place]] = 0
            free_slots[n_free] = freed[place]
            n_free += 1
        for place in range(n_groups):
            if place < n_freed:
                slot = freed[place]
            else:
                n_free -= 1
                slot = free_slots[n_free]
            filled = 0
            for record in range(count):
                if new_group[record] == place:
                    partition.members[slot, filled] = chosen[record]
                    partition.group_of_row[chosen[record]] = slot
                    filled += 1
            partition.size[slot] = filled
    return steps


@njit(cache=True, nogil=True, parallel=True)
def anneal_regions(
    rows: Rows,
    partition: Partition,
    neighbours: Ints,
    rows_by_region: Ints,
    region_end: Ints,
    region_of_row: Ints,
    slot_end: Ints,
    k: int,
    spherical: bool,
    most_freed: int,
    work: Floats,
    warm: float,
    cold: float,
    seeds: Ints,
) -> Ints:
    """Search every region, side by side. Region r owns the rows and slots from where region r - 1 ends."""
    steps = np.zeros(region_end.shape[0], np.int64)
    for region in prange(region_end.shape[0]):
        first_row = region_end[region - 1] if region > 0 else 0
        first_slot = slot_end[region - 1] if region > 0 else 0
        steps[region] = anneal_region(
            rows,
            partition,
            neighbours,
            rows_by_region[first_row : region_end[region]],
            region,
            region_of_row,
            first_slot,
            slot_end[region],
            k,
            spherical,
            most_freed,
            work[region],
            warm,
            cold,
            seeds[region],
        )
    return steps
