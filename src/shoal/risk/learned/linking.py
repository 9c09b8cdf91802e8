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
    crowds, found = records.crowds, []
    for some in blocks(records, 4 * records.n_attributes, rows):
        to_all = distance(records.differences(some, crowds.first))
        nearer, equal = tied(to_all[np.arange(len(some)), crowds.of_record[some]], to_all)
        found.append(np.where(nearer.any(axis=1), 0.0, 1.0 / np.maximum(equal @ crowds.sizes, 1)))
    return np.concatenate(found) if found else np.empty(0)


def nearest_rivals(records: Records, distance: Distance, rows: Ints, count: int) -> tuple[Ints, Ints]:
    """The nearest masked records that are not equal to a row's own, `count` of them where there are as many.

    Of equal ones a single one is given, and how many of the nearest it stands for, both (rows, m). They are to learn
    from, so rounding may tell. A distance that is Euclidean after a linear map, `turn`, is computed as such.
    """
    crowds = records.crowds
    n_near = int(np.searchsorted(np.cumsum(np.sort(crowds.sizes)), count)) + 1  # so many crowds have records enough
    n_near = min(n_near, max(1, len(crowds.first) - 1))
    flat = hasattr(distance, "turn") and not records.labels
    turn = getattr(distance, "turn", np.eye(records.before.shape[1]))
    before, after = (records.before @ turn, records.after @ turn) if flat else (records.before, records.after)
    after = after[crowds.first]
    lengths = np.einsum("ij,ij->i", after, after)
    empty = np.empty((0, n_near), dtype=np.int64)
    rivals, counts = [empty], [empty]
    for some in blocks(records, 4 if flat else 4 * records.n_attributes, rows):
        if flat:
            to_crowds = lengths - 2.0 * (before[some] @ after.T)
        else:
            to_crowds = distance(records.differences(some, crowds.first))
        to_crowds[np.arange(len(some)), crowds.of_record[some]] = np.inf
        near = np.sort(np.argpartition(to_crowds, n_near - 1, axis=1)[:, :n_near], axis=1)
        rivals.append(crowds.first[near])
        counts.append(_taken(np.take_along_axis(to_crowds, near, axis=1), crowds.sizes[near], count))
    return np.concatenate(rivals), np.concatenate(counts)


def _taken(distances: Floats, sizes: Ints, count: int) -> Ints:
    """How many of each crowd are among the `count` nearest records, (rows, crowds)."""
    order = np.argsort(distances, axis=1, kind="stable")
    rising = np.take_along_axis(np.where(np.isfinite(distances), sizes, 0), order, axis=1)
    nearer = np.cumsum(rising, axis=1) - rising
    taken = np.empty_like(sizes)
    np.put_along_axis(taken, order, np.clip(count - nearer, 0, rising), axis=1)
    return taken
