"""Rows with equal keys, numbered and counted."""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal.kernels import Ints

_SPREAD = np.uint64(11400714819323198485)  # 2^64 by the golden ratio: neighbouring keys go to slots far apart


@njit(cache=True, nogil=True)
def divide_keys(key_of_row: Ints, n_keys: int, codes: Ints, n_codes: int) -> tuple[Ints, Ints]:
    """Keys divided by one more column: the new key of each row, numbered by first rows, and the rows of each key.

    Few possible keys are looked up in a table of all of them, many in a hash table.
    """
    n = codes.shape[0]
    key = np.empty(n, np.int64)
    count = np.zeros(n, np.int64)
    found = 0
    possible = n_keys * n_codes
    if possible <= 4 * n + 1024:
        number_of = np.full(possible, -1, np.int64)
        for row in range(n):
            both = key_of_row[row] * n_codes + codes[row]
            if number_of[both] < 0:
                number_of[both] = found
                found += 1
            key[row] = number_of[both]
            count[key[row]] += 1
        return key, count[:found].copy()
    bits = 1
    while (1 << bits) < 2 * n:
        bits += 1
    slots = np.full(1 << bits, -1, np.int64)
    numbers = np.empty(1 << bits, np.int64)
    shift = np.uint64(64 - bits)
    for row in range(n):
        both = key_of_row[row] * n_codes + codes[row]
        slot = np.int64((np.uint64(both) * _SPREAD) >> shift)
        while slots[slot] >= 0 and slots[slot] != both:
            slot = (slot + 1) & ((1 << bits) - 1)
        if slots[slot] < 0:
            slots[slot] = both
            numbers[slot] = found
            found += 1
        key[row] = numbers[slot]
        count[key[row]] += 1
    return key, count[:found].copy()
