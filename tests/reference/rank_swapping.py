"""Rank swapping with a list of who is free."""

from __future__ import annotations


def swap_partners(window: int, chance: list[float]) -> list[int]:
    n = len(chance)
    partner = list(range(n))
    free = set(range(n))
    for rank in range(n):
        if rank not in free:
            continue
        free.remove(rank)
        candidates = [other for other in range(rank + 1, min(rank + window, n - 1) + 1) if other in free]
        if candidates:
            other = candidates[int(chance[rank] * len(candidates))]
            free.remove(other)
            partner[rank], partner[other] = other, rank
    return partner
