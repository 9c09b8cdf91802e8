"""Nearest neighbours of sparse unit rows by inverted lists, and how many components each pair of them allows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

__all__ = ["fewest_components", "nearest_rows", "pair_limits"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def _offer(row: int, score: float, rows: Ints, scores: Floats, filled: int) -> int:
    """Put a row among the best found so far, by falling score, ties to the lower row. Returns how many there are."""
    count = rows.shape[0]
    place = min(filled, count)
    while place > 0 and (score > scores[place - 1] or (score == scores[place - 1] and row < rows[place - 1])):
        if place < count:
            rows[place] = rows[place - 1]
            scores[place] = scores[place - 1]
        place -= 1
    if place < count:
        rows[place] = row
        scores[place] = score
    return min(filled + 1, count)


@njit(cache=True, nogil=True, parallel=True)
def nearest_rows(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    list_ptr: Ints,
    list_row: Ints,
    list_weight: Floats,
    count: int,
    n_blocks: int,
) -> tuple[Ints, Floats]:
    """The `count` other rows nearest to each by dot product, and the products: both (rows, count).

    Rows are cut into blocks, so that each block needs one array of scores. Rows that share no column have product 0;
    the lowest of them fill up where fewer share one.
    """
    n_rows = indptr.shape[0] - 1
    nearest = np.full((n_rows, count), -1, np.int64)
    products = np.zeros((n_rows, count))
    for block in prange(n_blocks):
        scores = np.zeros(n_rows)
        touched = np.empty(n_rows, np.int64)
        for row in range(block * n_rows // n_blocks, (block + 1) * n_rows // n_blocks):
            n_touched = 0
            for entry in range(indptr[row], indptr[row + 1]):
                weight = data[entry]
                for listed in range(list_ptr[indices[entry]], list_ptr[indices[entry] + 1]):
                    other = list_row[listed]
                    if scores[other] == 0.0:
                        touched[n_touched] = other
                        n_touched += 1
                    scores[other] += weight * list_weight[listed]
            filled = 0
            bar = -1.0
            for place in range(n_touched):
                other = touched[place]
                score = scores[other]
                scores[other] = 0.0
                if other != row and score >= bar:
                    filled = _offer(other, score, nearest[row], products[row], filled)
                    bar = products[row, count - 1] if filled == count else -1.0
            other = 0
            while filled < count:  # strangers to all that were touched
                known = other == row
                for place in range(filled):
                    known |= nearest[row, place] == other
                if not known:
                    nearest[row, filled] = other
                    products[row, filled] = 0.0
                    filled += 1
                other += 1
    return nearest, products


@njit(cache=True, nogil=True)
def _shared_squares(indptr: Ints, indices: Ints, data: Floats, one: int, other: int) -> float:
    """The sum of x² y² over the columns that two rows share; columns rise in each row."""
    at, end = indptr[one], indptr[one + 1]
    other_at, other_end = indptr[other], indptr[other + 1]
    total = 0.0
    while at < end and other_at < other_end:
        if indices[at] == indices[other_at]:
            total += (data[at] * data[other_at]) ** 2
            at += 1
            other_at += 1
        elif indices[at] < indices[other_at]:
            at += 1
        else:
            other_at += 1
    return total


@njit(cache=True, nogil=True, parallel=True)
def pair_limits(indptr: Ints, indices: Ints, data: Floats, nearest: Ints, products: Floats, most: int) -> Ints:
    """The components that each pair of a row and a neighbour allows, at most `most`: (rows, count).

    With c components the estimate of a product p of unit rows has the variance (1 + p² - 2 sum x²y²) / c, and its root
    may not be below 1 - p.
    """
    limits = np.empty(nearest.shape, np.int64)
    for row in prange(nearest.shape[0]):
        for place in range(nearest.shape[1]):
            product = min(products[row, place], 1.0)
            shared = _shared_squares(indptr, indices, data, row, nearest[row, place])
            limits[row, place] = _allowed(1.0 + product * product - 2.0 * shared, (1.0 - product) ** 2, most)
    return limits


@njit(cache=True, nogil=True)
def _allowed(variance: float, squared_gap: float, most: int) -> int:
    """The largest c up to `most` with variance / c >= squared gap."""
    if squared_gap * most <= variance:
        return most
    allowed = np.floor(max(variance, 0.0) / squared_gap)
    while allowed > 0.0 and variance / allowed < squared_gap:
        allowed -= 1.0  # the quotient was rounded up
    return int(allowed)


@njit(cache=True, nogil=True, parallel=True)
def fewest_components(indptr: Ints, data: Floats, limits: Ints, products: Floats, most: int) -> Ints:
    """For each row the components that every pair with a found neighbour allows, and every pair that was missed.

    A missed neighbour is nearer than the last one found. Its sum of x²y² is at most p² and at most the row's largest
    square, and with that bound a pair allows the more components the nearer the two are.
    """
    found = np.empty(limits.shape[0], np.int64)
    for row in prange(limits.shape[0]):
        largest = 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            largest = max(largest, data[entry] * data[entry])
        product = min(products[row, limits.shape[1] - 1], 1.0)
        shared = min(product * product, largest)
        fewest = _allowed(1.0 + product * product - 2.0 * shared, (1.0 - product) ** 2, most)
        for place in range(limits.shape[1]):
            fewest = min(fewest, limits[row, place])
        found[row] = fewest
    return found
