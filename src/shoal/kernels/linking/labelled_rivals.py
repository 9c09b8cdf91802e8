"""Whether any masked record is nearer to an original than its own, and how many are as near, where records have labels.

Every original is compared with all masked records, 32 at a time; the first that is nearer ends its search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.kernels import Floats, Ints
from shoal.kernels.linking.boxes import WIDE
from shoal.kernels.linking.rivals import NEARER, Slack, add_ties, integrals, ties_in_leaf
from shoal.kernels.threads import runs, side_by_side

FEWEST = 8  # originals that are worth a call of their own


class LabelledPairs(NamedTuple):
    """Originals, and the masked records that they are compared with; equal masked records stand for one another."""

    originals: Floats  # (r, numbers)
    masked: Floats  # (m, numbers)
    apart: Floats  # how far apart values are, the tables of all columns of labels one after the other
    row_of: Ints  # (r, labels): where in `apart` the row of an original's label begins
    codes: Ints  # (labels, m): the place in that row of a masked record's label
    own: Ints  # (r,): the masked record of each original
    sizes: Ints  # (m,): how many records each stands for


def ties_by_squares(pairs: LabelledPairs, matrix: Floats, n_added: int, slack: Slack) -> Ints:
    """For every original how many masked records are as near as its own; NEARER when one is nearer.

    Differences of all attributes are mapped by the matrix, (numbers + labels, directions); the squares of the first
    `n_added` directions are added, those of the others subtracted.
    """
    n_numbers = pairs.originals.shape[1]
    originals, masked = (
        np.ascontiguousarray(values @ matrix[:n_numbers]) for values in (pairs.originals, pairs.masked)
    )
    mapped = pairs._replace(originals=originals, masked=np.ascontiguousarray(masked.T))
    ties = np.empty(len(pairs.own), np.int64)
    directions = np.ascontiguousarray(matrix[n_numbers:])
    parts = [(mapped, directions, n_added, run.start, run.stop, slack, ties) for run in runs(len(ties), FEWEST)]
    side_by_side(_ties_by_squares, parts)
    return ties


@njit(cache=True, nogil=True)
def _ties_by_squares(
    pairs: LabelledPairs, directions: Floats, n_added: int, first: int, end: int, slack: Slack, ties: Ints
) -> None:
    n_masked = len(pairs.sizes)
    labels, distances = np.empty((len(directions), WIDE)), np.empty(WIDE)
    for row in range(first, end):
        own = pairs.own[row]
        _squares(pairs, directions, n_added, row, own, own + 1, labels, distances)
        to_own, count = distances[0], 0
        for start in range(0, n_masked, WIDE):
            stop = min(start + WIDE, n_masked)
            _squares(pairs, directions, n_added, row, start, stop, labels, distances)
            count = add_ties(count, ties_in_leaf(distances[: stop - start], pairs.sizes[start:stop], to_own, slack))
            if count == NEARER:
                break
        ties[row] = count


@njit(cache=True, nogil=True)
def _squares(
    pairs: LabelledPairs,
    directions: Floats,
    n_added: int,
    row: int,
    start: int,
    stop: int,
    labels: Floats,
    distances: Floats,
) -> None:
    """Distances of an original to masked records, into `distances`; the differences of labels go into `labels`."""
    for label in range(len(directions)):
        for masked in range(start, stop):
            labels[label, masked - start] = pairs.apart[pairs.row_of[row, label] + pairs.codes[label, masked]]
    distances[:] = 0.0
    for direction in range(pairs.originals.shape[1]):
        value = pairs.originals[row, direction]
        for masked in range(start, stop):
            difference = value - pairs.masked[direction, masked]
            for label in range(len(directions)):
                difference += labels[label, masked - start] * directions[label, direction]
            square = difference * difference
            distances[masked - start] += square if direction < n_added else -square


def ties_by_integral(pairs: LabelledPairs, mu: Floats, slack: Slack) -> Ints:
    """The same by the Choquet integral of squared differences; `mu` has a weight for every set of attributes."""
    pairs = pairs._replace(masked=np.ascontiguousarray(pairs.masked.T))
    ties = np.empty(len(pairs.own), np.int64)
    side_by_side(_ties_by_integral, [(pairs, mu, run.start, run.stop, slack, ties) for run in runs(len(ties), FEWEST)])
    return ties


@njit(cache=True, nogil=True)
def _ties_by_integral(pairs: LabelledPairs, mu: Floats, first: int, end: int, slack: Slack, ties: Ints) -> None:
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
            count = add_ties(count, ties_in_leaf(distances[: stop - start], pairs.sizes[start:stop], to_own, slack))
            if count == NEARER:
                break
        ties[row] = count


@njit(cache=True, nogil=True)
def _square_differences(pairs: LabelledPairs, row: int, start: int, stop: int, squares: Floats) -> None:
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
