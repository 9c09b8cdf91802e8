"""Column sums of a group parted among its members by annealing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from shoal.kernels import Floats, Ints


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
