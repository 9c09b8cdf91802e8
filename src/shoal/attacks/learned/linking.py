"""Linking: each original to the nearest masked record, and the probability that it is its own.

The own masked record is known here: one that is nearer settles the matter, and only where there is none are the equally
near counted. Records are compared with all masked ones; where that is too much, `rows` chooses which are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from shoal.attacks.learned.distances import LearnedDistance, Measure, Ordered
from shoal.attacks.learned.records import Records
from shoal.errors import InputError
from shoal.kernels import Floats, Ints
from shoal.kernels.linking import rivals

CELLS = 4_000_000  # numbers in a block of features: 32 MB
MOST_SETS = 12  # attributes up to which a measure has a weight for every set
MOST_PAIRS, FEWEST_COMPARED = 100_000_000, 2000  # of records with masked ones, equal ones counted once
FEW = 1000  # records among which it does not pay to look for equal ones
# Squared distances that differ by less, relatively and absolutely, are equal: rounding must not separate
# equal records, and a billionth of a standard deviation, which separates records beside an outlier, must.
SLACK = (1e-9, 1e-18)


def chances_of(records: Records, distance: LearnedDistance, rows: Ints | None = None) -> Floats:
    """Probability that each record, or each of some, is linked to its own masked record among all.

    0 when another is nearer than its own; otherwise one of the equally near is drawn.
    """
    if rows is None:
        if most_compared(records) < len(records):
            raise InputError(
                f"{len(records)} records cannot all be compared with all, at most {most_compared(records)} "
                "can; give rows, a sample of them"
            )
        rows = np.arange(len(records))
    if len(rows) > FEW:  # equal records once
        different, of_row = np.unique(records.twins.of_record[rows], return_inverse=True)
        return _chances(records, distance, records.twins.first[different])[of_row]
    return _chances(records, distance, rows)


def most_compared(records: Records) -> int:
    """Records that may be compared with all: every one, equal ones together, or as many as a sample has."""
    most = max(MOST_PAIRS // len(records.crowds.first), FEWEST_COMPARED)
    return len(records) if len(records.twins.first) <= most else most


def _chances(records: Records, distance: LearnedDistance, rows: Ints) -> Floats:
    if not isinstance(distance, Measure | Ordered):
        ties = rivals.ties_by_squares(_pairs(records, rows), *distance.squares(), SLACK)
    elif records.n_attributes > MOST_SETS:
        return chances_by_all_pairs(records, distance, rows)
    else:
        mu = np.maximum(distance.mu, 0.0)  # a solver may leave a little less than 0
        ties = rivals.ties_by_integral(_pairs(records, rows), mu, SLACK)
    return rivals.chances_of_ties(ties)


def _pairs(records: Records, rows: Ints) -> rivals.Pairs:
    """The originals in these rows, and the masked records, equal ones once."""
    crowds, labels = records.crowds, records.labels
    starts = np.cumsum([0, *(column.apart.size for column in labels)])
    return rivals.Pairs(
        originals=records.before[rows],
        masked=records.after[crowds.first],
        apart=np.concatenate([np.empty(0), *(column.apart.ravel() for column in labels)]),
        row_of=np.array(
            [
                start + column.before[rows] * column.apart.shape[1]
                for start, column in zip(starts, labels, strict=False)
            ],
            dtype=np.int64,
        )
        .reshape(len(labels), len(rows))
        .T.copy(),
        codes=np.array([column.after[crowds.first] for column in labels], dtype=np.int64).reshape(
            len(labels), len(crowds.first)
        ),
        own=crowds.of_record[rows],
        sizes=crowds.sizes,
    )


def chances_by_all_pairs(records: Records, distance: Callable[[Floats], Floats], rows: Ints) -> Floats:
    """The same for any distance of differences (..., n): comparing with all masked records, block by block."""
    crowds, (relative, absolute) = records.crowds, SLACK
    chances = [np.empty(0)]
    for block in blocks(records, 4 * records.n_attributes, rows):
        to_all = distance(records.differences(block, crowds.first))
        own = to_all[np.arange(len(block)), crowds.of_record[block]][:, None]
        slack = relative * (np.abs(to_all) + np.abs(own)) + absolute
        as_near = (to_all <= own + slack) @ crowds.sizes
        chances.append(np.where((to_all < own - slack).any(axis=1), 0.0, 1.0 / as_near))
    return np.concatenate(chances)


def blocks(records: Records, per_pair: int, rows: Ints | None = None) -> Iterator[Ints]:
    """Rows, as many at a time as their pairs with all records fit in memory."""
    rows = np.arange(len(records)) if rows is None else rows
    at_a_time = max(1, CELLS // (len(records) * per_pair))
    for start in range(0, len(rows), at_a_time):
        yield rows[start : start + at_a_time]


def nearest_rivals(records: Records, distance: LearnedDistance, rows: Ints, count: int) -> tuple[Ints, Ints]:
    """The nearest masked records that differ from a row's own, `count` of them where there are as many.

    Of equal ones a single one is given, and how many of the nearest it stands for, both (rows, m). They are to learn
    from, so rounding may decide.
    """
    crowds = records.crowds
    n_near = int(np.searchsorted(np.cumsum(np.sort(crowds.sizes)), count)) + 1  # crowds that have records enough
    n_near = min(n_near, max(1, len(crowds.first) - 1))
    if isinstance(distance, Ordered) and records.n_attributes > MOST_SETS:
        return _nearest_of_all(records, distance, rows, n_near, count)
    pairs = _pairs(records, rows)
    if isinstance(distance, Measure | Ordered):
        nearest, counts = rivals.nearest_by_integral(pairs, distance.mu, n_near, count)
    else:
        nearest, counts = rivals.nearest_by_squares(pairs, *distance.squares(), n_near, count)
    return crowds.first[nearest], counts


def _nearest_of_all(
    records: Records, distance: LearnedDistance, rows: Ints, n_near: int, count: int
) -> tuple[Ints, Ints]:
    crowds = records.crowds
    empty = np.empty((0, n_near), dtype=np.int64)
    nearest, counts = [empty], [empty]
    for block in blocks(records, 4 * records.n_attributes, rows):
        to_crowds = distance(records.differences(block, crowds.first))
        to_crowds[np.arange(len(block)), crowds.of_record[block]] = np.inf
        near = np.argsort(to_crowds, axis=1, kind="stable")[:, :n_near]
        known = np.where(np.isfinite(np.take_along_axis(to_crowds, near, axis=1)), crowds.sizes[near], 0)
        nearest.append(crowds.first[near])
        counts.append(np.clip(count - (np.cumsum(known, axis=1) - known), 0, known))
    return np.concatenate(nearest), np.concatenate(counts)
