"""Weights as whole-number combinations: which values coincide, and which combination a value is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["coincidences", "decode"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]


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

    Both sides rise; a target costs `extra`. Returns target, place on the left and on the right; -1 if nothing fits.
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
