"""Sparse unit rows: similarities through inverted lists, and who is nearest or farthest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

__all__ = [
    "compact_rows",
    "dots_with",
    "invert",
    "least_similar",
    "least_similar_to_sum",
    "most_similar",
    "most_similar_listed",
    "similarities",
    "subtract_rows",
    "take_group",
]

Ints = NDArray[Any]
Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def similarities(
    list_ptr: Ints, list_row: Ints, list_weight: Floats, columns: Ints, weights: Floats, scores: Floats
) -> None:
    """Dot product of one row (columns, weights) with every listed row, into `scores`."""
    scores[:] = 0.0
    for term in range(columns.shape[0]):
        weight = weights[term]
        for entry in range(list_ptr[columns[term]], list_ptr[columns[term] + 1]):
            scores[list_row[entry]] += weight * list_weight[entry]


@njit(cache=True, nogil=True)
def most_similar(scores: Floats, alive: Ints, row: int, count: int) -> Ints:
    """`row` and the `count` - 1 living rows with the highest scores; ties to the lower row."""
    best = np.empty(count, np.int64)
    best[0] = row
    filled = 1
    bar = -np.inf  # what a row must beat once there are enough
    for other in range(scores.shape[0]):
        score = scores[other]
        if score <= bar or not alive[other] or other == row:
            continue
        place = filled if filled < count else count - 1
        while place > 1 and score > scores[best[place - 1]]:
            best[place] = best[place - 1]
            place -= 1
        best[place] = other
        if filled < count:
            filled += 1
        if filled == count and count > 1:
            bar = scores[best[count - 1]]
    return best[:filled]


@njit(cache=True, nogil=True)
def least_similar(scores: Floats, alive: Ints) -> int:
    """The living row with the lowest score; ties to the lower row."""
    lowest = -1
    for row in range(scores.shape[0]):
        if alive[row] and (lowest < 0 or scores[row] < scores[lowest]):
            lowest = row
    return lowest


@njit(cache=True, nogil=True)
def dots_with(indptr: Ints, indices: Ints, data: Floats, vector: Floats) -> Floats:
    """Dot product of every row with one dense vector."""
    # On one core: a call takes less than waking the others, and blocks are grouped side by side in threads.
    dots = np.empty(indptr.shape[0] - 1)
    for row in range(indptr.shape[0] - 1):
        total = 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            total += data[entry] * vector[indices[entry]]
        dots[row] = total
    return dots


@njit(cache=True, nogil=True)
def least_similar_to_sum(
    indptr: Ints, indices: Ints, data: Floats, alive: Ints, order: Ints, dots: Floats, old_sum: Floats, new_sum: Floats
) -> tuple[int, int]:
    """The living row with the lowest dot product with `new_sum`, and how many rows were looked at.

    `dots` are the products with `old_sum`, `order` sorts them. Rows have unit length, so no product has moved by
    more than |new_sum - old_sum|: the search ends where even that cannot beat the best.
    """
    moved = 0.0
    for column in range(new_sum.shape[0]):
        moved += (new_sum[column] - old_sum[column]) ** 2
    moved = np.sqrt(moved) * (1 + 1e-9) + 1e-9
    best = np.inf
    best_row = -1
    looked_at = 0
    for place in range(order.shape[0]):
        row = order[place]
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
def subtract_rows(indptr: Ints, indices: Ints, data: Floats, rows: Ints, vector: Floats) -> None:
    """Take the rows out of a dense sum, in place."""
    for place in range(rows.shape[0]):
        for entry in range(indptr[rows[place]], indptr[rows[place] + 1]):
            vector[indices[entry]] -= data[entry]


@njit(cache=True, nogil=True)
def compact_rows(indptr: Ints, indices: Ints, data: Floats, alive: Ints) -> tuple[Ints, Ints, Floats]:
    """The living rows, in order, as CSR arrays."""
    n_alive = 0
    n_entries = 0
    for row in range(alive.shape[0]):
        if alive[row]:
            n_alive += 1
            n_entries += indptr[row + 1] - indptr[row]
    new_indptr = np.zeros(n_alive + 1, indptr.dtype)
    new_indices = np.empty(n_entries, indices.dtype)
    new_data = np.empty(n_entries, data.dtype)
    new_row = 0
    filled = 0
    for row in range(alive.shape[0]):
        if alive[row]:
            for entry in range(indptr[row], indptr[row + 1]):
                new_indices[filled] = indices[entry]
                new_data[filled] = data[entry]
                filled += 1
            new_row += 1
            new_indptr[new_row] = filled
    return new_indptr, new_indices, new_data


@njit(cache=True, nogil=True)
def invert(indptr: Ints, indices: Ints, data: Floats, n_columns: int) -> tuple[Ints, Ints, Floats]:
    """Inverted lists (CSC arrays) of the rows, each list by rising row."""
    list_ptr = np.zeros(n_columns + 1, np.int64)
    for entry in range(indices.shape[0]):
        list_ptr[indices[entry] + 1] += 1
    for column in range(n_columns):
        list_ptr[column + 1] += list_ptr[column]
    place = list_ptr[:-1].copy()
    list_row = np.empty(indices.shape[0], np.int32)
    list_weight = np.empty(indices.shape[0], np.float64)
    for row in range(indptr.shape[0] - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            column = indices[entry]
            list_row[place[column]] = row
            list_weight[place[column]] = data[entry]
            place[column] += 1
    return list_ptr, list_row, list_weight


@njit(cache=True, nogil=True, parallel=True)
def most_similar_listed(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    list_ptr: Ints,
    list_row: Ints,
    list_weight: Floats,
    n_listed: int,
    n_blocks: int,
) -> Ints:
    """For every row the listed row (inverted lists) with the highest dot product; ties to the lower one.

    Rows are cut into blocks, so that each block needs one array of scores.
    """
    n_rows = indptr.shape[0] - 1
    found = np.zeros(n_rows, np.int64)
    for block in prange(n_blocks):
        scores = np.empty(n_listed)
        for row in range(block * n_rows // n_blocks, (block + 1) * n_rows // n_blocks):
            start, end = indptr[row], indptr[row + 1]
            similarities(list_ptr, list_row, list_weight, indices[start:end], data[start:end], scores)
            found[row] = np.argmax(scores)
    return found


@njit(cache=True, nogil=True)
def take_group(
    list_ptr: Ints,
    list_row: Ints,
    list_weight: Floats,
    indptr: Ints,
    indices: Ints,
    data: Floats,
    alive: Ints,
    scores: Floats,
    vector: Floats,
    row: int,
    count: int,
) -> Ints:
    """`row` and the `count` - 1 living rows most similar to it, which leave: the living, and the sum `vector`.

    `scores` has the similarity of every row to `row` afterwards.
    """
    start, end = indptr[row], indptr[row + 1]
    similarities(list_ptr, list_row, list_weight, indices[start:end], data[start:end], scores)
    rows = most_similar(scores, alive, row, count)
    subtract_rows(indptr, indices, data, rows, vector)
    for place in range(rows.shape[0]):
        alive[rows[place]] = False
    return rows
