"""The nearest rows of a table, all ties counted: boxes of near rows, and boxes of near boxes.

Rows are kept in leaves of 32, leaves in groups of 32, columns first, so that a point is compared with 32 rows or 32
boxes at a time by vector instructions. What is in a box beyond the nearest row found so far is not looked at.

Exact, rounding included: a box's distance is summed over the columns in the order of a row's, from gaps that are no
larger, and rounding keeps order; so no box comes out farther than a row in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels.threads import runs, side_by_side

__all__ = ["WIDE", "arrange", "group_of", "nearest_with_ties", "to_boxes", "to_rows"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]

WIDE = 32  # rows in a leaf, leaves in a group
TIES = 32  # ties that are kept as they are found; more are counted afterwards


def arrange(X: Floats) -> tuple[Floats, Floats, Floats, Ints]:
    """Rows into leaves and groups of near rows, by halving along the widest column; only the last may not be full.

    Returns the rows (leaves, d, WIDE), with infinity where there is none, and the lowest and highest of each column in
    the leaves (groups, 2, d, WIDE) and in the groups (blocks of WIDE groups, 2, d, WIDE), infinite where there is none;
    and the number of the row at each place (leaves, WIDE), -1 where there is none.
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
        for place in range(leaf.shape[1]):
            difference = leaf[column, place] - value
            distances[place] += difference * difference
    for column in range(n_added, leaf.shape[0]):
        value = query[column]
        for place in range(leaf.shape[1]):
            difference = leaf[column, place] - value
            distances[place] -= difference * difference


@njit(cache=True, nogil=True)
def to_boxes(boxes: Floats, query: Floats, n_added: int, distances: Floats) -> None:
    """The least that squared distances to rows in the boxes can be, into `distances`."""
    distances[:] = 0.0
    for column in range(n_added):
        value = query[column]
        for place in range(boxes.shape[2]):
            below = boxes[0, column, place] - value
            above = value - boxes[1, column, place]
            gap = below if below > above else above
            gap = gap if gap > 0.0 else 0.0
            distances[place] += gap * gap
    for column in range(n_added, boxes.shape[1]):
        value = query[column]
        for place in range(boxes.shape[2]):
            from_low = abs(value - boxes[0, column, place])
            from_high = abs(boxes[1, column, place] - value)
            far = from_low if from_low > from_high else from_high
            distances[place] -= far * far


@njit(cache=True, nogil=True, inline="always")
def _limit(nearest: float, relative: float, absolute: float) -> float:
    """The largest squared distance that ties with the least."""
    # The root, squared, may come out smaller than what it is the root of.
    return max((np.sqrt(nearest) * (1.0 + relative) + absolute) ** 2, nearest)


@njit(cache=True, nogil=True)
def _keep_within(limit: float, ties: Floats, count: int) -> int:
    """Drop the distances beyond the limit; how many remain."""
    kept = 0
    for place in range(count):
        if ties[place] <= limit:
            ties[kept] = ties[place]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def _search_group(
    leaves: Floats,
    boxes: Floats,
    group: int,
    query: Floats,
    nearest: float,
    slack: tuple[float, float],
    ties: Floats,
    kept: int,
    box_distances: Floats,
    row_distances: Floats,
) -> tuple[float, int]:
    """Look through one group: the least squared distance so far, and how many rows tie with it.

    Their distances are in `ties`. Once there are more than fit, the number is only known to be larger than TIES.
    """
    limit = _limit(nearest, slack[0], slack[1])
    to_boxes(boxes[group], query, len(query), box_distances)
    for place in range(min(WIDE, leaves.shape[0] - group * WIDE)):
        if box_distances[place] > limit:
            continue
        to_rows(leaves[group * WIDE + place], query, len(query), row_distances)
        for row in range(WIDE):
            if not row_distances[row] <= limit:
                continue
            if row_distances[row] < nearest:
                nearest = row_distances[row]
                limit = _limit(nearest, slack[0], slack[1])
                if kept <= TIES:  # else some did not fit, and may tie still
                    kept = _keep_within(limit, ties, kept)
            if kept < TIES:
                ties[kept] = row_distances[row]
            kept += 1
    return nearest, kept


@njit(cache=True, nogil=True)
def _count_within(
    leaves: Floats, boxes: Floats, outer: Floats, query: Floats, limit: float, scratch: tuple[Floats, Floats, Floats]
) -> int:
    """How many rows have at most this squared distance."""
    outer_distances, box_distances, row_distances = scratch
    count = 0
    for group in range(boxes.shape[0]):
        if group % WIDE == 0:
            to_boxes(outer[group // WIDE], query, len(query), outer_distances)
        if outer_distances[group % WIDE] > limit:
            continue
        to_boxes(boxes[group], query, len(query), box_distances)
        for place in range(min(WIDE, leaves.shape[0] - group * WIDE)):
            if box_distances[place] <= limit:
                to_rows(leaves[group * WIDE + place], query, len(query), row_distances)
                for row in range(WIDE):
                    count += row_distances[row] <= limit
    return count


@njit(cache=True, nogil=True)
def group_of(outer: Floats, n_groups: int, queries: Floats) -> Ints:
    """The group whose box is nearest to each query; the first of equals."""
    found = np.empty(queries.shape[0], np.int64)
    distances = np.empty(WIDE)
    for place in range(queries.shape[0]):
        nearest = np.inf
        for group in range(n_groups):
            if group % WIDE == 0:
                to_boxes(outer[group // WIDE], queries[place], queries.shape[1], distances)
            if distances[group % WIDE] < nearest or group == 0:
                nearest = distances[group % WIDE]
                found[place] = group
    return found


def nearest_with_ties(
    leaves: Floats,
    boxes: Floats,
    outer: Floats,
    queries: Floats,
    own: Floats,
    home: Ints,
    order: Ints,
    relative: float,
    absolute: float,
) -> tuple[Floats, Ints, Ints]:
    """For every query the least squared distance, how many rows tie with it, and whether its own row does.

    `own` (m, d) has a row of the table for every query: it is often near, and any row bounds the nearest. `home` is the
    group that is searched first, `order` the order of work: queries near each other need the same leaves. Distances
    tie that exceed the least by no more than the `relative` share of it and an `absolute` amount.
    """
    found = np.empty(len(queries)), np.empty(len(queries), np.int64), np.empty(len(queries), np.bool_)
    table, slack = (leaves, boxes, outer), (relative, absolute)
    side_by_side(
        _nearest_with_ties, [(table, queries, own, home, order[run], slack, found) for run in runs(len(queries))]
    )
    return found


@njit(cache=True, nogil=True)
def _nearest_with_ties(
    table: tuple[Floats, Floats, Floats],
    queries: Floats,
    own: Floats,
    home: Ints,
    order: Ints,
    slack: tuple[float, float],
    found: tuple[Floats, Ints, Ints],
) -> None:
    leaves, boxes, outer = table
    least, ties, own_ties = found
    scratch = (np.empty(WIDE), np.empty(WIDE), np.empty(WIDE))
    kept_ties = np.empty(TIES)
    for place in order:
        query = queries[place]
        to_own = 0.0
        for column in range(queries.shape[1]):
            difference = own[place, column] - query[column]
            to_own += difference * difference
        nearest = to_own
        kept: Any = np.int64(0)  # a plain 0 would have the search compiled twice
        for turn in range(-1, boxes.shape[0]):
            group = home[place] if turn < 0 else turn
            if turn >= 0:
                if turn % WIDE == 0:
                    to_boxes(outer[turn // WIDE], query, len(query), scratch[0])
                if group == home[place] or scratch[0][turn % WIDE] > _limit(nearest, slack[0], slack[1]):
                    continue
            nearest, kept = _search_group(
                leaves, boxes, group, query, nearest, slack, kept_ties, kept, scratch[1], scratch[2]
            )
        limit = _limit(nearest, slack[0], slack[1])
        least[place] = nearest
        ties[place] = kept if kept <= TIES else _count_within(leaves, boxes, outer, query, limit, scratch)
        own_ties[place] = to_own <= limit
