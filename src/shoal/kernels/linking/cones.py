"""Cones of parameters in which records are found, and the shortest mean of rows that bound them.

A record is found where all its rows are positive, a row being linear in the parameters. Rows that have zero among their
weighted means cannot all be positive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["Cones", "add_others", "product", "shortest"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

POSITIVE = 1e-9  # of rows of length 1 at a point of length 1
ZERO = 1e-11  # a mean of rows so short is zero, if what is left of it is certain to matter less than the margin
STEPS = 500


class Cones(NamedTuple):
    """Of each record the rows that must be positive; the last of the records is nobody and is never lost."""

    rows: Floats  # of length 1, sorted by record
    weight: Floats  # of each row, what one of length 1 must be when the record is found; 0 of nobody's
    starts: Ints
    reach: Floats  # of each parameter
    near: Ints  # of each record the rows that are looked at first; others are added when they are needed
    n_near: Ints


@njit(cache=True, nogil=True)
def _even(products: Floats, k: int, found: Floats) -> bool:
    """Weights of the shortest point of the affine hull: products @ found = 1, summing to 1."""
    A = products[:k, :k].copy()
    found[:k] = 1.0
    for i in range(k):
        pivot = i
        for j in range(i + 1, k):
            if abs(A[j, i]) > abs(A[pivot, i]):
                pivot = j
        if abs(A[pivot, i]) < 1e-14:
            return False
        if pivot != i:
            for c in range(i, k):
                A[i, c], A[pivot, c] = A[pivot, c], A[i, c]
            found[i], found[pivot] = found[pivot], found[i]
        for j in range(i + 1, k):
            factor = A[j, i] / A[i, i]
            if factor != 0.0:
                for c in range(i + 1, k):
                    A[j, c] -= factor * A[i, c]
                found[j] -= factor * found[i]
    for i in range(k - 1, -1, -1):
        value = found[i]
        for c in range(i + 1, k):
            value -= A[i, c] * found[c]
        found[i] = value / A[i, i]
    total = found[:k].sum()
    if total == 0.0:
        return False
    found[:k] /= total
    return True


@njit(cache=True, nogil=True)
def product(a: Floats, b: Floats) -> float:
    """Of two rows."""
    total = 0.0
    for t in range(len(a)):
        total += a[t] * b[t]
    return total


@njit(cache=True, nogil=True)
def _lowest(cones: Cones, some: Ints, point: Floats) -> int:
    """The row that is lowest at the point, of those looked at first."""
    lowest, which = np.inf, -1
    for i in some:
        for u in range(cones.n_near[i]):
            row = cones.near[i, u]
            value = product(cones.rows[row], point)
            if value < lowest:
                lowest, which = value, row
    return which


@njit(cache=True, nogil=True)
def add_others(cones: Cones, some: Ints, point: Floats, least: float) -> bool:
    """Whether rows are not above `least` at the point though those looked at first are; they are looked at from now."""
    added = False
    for i in some:
        lowest, which = least, -1
        for row in range(cones.starts[i], cones.starts[i + 1]):
            value = product(cones.rows[row], point)
            if value <= lowest:
                lowest, which = value, row
        if which >= 0 and cones.n_near[i] < cones.near.shape[1]:
            cones.near[i, cones.n_near[i]] = which
            cones.n_near[i] += 1
            added = True
    return added


@njit(cache=True, nogil=True)
def shortest(cones: Cones, some: Ints, point: Floats, support: Ints, weights: Floats) -> int:
    """The shortest mean of the rows of some records (Wolfe, 1976).

    0 when all rows are positive at `point`; how many rows have zero as their mean, or -1 when that is not clear.
    """
    d = cones.rows.shape[1]
    products, found = np.empty((d + 3, d + 3)), np.empty(d + 3)
    support[0], weights[0], k = -1, 1.0, 1
    for i in some:
        if cones.n_near[i] > 0:
            support[0] = cones.near[i, 0]
            break
    if support[0] < 0:  # nothing is asked for
        point[:] = 0.0
        return 0
    point[:] = cones.rows[support[0]]
    products[0, 0] = 1.0 + product(point, point)
    for _ in range(STEPS):
        square = product(point, point)
        if square < ZERO * ZERO:
            return k
        lowest = _lowest(cones, some, point)
        least = POSITIVE * np.sqrt(square)
        if product(cones.rows[lowest], point) > least:
            if add_others(cones, some, point, least):
                continue
            return 0
        for u in range(k):
            if support[u] == lowest:
                return -1
        if k == d + 2:
            return -1
        support[k], weights[k] = lowest, 0.0
        for u in range(k + 1):
            products[u, k] = products[k, u] = 1.0 + product(cones.rows[support[u]], cones.rows[lowest])
        k += 1
        while True:
            if not _even(products, k, found):
                return -1
            step, inside = 1.0, True
            for u in range(k):
                if found[u] < 1e-13:
                    inside = False
                    if weights[u] > found[u]:
                        step = min(step, weights[u] / (weights[u] - found[u]))
            if inside:
                weights[:k] = found[:k]
                break
            left = 0  # go as far as all weights are positive, and leave out the row whose weight is zero there
            for u in range(k):
                weight = weights[u] + step * (found[u] - weights[u])
                if weight > 1e-13:
                    support[left], weights[left] = support[u], weight
                    for c in range(k):
                        products[left, c] = products[u, c]
                    for c in range(k):
                        products[c, left] = products[c, u]
                    left += 1
            if left == k:
                return -1
            k = left
        point[:] = 0.0
        for u in range(k):
            point += weights[u] * cones.rows[support[u]]
    return -1
