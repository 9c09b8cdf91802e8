"""How many records a distance finds, in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from shoal.risk.learned.records import Records
from shoal.risk.proof.families import Family

__all__ = ["Distance", "blocks", "chances", "chances_by", "margins", "nearest_rivals", "tied"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Distance = Callable[[Floats], Floats]  # differences (..., n) to distances (...)

CELLS = 4_000_000  # numbers in a block of features: 32 MB
# Squared distances that differ by less are equal: rounding must not tell equal records apart, and a billionth of a
# standard deviation, which is what tells records apart beside an outlier, must.
RELATIVE, ABSOLUTE = 1e-9, 1e-18


def blocks(records: Records, per_pair: int, rows: Ints | None = None) -> Iterator[Ints]:
    """Rows, as many at a time as their pairs with all records fit in memory."""
    rows = np.arange(len(records)) if rows is None else rows
    at_a_time = max(1, CELLS // (len(records) * per_pair))
    for start in range(0, len(rows), at_a_time):
        yield rows[start : start + at_a_time]


def margins(records: Records, family: Family, parameters: Floats) -> Iterator[tuple[Ints, Floats, Floats]]:
    """Blocks of rows, the distance of each to its own masked record, and to all of them, (rows, n)."""
    for rows in blocks(records, max(family.size, family.n)):
        to_all = family.features(records.differences(rows)) @ parameters
        yield rows, to_all[np.arange(len(rows)), rows], to_all


def tied(own: Floats, to_all: Floats) -> tuple[Bools, Bools]:
    """Which of all records are nearer than a row's own, and which as near, rounding aside."""
    slack = RELATIVE * (np.abs(to_all) + np.abs(own)[:, None]) + ABSOLUTE
    nearer = to_all < own[:, None] - slack
    return nearer, ~nearer & (to_all <= own[:, None] + slack)


def chances(records: Records, family: Family, parameters: Floats) -> Floats:
    """With what chance each record is found by a family's distance."""
    return chances_by(records, lambda differences: family.features(differences) @ parameters)


def chances_by(records: Records, distance: Distance, rows: Ints | None = None) -> Floats:
    """With what chance each record, or each of some, is found among all masked ones.

    0 when another is nearer than its own; else one of the equally near is drawn.
    """
    found = []
    for some in blocks(records, 4 * records.n_attributes, rows):
        to_all = distance(records.differences(some))
        nearer, equal = tied(to_all[np.arange(len(some)), some], to_all)
        found.append(np.where(nearer.any(axis=1), 0.0, 1.0 / np.maximum(equal.sum(axis=1), 1)))
    return np.concatenate(found) if found else np.empty(0)


def nearest_rivals(records: Records, distance: Distance, rows: Ints, same: Ints, count: int) -> Ints:
    """The nearest masked records that are not equal to a row's own, (rows, count); to learn from, so rounding may tell.

    A distance that is Euclidean after a linear map, `turn`, is computed as such.
    """
    flat = hasattr(distance, "turn") and not records.labels
    turn = getattr(distance, "turn", np.eye(records.before.shape[1]))
    before, after = (records.before @ turn, records.after @ turn) if flat else (records.before, records.after)
    lengths = np.einsum("ij,ij->i", after, after)
    found = [np.empty((0, count), dtype=np.int64)]
    for some in blocks(records, 4 if flat else 4 * records.n_attributes, rows):
        to_all = lengths - 2.0 * (before[some] @ after.T) if flat else distance(records.differences(some))
        to_all[same[some][:, None] == same[None, :]] = np.inf
        found.append(np.sort(np.argpartition(to_all, count - 1, axis=1)[:, :count], axis=1))
    return np.concatenate(found)
