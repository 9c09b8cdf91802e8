"""Coincidences, sums that meet in the middle, and the energy of parted counts, one by one."""

from __future__ import annotations


def coincidences(
    values: list[float], widths: list[float], gains: list[float], owners: list[int]
) -> tuple[list[float], list[int]]:
    totals, ends = [], []
    for start, (low, width) in enumerate(zip(values, widths, strict=True)):
        inside = [at for at in range(start, len(values)) if values[at] <= low + width]
        best: dict[int, float] = {}
        for at in inside:
            best[owners[at]] = max(best.get(owners[at], 0.0), gains[at])
        totals.append(sum(best.values()))
        ends.append(start + len(inside))
    return totals, ends


def cheapest_cost(
    left: list[float],
    left_costs: list[float],
    right: list[float],
    right_costs: list[float],
    targets: list[float],
    slacks: list[float],
    extra: list[float],
) -> float:
    """The lowest cost of a sum within the slack of a target; infinite when none is."""
    fitting = [
        left_costs[i] + right_costs[j] + extra[target]
        for target in range(len(targets))
        for i in range(len(left))
        for j in range(len(right))
        if targets[target] - slacks[target] <= left[i] + right[j] <= targets[target] + slacks[target]
    ]
    return min(fitting, default=float("inf"))


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
