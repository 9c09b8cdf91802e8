"""Groups taken apart: weights as whole-number combinations, and column sums parted among members by annealing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from shoal.kernels import Floats, Ints


@njit(cache=True, nogil=True)
def coincidences(values: Floats, widths: Floats, gains: Floats, owners: Ints, n_owners: int) -> tuple[Floats, Ints]:
    """For every value, the gains of the owners that have one in the window that begins there; and where it ends.

    `values` rise. An owner counts once in a window, with its largest gain.
    """
    n = values.shape[0]
    total = np.zeros(n)
    end_of = np.empty(n, np.int64)
    seen = np.full(n_owners, -1, np.int64)
    best = np.zeros(n_owners)
    for start in range(n):
        limit = values[start] + widths[start]
        at = start
        while at < n and values[at] <= limit:
            owner = owners[at]
            if seen[owner] != start:
                seen[owner] = start
                best[owner] = gains[at]
                total[start] += gains[at]
            elif gains[at] > best[owner]:
                total[start] += gains[at] - best[owner]
                best[owner] = gains[at]
            at += 1
        end_of[start] = at
    return total, end_of


@njit(cache=True, nogil=True)
def decode(
    left: Floats, left_costs: Floats, right: Floats, right_costs: Floats, targets: Floats, slacks: Floats, extra: Floats
) -> Ints:
    """The cheapest sum of one number of each side within the slack of any target: meet in the middle.

    Both sides rise; a target costs `extra`. Returns target, position on the left and on the right; -1 if nothing fits.
    """
    best = np.full(3, -1, np.int64)
    least = np.inf
    for target in range(targets.shape[0]):
        low, high = targets[target] - slacks[target], targets[target] + slacks[target]
        first = right.shape[0]  # the first on the right that is large enough: moves down as the left one rises
        for i in range(left.shape[0]):
            if left[i] > high:
                break
            while first > 0 and left[i] + right[first - 1] >= low:
                first -= 1
            j = first
            while j < right.shape[0] and left[i] + right[j] <= high:
                cost = left_costs[i] + right_costs[j] + extra[target]
                if cost < least:
                    least = cost
                    best[0], best[1], best[2] = target, i, j
                j += 1
    return best


@njit(cache=True, nogil=True)
def _add_to(total: Floats, row: Floats, sign: float) -> None:
    # A loop: what numba compiles for total += row, rows of unequal length included, takes longer than all the rest.
    for position in range(row.shape[0]):
        total[position] += sign * row[position]


@njit(cache=True, nogil=True)
def part_counts(
    affinity: Floats, counts: Ints, start: Ints, holders_cost: Floats, balance: float, temperatures: Floats, random: Any
) -> tuple[Ints, float]:
    """Counts (members, terms) with the given column sums, and their energy, lower than that of `start` as a rule.

    The energy is minus the affinity of every pair of terms in every member, plus what it costs each term to be in so
    many members (`holders_cost`, (terms, members + 1)), plus `balance` times the squared numbers of the members' terms.
    The diagonal of `affinity` is 0.
    One sweep per temperature offers every occurrence of every term to another member.
    """
    held = start.copy()
    members, n_terms = held.shape
    field = np.zeros((members, n_terms))
    size = np.zeros(members)
    holders = np.zeros(n_terms, np.int64)
    energy = 0.0
    for member in range(members):
        for term in range(n_terms):
            if held[member, term] > 0:
                energy -= field[member, term]
                _add_to(field[member], affinity[term], 1.0)
                size[member] += 1
                holders[term] += 1
        energy += balance * size[member] ** 2
    for term in range(n_terms):
        energy += holders_cost[term, holders[term]]
    best, least = held.copy(), energy
    for temperature in temperatures:
        for term in range(n_terms):
            for _ in range(counts[term]):
                giver = int(random.random() * members)
                taker = int(random.random() * members)
                if giver == taker or held[giver, term] == 0:
                    continue
                leaves = held[giver, term] == 1
                enters = held[taker, term] == 0
                after = holders[term] - leaves + enters
                change = holders_cost[term, after] - holders_cost[term, holders[term]]
                if leaves:
                    change += field[giver, term] - balance * (2 * size[giver] - 1)
                if enters:
                    change += balance * (2 * size[taker] + 1) - field[taker, term]
                if change > 0 and random.random() >= np.exp(-change / temperature):
                    continue
                held[giver, term] -= 1
                held[taker, term] += 1
                if leaves:
                    _add_to(field[giver], affinity[term], -1.0)
                    size[giver] -= 1
                if enters:
                    _add_to(field[taker], affinity[term], 1.0)
                    size[taker] += 1
                holders[term] = after
                energy += change
        if energy < least:
            best, least = held.copy(), energy
    return best, least
