"""Records in a tree of boxes, so that those which widen a group least, or most, are found without a look at all.

A box has the lowest and the highest cell of each column. What a record inside would widen a group by is at least, and
at most, what the box says; boxes that cannot hold a better record are left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels import Ints
from shoal.kernels.grouping.widening import KIND, NUMBER, SET, UNIT, WEIGHT, WHOLE, Columns, meet

LEAF = 8  # records of a box that is not cut, unless they are equal
SAMPLE = 64  # records whose mean is the cut
FEW = 64  # values of a box that are looked up one by one


class Tree(NamedTuple):
    """Boxes, the largest first. Those without a child are leaves."""

    records: Ints  # (n,) the records; those of a box are a run
    start: Ints  # (t,) of the run
    end: Ints  # (t,)
    child: Ints  # (t,) the first of two boxes that this was cut into; -1: none
    parent: Ints  # (t,)
    low: Ints  # (t, c)
    high: Ints  # (t, c)
    free: Ints  # (t,) records inside that have no group yet
    leaf_of: Ints  # (n,) by position of the record, as counted from the first of the stratum


@njit(cache=True, nogil=True)
def planted(columns: Columns, first: int, last: int) -> Tree:
    """The tree of the records from `first` to before `last`."""
    cells, kinds, _ = columns
    n, n_columns = last - first, len(kinds)
    most = max(2 * n - 1, 1)
    records = np.arange(first, last)
    start, end = np.empty(most, np.int64), np.empty(most, np.int64)
    child, parent = np.full(most, -1, np.int64), np.full(most, -1, np.int64)
    low, high = np.empty((most, n_columns), np.int64), np.empty((most, n_columns), np.int64)
    leaf_of = np.empty(n, np.int64)
    start[0], end[0] = 0, n
    n_boxes, box = 1, 0
    while box < n_boxes:
        run = records[start[box] : end[box]]
        for column in range(n_columns):
            low[box, column], high[box, column] = cells[run[0], column], cells[run[0], column]
        for record in run:
            leaf_of[record - first] = box
            for column in range(n_columns):
                low[box, column] = min(low[box, column], cells[record, column])
                high[box, column] = max(high[box, column], cells[record, column])
        column = _widest(kinds, low[box], high[box])
        if len(run) > LEAF and column >= 0:
            middle = start[box] + _cut(cells[:, column], run, low[box, column], high[box, column])
            child[box] = n_boxes
            parent[n_boxes], parent[n_boxes + 1] = box, box
            start[n_boxes], end[n_boxes] = start[box], middle
            start[n_boxes + 1], end[n_boxes + 1] = middle, end[box]
            n_boxes += 2
        box += 1
    free = end[:n_boxes] - start[:n_boxes]
    return Tree(
        records,
        start[:n_boxes],
        end[:n_boxes],
        child[:n_boxes],
        parent[:n_boxes],
        low[:n_boxes].copy(),
        high[:n_boxes].copy(),
        free,
        leaf_of,
    )


@njit(cache=True, nogil=True)
def _widest(kinds: Ints, low: Ints, high: Ints) -> int:
    """The column in which two records of a box may differ most; -1 if all are equal."""
    widest, most = -1, 0
    for column in range(len(kinds)):
        if high[column] > low[column]:
            width = min(high[column] - low[column], kinds[column, WHOLE])
            if kinds[column, KIND] != NUMBER:
                width = 2 * kinds[column, UNIT]
            if width > most or widest < 0:
                widest, most = column, width
    return widest


@njit(cache=True, nogil=True)
def _cut(column: Ints, run: Ints, low: int, high: int) -> int:
    """Put the lower half of the records first, by the mean of a sample; equal ones stay together."""
    step = len(run) // SAMPLE + 1
    mean, n_sampled = 0.0, 0
    for position in range(0, len(run), step):
        mean += float(column[run[position]] - low)
        n_sampled += 1
    cut = min(low + int(mean / n_sampled), high - 1)
    n_lower = 0
    for position in range(len(run)):
        record = run[position]
        if column[record] <= cut:
            run[position] = run[n_lower]
            run[n_lower] = record
            n_lower += 1
    return n_lower


@njit(cache=True, nogil=True)
def take(tree: Tree, position: int) -> None:
    """The record at this position of the stratum has a group."""
    box = tree.leaf_of[position]
    while box >= 0:
        tree.free[box] -= 1
        box = tree.parent[box]


@njit(cache=True, nogil=True)
def least_width(kinds: Ints, nodes: Ints, state: Ints, has: Ints, group: int, low: Ints, high: Ints) -> int:
    """A group's width once a record of the box has joined is at least this."""
    total = 0
    for column in range(len(kinds)):
        down, up = low[column], high[column]
        if kinds[column, KIND] == NUMBER:
            total += min(max(state[column, 1], down) - min(state[column, 0], up), kinds[column, WHOLE])
        elif kinds[column, KIND] == SET:
            new = up - down < FEW
            if new:
                for value in range(down, up + 1):
                    if has[value] == group:
                        new = False
                        break
            if new or state[column, 0] > 1:
                weight = state[column, 1] + (1 if new else 0)
                total += min(weight * kinds[column, UNIT], kinds[column, WHOLE])
        elif state[column, 0] > 1 or not down <= state[column, 1] <= up:
            # What is below a node comes right after it: the nearest number of the box has the lowest common ancestor.
            near = meet(nodes, state[column, 1], min(max(state[column, 1], down), up))
            total += min(nodes[near, WEIGHT] * kinds[column, UNIT], kinds[column, WHOLE])
    return total


@njit(cache=True, nogil=True)
def most_width(kinds: Ints, nodes: Ints, state: Ints, has: Ints, group: int, low: Ints, high: Ints) -> int:
    """A group's width once a record of the box has joined is at most this."""
    total = 0
    for column in range(len(kinds)):
        down, up = low[column], high[column]
        if kinds[column, KIND] == NUMBER:
            total += min(max(state[column, 1], up) - min(state[column, 0], down), kinds[column, WHOLE])
        elif kinds[column, KIND] == SET:
            new = down < up or has[down] != group
            if new or state[column, 0] > 1:
                weight = state[column, 1] + (max(nodes[down, WEIGHT], nodes[up, WEIGHT]) if new else 0)
                total += min(weight * kinds[column, UNIT], kinds[column, WHOLE])
        elif down < up or state[column, 0] > 1 or state[column, 1] != down:
            far = min(meet(nodes, state[column, 1], down), meet(nodes, state[column, 1], up))
            total += min(nodes[far, WEIGHT] * kinds[column, UNIT], kinds[column, WHOLE])
    return total
