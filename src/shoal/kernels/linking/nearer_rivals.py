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

from shoal.kernels.linking.neighbours import WIDE, arrange, group_of, to_boxes, to_rows
from shoal.kernels.threads import runs, side_by_side

__all__ = [
    "NEARER",
    "Slack",
    "Table",
    "add_ties",
    "chances_of_ties",
    "in_boxes",
    "leaves_within",
    "limit_of",
    "ties_by_squares",
    "ties_in_leaf",
]

Ints = NDArray[Any]
Floats = NDArray[np.float64]
# Leaves, boxes and outer boxes as `neighbours.arrange` returns them, and how many equal rows each place stands for.
Table = tuple[Floats, Floats, Floats, Ints]
# Distances tie that differ by no more than this share of their sum, this multiple of its root, and this amount.
Slack = tuple[float, float, float]

NEARER = -1  # in the place of the number of ties: a row is nearer than the own
ROUNDING = 1e-12  # a share that is more than the roundings of any sum here, and less than any slack


@njit(cache=True, nogil=True)
def limit_of(own: float, slack: Slack) -> float:
    """No squared distance beyond this ties with the own one."""
    relative, of_root, absolute = slack
    most_of_root = 2.0 * of_root * (of_root + np.sqrt(2.0 * abs(own) + absolute))
    return own + (4.0 * relative + ROUNDING) * abs(own) + most_of_root + 4.0 * absolute


@njit(cache=True, nogil=True)
def ties_in_leaf(distances: Floats, sizes: Ints, own: float, slack: Slack) -> int:
    """How many rows tie with the own one; NEARER when one is nearer."""
    limit = limit_of(own, slack)
    ties = 0
    for place in range(len(distances)):
        distance = distances[place]
        if sizes[place] > 0 and distance <= limit:
            both = abs(distance) + abs(own)
            rounding = slack[0] * both + slack[1] * np.sqrt(both) + slack[2]
            if distance < own - rounding:
                return NEARER
            if distance <= own + rounding:
                ties += sizes[place]
    return ties


@njit(cache=True, nogil=True)
def add_ties(count: int, more: int) -> int:
    """So many ties and more; NEARER when a row is nearer."""
    return NEARER if more == NEARER else count + more


@njit(cache=True, nogil=True)
def leaves_within(limit: float, box_distances: Floats, n_leaves: int, order: Ints) -> int:
    """The leaves of a group whose boxes are within the limit, the nearest first, into `order`; how many."""
    nearest = 0
    for place in range(n_leaves):
        if box_distances[place] < box_distances[nearest]:
            nearest = place
    count = 0
    for step in range(-1, n_leaves):
        place = nearest if step < 0 else step
        if step != nearest and box_distances[place] <= limit:
            order[count] = place
            count += 1
    return count


@njit(cache=True, nogil=True)
def _ties_in_group(
    table: Table,
    group: int,
    query: Floats,
    n_added: int,
    own: float,
    slack: Slack,
    scratch: tuple[Floats, Floats, Ints],
) -> int:
    """How many rows of a group tie with the own one; NEARER when one is nearer."""
    leaves, boxes, _, sizes = table
    box_distances, row_distances, order = scratch
    to_boxes(boxes[group], query, n_added, box_distances)
    n_leaves = min(WIDE, leaves.shape[0] - group * WIDE)
    ties = 0
    for nth in range(leaves_within(limit_of(own, slack), box_distances, n_leaves, order)):
        leaf = group * WIDE + order[nth]
        to_rows(leaves[leaf], query, n_added, row_distances)
        ties = add_ties(ties, ties_in_leaf(row_distances, sizes[leaf], own, slack))
        if ties == NEARER:
            break
    return ties


def in_boxes(rows: Floats, counts: Ints, queries: Floats) -> tuple[Table, Ints, Ints]:
    """Rows, each standing for so many equal ones, in boxes; the group that each query lies in; and an order of work."""
    leaves, boxes, outer, row_at = arrange(rows)
    sizes = np.where(row_at >= 0, counts[row_at], 0)
    home = group_of(outer, len(boxes), queries)
    return (leaves, boxes, outer, sizes), home, np.argsort(home, kind="stable")


def chances_of_ties(ties: Ints) -> Floats:
    """The chance that the own row is picked: 0 when another is nearer, else one of those as near."""
    chances: Floats = np.where(ties == NEARER, 0.0, 1.0 / np.maximum(ties, 1))
    return chances


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
    to_groups, scratch = np.empty(WIDE), (np.empty(WIDE), np.empty(WIDE), np.empty(WIDE, np.int64))
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
                    to_boxes(outer[turn // WIDE], query, n_added, to_groups)
                if group == home[place] or to_groups[turn % WIDE] > limit:
                    continue
            count = add_ties(count, _ties_in_group(table, group, query, n_added, to_own, slack, scratch))
            if count == NEARER:
                break
        ties[place] = count
