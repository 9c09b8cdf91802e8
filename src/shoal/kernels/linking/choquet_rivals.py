"""Whether any row is nearer than the own one by the Choquet integral of squared differences, and how many are as near.

With values in rising order the integral is the sum over them of (value - the one before) * mu[the columns from here
on], sets of columns numbered by their bits. It is taken of 32 rows or boxes at a time: the values are sorted by
comparing neighbours, the same ones whatever the values are, which vector instructions can do. The last bits of a value
give way to the number of its column, so that it is sorted along.

The integral of a box's gaps is the least that a row in it can have when the measure is monotone. Boxes are therefore
weighed by a monotone measure that is nowhere larger, and before that by a sum that is nowhere larger either, since
sorting costs. All that is added is not negative, so rounding moves an integral by a share far below `own.ROUNDING`,
which the limit leaves room for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels.linking.nearer_rivals import (
    NEARER,
    Slack,
    Table,
    add_ties,
    leaves_within,
    limit_of,
    ties_in_leaf,
)
from shoal.kernels.linking.neighbours import WIDE
from shoal.kernels.threads import runs, side_by_side

__all__ = ["COLUMNS", "Weighing", "ties_by_integral"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]
# A factor for each column, which undoes the scale on which rows were put into boxes; the measure, of 2^d sets; a
# monotone measure that is nowhere larger; a weight for each column, their sums over sets nowhere larger than that.
Weighing = tuple[Floats, Floats, Floats, Floats]
Scratch = tuple[Floats, Floats, Ints, Floats, Floats, Floats, Ints]  # (d, WIDE), and the others (WIDE,)

COLUMNS = 16  # at most: their numbers take four bits
TINY = 1e-290  # instead of 0, whose last bits would make it a number that processors are slow with


@njit(cache=True, nogil=True)
def _to_rows(leaf: Floats, query: Floats, factors: Floats, weights: Floats, squares: Floats, sums: Floats) -> float:
    """Squared differences of each column to the rows of a leaf, into `squares` (d, WIDE); the least weighted sum."""
    sums[:] = 0.0
    for column in range(leaf.shape[0]):
        value, factor, weight = query[column], factors[column], weights[column]
        for place in range(leaf.shape[1]):
            difference = (leaf[column, place] - value) * factor
            square = difference * difference
            squares[column, place] = square
            sums[place] += weight * square
    return _least(sums)


@njit(cache=True, nogil=True)
def _to_boxes(boxes: Floats, query: Floats, factors: Floats, weights: Floats, squares: Floats, sums: Floats) -> float:
    """Squared gaps of each column to boxes, into `squares` (d, WIDE); the least weighted sum."""
    sums[:] = 0.0
    for column in range(boxes.shape[1]):
        value, factor, weight = query[column], factors[column], weights[column]
        for place in range(boxes.shape[2]):
            below = boxes[0, column, place] - value
            above = value - boxes[1, column, place]
            gap = below if below > above else above
            gap = (gap if gap > 0.0 else 0.0) * factor
            square = gap * gap
            squares[column, place] = square
            sums[place] += weight * square
    return _least(sums)


@njit(cache=True, nogil=True)
def _least(sums: Floats) -> float:
    least = np.inf
    for place in range(sums.shape[0]):
        least = sums[place] if sums[place] < least else least
    return least


@njit(cache=True, nogil=True)
def _integrals(squares: Floats, mu: Floats, sets: Ints, before: Floats, integrals: Floats) -> None:
    """The integral at every place, into `integrals`; `squares` are sorted on the way."""
    n_columns, n_places = squares.shape
    bits = squares.view(np.int64)
    for column in range(n_columns):
        for place in range(n_places):
            squares[column, place] += TINY
            bits[column, place] = (bits[column, place] & -COLUMNS) | column
    for last in range(1, n_columns):
        for column in range(last, 0, -1):
            for place in range(n_places):
                one, other = squares[column - 1, place], squares[column, place]
                squares[column - 1, place] = one if one < other else other
                squares[column, place] = other if one < other else one
    integrals[:] = 0.0
    before[:] = 0.0
    sets[:] = len(mu) - 1  # the columns from here on
    for column in range(n_columns):
        for place in range(n_places):
            value = squares[column, place]
            integrals[place] += (value - before[place]) * mu[sets[place]]
            before[place] = value
            sets[place] -= 1 << (bits[column, place] & (COLUMNS - 1))


@njit(cache=True, nogil=True)
def _ties_in_group(
    table: Table, group: int, query: Floats, weighing: Weighing, own: float, slack: Slack, scratch: Scratch
) -> int:
    """How many rows of a group tie with the own one; NEARER when one is nearer."""
    leaves, boxes, _, sizes = table
    factors, mu, below, weights = weighing
    squares, sums, sets, before, box_distances, row_distances, order = scratch
    limit = limit_of(own, slack)
    if _to_boxes(boxes[group], query, factors, weights, squares, sums) > limit:
        return 0
    _integrals(squares, below, sets, before, box_distances)
    n_leaves = min(WIDE, leaves.shape[0] - group * WIDE)
    ties = 0
    for nth in range(leaves_within(limit, box_distances, n_leaves, order)):
        leaf = group * WIDE + order[nth]
        if _to_rows(leaves[leaf], query, factors, weights, squares, sums) > limit:
            continue
        _integrals(squares, mu, sets, before, row_distances)
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
    for place in order:
        query = queries[place]
        for column in range(n_columns):
            alone[column, 0] = ((own[place, column] - query[column]) * factors[column]) ** 2
        _integrals(alone, mu, sets[:1], before[:1], to_groups[:1])
        to_own = to_groups[0]
        limit = limit_of(to_own, slack)
        count = 0
        for turn in range(-1, boxes.shape[0]):
            group = home[place] if turn < 0 else turn
            if turn >= 0:
                if turn % WIDE == 0:
                    if _to_boxes(outer[turn // WIDE], query, factors, weights, squares, sums) > limit:
                        to_groups[:] = np.inf
                    else:
                        _integrals(squares, below, sets, before, to_groups)
                if group == home[place] or to_groups[turn % WIDE] > limit:
                    continue
            count = add_ties(count, _ties_in_group(table, group, query, weighing, to_own, slack, scratch))
            if count == NEARER:
                break
        ties[place] = count
