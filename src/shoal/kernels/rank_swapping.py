"""Partners for swapping ranks within a window."""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal.kernels import Floats, Ints


@njit(cache=True, nogil=True)
def swap_partners(window: int, chance: Floats) -> Ints:
    """The rank that each rank swaps with; its own when no free rank is left within the window.

    From the lowest rank up, each that has no partner takes one of the free ranks above it, at most `window` away, all
    of them equally likely: `chance` has one number of [0, 1) per rank. Free ranks are counted in a Fenwick tree, so
    that a wide window costs no more than a narrow one.
    """
    n = chance.shape[0]
    partner = np.arange(n)
    free = np.empty(n, np.bool_)
    free[:] = True
    tree = np.zeros(n + 1, np.int64)
    for position in range(1, n + 1):
        tree[position] = position & -position  # all are free
    top = 1
    while top * 2 <= n:
        top *= 2
    for rank in range(n):
        if not free[rank]:
            continue
        _take(tree, rank, n)
        free[rank] = False
        # All ranks below are taken, so what is free up to the window's end is free within the window.
        candidates = 0
        position = min(rank + window, n - 1) + 1
        while position > 0:
            candidates += tree[position]
            position -= position & -position
        if candidates == 0:
            continue
        wanted = min(int(chance[rank] * candidates), candidates - 1)
        other = 0  # descend to the free rank that has `wanted` free ranks below it
        step = top
        while step > 0:
            if other + step <= n and tree[other + step] <= wanted:
                other += step
                wanted -= tree[other]
            step //= 2
        _take(tree, other, n)
        free[other] = False
        partner[rank] = other
        partner[other] = rank
    return partner


@njit(cache=True, nogil=True)
def _take(tree: Ints, rank: int, n: int) -> None:
    """One rank is no longer free."""
    position = rank + 1
    while position <= n:
        tree[position] -= 1
        position += position & -position
