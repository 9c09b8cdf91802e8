"""The nearest rows of a table, all ties counted, by a tree of boxes.

Exact, rounding included: a box's distance is summed over the columns in the order of a row's, from gaps that are no
larger, and rounding keeps order; so no box comes out farther than a row in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

__all__ = ["LEAF", "grow_tree", "leaf_of", "nearest_with_ties"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]

LEAF = 32  # rows that are compared together, a column at a time: what the processor does in one go
DEPTH = 64  # of the search's stack: halves of halves, so more rows than fit into any memory


@njit(cache=True, nogil=True)
def grow_tree(X: Floats) -> tuple[Floats, Ints, Floats]:
    """Halve the rows along the widest column down to leaves of LEAF rows; only the last leaf may have fewer.

    Returns the leaves' rows, columns first (leaves, d, LEAF), with infinity where there is none; for each node the
    first of its two children, which are neighbours, or for a leaf its number, negative and less one (nodes,); and the
    nodes' boxes, lowest and highest of each column (nodes, 2, d).
    """
    n_rows, n_columns = X.shape
    n_leaves = (n_rows + LEAF - 1) // LEAF
    order = np.arange(n_rows)
    leaves = np.full((n_leaves, n_columns, LEAF), np.inf)
    child = np.empty(2 * n_leaves - 1, np.int64)
    boxes = np.empty((2 * n_leaves - 1, 2, n_columns))
    first = np.zeros(2 * n_leaves - 1, np.int64)  # leaf of a node, and the one after its last
    last = np.zeros(2 * n_leaves - 1, np.int64)
    last[0] = n_leaves
    made = 1
    for node in range(2 * n_leaves - 1):
        start, end = first[node] * LEAF, min(last[node] * LEAF, n_rows)
        widest = 0
        for column in range(n_columns):
            low, high = np.inf, -np.inf
            for place in range(start, end):
                low = min(low, X[order[place], column])
                high = max(high, X[order[place], column])
            boxes[node, 0, column] = low
            boxes[node, 1, column] = high
            if high - low > boxes[node, 1, widest] - boxes[node, 0, widest]:
                widest = column
        if last[node] - first[node] > 1:
            part = order[start:end].copy()
            values = np.empty(end - start)
            for place in range(end - start):
                values[place] = X[part[place], widest]
            order[start:end] = part[np.argsort(values)]
            middle = (first[node] + last[node]) // 2
            child[node] = made
            first[made], last[made] = first[node], middle
            first[made + 1], last[made + 1] = middle, last[node]
            made += 2
        else:
            child[node] = -first[node] - 1
            for place in range(start, end):
                leaves[first[node], :, place - start] = X[order[place]]
    return leaves, child, boxes


@njit(cache=True, nogil=True, inline="always")
def _to_box(box: Floats, query: Floats) -> float:
    """Squared distance to the nearest point of a box."""
    total = 0.0
    for column in range(query.shape[0]):
        gap = max(box[0, column] - query[column], query[column] - box[1, column], 0.0)
        total += gap * gap
    return total


@njit(cache=True, nogil=True)
def _to_leaf(leaf: Floats, query: Floats, totals: Floats) -> None:
    """Squared distances to the rows of a leaf, into `totals`."""
    totals[:] = 0.0
    for column in range(leaf.shape[0]):
        value = query[column]
        # Not range(LEAF): a loop of known length is unrolled before the compiler thinks of vector instructions.
        for place in range(leaf.shape[1]):
            difference = leaf[column, place] - value
            totals[place] += difference * difference


@njit(cache=True, nogil=True, inline="always")
def _limit(nearest: float, relative: float, absolute: float) -> float:
    """The largest squared distance that ties with the least."""
    # The root, squared, may come out smaller than what it is the root of.
    return max((np.sqrt(nearest) * (1.0 + relative) + absolute) ** 2, nearest)


@njit(cache=True, nogil=True)
def _nearest(
    leaves: Floats,
    child: Ints,
    boxes: Floats,
    query: Floats,
    nearest: float,
    relative: float,
    absolute: float,
    stack: tuple[Ints, Floats],
    totals: Floats,
    ties: Floats,
) -> tuple[float, int]:
    """The least squared distance of a row, given one that some row has, and how many rows tie with it.

    Whatever ties with the best so far is kept in `ties`; -1 when that is too small to hold them.
    """
    waiting, far = stack
    limit = _limit(nearest, relative, absolute)
    waiting[0] = 0
    far[0] = 0.0
    height = 1
    kept = 0
    while height > 0:
        height -= 1
        if far[height] > limit:
            continue
        node = waiting[height]
        while child[node] >= 0:
            near, other = child[node], child[node] + 1
            to_near, to_other = _to_box(boxes[near], query), _to_box(boxes[other], query)
            if to_other < to_near:
                near, other = other, near
                to_near, to_other = to_other, to_near
            if to_near > limit:
                break
            if to_other <= limit:
                waiting[height] = other
                far[height] = to_other
                height += 1
            node = near
        if child[node] >= 0:
            continue
        _to_leaf(leaves[-child[node] - 1], query, totals)
        for place in range(LEAF):
            if totals[place] > limit:
                continue
            if totals[place] < nearest:
                nearest = totals[place]
                limit = _limit(nearest, relative, absolute)
                still = 0
                for tie in range(min(kept, ties.shape[0])):
                    if ties[tie] <= limit:
                        ties[still] = ties[tie]
                        still += 1
                # Once some did not fit, it is not known how many of them still tie.
                kept = still if kept <= ties.shape[0] or still == 0 else kept
            if kept < ties.shape[0]:
                ties[kept] = totals[place]
            kept += 1
    return nearest, kept if kept <= ties.shape[0] else -1


@njit(cache=True, nogil=True)
def _count_within(
    leaves: Floats, child: Ints, boxes: Floats, query: Floats, limit: float, waiting: Ints, totals: Floats
) -> int:
    """How many rows have at most this squared distance."""
    waiting[0] = 0
    height = 1
    count = 0
    while height > 0:
        height -= 1
        node = waiting[height]
        if _to_box(boxes[node], query) > limit:
            continue
        if child[node] >= 0:
            waiting[height] = child[node]
            waiting[height + 1] = child[node] + 1
            height += 2
        else:
            _to_leaf(leaves[-child[node] - 1], query, totals)
            for place in range(LEAF):
                count += totals[place] <= limit
    return count


@njit(cache=True, nogil=True)
def leaf_of(child: Ints, boxes: Floats, queries: Floats) -> Ints:
    """The leaf that each query comes to when it always goes to the nearer box."""
    found = np.empty(queries.shape[0], np.int64)
    for place in range(queries.shape[0]):
        node = 0
        while child[node] >= 0:
            first = child[node]
            nearer = _to_box(boxes[first], queries[place]) <= _to_box(boxes[first + 1], queries[place])
            node = first if nearer else first + 1
        found[place] = -child[node] - 1
    return found


@njit(cache=True, nogil=True, parallel=True)
def nearest_with_ties(
    leaves: Floats,
    child: Ints,
    boxes: Floats,
    queries: Floats,
    own: Floats,
    order: Ints,
    relative: float,
    absolute: float,
) -> tuple[Floats, Ints, Ints]:
    """For every query the least squared distance, how many rows tie with it, and whether its own row does.

    `own` (m, d) has a row of the table for every query, from which the search starts: it is often near, and any row
    bounds the nearest. Distances tie that exceed the least by no more than the `relative` share of it and an
    `absolute` amount. `order` is the order of work: queries near each other need the same leaves.
    """
    n_queries = queries.shape[0]
    least = np.empty(n_queries)
    ties = np.empty(n_queries, np.int64)
    own_ties = np.empty(n_queries, np.bool_)
    for turn in prange(n_queries):
        place = order[turn]
        stack = (np.empty(DEPTH, np.int64), np.empty(DEPTH))
        totals = np.empty(LEAF)
        query = queries[place]
        to_own = 0.0
        for column in range(query.shape[0]):
            difference = own[place, column] - query[column]
            to_own += difference * difference
        nearest, count = _nearest(
            leaves, child, boxes, query, to_own, relative, absolute, stack, totals, np.empty(LEAF)
        )
        limit = _limit(nearest, relative, absolute)
        if count < 0:
            count = _count_within(leaves, child, boxes, query, limit, stack[0], totals)
        least[place] = nearest
        ties[place] = count
        own_ties[place] = to_own <= limit
    return least, ties, own_ties
