"""Sparse unit rows: distances through inverted lists, the nearest and the farthest row.

The distance of two unit rows is minus their dot product here: 1 less than theirs on the sphere, and no rounding.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit

from shoal.kernels import Floats, Ints
from shoal.kernels.grouping.euclidean import nearest
from shoal.kernels.threads import runs, side_by_side


class Csr(NamedTuple):
    """Rows, as the arrays of a CSR matrix."""

    indptr: Ints
    indices: Ints
    data: Floats


def csr(X: Any) -> Csr:
    """The arrays of a CSR matrix, or of a CSC one, in the types that kernels are compiled for."""
    indices, data = X.indices.astype(np.int32, copy=False), X.data.astype(np.float64, copy=False)
    return Csr(X.indptr.astype(np.int64), indices, data)


class Lists(NamedTuple):
    """Inverted lists: of every column the rows that have it, and their weights."""

    ptr: Ints
    row: Ints
    weight: Floats


@njit(cache=True, nogil=True)
def distances_to(lists: Lists, columns: Ints, weights: Floats, distances: Floats) -> None:
    """Minus the dot product of one row (columns, weights) with every listed row, into `distances`."""
    distances[:] = 0.0
    for term in range(columns.shape[0]):
        weight = weights[term]
        for entry in range(lists.ptr[columns[term]], lists.ptr[columns[term] + 1]):
            distances[lists.row[entry]] -= weight * lists.weight[entry]


@njit(cache=True, nogil=True)
def farthest_from_moved_sum(
    rows: Csr, alive: Ints, order: Ints, dots: Floats, old_sum: Floats, new_sum: Floats
) -> tuple[int, int]:
    """The living row with the lowest dot product with `new_sum`, and how many rows were looked at.

    `dots` are the products with `old_sum`, `order` sorts them. Rows have unit length, so no product has moved by
    more than |new_sum - old_sum|: the search ends where even that cannot beat the best.
    """
    indptr, indices, data = rows
    moved = 0.0
    for column in range(new_sum.shape[0]):
        moved += (new_sum[column] - old_sum[column]) ** 2
    moved = np.sqrt(moved) * (1 + 1e-9) + 1e-9
    best = np.inf
    best_row = -1
    looked_at = 0
    for position in range(order.shape[0]):
        row = order[position]
        if dots[row] > best + moved:
            break
        looked_at += 1
        if not alive[row]:
            continue
        total = 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            total += data[entry] * new_sum[indices[entry]]
        if total < best or (total == best and row < best_row):
            best = total
            best_row = row
    return best_row, looked_at


@njit(cache=True, nogil=True)
def subtract_rows(rows: Csr, chosen: Ints, vector: Floats) -> None:
    """Take the chosen rows out of a dense sum, in place."""
    indptr, indices, data = rows
    for row in chosen:
        for entry in range(indptr[row], indptr[row + 1]):
            vector[indices[entry]] -= data[entry]


def invert(rows: Csr, n_columns: int) -> Lists:
    """Inverted lists (CSC arrays) of the rows, each list by rising row."""
    matrix = sp.csr_matrix((rows.data, rows.indices, rows.indptr), shape=(len(rows.indptr) - 1, n_columns))
    return Lists(*csr(matrix.tocsc()))


def nearest_listed(rows: Csr, lists: Lists, n_listed: int) -> Ints:
    """For every row the listed row with the highest dot product; ties to the lower one."""
    parts = [(rows, lists, n_listed, run.start, run.stop) for run in runs(len(rows.indptr) - 1)]
    return np.concatenate(side_by_side(_nearest_listed, parts))


@njit(cache=True, nogil=True)
def _nearest_listed(rows: Csr, lists: Lists, n_listed: int, first: int, end: int) -> Ints:
    closest = np.zeros(end - first, np.int64)
    distances = np.empty(n_listed)
    for row in range(first, end):
        part = slice(rows.indptr[row], rows.indptr[row + 1])
        distances_to(lists, rows.indices[part], rows.data[part], distances)
        closest[row - first] = np.argmin(distances)
    return closest


@njit(cache=True, nogil=True)
def take_group(rows: Csr, lists: Lists, alive: Ints, distances: Floats, vector: Floats, row: int, count: int) -> Ints:
    """`row` and the `count` - 1 living rows nearest to it, which leave: the living, and the sum `vector`.

    `distances` has the distance of every row to `row` afterwards.
    """
    part = slice(rows.indptr[row], rows.indptr[row + 1])
    distances_to(lists, rows.indices[part], rows.data[part], distances)
    taken = nearest(distances, alive, row, count)
    subtract_rows(rows, taken, vector)
    for member in taken:
        alive[member] = False
    return taken
