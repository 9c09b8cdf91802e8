"""Sparse rows to sketches, each as long as it may be, and products of sketches over the components that both have.

Signs of terms are cubic polynomials over the prime field of 2^61 - 1, so that any four terms have independent signs.
The length of a sketch is bounded by the variance left to every attribute, or by the pairs of nearest neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels import Floats, Ints
from shoal.kernels.grouping.euclidean import put_in_order
from shoal.kernels.grouping.spherical import Csr, Lists
from shoal.kernels.threads import runs, side_by_side

Words = NDArray[np.uint64]
Signs = NDArray[np.int8]

MODULUS = np.uint64((1 << 61) - 1)
BITS_29, BITS_32, BITS_61 = np.uint64(29), np.uint64(32), np.uint64(61)
LOW_29, LOW_32 = np.uint64((1 << 29) - 1), np.uint64((1 << 32) - 1)
ONE, THREE = np.uint64(1), np.uint64(3)


@njit(cache=True, nogil=True)
def _modular_product(first: Any, second: Any) -> Any:
    """The product of two numbers below 2^61, modulo 2^61 - 1, by halves of 32 bits; 2^61 counts as 1."""
    low = (first & LOW_32) * (second & LOW_32)
    middle = (first >> BITS_32) * (second & LOW_32) + (first & LOW_32) * (second >> BITS_32)
    high = (first >> BITS_32) * (second >> BITS_32)
    total = (low & MODULUS) + (low >> BITS_61) + (middle >> BITS_29) + ((middle & LOW_29) << BITS_32) + (high << THREE)
    total = (total & MODULUS) + (total >> BITS_61)
    return total - MODULUS if total >= MODULUS else total


@njit(cache=True, nogil=True)
def sign_table(terms: Words, coefficients: Words) -> Signs:
    """The sign of every term in every component, (terms, components); `coefficients` are (components, 4)."""
    signs = np.empty((terms.shape[0], coefficients.shape[0]), np.int8)
    for row in range(terms.shape[0]):
        term = terms[row]
        for component in range(coefficients.shape[0]):
            value = coefficients[component, 3]
            for power in range(2, -1, -1):
                value = _modular_product(value, term) + coefficients[component, power]
                if value >= MODULUS:
                    value -= MODULUS
            signs[row, component] = 1 if value & ONE else -1
    return signs


def fill_components(rows: Csr, signs: Ints, first: int, offsets: Ints, values: Floats) -> None:
    """Fill in components `first` to `first` + width of every sketch; `signs` are (columns, width) of these.

    The sketch of a row lies at values[offsets[row] : offsets[row + 1]].
    """
    parts = runs(len(offsets) - 1)
    side_by_side(_fill_components, [(rows, run.start, run.stop, signs, first, offsets, values) for run in parts])


@njit(cache=True, nogil=True)
def _fill_components(
    rows: Csr, start_row: int, end_row: int, signs: Ints, first: int, offsets: Ints, values: Floats
) -> None:
    room = np.empty(signs.shape[1])  # added up in the cache, written once
    for row in range(start_row, end_row):
        start = offsets[row] + first
        width = max(0, min(signs.shape[1], offsets[row + 1] - start))  # none of a sketch that is complete
        sketch = room[:width]
        sketch[:] = 0.0
        entry, end = rows.indptr[row], rows.indptr[row + 1]
        by_four = entry + (end - entry) % 4
        for single in range(entry, by_four):
            value, sign = rows.data[single], signs[rows.indices[single]]
            for component in range(width):
                sketch[component] += value * sign[component]
        for first_of_four in range(by_four, end, 4):  # a quarter of the reading and writing
            values_here = rows.data[first_of_four : first_of_four + 4]
            a, b, c, d = values_here[0], values_here[1], values_here[2], values_here[3]
            columns = rows.indices[first_of_four : first_of_four + 4]
            of_a, of_b, of_c, of_d = signs[columns[0]], signs[columns[1]], signs[columns[2]], signs[columns[3]]
            for position in range(width):
                sketch[position] += a * of_a[position] + b * of_b[position] + (c * of_c[position] + d * of_d[position])
        values[start : start + width] = sketch


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _mean_product(first: Floats, second: Floats) -> float:
    shared = min(first.shape[0], second.shape[0])
    total = 0.0
    for component in range(shared):
        total += first[component] * second[component]
    return total / shared


def mean_products(offsets: Ints, values: Floats, other_offsets: Ints, other_values: Floats) -> Floats:
    """The estimated dot product of every sketch with every other one; no sketch is empty."""
    products = np.empty((len(offsets) - 1, len(other_offsets) - 1))
    parts = runs(len(products), least=1)
    others = other_offsets, other_values
    side_by_side(_mean_products, [(offsets[r.start : r.stop + 1], values, *others, products[r]) for r in parts])
    return products


@njit(cache=True, nogil=True)
def _mean_products(offsets: Ints, values: Floats, other_offsets: Ints, other_values: Floats, products: Floats) -> None:
    for row in range(products.shape[0]):
        sketch = values[offsets[row] : offsets[row + 1]]
        for column in range(products.shape[1]):
            other = other_values[other_offsets[column] : other_offsets[column + 1]]
            products[row, column] = _mean_product(sketch, other)


@njit(cache=True, nogil=True)
def sums_by_centre(
    offsets: Ints, values: Floats, scale: Floats, centre_of: Ints, n_centres: int, width: int
) -> tuple[Floats, Ints]:
    """Sums of the scaled sketches of each centre, and how many have each component: both (centres, width)."""
    sums = np.zeros((n_centres, width))
    counts = np.zeros((n_centres, width), np.int64)
    for row in range(offsets.shape[0] - 1):
        centre = centre_of[row]
        for component in range(offsets[row + 1] - offsets[row]):
            sums[centre, component] += scale[row] * values[offsets[row] + component]
            counts[centre, component] += 1
    return sums, counts


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def paired_products(
    offsets: Ints, values: Floats, other_offsets: Ints, other_values: Floats
) -> tuple[Floats, Floats, Floats]:
    """Of each sketch and the other of the same row, over what both have: mean product, and mean squares of both."""
    n_rows = offsets.shape[0] - 1
    products, squares, other_squares = np.zeros(n_rows), np.zeros(n_rows), np.zeros(n_rows)
    for row in range(n_rows):
        sketch = values[offsets[row] : offsets[row + 1]]
        other = other_values[other_offsets[row] : other_offsets[row + 1]]
        shared = min(sketch.shape[0], other.shape[0])
        product, square, other_square = 0.0, 0.0, 0.0
        for component in range(shared):
            product += sketch[component] * other[component]
            square += sketch[component] * sketch[component]
            other_square += other[component] * other[component]
        products[row], squares[row], other_squares[row] = product / shared, square / shared, other_square / shared
    return products, squares, other_squares


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
    scores, farther = np.zeros(n_rows), np.empty(count)
    for position in range(nearest.shape[0]):
        row = first + position
        for entry in range(rows.indptr[row], rows.indptr[row + 1]):
            weight, column = rows.data[entry], rows.indices[entry]
            for listed in range(lists.ptr[column], lists.ptr[column + 1]):
                scores[lists.row[listed]] += weight * lists.weight[listed]
        scores[row] = 0.0
        farther[:] = 0.0  # minus the products so far
        bar = 0.0  # what a row must exceed; ties go to the lower row, which comes first
        for other in range(n_rows):
            if scores[other] > bar:
                put_in_order(-scores[other], other, farther, nearest[position])
                bar = -farther[count - 1]
        scores[:] = 0.0
        products[position] = 0.0 - farther  # no minus zero
        _fill_up(row, nearest[position], np.sum(nearest[position] >= 0))


@njit(cache=True, nogil=True)
def _fill_up(row: int, nearest: Ints, filled: int) -> None:
    """The lowest rows that are not among the nearest yet take the places left."""
    other = 0
    while filled < nearest.shape[0]:
        known = other == row
        for position in range(filled):
            known |= nearest[position] == other
        if not known:
            nearest[filled] = other
            filled += 1
        other += 1


@njit(cache=True, nogil=True)
def _shared_squares(indptr: Ints, indices: Ints, data: Floats, row: int, other: int) -> float:
    """The sum of x² y² over the columns that two rows share; columns rise in each row."""
    at, end = indptr[row], indptr[row + 1]
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
        for position in range(nearest.shape[1]):
            product = min(products[row, position], 1.0)
            shared = _shared_squares(indptr, indices, data, row, nearest[row, position])
            limits[row, position] = _allowed(1.0 + product * product - 2.0 * shared, (1.0 - product) ** 2, most)
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
    components = np.empty(limits.shape[0], np.int64)
    for row in range(limits.shape[0]):
        largest = 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            largest = max(largest, data[entry] * data[entry])
        product = min(products[row, limits.shape[1] - 1], 1.0)
        shared = min(product * product, largest)
        fewest = _allowed(1.0 + product * product - 2.0 * shared, (1.0 - product) ** 2, most)
        for position in range(limits.shape[1]):
            fewest = min(fewest, limits[row, position])
        components[row] = fewest
    return components


@njit(cache=True, nogil=True)
def raise_components(order: Ints, pair_ptr: Ints, partner: Ints, limit: Ints, most: int) -> Ints:
    """Components such that no pair has more in common than its limit; none can be raised with the others as they are.

    The pairs of record i are partner and limit[pair_ptr[i] : pair_ptr[i + 1]]; each pair is listed for both. Records
    are gone through in the given order, again and again: the first pass meets every limit, later ones only raise.
    """
    components = np.full(order.shape[0], most, np.int64)
    changed = True
    while changed:
        changed = False
        for record in order:
            allowed = most
            for pair in range(pair_ptr[record], pair_ptr[record + 1]):
                if components[partner[pair]] > limit[pair]:
                    allowed = min(allowed, limit[pair])
            if allowed != components[record]:
                components[record] = allowed
                changed = True
    return components


def lengths_by_variance(indptr: Ints, data: Floats, delta: float, most: int) -> Ints:
    """The most components, up to `most`, that leave every attribute a variance of `delta`; 0 if one is too many."""
    lengths = np.zeros(len(indptr) - 1, np.int64)
    parts = runs(len(lengths))
    side_by_side(
        _lengths_by_variance, [(indptr[run.start : run.stop + 1], data, delta, most, lengths[run]) for run in parts]
    )
    return lengths


@njit(cache=True, nogil=True)
def _lengths_by_variance(indptr: Ints, data: Floats, delta: float, most: int, lengths: Ints) -> None:
    for row in range(lengths.shape[0]):
        squares, largest = 0.0, 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            square = data[entry] * data[entry]
            squares += square
            largest = max(largest, square)
        allowed = min(np.floor((squares - largest) / delta), float(most))
        while allowed > 0.0 and (squares - largest) / allowed < delta:
            allowed -= 1.0  # the quotient was rounded up
        lengths[row] = int(allowed)
