"""Blanks that match everything: how many rows agree with a row, and the cheapest blanks that give it company.

Two records agree if they have the same value in every column where neither is blank. The columns in which they differ
are a bit mask: of a record, the others with each mask are counted once, and from that follows how many would agree with
it for every set of blanks.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal.kernels import Floats, Ints


@njit(cache=True, nogil=True)
def agreeing(codes: Ints, blanks: Ints, row: int, counts: Ints) -> Ints:
    """(n,) columns as bits in which each row differs from `row` as it came, where the other is not blank."""
    n, m = codes.shape
    masks = np.zeros(n, np.int64)
    counts[:] = 0
    for other in range(n):
        mask = 0
        for column in range(m):
            if codes[row, column] != codes[other, column] and (blanks[other] >> column) & 1 == 0:
                mask |= 1 << column
        masks[other] = mask
        counts[mask] += 1
    for column in range(m):  # counts of subsets, so that counts[S] are the rows that agree once S is blank
        for mask in range(len(counts)):
            if (mask >> column) & 1:
                counts[mask] += counts[mask ^ (1 << column)]
    return masks


@njit(cache=True, nogil=True)
def blank_any(codes: Ints, k: int, cost: Floats, by_cost: Ints, n_sweeps: int) -> Ints:
    """(n,) the columns to blank of each record, as bits, so that at least k records agree with it, itself included.

    `cost` (2^m,) is that of each set of columns and `by_cost` the sets by rising cost. Records that lack company are
    given it one after the other; then each blanked record is given cheaper blanks if there are any that leave everybody
    enough company, until a sweep changes nothing.
    """
    n, m = codes.shape
    blanks = np.zeros(n, np.int64)
    counts = np.zeros(1 << m, np.int64)
    company = np.empty(n, np.int64)  # records that agree with each record
    for row in range(n):
        agreeing(codes, blanks, row, counts)
        company[row] = counts[0]
    for _ in range(n_sweeps):
        changed = False
        for row in range(n):
            if company[row] >= k and blanks[row] == 0:
                continue
            masks = agreeing(codes, blanks, row, counts)
            now = blanks[row]
            needed = 0  # what others with no company to spare agree with this record by
            for other in range(n):
                if other != row and company[other] <= k and masks[other] & ~now == 0:
                    needed |= masks[other]
            for chosen in by_cost:
                if needed & ~chosen == 0 and counts[chosen] >= k:
                    break
            if chosen == now or (company[row] >= k and cost[chosen] >= cost[now]):
                continue
            changed = True
            blanks[row] = chosen
            for other in range(n):
                if other != row:
                    before, after = masks[other] & ~now == 0, masks[other] & ~chosen == 0
                    company[other] += np.int64(after) - np.int64(before)
            company[row] = counts[chosen]
        if not changed:
            break
    return blanks
