"""Whether any row of a table is nearer to a query than the query's own row, and how many are as near.

The distance to the own row is known before the search, so it only has to be shown that no row is nearer: a box of rows
(see `neighbours`) that lies beyond it is not looked at, and the first nearer row ends the search.

The squared distance is a sum of squares less another one, which is what every symmetric bilinear form comes to on
turned columns; where nothing is taken off, it is the Euclidean one. A box's is the sum from the nearest gaps less that
from the farthest. Exact, rounding included: both are summed over the columns in the order of a row's, and rounding
keeps order; so no box comes out farther than a row in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels.linking.neighbours import WIDE
from shoal.kernels.threads import runs, side_by_side

__all__ = ["NEARER", "Slack", "Table", "limit_of", "ties_by_squares", "ties_in_leaf"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]
Table = tuple[Floats, Floats, Floats, int]  # what `neighbours.arrange` returns, and the number of rows
Slack = tuple[float, float]  # distances tie that differ by no more than this share of their sum and this amount

NEARER = -1  # in the place of the number of ties: a row is nearer than the own
ROUNDING = 1e-12  # a share that is more than the roundings of any sum here, and less than any slack


@njit(cache=True, nogil=True)
def limit_of(own: float, slack: Slack) -> float:
    """No squared distance beyond this ties with the own one."""
    return own + (4.0 * slack[0] + ROUNDING) * abs(own) + 4.0 * slack[1]


@njit(cache=True, nogil=True)
def ties_in_leaf(distances: Floats, there: int, own: float, slack: Slack) -> int:
    """How many of the distances tie with the own one; NEARER when one is less."""
    limit = limit_of(own, slack)
    ties = 0
    for place in range(there):
        distance = distances[place]
        if distance <= limit:
            rounding = slack[0] * (abs(distance) + abs(own)) + slack[1]
            if distance < own - rounding:
                return NEARER
            ties += distance <= own + rounding
    return ties


@njit(cache=True, nogil=True)
def _to_rows(leaf: Floats, query: Floats, n_added: int, distances: Floats) -> None:
    """Squared distances to the rows of a leaf, into `distances`."""
    distances[:] = 0.0
    for column in range(n_added):
        value = query[column]
        for place in range(leaf.shape[1]):
            difference = leaf[column, place] - value
            distances[place] += difference * difference
    for column in range(n_added, leaf.shape[0]):
        value = query[column]
        for place in range(leaf.shape[1]):
            difference = leaf[column, place] - value
            distances[place] -= difference * difference


@njit(cache=True, nogil=True)
def _to_boxes(boxes: Floats, query: Floats, n_added: int, distances: Floats) -> None:
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


@njit(cache=True, nogil=True)
def _ties_in_group(
    table: Table, group: int, query: Floats, n_added: int, own: float, slack: Slack, scratch: tuple[Floats, Floats]
) -> int:
    """How many rows of a group tie with the own one; NEARER when one is nearer. The nearest leaf comes first."""
    leaves, boxes, _, n_rows = table
    to_boxes, to_rows = scratch
    limit = limit_of(own, slack)
    _to_boxes(boxes[group], query, n_added, to_boxes)
    n_leaves = min(WIDE, leaves.shape[0] - group * WIDE)
    nearest = 0
    for place in range(n_leaves):
        if to_boxes[place] < to_boxes[nearest]:
            nearest = place
    ties = 0
    for step in range(-1, n_leaves):
        place = nearest if step < 0 else step
        if step == nearest or to_boxes[place] > limit:
            continue
        leaf = group * WIDE + place
        _to_rows(leaves[leaf], query, n_added, to_rows)
        found = ties_in_leaf(to_rows, min(WIDE, n_rows - leaf * WIDE), own, slack)
        if found == NEARER:
            return NEARER
        ties += found
    return ties


def ties_by_squares(
    table: Table, queries: Floats, own: Floats, n_added: int, home: Ints, order: Ints, slack: Slack
) -> Ints:
    """For every query how many rows are as near as its own, that one included; NEARER when one is nearer.

    The squares of the first `n_added` columns are added, those of the others taken off. `own` (m, d) has a row of the
    table for every query, `home` the group that is searched first, `order` the order of work: queries near each other
    need the same leaves.
    """
    ties = np.empty(len(queries), np.int64)
    parts = [(table, queries, own, n_added, home, order[run], slack, ties) for run in runs(len(queries))]
    side_by_side(_ties_by_squares, parts)
    return ties


@njit(cache=True, nogil=True)
def _ties_by_squares(
    table: Table, queries: Floats, own: Floats, n_added: int, home: Ints, order: Ints, slack: Slack, ties: Ints
) -> None:
    _, boxes, outer, _ = table
    to_groups, scratch = np.empty(WIDE), (np.empty(WIDE), np.empty(WIDE))
    for place in order:
        query = queries[place]
        to_own = 0.0
        for column in range(queries.shape[1]):
            difference = own[place, column] - query[column]
            to_own += difference * difference if column < n_added else -difference * difference
        limit = limit_of(to_own, slack)
        count = 0
        for turn in range(-1, boxes.shape[0]):
            group = home[place] if turn < 0 else turn
            if turn >= 0:
                if turn % WIDE == 0:
                    _to_boxes(outer[turn // WIDE], query, n_added, to_groups)
                if group == home[place] or to_groups[turn % WIDE] > limit:
                    continue
            found = _ties_in_group(table, group, query, n_added, to_own, slack, scratch)
            if found == NEARER:
                count = NEARER
                break
            count += found
        ties[place] = count
