"""Fuzzy measures set by set: what a subset is, and every sum, written out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations


def sums_over_subsets(m: Sequence[float]) -> list[float]:
    return [sum(m[small] for small in range(len(m)) if small & large == small) for large in range(len(m))]


def alternating_sums_over_subsets(mu: Sequence[float]) -> list[float]:
    return [
        sum(
            (-1) ** (large.bit_count() - small.bit_count()) * mu[small]
            for small in range(len(mu))
            if small & large == small
        )
        for large in range(len(mu))
    ]


def is_monotone(mu: Sequence[float]) -> bool:
    return all(mu[small] <= mu[large] for large in range(len(mu)) for small in range(len(mu)) if small & large == small)


def is_submodular(mu: Sequence[float], tolerance: float = 1e-12) -> bool:
    """mu(A or B) + mu(A and B) <= mu(A) + mu(B), for any two sets."""
    return all(
        mu[one | other] + mu[one & other] <= mu[one] + mu[other] + tolerance
        for one in range(len(mu))
        for other in range(len(mu))
    )


def integral(mu: Sequence[float], values: Sequence[float]) -> float:
    """Choquet: each step up from 0, times the measure of the attributes that are at least as high."""
    total, below = 0.0, 0.0
    for level in sorted(set(values)):
        total += (level - below) * mu[sum(1 << place for place, value in enumerate(values) if value >= level)]
        below = level
    return total


def shares(mu: Sequence[float]) -> list[float]:
    """Shapley: attributes join one after the other, in every order; what each adds, on average."""
    n = len(mu).bit_length() - 1
    total = [0.0] * n
    orders = list(permutations(range(n)))
    for order in orders:
        there = 0
        for one in order:
            total[one] += mu[there | 1 << one] - mu[there]
            there |= 1 << one
    return [some / len(orders) for some in total]


def interaction(mu: Sequence[float], one: int, other: int) -> float:
    """As a Shapley value: what the two, joining as one, add beyond each alone, over the orders of the others."""
    n = len(mu).bit_length() - 1
    i, j = 1 << one, 1 << other
    total = 0.0
    orders = list(permutations([place for place in range(n) if place != other]))
    for order in orders:
        there = sum(1 << place for place in order[: order.index(one)])
        total += mu[there | i | j] - mu[there | i] - mu[there | j] + mu[there]
    return total / len(orders)
