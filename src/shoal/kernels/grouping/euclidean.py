"""Dense rows in Euclidean space: distances, the farthest row, and the best cut of a sorted sequence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["best_cut", "farthest_from_moved", "squared_distances"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def squared_distances(X: Floats, point: Floats, distances: Floats) -> None:
    """Squared distance of every row to one point, into `distances`."""
    for row in range(X.shape[0]):
        total = 0.0
        for column in range(X.shape[1]):
            difference = X[row, column] - point[column]
            total += difference * difference
        distances[row] = total


@njit(cache=True, nogil=True)
def farthest_from_moved(
    X: Floats, alive: Ints, order: Ints, distances: Floats, old_centre: Floats, new_centre: Floats
) -> tuple[int, int]:
    """The living row farthest from `new_centre`, and how many rows were looked at.

    `distances` (not squared) are those to `old_centre`, `order` sorts them falling. By the triangle inequality none
    has changed by more than the centre moved: the search ends where even that cannot beat the best.
    """
    moved = 0.0
    for column in range(new_centre.shape[0]):
        moved += (new_centre[column] - old_centre[column]) ** 2
    moved = np.sqrt(moved)
    best = -1.0
    best_row = -1
    looked_at = 0
    for place in range(order.shape[0]):
        row = order[place]
        if (distances[row] + moved) * (1 + 1e-9) + 1e-12 < np.sqrt(best) and best_row >= 0:
            break
        looked_at += 1
        if not alive[row]:
            continue
        total = 0.0
        for column in range(X.shape[1]):
            difference = X[row, column] - new_centre[column]
            total += difference * difference
        if total > best or (total == best and row < best_row):
            best = total
            best_row = row
    return best_row, looked_at


@njit(cache=True, nogil=True)
def best_cut(X: Floats, k: int) -> Ints:
    """Cut a sequence of rows into runs of k to 2k - 1 with the least within-run squared error.

    The shortest path of Hansen and Mukherjee (2003); for one sorted attribute the exact optimum of
    microaggregation. Returns the run of each row. X should be centred, for the sums' accuracy.
    """
    n_rows, n_columns = X.shape
    sums = np.zeros((n_rows + 1, n_columns))
    squares = np.zeros(n_rows + 1)
    for row in range(n_rows):
        squares[row + 1] = squares[row]
        for column in range(n_columns):
            sums[row + 1, column] = sums[row, column] + X[row, column]
            squares[row + 1] += X[row, column] * X[row, column]
    cost = np.full(n_rows + 1, np.inf)
    cut_before = np.full(n_rows + 1, -1, np.int64)
    cost[0] = 0.0
    for end in range(k, n_rows + 1):
        for start in range(max(0, end - 2 * k + 1), end - k + 1):
            if cost[start] == np.inf:
                continue
            between = 0.0
            for column in range(n_columns):
                total = sums[end, column] - sums[start, column]
                between += total * total
            error = cost[start] + squares[end] - squares[start] - between / (end - start)
            if error < cost[end]:
                cost[end] = error
                cut_before[end] = start
    n_runs = 0
    end = n_rows
    while end > 0:
        n_runs += 1
        end = int(cut_before[end])
    run_of_row = np.empty(n_rows, np.int64)
    end = n_rows
    while end > 0:
        n_runs -= 1
        run_of_row[cut_before[end] : end] = n_runs
        end = int(cut_before[end])
    return run_of_row
