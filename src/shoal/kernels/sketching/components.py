"""Components of sketches under limits of pairs: as many for each record as its pairs allow, given the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["raise_components"]

Ints = NDArray[Any]


@njit(cache=True, nogil=True)
def raise_components(order: Ints, pair_ptr: Ints, partner: Ints, limit: Ints, most: int) -> Ints:
    """Components such that no pair has more in common than its limit; none can be raised with the others as they are.

    The pairs of record i are partner and limit[pair_ptr[i] : pair_ptr[i + 1]]; each pair is listed for both. Records
    are gone through in the given order, again and again: the first pass meets every limit, later ones only raise.
    """
    components = np.full(order.shape[0], most, np.int64)
    changed = True
    while changed:
        changed = False
        for record in order:
            allowed = most
            for pair in range(pair_ptr[record], pair_ptr[record + 1]):
                if components[partner[pair]] > limit[pair]:
                    allowed = min(allowed, limit[pair])
            if allowed != components[record]:
                components[record] = allowed
                changed = True
    return components
