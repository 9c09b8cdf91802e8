"""Nearest neighbours of sparse unit rows by inverted lists, and how many components each pair of them allows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels.grouping.spherical import Csr, Lists
from shoal.kernels.threads import runs, side_by_side

__all__ = ["fewest_components", "nearest_rows", "pair_limits"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def _offer(row: int, score: float, rows: Ints, scores: Floats, filled: int) -> int:
    """Put a row among the best found so far, by falling score; rows come in rising order. Returns their number."""
    count = rows.shape[0]
    place = min(filled, count)
    while place > 0 and score > scores[place - 1]:
        if place < count:
            rows[place] = rows[place - 1]
            scores[place] = scores[place - 1]
        place -= 1
    if place < count:
        rows[place] = row
        scores[place] = score
    return min(filled + 1, count)


def nearest_rows(rows: Csr, lists: Lists, count: int) -> tuple[Ints, Floats]:
    """The `count` other rows nearest to each by dot product, and the products: both (rows, count).

    Rows that share no column have product 0; the lowest of them fill up where fewer share one.
    """
    n_rows = len(rows.indptr) - 1
    nearest, products = np.full((n_rows, count), -1), np.zeros((n_rows, count))
    side_by_side(
        _nearest_rows, [(rows, lists, run.start, nearest[run], products[run]) for run in runs(n_rows) if n_rows]
    )
    return nearest, products


@njit(cache=True, nogil=True)
def _nearest_rows(rows: Csr, lists: Lists, first: int, nearest: Ints, products: Floats) -> None:
    n_rows, count = rows.indptr.shape[0] - 1, nearest.shape[1]
    scores = np.zeros(n_rows)
    for place in range(nearest.shape[0]):
        row = first + place
        for entry in range(rows.indptr[row], rows.indptr[row + 1]):
            weight, column = rows.data[entry], rows.indices[entry]
            for listed in range(lists.ptr[column], lists.ptr[column + 1]):
                scores[lists.row[listed]] += weight * lists.weight[listed]
        scores[row] = 0.0
        filled = 0
        bar = 0.0  # what a row must exceed; ties go to the lower row, which comes first
        for other in range(n_rows):
            if scores[other] > bar:
                filled = _offer(other, scores[other], nearest[place], products[place], filled)
                bar = products[place, count - 1] if filled == count else 0.0
        scores[:] = 0.0
        _fill_up(row, nearest[place], filled)


@njit(cache=True, nogil=True)
def _fill_up(row: int, nearest: Ints, filled: int) -> None:
    """The lowest rows that are not among the nearest yet take the places left."""
    other = 0
    while filled < nearest.shape[0]:
        known = other == row
        for place in range(filled):
            known |= nearest[place] == other
        if not known:
            nearest[filled] = other
            filled += 1
        other += 1


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


@njit(cache=True, nogil=True)
def pair_limits(indptr: Ints, indices: Ints, data: Floats, nearest: Ints, products: Floats, most: int) -> Ints:
    """The components that each pair of a row and a neighbour allows, at most `most`: (rows, count).

    With c components the estimate of a product p of unit rows has the variance (1 + p² - 2 sum x²y²) / c, and its root
    may not be below 1 - p.
    """
    limits = np.empty(nearest.shape, np.int64)
    for row in range(nearest.shape[0]):
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


@njit(cache=True, nogil=True)
def fewest_components(indptr: Ints, data: Floats, limits: Ints, products: Floats, most: int) -> Ints:
    """For each row the components that every pair with a found neighbour allows, and every pair that was missed.

    A missed neighbour is nearer than the last one found. Its sum of x²y² is at most p² and at most the row's largest
    square, and with that bound a pair allows the more components the nearer the two are.
    """
    found = np.empty(limits.shape[0], np.int64)
    for row in range(limits.shape[0]):
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
