"""Rows of numbers in Euclidean space, with labels or without: distances, nearest rows, and optimal cuts.

Ties always go to the lower row.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal.kernels import Floats, Ints
from shoal.kernels.threads import runs, side_by_side


@njit(cache=True, nogil=True)
def nearest(distances: Floats, alive: Ints, row: int, count: int) -> Ints:
    """`row` and the `count` - 1 living rows with the smallest distances."""
    best = np.empty(count, np.int64)
    best[0] = row
    filled = 1
    bar = np.inf  # what a row must beat once there are enough
    for other in range(distances.shape[0]):
        distance = distances[other]
        if distance >= bar or not alive[other] or other == row:
            continue
        position = filled if filled < count else count - 1
        while position > 1 and distance < distances[best[position - 1]]:
            best[position] = best[position - 1]
            position -= 1
        best[position] = other
        if filled < count:
            filled += 1
        if filled == count and count > 1:
            bar = distances[best[count - 1]]
    return best[:filled]


@njit(cache=True, nogil=True)
def farthest(distances: Floats, alive: Ints) -> int:
    """The living row with the largest distance."""
    best = -1
    for row in range(distances.shape[0]):
        if alive[row] and (best < 0 or distances[row] > distances[best]):
            best = row
    return best


@njit(cache=True, nogil=True)
def put_in_order(distance: float, other: int, best: Floats, rows: Ints) -> None:
    """Put a row that is nearer than the last of those found where it belongs; `best` are their distances, rising."""
    position = best.shape[0] - 1
    while position > 0 and distance < best[position - 1]:
        best[position] = best[position - 1]
        rows[position] = rows[position - 1]
        position -= 1
    best[position] = distance
    rows[position] = other


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
    for position in range(order.shape[0]):
        row = order[position]
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


@njit(cache=True, nogil=True)
def mixed_distances(
    numbers: Floats, codes: Ints, squares: Floats, point: Floats, concepts: Ints, distances: Floats
) -> None:
    """Squared distance of every row to one point, into `distances`.

    `squares` (labels, concepts, values) has the squared distance of every value to every concept.
    """
    for row in range(numbers.shape[0]):
        total = 0.0
        for column in range(numbers.shape[1]):
            difference = numbers[row, column] - point[column]
            total += difference * difference
        for column in range(codes.shape[1]):
            total += squares[column, concepts[column], codes[row, column]]
        distances[row] = total


def nearest_point(numbers: Floats, codes: Ints, squares: Floats, points: Floats, concepts: Ints) -> Ints:
    """For every row the nearest of the points; ties to the lower."""
    parts = [(numbers[run], codes[run], squares, points, concepts) for run in runs(len(numbers))]
    return np.concatenate(side_by_side(_nearest_point, parts))


@njit(cache=True, nogil=True)
def _nearest_point(numbers: Floats, codes: Ints, squares: Floats, points: Floats, concepts: Ints) -> Ints:
    nearest_points = np.empty(numbers.shape[0], np.int64)
    for row in range(numbers.shape[0]):
        best = np.inf
        best_point = 0
        for point in range(points.shape[0]):
            total = 0.0
            for column in range(codes.shape[1]):
                total += squares[column, concepts[point, column], codes[row, column]]
            for column in range(numbers.shape[1]):
                difference = numbers[row, column] - points[point, column]
                total += difference * difference
                if total >= best:
                    break
            if total < best:
                best = total
                best_point = point
        nearest_points[row] = best_point
    return nearest_points


@njit(cache=True, nogil=True)
def best_last_classes(values: Floats, counts: Ints, k: int) -> Ints:
    """For the first 1, 2, ... of the rising values: where the last class starts when they are cut at the least error.

    A class is a run of values with at least k records in all; the error is the squared distance of its records to their
    mean. -1 where there are fewer than k records. Of starts equally good the last is taken.

    A class that can be cut into two of k records is no better than the two. So, once the class has its k records, fewer
    than k more are tried in front of them: that bounds the inner loop, whatever the counts are.
    """
    n_values = values.shape[0]
    cost = np.full(n_values + 1, np.inf)
    cost[0] = 0.0
    start_of_last = np.full(n_values, -1, np.int64)
    for end in range(1, n_values + 1):
        records = 0
        in_front = 0
        mean = 0.0
        error = 0.0
        for start in range(end - 1, -1, -1):
            if records >= k:
                in_front += counts[start]
                if in_front >= k:
                    break
            # The error grows value by value: nothing large is subtracted, so that far values do not drown near ones.
            difference = values[start] - mean
            share = counts[start] / (records + counts[start])
            error += difference * difference * records * share
            mean += difference * share
            records += counts[start]
            if records >= k and cost[start] + error < cost[end]:
                cost[end] = cost[start] + error
                start_of_last[end - 1] = start
    return start_of_last
