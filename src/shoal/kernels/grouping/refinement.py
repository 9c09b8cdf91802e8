"""Search for better partitions: free a few neighbouring groups, divide their records anew, keep what is better.

Destroy and repair with annealing. The rows are cut into regions that are searched side by side; each has a random
stream and an amount of work of its own, so neither the number of threads nor the machine's speed shows in the result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels import Floats, Ints
from shoal.kernels.grouping.euclidean import put_in_order
from shoal.kernels.grouping.repair import Division, draw, improve, rebuild, sum_up, worth

NEIGHBOURS = 20
LARGEST_REGION = 2048  # rows whose products with each other are kept at a time: 32 MB per core
# Work is counted in nanoseconds of one core, as measured once; it only has to be about right.
STEP, PRODUCT, SCAN, PAIR = 1500.0, 1.8, 12.0, 4.5


class Rows(NamedTuple):
    """Records as CSR arrays."""

    indptr: Ints
    indices: Ints
    data: Floats
    n_columns: int


class Cooling(NamedTuple):
    """How long to search, from which temperature to which, and the seed of the random stream."""

    work: float
    warm: float
    cold: float
    seed: int


class Partition(NamedTuple):
    """Records in groups; of the groups in use and those that are not."""

    group_of: Ints  # (records,)
    members: Ints  # (groups, 2k - 1)
    size: Ints  # (groups,) 0: not in use
    worth: Floats  # (groups,) below 0: not known yet
    empty: Ints  # (groups,) a stack of those not in use


class Freed(NamedTuple):
    """A few groups, whose records are divided anew."""

    groups: Ints  # (groups,)
    records: Ints  # (records,)
    old_group: Ints  # (records,) the position of each record's among the groups
    gram: Floats  # (records, records)
    new: Division


@njit(cache=True, nogil=True)
def products(rows: Rows, chosen: Ints, gram: Floats) -> int:
    """Dot products of the chosen rows with each other, into `gram`. Returns the number of multiplications."""
    entries = 0
    vector = np.zeros(rows.n_columns)
    for first in range(chosen.shape[0]):
        row = chosen[first]
        for entry in range(rows.indptr[row], rows.indptr[row + 1]):
            vector[rows.indices[entry]] = rows.data[entry]
        for second in range(first + 1):
            other = chosen[second]
            total = 0.0
            for entry in range(rows.indptr[other], rows.indptr[other + 1]):
                total += rows.data[entry] * vector[rows.indices[entry]]
            gram[first, second] = total
            gram[second, first] = total
            entries += rows.indptr[other + 1] - rows.indptr[other]
        for entry in range(rows.indptr[row], rows.indptr[row + 1]):
            vector[rows.indices[entry]] = 0.0
    return entries


@njit(cache=True, nogil=True)
def nearest_others(gram: Floats, count: int) -> Ints:
    """The `count` other records nearest to each, (n, count); ties to the lower record."""
    n_records = gram.shape[0]
    nearest = np.empty((n_records, count), np.int64)
    best = np.empty(count)
    for record in range(n_records):
        best[:] = np.inf
        for other in range(n_records):
            distance = gram[other, other] - 2.0 * gram[record, other]
            if distance < best[count - 1] and other != record:
                put_in_order(distance, other, best, nearest[record])
    return nearest


@njit(cache=True, nogil=True)
def _partitioned(group_of: Ints, k: int) -> tuple[Partition, int]:
    """The records in their groups, and how many groups are not in use."""
    n_slots = group_of.shape[0] // k
    members = np.empty((n_slots, 2 * k - 1), np.int64)
    size = np.zeros(n_slots, np.int64)
    for record in range(group_of.shape[0]):
        members[group_of[record], size[group_of[record]]] = record
        size[group_of[record]] += 1
    empty = np.empty(n_slots, np.int64)
    n_empty = 0
    for group in range(n_slots):
        if size[group] == 0:
            empty[n_empty] = group
            n_empty += 1
    return Partition(group_of, members, size, np.full(n_slots, -1.0), empty), n_empty


@njit(cache=True, nogil=True)
def _room(most_freed: int, k: int) -> Freed:
    """Arrays for `most_freed` groups of at most 2k - 1 records."""
    most_records = most_freed * (2 * k - 1)
    most_groups = most_records // k
    return Freed(
        np.empty(most_freed, np.int64),
        np.empty(most_records, np.int64),
        np.empty(most_records, np.int64),
        np.empty((most_records, most_records)),
        Division(
            np.empty(most_records, np.int64),
            np.empty(most_groups, np.int64),
            np.empty((most_groups, most_records)),
            np.empty(most_groups),
        ),
    )


@njit(cache=True, nogil=True)
def _free_groups(partition: Partition, near: Ints, freed: Ints, state: Ints) -> int:
    """A random record's group and some that near records are in, into `freed`. Returns how many."""
    group_of = partition.group_of
    freed[0] = group_of[draw(state, group_of.shape[0])]
    n_freed = 1
    wanted = 2 + draw(state, freed.shape[0] - 1)
    for _ in range(3 * freed.shape[0]):
        if n_freed == wanted:
            break
        base = freed[draw(state, n_freed)]
        member = partition.members[base, draw(state, partition.size[base])]
        other = near[member, draw(state, near.shape[1])]
        if draw(state, 8) == 0:  # now and then from anywhere: an outlier's best company need not be near
            other = draw(state, group_of.shape[0])
        known = False
        for position in range(n_freed):
            known |= freed[position] == group_of[other]
        if not known:
            freed[n_freed] = group_of[other]
            n_freed += 1
    return n_freed


@njit(cache=True, nogil=True)
def _gather(partition: Partition, freed: Freed, n_freed: int) -> int:
    """List the records of the freed groups. Returns how many."""
    count = 0
    for position in range(n_freed):
        group = freed.groups[position]
        for member in range(partition.size[group]):
            freed.records[count] = partition.members[group, member]
            freed.old_group[count] = position
            count += 1
    return count


@njit(cache=True, nogil=True)
def _worth_now(gram: Floats, partition: Partition, freed: Freed, n_freed: int, count: int, space: int) -> float:
    """What the freed groups are worth as they are; fills the products of their records."""
    for first in range(count):
        for second in range(count):
            freed.gram[first, second] = gram[freed.records[first], freed.records[second]]
    unknown = False
    for position in range(n_freed):
        unknown |= partition.worth[freed.groups[position]] < 0
    if unknown:
        old = Division(freed.old_group, freed.new.size, freed.new.toward, freed.new.square)
        sum_up(freed.gram, old, count, n_freed)
        for position in range(n_freed):
            group = freed.groups[position]
            partition.worth[group] = worth(space, old.square[position], partition.size[group])
    total = 0.0
    for position in range(n_freed):
        total += partition.worth[freed.groups[position]]
    return total


@njit(cache=True, nogil=True)
def _error_of_changed(partition: Partition, freed: Freed, n_groups: int, count: int, before: float) -> float:
    """The error, before, of the freed groups that are not among the new ones."""
    new = freed.new
    same_as = np.full(n_groups, -1, np.int64)  # the position of the same group among the freed, if there is one
    for record in range(count):
        position = new.group_of[record]
        if same_as[position] == -1 and partition.size[freed.groups[freed.old_group[record]]] == new.size[position]:
            same_as[position] = freed.old_group[record]
        elif same_as[position] != freed.old_group[record]:
            same_as[position] = -2
    error = -before
    for position in range(n_groups):
        if same_as[position] >= 0:
            error += partition.worth[freed.groups[same_as[position]]]
    for record in range(count):
        if same_as[new.group_of[record]] < 0:
            error += freed.gram[record, record]
    return error


@njit(cache=True, nogil=True)
def _keep_new(
    partition: Partition, freed: Freed, n_freed: int, n_groups: int, count: int, n_empty: int, space: int
) -> int:
    """The new groups take the place of the freed ones. Returns how many groups are not in use now."""
    for position in range(n_groups, n_freed):
        partition.size[freed.groups[position]] = 0
        partition.empty[n_empty] = freed.groups[position]
        n_empty += 1
    for position in range(n_groups):
        if position < n_freed:
            group = freed.groups[position]
        else:
            n_empty -= 1
            group = partition.empty[n_empty]
        size = 0
        for record in range(count):
            if freed.new.group_of[record] == position:
                partition.members[group, size] = freed.records[record]
                partition.group_of[freed.records[record]] = group
                size += 1
        partition.size[group] = size
        partition.worth[group] = worth(space, freed.new.square[position], size)
    return n_empty


@njit(cache=True, nogil=True)
def copy_into(source: Ints, target: Ints) -> None:
    # Not target[:] = source: what numba compiles for the case of unequal lengths takes longer than all the rest.
    for position in range(source.shape[0]):
        target[position] = source[position]


@njit(cache=True, nogil=True)
def anneal(gram: Floats, group_of: Ints, k: int, space: int, most_freed: int, cooling: Cooling) -> None:
    """Search for better groups of records known by their products, while the temperature falls.

    The best groups met, never worse than those given, are left in `group_of`.
    """
    work, warm, cold, seed = cooling
    n_records = group_of.shape[0]
    partition, n_empty = _partitioned(group_of, k)
    best = group_of.copy()
    gain, best_gain = 0.0, 0.0
    near = nearest_others(gram, min(NEIGHBOURS, n_records - 1))
    done = SCAN * n_records * n_records
    state = np.array([seed], np.uint64)
    freed = _room(most_freed, k)
    new = freed.new
    while done < work:
        n_freed = _free_groups(partition, near, freed.groups, state)
        count = _gather(partition, freed, n_freed)
        done += STEP + SCAN * count * count
        if n_freed < 2:
            continue
        before = _worth_now(gram, partition, freed, n_freed, count, space)
        n_groups = n_freed
        if draw(state, 3) == 0:
            fewest = (count + 2 * k - 2) // (2 * k - 1)
            n_groups = fewest + draw(state, min(count // k, n_freed + n_empty) - fewest + 1)
        rebuild(freed.gram, new, count, n_groups, k, state)
        sum_up(freed.gram, new, count, n_groups)
        done += PAIR * improve(freed.gram, new, count, n_groups, k, space)
        after = 0.0
        for position in range(n_groups):
            after += worth(space, new.square[position], new.size[position])
        if after <= before:
            # Relative to the error of the groups that change: a few far-out records would drown all others otherwise.
            error = _error_of_changed(partition, freed, n_groups, count, before)
            temperature = warm * (cold / warm) ** (done / work) * max(error, 1e-12)
            if draw(state, 1 << 30) >= np.exp((after - before) / temperature) * (1 << 30):
                continue
        n_empty = _keep_new(partition, freed, n_freed, n_groups, count, n_empty, space)
        gain += after - before
        if gain > best_gain + 1e-9:
            best_gain = gain
            copy_into(group_of, best)
    copy_into(best, group_of)
