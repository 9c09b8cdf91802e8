"""The energy of parted counts, one by one."""

from __future__ import annotations


def energy(
    affinity: list[list[float]], held: list[list[int]], holders_cost: list[list[float]], balance: float
) -> float:
    total = 0.0
    for member in held:
        terms = [term for term, count in enumerate(member) if count]
        total -= sum(affinity[one][other] for one in terms for other in terms if one < other)
        total += balance * len(terms) ** 2
    for term, costs in enumerate(holders_cost):
        total += costs[sum(member[term] > 0 for member in held)]
    return total
