"""Boxes of near rows, and boxes of near boxes: what is far from a point need not be looked at.

Rows are kept in leaves of 32, leaves in groups of 32, columns first, so that a point is compared with 32 rows or 32
boxes at a time by vector instructions.

Exact, rounding included: a box's distance is summed over the columns in the order of a row's, from gaps that are no
larger, and rounding keeps order; so no box comes out farther than a row in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels import Floats, Ints

WIDE = 32  # rows in a leaf, leaves in a group


def arrange(X: Floats) -> tuple[Floats, Floats, Floats, Ints]:
    """Rows into leaves and groups of near rows, by halving along the widest column; only the last may not be full.

    Returns the rows (leaves, d, WIDE), with infinity where there is none, and the lowest and highest of each column in
    the leaves (groups, 2, d, WIDE) and in the groups (blocks of WIDE groups, 2, d, WIDE), infinite where there is none;
    and the number of the row at each position (leaves, WIDE), -1 where there is none.
    """
    order = _halved(X)
    rows = X[order]
    low, high = _extremes(rows, rows)
    boxes = _side_by_side(np.stack((low, high), axis=1), np.inf)
    outer = _side_by_side(np.stack(_extremes(low, high), axis=1), np.inf)
    return _side_by_side(rows, np.inf), boxes, outer, _side_by_side(order, -1)


def _extremes(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The lowest and the highest of each column, of every WIDE rows."""
    starts = np.arange(0, len(low), WIDE)
    return np.minimum.reduceat(low, starts, axis=0), np.maximum.reduceat(high, starts, axis=0)


def _side_by_side(things: NDArray[Any], empty: float) -> NDArray[Any]:
    """Every WIDE of them along a last axis, `empty` where there is none."""
    n_parts = -(-len(things) // WIDE)
    padded = np.full((n_parts * WIDE, *things.shape[1:]), empty, things.dtype)
    padded[: len(things)] = things
    return np.ascontiguousarray(np.moveaxis(padded.reshape(n_parts, WIDE, *things.shape[1:]), 1, -1))


def _halved(X: Floats) -> Ints:
    """The rows in an order in which WIDE, and WIDE times WIDE, that follow each other are near each other."""
    order = np.arange(len(X))
    waiting = [(0, len(X))]
    while waiting:
        start, end = waiting.pop()
        size = end - start
        if size <= WIDE:
            continue
        part = order[start:end]
        inside = X[part]
        widest = np.argmax(inside.max(axis=0) - inside.min(axis=0)) if X.shape[1] else 0
        order[start:end] = part[np.argsort(inside[:, widest], kind="stable")]
        # Whole groups to either side while there are several, then whole leaves.
        whole = WIDE * WIDE if size > WIDE * WIDE else WIDE
        middle = start + (size // whole + 1) // 2 * whole
        waiting.append((start, middle))
        waiting.append((middle, end))
    return order


@njit(cache=True, nogil=True)
def to_rows(leaf: Floats, query: Floats, n_added: int, distances: Floats) -> None:
    """Squared distances to the rows of a leaf, into `distances`.

    The squares of the first `n_added` columns are added, those of the others taken off.
    """
    distances[:] = 0.0
    for column in range(n_added):
        value = query[column]
        # Not range(WIDE): a loop of known length is unrolled before the compiler thinks of vector instructions.
        for position in range(leaf.shape[1]):
            difference = leaf[column, position] - value
            distances[position] += difference * difference
    for column in range(n_added, leaf.shape[0]):
        value = query[column]
        for position in range(leaf.shape[1]):
            difference = leaf[column, position] - value
            distances[position] -= difference * difference


@njit(cache=True, nogil=True)
def to_boxes(boxes: Floats, query: Floats, n_added: int, distances: Floats) -> None:
    """The least that squared distances to rows in the boxes can be, into `distances`."""
    distances[:] = 0.0
    for column in range(n_added):
        value = query[column]
        for position in range(boxes.shape[2]):
            below = boxes[0, column, position] - value
            above = value - boxes[1, column, position]
            gap = below if below > above else above
            gap = gap if gap > 0.0 else 0.0
            distances[position] += gap * gap
    for column in range(n_added, boxes.shape[1]):
        value = query[column]
        for position in range(boxes.shape[2]):
            from_low = abs(value - boxes[0, column, position])
            from_high = abs(boxes[1, column, position] - value)
            far = from_low if from_low > from_high else from_high
            distances[position] -= far * far


@njit(cache=True, nogil=True)
def group_of(outer: Floats, n_groups: int, queries: Floats) -> Ints:
    """The group whose box is nearest to each query; the first of equals."""
    groups = np.empty(queries.shape[0], np.int64)
    distances = np.empty(WIDE)
    for position in range(queries.shape[0]):
        nearest = np.inf
        for group in range(n_groups):
            if group % WIDE == 0:
                to_boxes(outer[group // WIDE], queries[position], queries.shape[1], distances)
            if distances[group % WIDE] < nearest or group == 0:
                nearest = distances[group % WIDE]
                groups[position] = group
    return groups
