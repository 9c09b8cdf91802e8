"""The best point on a line: rows are linear along it, so that each record is found on one stretch of it."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels.linking.cones import Cones, product

__all__ = ["climb", "found_at"]

Floats = NDArray[np.float64]

FAR = 1e6  # along a line, from a point of length 1
NARROW = 1e-9  # a stretch that is left out


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
    places, by = np.empty(2 * n), np.empty(2 * n)
    lowest = np.empty(n, np.int64)
    for number in range(len(directions)):
        point /= np.sqrt((point * point).sum())
        here, direction = rows @ point, directions[number]
        if number % 2:  # towards a record that is lost
            many = 0
            for i in range(n):
                if ends[i] < ends[i + 1]:
                    worst = ends[i] + np.argmin(here[ends[i] : ends[i + 1]])
                    if here[worst] <= 0.0:
                        lowest[many] = worst
                        many += 1
            if many > 0:
                direction = rows[lowest[number % many]] + 0.3 * direction
        along = rows @ direction
        low, high = -FAR, FAR  # where all that must hold does
        for r in range(ends[n], ends[n + 1]):
            low, high = _cut(low, high, here[r], along[r])
        many = 0
        for i in range(n):
            start, end = low, high
            for r in range(ends[i], ends[i + 1]):
                start, end = _cut(start, end, here[r], along[r])
                if start >= end:
                    break
            if ends[i] < ends[i + 1] and start < end:
                places[many], by[many] = start, share[i]
                places[many + 1], by[many + 1] = end, -share[i]
                many += 2
        order = np.argsort(places[:many])
        found, most, step, width = 0.0, -1.0, 0.0, 0.0
        for u in range(many - 1):
            found += by[order[u]]
            wide = places[order[u + 1]] - places[order[u]]
            if wide > NARROW and (found > most + NARROW or (found > most - NARROW and wide > width)):
                most, width, step = found, wide, (places[order[u + 1]] + places[order[u]]) / 2.0
        if most > best - NARROW:
            best = max(best, most)
            point += step * direction
    point /= np.sqrt((point * point).sum())
    return best


@njit(cache=True, nogil=True)
def _cut(low: float, high: float, here: float, along: float) -> tuple[float, float]:
    """The part of a stretch where a row is positive."""
    if along > 0.0:
        return max(low, -here / along), high
    if along < 0.0:
        return low, min(high, -here / along)
    return (low, high) if here > 0.0 else (np.inf, -np.inf)


@njit(cache=True, nogil=True)
def found_at(cones: Cones, point: Floats) -> NDArray[np.int64]:
    """The records, nobody among them, whose rows are positive at a point, of those looked at first."""
    found, many = np.empty(len(cones.starts) - 1, np.int64), 0
    for i in range(len(found)):
        positive = cones.n_near[i] > 0
        for u in range(cones.n_near[i]):
            if product(cones.rows[cones.near[i, u]], point) <= 0.0:
                positive = False
                break
        if positive:
            found[many] = i
            many += 1
    return found[:many]
