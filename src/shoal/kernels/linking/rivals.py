"""Whether any row of a table is nearer to a query than the query's own row, and how many are as near.

The distance to the own row is known before the search, so it only has to be shown that no row is nearer: a box of rows
(see `boxes`) that lies beyond it is not looked at, and the first nearer row ends the search. There are two distances:

The squared distance is a sum of squares less another one, which is what every symmetric bilinear form comes to on
turned columns; where nothing is taken off, it is the Euclidean one. A box's is the sum from the nearest gaps less that
from the farthest. Exact, rounding included: both are summed over the columns in the order of a row's, and rounding
keeps order; so no box comes out farther than a row in it.

The Choquet integral of squared differences is, with values in rising order, the sum over them of (value - the one
before) * mu[the columns from here on], sets of columns numbered by their bits. It is taken of 32 rows or boxes at a
time: the values are sorted by comparing neighbours, the same ones whatever the values are, which vector instructions
can do. The last bits of a value give way to the number of its column, so that it is sorted along. The integral of a
box's gaps is the least that a row in it can have when the measure is monotone. Boxes are therefore weighed by a
monotone measure that is nowhere larger, and before that by a sum that is nowhere larger either, since sorting costs.
All that is added is not negative, so rounding moves an integral by a share far below `ROUNDING`, which the limit leaves
room for.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal.kernels import Floats, Ints
from shoal.kernels.linking.boxes import WIDE, arrange, group_of, to_boxes, to_rows
from shoal.kernels.threads import runs, side_by_side

# Leaves, boxes and outer boxes as `boxes.arrange` returns them, and how many equal rows each position stands for.
Table = tuple[Floats, Floats, Floats, Ints]
# Distances tie that differ by no more than this share of their sum, this multiple of its root, and this amount.
Slack = tuple[float, float, float]

NEARER = -1  # in the place of the number of ties: a row is nearer than the own
ROUNDING = 1e-12  # a share that is more than the roundings of any sum here, and less than any slack
# A factor for each column, which undoes the scale on which rows were put into boxes; the measure, of 2^d sets; a
# monotone measure that is nowhere larger; a weight for each column, their sums over sets nowhere larger than that.
Weighing = tuple[Floats, Floats, Floats, Floats]
Scratch = tuple[Floats, Floats, Ints, Floats, Floats, Floats, Ints]  # (d, WIDE), and the others (WIDE,)
COLUMNS = 16  # at most: their numbers take four bits
TINY = 1e-290  # instead of 0, whose last bits would make it a number that processors are slow with


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
    for position in range(len(distances)):
        distance = distances[position]
        if sizes[position] > 0 and distance <= limit:
            both = abs(distance) + abs(own)
            rounding = slack[0] * both + slack[1] * np.sqrt(both) + slack[2]
            if distance < own - rounding:
                return NEARER
            if distance <= own + rounding:
                ties += sizes[position]
    return ties


@njit(cache=True, nogil=True)
def add_ties(count: int, more: int) -> int:
    """So many ties and more; NEARER when a row is nearer."""
    return NEARER if more == NEARER else count + more


@njit(cache=True, nogil=True)
def leaves_within(limit: float, box_distances: Floats, n_leaves: int, order: Ints) -> int:
    """The leaves of a group whose boxes are within the limit, the nearest first, into `order`; how many."""
    nearest = 0
    for position in range(n_leaves):
        if box_distances[position] < box_distances[nearest]:
            nearest = position
    count = 0
    for step in range(-1, n_leaves):
        position = nearest if step < 0 else step
        if step != nearest and box_distances[position] <= limit:
            order[count] = position
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
    """Rows in boxes, each with the number of rows it stands for; the group of each query; and an order of work."""
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
    for position in order:
        query = queries[position]
        to_own = 0.0
        for column in range(queries.shape[1]):
            difference = own[position, column] - query[column]
            to_own += difference * difference if column < n_added else -difference * difference
        limit = limit_of(to_own, slack)
        count = 0
        for turn in range(-1, boxes.shape[0]):
            group = home[position] if turn < 0 else turn
            if turn >= 0:
                if turn % WIDE == 0:
                    to_boxes(outer[turn // WIDE], query, n_added, to_groups)
                if group == home[position] or to_groups[turn % WIDE] > limit:
                    continue
            count = add_ties(count, _ties_in_group(table, group, query, n_added, to_own, slack, scratch))
            if count == NEARER:
                break
        ties[position] = count


@njit(cache=True, nogil=True)
def _squares_to_rows(
    leaf: Floats, query: Floats, factors: Floats, weights: Floats, squares: Floats, sums: Floats
) -> float:
    """Squared differences of each column to the rows of a leaf, into `squares` (d, WIDE); the least weighted sum."""
    sums[:] = 0.0
    for column in range(leaf.shape[0]):
        value, factor, weight = query[column], factors[column], weights[column]
        for position in range(leaf.shape[1]):
            difference = (leaf[column, position] - value) * factor
            square = difference * difference
            squares[column, position] = square
            sums[position] += weight * square
    return _least(sums)


@njit(cache=True, nogil=True)
def _squares_to_boxes(
    boxes: Floats, query: Floats, factors: Floats, weights: Floats, squares: Floats, sums: Floats
) -> float:
    """Squared gaps of each column to boxes, into `squares` (d, WIDE); the least weighted sum."""
    sums[:] = 0.0
    for column in range(boxes.shape[1]):
        value, factor, weight = query[column], factors[column], weights[column]
        for position in range(boxes.shape[2]):
            below = boxes[0, column, position] - value
            above = value - boxes[1, column, position]
            gap = below if below > above else above
            gap = (gap if gap > 0.0 else 0.0) * factor
            square = gap * gap
            squares[column, position] = square
            sums[position] += weight * square
    return _least(sums)


@njit(cache=True, nogil=True)
def _least(sums: Floats) -> float:
    least = np.inf
    for position in range(sums.shape[0]):
        least = sums[position] if sums[position] < least else least
    return least


@njit(cache=True, nogil=True)
def integrals(squares: Floats, mu: Floats, sets: Ints, before: Floats, totals: Floats) -> None:
    """The integral at every position, into `totals`; `squares` are sorted on the way."""
    n_columns, n_places = squares.shape
    bits = squares.view(np.int64)
    for column in range(n_columns):
        for position in range(n_places):
            squares[column, position] += TINY
            bits[column, position] = (bits[column, position] & -COLUMNS) | column
    for last in range(1, n_columns):
        for column in range(last, 0, -1):
            for position in range(n_places):
                left, right = squares[column - 1, position], squares[column, position]
                squares[column - 1, position] = left if left < right else right
                squares[column, position] = right if left < right else left
    totals[:] = 0.0
    before[:] = 0.0
    sets[:] = len(mu) - 1  # the columns from here on
    for column in range(n_columns):
        for position in range(n_places):
            value = squares[column, position]
            totals[position] += (value - before[position]) * mu[sets[position]]
            before[position] = value
            sets[position] -= 1 << (bits[column, position] & (COLUMNS - 1))


@njit(cache=True, nogil=True)
def _integral_ties_in_group(
    table: Table, group: int, query: Floats, weighing: Weighing, own: float, slack: Slack, scratch: Scratch
) -> int:
    """How many rows of a group tie with the own one; NEARER when one is nearer."""
    leaves, boxes, _, sizes = table
    factors, mu, below, weights = weighing
    squares, sums, sets, before, box_distances, row_distances, order = scratch
    limit = limit_of(own, slack)
    if _squares_to_boxes(boxes[group], query, factors, weights, squares, sums) > limit:
        return 0
    integrals(squares, below, sets, before, box_distances)
    n_leaves = min(WIDE, leaves.shape[0] - group * WIDE)
    ties = 0
    for nth in range(leaves_within(limit, box_distances, n_leaves, order)):
        leaf = group * WIDE + order[nth]
        if _squares_to_rows(leaves[leaf], query, factors, weights, squares, sums) > limit:
            continue
        integrals(squares, mu, sets, before, row_distances)
        ties = add_ties(ties, ties_in_leaf(row_distances, sizes[leaf], own, slack))
        if ties == NEARER:
            break
    return ties


def ties_by_integral(
    table: Table, queries: Floats, own: Floats, weighing: Weighing, home: Ints, order: Ints, slack: Slack
) -> Ints:
    """For every query how many rows are as near as its own; as `ties_by_squares`, which says what is given."""
    ties = np.empty(len(queries), np.int64)
    parts = [(table, queries, own, weighing, home, order[run], slack, ties) for run in runs(len(queries))]
    side_by_side(_ties_by_integral, parts)
    return ties


@njit(cache=True, nogil=True)
def _ties_by_integral(
    table: Table, queries: Floats, own: Floats, weighing: Weighing, home: Ints, order: Ints, slack: Slack, ties: Ints
) -> None:
    _, boxes, outer, _ = table
    factors, mu, below, weights = weighing
    n_columns = queries.shape[1]
    squares, sums, sets = np.empty((n_columns, WIDE)), np.empty(WIDE), np.empty(WIDE, np.int64)
    before, to_groups, alone = np.empty(WIDE), np.empty(WIDE), np.empty((n_columns, 1))
    scratch = (squares, sums, sets, before, np.empty(WIDE), np.empty(WIDE), np.empty(WIDE, np.int64))
    for position in order:
        query = queries[position]
        for column in range(n_columns):
            alone[column, 0] = ((own[position, column] - query[column]) * factors[column]) ** 2
        integrals(alone, mu, sets[:1], before[:1], to_groups[:1])
        to_own = to_groups[0]
        limit = limit_of(to_own, slack)
        count = 0
        for turn in range(-1, boxes.shape[0]):
            group = home[position] if turn < 0 else turn
            if turn >= 0:
                if turn % WIDE == 0:
                    if _squares_to_boxes(outer[turn // WIDE], query, factors, weights, squares, sums) > limit:
                        to_groups[:] = np.inf
                    else:
                        integrals(squares, below, sets, before, to_groups)
                if group == home[position] or to_groups[turn % WIDE] > limit:
                    continue
            count = add_ties(count, _integral_ties_in_group(table, group, query, weighing, to_own, slack, scratch))
            if count == NEARER:
                break
        ties[position] = count
