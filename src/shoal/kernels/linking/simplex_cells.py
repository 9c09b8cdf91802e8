"""Weights that find the most records: the simplex of all weights, halved again and again.

A row is by how much a rival is further away than a record's own, at each corner of a cell; between corners it is
linear. A rival that is nearer at all corners is nearer in the whole cell, and its record is lost there. What is not
lost is the cell's bound. Lists of rows, sorted by record, grow shorter from cell to cell: rows that are not negative at
any corner say nothing any more, nor do rows that are above another of the same record at all corners.

Rows are columns here: `at[corner, row]`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels import Floats

Ints = NDArray[np.int32]

ZERO = -1e-13  # what is above counts as not negative: the bound only becomes weaker
EVERY, PIVOTS = 3, 8  # rows above others are looked for in every third generation, above so many
DEEPEST = 400  # cells on the stack; a cell that is halved so often is closed with the bound it has
WORK = 20_000_000  # rows of cells that a search looks at before it reports


class Cells(NamedTuple):
    """Cells that may have to be halved, the last first."""

    owner: Ints  # (rows,) the record of each row
    at: Floats  # (corners, rows)
    ends: NDArray[np.int64]  # (cells + 1,) of the rows of each
    places: Floats  # (cells, corners, weights)
    losses: Floats  # (cells,) what is lost in all of the cell, as far as it is known
    halved: NDArray[np.int64]  # (cells,) how often the simplex was for each


@njit(cache=True, nogil=True)
def needed(
    owner: Ints, at: Floats, first: int, end: int, margin: float, share: Floats, thin: bool
) -> tuple[int, float, float]:
    """Keep the rows first to end that matter in this cell, in place: their end, what is lost everywhere, in the middle.

    The middle is that of the corners.
    """
    n = len(at)
    low, high, total = at[0, first:end].copy(), at[0, first:end].copy(), at[0, first:end].copy()
    for corner in range(1, n):
        values = at[corner, first:end]
        for t in range(len(values)):
            low[t] = min(low[t], values[t])
            high[t] = max(high[t], values[t])
            total[t] += values[t]
    rows = np.empty(end - first, np.int64)
    kept, lost, lost_in_the_middle = first, 0.0, 0.0
    t = 0
    while t < end - first:
        record, many, gone, missed = owner[first + t], 0, False, False
        while t < end - first and owner[first + t] == record:
            gone |= high[t] < margin
            if low[t] < ZERO and not gone:
                missed |= total[t] < margin * n
                rows[many] = t
                many += 1
            t += 1
        if gone or missed:
            lost_in_the_middle += share[record]
        if gone:
            lost += share[record]
            continue
        if thin and many > 1:
            many = _lowest(at, first, rows, total, many)
        for u in range(many):
            owner[kept] = record
            for corner in range(n):
                at[corner, kept] = at[corner, first + rows[u]]
            kept += 1
    return kept, lost, lost_in_the_middle


@njit(cache=True, nogil=True)
def _lowest(at: Floats, first: int, rows: NDArray[np.int64], total: Floats, many: int) -> int:
    """Leave out a record's rows that are above one of its lowest, in the order that they have; how many are left."""
    least, last = -np.inf, -1
    for _ in range(PIVOTS):
        pivot = -1  # the lowest on the whole of those not tried
        for u in range(many):
            t = rows[u]
            untried = total[t] > least or (total[t] == least and t > last)
            if untried and (pivot < 0 or total[t] < total[pivot]):
                pivot = t
        if pivot < 0:
            break
        least, last, left = total[pivot], pivot, 0
        for u in range(many):
            t = rows[u]
            above = t != pivot
            for corner in range(len(at)):
                if at[corner, first + t] < at[corner, first + pivot]:
                    above = False
                    break
            if not above:
                rows[left] = t
                left += 1
        many = left
    return many


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _edge(at: Floats, first: int, end: int) -> tuple[int, int]:
    """The edge along which rows differ most, rows that are negative nearly everywhere before others."""
    n = len(at)
    low, high = at[0, first:end].copy(), at[0, first:end].copy()
    for corner in range(1, n):
        values = at[corner, first:end]
        for t in range(len(values)):
            low[t] = min(low[t], values[t])
            high[t] = max(high[t], values[t])
    weight = -low / (high - low) ** 3
    best, start, stop = -1.0, 0, 1
    for a in range(n):
        at_a = at[a, first:end]
        for b in range(a + 1, n):
            at_b, score = at[b, first:end], 0.0
            for t in range(len(at_a)):
                score += (at_a[t] - at_b[t]) ** 2 * weight[t]
            if score > best:
                best, start, stop = score, a, b
    return start, stop


@njit(cache=True, nogil=True)
def search(
    cells: Cells, share: Floats, margin: float, known: float, slack: float, budget: int
) -> tuple[float, Floats, float, int, Cells]:
    """Halve cells, depth first, until none may find more than is known and a slack; or until it is time to report.

    That is when the budget of cells, or of work, is used up. The most found in the middle of a cell and where that
    is, the highest bound of a cell that was closed, cells looked at, and those left open.
    """
    n, n_rows = cells.at.shape
    n_open, looked, work = len(cells.losses), 0, 0
    room = max(3 * n_rows, 1000)
    owners, values = _roomier(cells.owner, cells.at, n_rows, room)
    ends, losses, corners = np.zeros(DEEPEST + 1, np.int64), np.zeros(DEEPEST), np.empty((DEEPEST, n, n))
    halved = np.zeros(DEEPEST, np.int64)
    ends[: n_open + 1], losses[:n_open], corners[:n_open] = cells.ends, cells.losses, cells.places
    halved[:n_open] = cells.halved
    everything = share.sum()
    best, where, closed = -1.0, cells.places[0, 0].copy(), 0.0
    while n_open > 0 and looked < budget and work < WORK:
        n_open -= 1
        looked += 1
        first, cell = ends[n_open], corners[n_open]
        work += ends[n_open + 1] - first
        thin = halved[n_open] % EVERY == 0
        end, lost_here, in_the_middle = needed(owners, values, first, ends[n_open + 1], margin, share, thin)
        value = everything - losses[n_open] - in_the_middle
        if value > best:
            best, known = value, max(known, value)  # not counted from the distances: only the slack depends on it
            for a in range(n):
                where[a] = cell[:, a].mean()
        bound = everything - losses[n_open] - lost_here
        if bound <= known + slack or end == first or n_open > DEEPEST - 3:
            closed = max(closed, bound)
            continue
        start, stop = _edge(values, first, end)
        width = end - first
        if end + width > room:
            room = 2 * (end + width)
            owners, values = _roomier(owners, values, end, room)
        owners[end : end + width] = owners[first:end]
        for a in range(n):
            values[a, end : end + width] = values[a, first:end]
        for t in range(width):
            middle = (values[start, first + t] + values[stop, first + t]) / 2.0
            values[start, first + t] = middle
            values[stop, end + t] = middle
        halfway = (cell[start] + cell[stop]) / 2.0
        corners[n_open + 1] = cell
        corners[n_open, start] = halfway
        corners[n_open + 1, stop] = halfway
        halved[n_open] += 1
        halved[n_open + 1] = halved[n_open]
        losses[n_open] += lost_here
        losses[n_open + 1] = losses[n_open]
        ends[n_open + 1], ends[n_open + 2] = end, end + width
        n_open += 2
    owners, values = _roomier(owners, values, ends[n_open], ends[n_open])
    left_open = Cells(owners, values, ends[: n_open + 1], corners[:n_open], losses[:n_open], halved[:n_open])
    return best, where, closed, looked, left_open


@njit(cache=True, nogil=True)
def _roomier(owners: Ints, values: Floats, end: int, room: int) -> tuple[Ints, Floats]:
    """The rows up to `end`, copied into arrays with room for `room` of them."""
    more, larger = np.empty(room, np.int32), np.empty((len(values), room))
    more[:end] = owners[:end]
    larger[:, :end] = values[:, :end]
    return more, larger
