"""Cones of parameters in which records are found: the shortest mean of the rows that bound them; the best on a line.

A record is found where all its rows are positive, a row being linear in the parameters. Rows that have zero among their
weighted means cannot all be positive. Along a line each record is found on one stretch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels import Floats

Ints = NDArray[np.int64]

POSITIVE = 1e-9  # of rows of length 1 at a point of length 1
ZERO = 1e-11  # a mean of rows so short is zero, if what is left of it is certain to matter less than the margin
STEPS = 500
FAR = 1e6  # along a line, from a point of length 1
NARROW = 1e-9  # a stretch that is left out


class Cones(NamedTuple):
    """Of each record the rows that must be positive; the last stands for no record: it is never lost."""

    rows: Floats  # of length 1, sorted by record
    weight: Floats  # of each row, what one of length 1 must be when the record is found; 0 for the last
    starts: Ints
    reach: Floats  # of each parameter
    near: Ints  # of each record the rows that are looked at first; others are added when they are needed
    n_near: Ints


@njit(cache=True, nogil=True)
def _even(products: Floats, k: int, weights: Floats) -> bool:
    """Weights of the shortest point of the affine hull: products @ found = 1, summing to 1."""
    A = products[:k, :k].copy()
    weights[:k] = 1.0
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
            weights[i], weights[pivot] = weights[pivot], weights[i]
        for j in range(i + 1, k):
            factor = A[j, i] / A[i, i]
            if factor != 0.0:
                for c in range(i + 1, k):
                    A[j, c] -= factor * A[i, c]
                weights[j] -= factor * weights[i]
    for i in range(k - 1, -1, -1):
        value = weights[i]
        for c in range(i + 1, k):
            value -= A[i, c] * weights[c]
        weights[i] = value / A[i, i]
    total = weights[:k].sum()
    if total == 0.0:
        return False
    weights[:k] /= total
    return True


@njit(cache=True, nogil=True)
def product(a: Floats, b: Floats) -> float:
    """Of two rows."""
    total = 0.0
    for t in range(len(a)):
        total += a[t] * b[t]
    return total


@njit(cache=True, nogil=True)
def _lowest(cones: Cones, records: Ints, point: Floats) -> int:
    """The row that is lowest at the point, of those looked at first."""
    lowest, which = np.inf, -1
    for i in records:
        for u in range(cones.n_near[i]):
            row = cones.near[i, u]
            value = product(cones.rows[row], point)
            if value < lowest:
                lowest, which = value, row
    return which


@njit(cache=True, nogil=True)
def add_others(cones: Cones, records: Ints, point: Floats, least: float) -> bool:
    """Whether rows are not above `least` at the point though those looked at first are; they are looked at from now."""
    added = False
    for i in records:
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
def shortest(cones: Cones, records: Ints, point: Floats, support: Ints, weights: Floats) -> int:
    """The shortest mean of the rows of some records (Wolfe, 1976).

    0 when all rows are positive at `point`; how many rows have zero as their mean, or -1 when that is not clear.
    """
    d = cones.rows.shape[1]
    products, affine_weights = np.empty((d + 3, d + 3)), np.empty(d + 3)
    support[0], weights[0], k = -1, 1.0, 1
    for i in records:
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
        lowest = _lowest(cones, records, point)
        least = POSITIVE * np.sqrt(square)
        if product(cones.rows[lowest], point) > least:
            if add_others(cones, records, point, least):
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
            if not _even(products, k, affine_weights):
                return -1
            step, inside = 1.0, True
            for u in range(k):
                if affine_weights[u] < 1e-13:
                    inside = False
                    if weights[u] > affine_weights[u]:
                        step = min(step, weights[u] / (weights[u] - affine_weights[u]))
            if inside:
                weights[:k] = affine_weights[:k]
                break
            left = 0  # go as far as all weights are positive, and leave out the row whose weight is zero there
            for u in range(k):
                weight = weights[u] + step * (affine_weights[u] - weights[u])
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


@njit(cache=True, nogil=True)
def climb(cones: Cones, share: Floats, point: Floats, directions: Floats) -> float:
    """Go from a point along one direction after the other to where the most is found, in place; how much that is.

    Only the rows that are looked at first count. Where as much is found as before it goes on, too, to the middle of the
    widest stretch.
    """
    n = len(cones.starts) - 2
    total, d = cones.n_near.sum(), len(point)
    rows, ends = np.empty((total, d)), np.zeros(n + 2, np.int64)
    for i in range(n + 1):
        ends[i + 1] = ends[i] + cones.n_near[i]
        for u in range(cones.n_near[i]):
            rows[ends[i] + u] = cones.rows[cones.near[i, u]]
    best = 0.0
    positions, by = np.empty(2 * n), np.empty(2 * n)
    lowest = np.empty(n, np.int64)
    for number in range(len(directions)):
        point /= np.sqrt((point * point).sum())
        values, direction = rows @ point, directions[number]
        if number % 2:  # towards a record that is lost
            many = 0
            for i in range(n):
                if ends[i] < ends[i + 1]:
                    worst = ends[i] + np.argmin(values[ends[i] : ends[i + 1]])
                    if values[worst] <= 0.0:
                        lowest[many] = worst
                        many += 1
            if many > 0:
                direction = rows[lowest[number % many]] + 0.3 * direction
        along = rows @ direction
        low, high = -FAR, FAR  # where all that must hold does
        for r in range(ends[n], ends[n + 1]):
            low, high = _cut(low, high, values[r], along[r])
        many = 0
        for i in range(n):
            start, end = low, high
            for r in range(ends[i], ends[i + 1]):
                start, end = _cut(start, end, values[r], along[r])
                if start >= end:
                    break
            if ends[i] < ends[i + 1] and start < end:
                positions[many], by[many] = start, share[i]
                positions[many + 1], by[many + 1] = end, -share[i]
                many += 2
        order = np.argsort(positions[:many])
        share_found, most, step, width = 0.0, -1.0, 0.0, 0.0
        for u in range(many - 1):
            share_found += by[order[u]]
            wide = positions[order[u + 1]] - positions[order[u]]
            if wide > NARROW and (share_found > most + NARROW or (share_found > most - NARROW and wide > width)):
                most, width, step = share_found, wide, (positions[order[u + 1]] + positions[order[u]]) / 2.0
        if most > best - NARROW:
            best = max(best, most)
            point += step * direction
    point /= np.sqrt((point * point).sum())
    return best


@njit(cache=True, nogil=True)
def _cut(low: float, high: float, value: float, along: float) -> tuple[float, float]:
    """The part of a stretch where a row is positive."""
    if along > 0.0:
        return max(low, -value / along), high
    if along < 0.0:
        return low, min(high, -value / along)
    return (low, high) if value > 0.0 else (np.inf, -np.inf)


@njit(cache=True, nogil=True)
def found_at(cones: Cones, point: Floats) -> NDArray[np.int64]:
    """The records, the last included, whose rows are positive at a point, of those looked at first."""
    records, count = np.empty(len(cones.starts) - 1, np.int64), 0
    for i in range(len(records)):
        positive = cones.n_near[i] > 0
        for u in range(cones.n_near[i]):
            if product(cones.rows[cones.near[i, u]], point) <= 0.0:
                positive = False
                break
        if positive:
            records[count] = i
            count += 1
    return records[:count]
