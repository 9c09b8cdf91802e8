"""Whether any masked record is nearer to an original than its own, how many are as near, and which rivals are nearest.

Every original is compared with all masked records, numbers and labels together, 32 at a time; where only ties count,
the first that is nearer ends its search, and masked records that are too far in one direction are not looked at.
There are two distances:

The squared distance is a sum of squares less another one, which is what every symmetric bilinear form comes to on
turned columns; where nothing is taken off, it is the Euclidean one.

The Choquet integral of squared differences is, with values in rising order, the sum over them of (value - the one
before) * mu[the columns from here on], sets of columns numbered by their bits. The values are sorted by comparing
neighbours, the same ones whatever the values are, which vector instructions can do. The last bits of a value give way
to the number of its column, so that it is sorted along.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels import Floats, Ints
from shoal.kernels.threads import runs, side_by_side

# Distances tie that differ by no more than this share of their sum, and this amount.
Slack = tuple[float, float]

WIDE = 32  # masked records that are compared at a time
NEARER = -1  # in the place of the number of ties: a record is nearer than the own
ROUNDING = 1e-12  # a share that is more than the roundings of any sum here, and less than any slack
COLUMNS = 16  # of an integral, at most: their numbers take four bits
TINY = 1e-290  # instead of 0, whose last bits would make it a number that processors are slow with
FEWEST = 8  # originals that are worth a call of their own


class Pairs(NamedTuple):
    """Originals, and the masked records that they are compared with; equal masked records stand for one another."""

    originals: Floats  # (r, numbers)
    masked: Floats  # (m, numbers)
    apart: Floats  # how far apart values are, the tables of all columns of labels one after the other
    row_of: Ints  # (r, labels): where in `apart` the row of an original's label begins
    codes: Ints  # (labels, m): the place in that row of a masked record's label
    own: Ints  # (r,): the masked record of each original
    sizes: Ints  # (m,): how many records each stands for


@njit(cache=True, nogil=True)
def limit_of(own: float, slack: Slack) -> float:
    """No squared distance beyond this ties with the own one."""
    relative, absolute = slack
    return own + (4.0 * relative + ROUNDING) * abs(own) + 4.0 * absolute


@njit(cache=True, nogil=True)
def add_ties(count: int, distances: Floats, sizes: Ints, own: float, slack: Slack) -> int:
    """`count` and how many of these records tie with the own one; NEARER when one is nearer."""
    relative, absolute = slack
    limit = limit_of(own, slack)
    for position in range(len(distances)):
        distance = distances[position]
        if distance <= limit:
            rounding = relative * (abs(distance) + abs(own)) + absolute
            if distance < own - rounding:
                return NEARER
            if distance <= own + rounding:
                count += sizes[position]
    return count


def chances_of_ties(ties: Ints) -> Floats:
    """The chance that the own row is picked: 0 when another is nearer, else one of those as near."""
    chances: Floats = np.where(ties == NEARER, 0.0, 1.0 / np.maximum(ties, 1))
    return chances


@njit(cache=True, nogil=True)
def integrals(squares: Floats, mu: Floats, sets: Ints, before: Floats, totals: Floats) -> None:
    """The integral at every position, into `totals`; `squares` are sorted on the way."""
    n_columns, n_places = squares.shape
    bits = squares.view(np.int64)
    for column in range(n_columns):
        for position in range(n_places):
            squares[column, position] += TINY
            bits[column, position] = (bits[column, position] & -COLUMNS) | column
    for last in range(1, n_columns):
        for column in range(last, 0, -1):
            for position in range(n_places):
                left, right = squares[column - 1, position], squares[column, position]
                squares[column - 1, position] = left if left < right else right
                squares[column, position] = right if left < right else left
    totals[:] = 0.0
    before[:] = 0.0
    sets[:] = len(mu) - 1  # the columns from here on
    for column in range(n_columns):
        for position in range(n_places):
            value = squares[column, position]
            totals[position] += (value - before[position]) * mu[sets[position]]
            before[position] = value
            sets[position] -= 1 << (bits[column, position] & (COLUMNS - 1))


def ties_by_squares(pairs: Pairs, matrix: Floats, n_added: int, slack: Slack) -> Ints:
    """For every original how many masked records are as near as its own; NEARER when one is nearer.

    Differences of all attributes are mapped by the matrix, (numbers + labels, directions); the squares of the first
    `n_added` directions are added, those of the others subtracted.
    """
    mapped, directions = _mapped(pairs, matrix)
    sorted_by = -1
    if n_added == matrix.shape[1]:  # what is far in a direction of numbers alone is far
        numbers_only = np.flatnonzero(~directions.any(axis=0))
        sorted_by = int(max(numbers_only, key=lambda direction: np.ptp(mapped.masked[direction]), default=-1))
        mapped = mapped if sorted_by < 0 else _sorted(mapped, np.argsort(mapped.masked[sorted_by], kind="stable"))
    ties = np.empty(len(pairs.own), np.int64)
    parts = [(mapped, directions, n_added, sorted_by, run.start, run.stop) for run in runs(len(ties), FEWEST)]
    side_by_side(_ties_by_squares, [(*part, slack, ties) for part in parts])
    return ties


def _sorted(pairs: Pairs, order: Ints) -> Pairs:
    """The masked records in this order."""
    masked, codes = (np.ascontiguousarray(values[:, order]) for values in (pairs.masked, pairs.codes))
    return pairs._replace(masked=masked, codes=codes, own=np.argsort(order)[pairs.own], sizes=pairs.sizes[order])


def _mapped(pairs: Pairs, matrix: Floats) -> tuple[Pairs, Floats]:
    """Numbers in the directions of the matrix, those of masked records (directions, m); and its rows for labels."""
    n_numbers = pairs.originals.shape[1]
    originals, masked = (
        np.ascontiguousarray(values @ matrix[:n_numbers]) for values in (pairs.originals, pairs.masked)
    )
    mapped = pairs._replace(originals=originals, masked=np.ascontiguousarray(masked.T))
    return mapped, np.ascontiguousarray(matrix[n_numbers:])


@njit(cache=True, nogil=True)
def _ties_by_squares(
    pairs: Pairs,
    directions: Floats,
    n_added: int,
    sorted_by: int,
    first: int,
    end: int,
    slack: Slack,
    ties: Ints,
) -> None:
    low, high = 0, len(pairs.sizes)
    scratch = np.empty((len(directions) + 1, WIDE))
    distances = np.empty(WIDE)
    for row in range(first, end):
        own = pairs.own[row]
        _squares(pairs, directions, n_added, row, own, own + 1, scratch, distances)
        to_own, count = distances[0], 0
        if sorted_by >= 0:
            value, reach = pairs.originals[row, sorted_by], np.sqrt(limit_of(to_own, slack)) * (1.0 + ROUNDING)
            margin = ROUNDING * abs(value)
            low = np.searchsorted(pairs.masked[sorted_by], value - reach - margin)
            high = np.searchsorted(pairs.masked[sorted_by], value + reach + margin, side="right")
        for start in range(low, high, WIDE):
            stop = min(start + WIDE, high)
            _squares(pairs, directions, n_added, row, start, stop, scratch, distances)
            count = add_ties(count, distances[: stop - start], pairs.sizes[start:stop], to_own, slack)
            if count == NEARER:
                break
        ties[row] = count


@njit(cache=True, nogil=True)
def _squares(
    pairs: Pairs,
    directions: Floats,
    n_added: int,
    row: int,
    start: int,
    stop: int,
    scratch: Floats,
    distances: Floats,
) -> None:
    """Distances of an original to masked records, into `distances`; `scratch` is (labels + 1, WIDE)."""
    width, n_labels = stop - start, len(directions)
    for label in range(n_labels):
        begin = pairs.row_of[row, label]
        for position in range(width):
            scratch[label, position] = pairs.apart[begin + pairs.codes[label, start + position]]
    distances[:] = 0.0
    differences = scratch[n_labels]
    for direction in range(pairs.originals.shape[1]):
        value = pairs.originals[row, direction]
        for position in range(width):
            differences[position] = value - pairs.masked[direction, start + position]
        for label in range(n_labels):
            weight = directions[label, direction]
            if weight != 0.0:
                for position in range(width):
                    differences[position] += weight * scratch[label, position]
        sign = 1.0 if direction < n_added else -1.0
        for position in range(width):
            distances[position] += sign * differences[position] * differences[position]


def ties_by_integral(pairs: Pairs, mu: Floats, slack: Slack) -> Ints:
    """The same by the Choquet integral of squared differences; `mu` has a weight for every set of attributes."""
    pairs = pairs._replace(masked=np.ascontiguousarray(pairs.masked.T))
    ties = np.empty(len(pairs.own), np.int64)
    side_by_side(_ties_by_integral, [(pairs, mu, run.start, run.stop, slack, ties) for run in runs(len(ties), FEWEST)])
    return ties


@njit(cache=True, nogil=True)
def _ties_by_integral(pairs: Pairs, mu: Floats, first: int, end: int, slack: Slack, ties: Ints) -> None:
    n_masked, n_attributes = len(pairs.sizes), len(pairs.masked) + len(pairs.codes)
    squares, alone = np.empty((n_attributes, WIDE)), np.empty((n_attributes, 1))
    sets, before, distances = np.empty(WIDE, np.int64), np.empty(WIDE), np.empty(WIDE)
    squares[:] = 0.0
    for row in range(first, end):
        own = pairs.own[row]
        _square_differences(pairs, row, own, own + 1, alone)
        integrals(alone, mu, sets[:1], before[:1], distances[:1])
        to_own, count = distances[0], 0
        for start in range(0, n_masked, WIDE):
            stop = min(start + WIDE, n_masked)
            _square_differences(pairs, row, start, stop, squares)
            integrals(squares, mu, sets, before, distances)
            count = add_ties(count, distances[: stop - start], pairs.sizes[start:stop], to_own, slack)
            if count == NEARER:
                break
        ties[row] = count


@njit(cache=True, nogil=True)
def _square_differences(pairs: Pairs, row: int, start: int, stop: int, squares: Floats) -> None:
    """Squared differences of each attribute to masked records, into `squares` (attributes, WIDE)."""
    n_numbers = len(pairs.masked)
    for number in range(n_numbers):
        value = pairs.originals[row, number]
        for masked in range(start, stop):
            squares[number, masked - start] = (value - pairs.masked[number, masked]) ** 2
    for label in range(len(pairs.codes)):
        for masked in range(start, stop):
            difference = pairs.apart[pairs.row_of[row, label] + pairs.codes[label, masked]]
            squares[n_numbers + label, masked - start] = difference * difference


def nearest_by_squares(pairs: Pairs, matrix: Floats, n_added: int, n_near: int, count: int) -> tuple[Ints, Ints]:
    """The nearest masked records but the own, nearest first and of equals the lower, (r, n_near).

    And how many records of each are among the `count` nearest. Distances are as in `ties_by_squares`.
    """
    mapped, directions = _mapped(pairs, matrix)
    nearest, taken = (np.zeros((len(pairs.own), n_near), np.int64) for _ in range(2))
    parts = [(mapped, directions, n_added, run.start, run.stop) for run in runs(len(nearest), FEWEST)]
    side_by_side(_nearest_by_squares, [(*part, count, nearest, taken) for part in parts])
    return nearest, taken


@njit(cache=True, nogil=True)
def _nearest_by_squares(
    pairs: Pairs,
    directions: Floats,
    n_added: int,
    first: int,
    end: int,
    count: int,
    nearest: Ints,
    taken: Ints,
) -> None:
    scratch, distances = np.empty((len(directions) + 1, WIDE)), np.empty(WIDE)
    kept = np.empty(nearest.shape[1])
    for row in range(first, end):
        kept[:] = np.inf
        for start in range(0, len(pairs.sizes), WIDE):
            stop = min(start + WIDE, len(pairs.sizes))
            _squares(pairs, directions, n_added, row, start, stop, scratch, distances)
            _keep_nearest(distances[: stop - start], start, pairs.own[row], kept, nearest[row])
        _take(pairs.sizes, kept, nearest[row], count, taken[row])


def nearest_by_integral(pairs: Pairs, mu: Floats, n_near: int, count: int) -> tuple[Ints, Ints]:
    """The same by the Choquet integral of squared differences."""
    pairs = pairs._replace(masked=np.ascontiguousarray(pairs.masked.T))
    nearest, taken = (np.zeros((len(pairs.own), n_near), np.int64) for _ in range(2))
    parts = [(pairs, mu, run.start, run.stop, count, nearest, taken) for run in runs(len(nearest), FEWEST)]
    side_by_side(_nearest_by_integral, parts)
    return nearest, taken


@njit(cache=True, nogil=True)
def _nearest_by_integral(
    pairs: Pairs, mu: Floats, first: int, end: int, count: int, nearest: Ints, taken: Ints
) -> None:
    squares = np.zeros((len(pairs.masked) + len(pairs.codes), WIDE))
    sets, before, distances = np.empty(WIDE, np.int64), np.empty(WIDE), np.empty(WIDE)
    kept = np.empty(nearest.shape[1])
    for row in range(first, end):
        kept[:] = np.inf
        for start in range(0, len(pairs.sizes), WIDE):
            stop = min(start + WIDE, len(pairs.sizes))
            _square_differences(pairs, row, start, stop, squares)
            integrals(squares, mu, sets, before, distances)
            _keep_nearest(distances[: stop - start], start, pairs.own[row], kept, nearest[row])
        _take(pairs.sizes, kept, nearest[row], count, taken[row])


@njit(cache=True, nogil=True)
def _keep_nearest(distances: Floats, start: int, own: int, kept: Floats, nearest: Ints) -> None:
    """Put what is nearer than the last kept where it belongs."""
    for position in range(len(distances)):
        distance = distances[position]
        if distance < kept[-1] and start + position != own:
            place = len(kept) - 1
            while place > 0 and kept[place - 1] > distance:
                kept[place], nearest[place] = kept[place - 1], nearest[place - 1]
                place -= 1
            kept[place], nearest[place] = distance, start + position


@njit(cache=True, nogil=True)
def _take(sizes: Ints, kept: Floats, nearest: Ints, count: int, taken: Ints) -> None:
    """Records of each crowd, nearest first, until there are `count`; none of a place that stayed empty."""
    left = count
    for place in range(len(kept)):
        if kept[place] < np.inf:
            taken[place] = min(left, sizes[nearest[place]])
            left -= taken[place]
