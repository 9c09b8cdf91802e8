"""Distinct l-diversity: groups are joined until each has at least l different confidential values.

Which groups are joined must not tell which of them had too few values. So groups are halved again and again by where
they lie, without a look at confidential values, and two halves are taken apart only if both have l values. Where they
have not, both are mixed evenly: what is joined tells that one of two halves had too few values, and not which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal import progress
from shoal.errors import InputError

__all__ = ["GroupDistances", "Join", "joins_of", "merge_until_diverse"]

Ints = NDArray[np.int64]

# How far the centre of some rows is from some groups: (rows, groups) to distances.
GroupDistances = Callable[[Ints, Ints], NDArray[np.float64]]


@dataclass(frozen=True)
class Join:
    """Two halves that were not taken apart, and the crowds made of both; all are numbers of groups."""

    halves: tuple[Ints, Ints]
    crowds: tuple[Ints, ...]
    undivided: tuple[tuple[Ints, Ints] | None, ...]  # of each crowd, the two parts that it was not divided into


def merge_until_diverse(groups: Ints, values: Sequence[Ints], least: int, distances: GroupDistances) -> Ints:
    """Join groups until each has `least` values; see the module. Returns the group of each row, numbered anew.

    `values` are the confidential columns as codes 0, 1, ..., -1 for a missing value, which counts for nothing;
    `distances(rows, some)` are those of the centre of these rows to some of the groups.
    """
    for column, codes in enumerate(values):
        there = len(set(codes.tolist()) - {-1})
        if there < least:
            raise InputError(f"l={least} needs {least} different values, confidential column {column + 1} has {there}")
    has = [[set(codes[rows].tolist()) - {-1} for rows in _rows_of(groups)] for codes in values]

    def enough(some: Ints) -> bool:
        return all(len(set().union(*(found[group] for group in some.tolist()))) >= least for found in has)

    division = _Division(groups, distances, lambda one, other: enough(one) and enough(other))
    division.divide(np.arange(len(division.rows_of)))
    crowd_of_group = np.empty(len(division.rows_of), dtype=np.int64)
    for number, crowd in enumerate(division.crowds):
        crowd_of_group[crowd] = number
    _, first, numbers = np.unique(crowd_of_group, return_index=True, return_inverse=True)
    in_order = np.argsort(np.argsort(first, kind="stable"), kind="stable")[numbers]
    merged: Ints = in_order[groups].astype(np.int64)
    return merged


def joins_of(groups: Ints, merged: Ints, distances: GroupDistances) -> tuple[Join, ...]:
    """What anybody who repeats the grouping sees, without confidential values: which halves were not taken apart."""
    crowds_of = [set(merged[rows].tolist()) for rows in _rows_of(groups)]

    def apart(one: Ints, other: Ints) -> bool:
        here, there = (set().union(*(crowds_of[group] for group in some.tolist())) for some in (one, other))
        return not here & there

    division = _Division(groups, distances, apart)
    division.divide(np.arange(len(division.rows_of)))
    return tuple(division.joins)


class _Division:
    """Groups divided by where they lie, as far as `apart` allows it."""

    def __init__(self, groups: Ints, distances: GroupDistances, apart: Callable[[Ints, Ints], bool]) -> None:
        self.rows_of = _rows_of(groups)
        self.crowds: list[Ints] = []
        self.joins: list[Join] = []
        self._distances = distances
        self._apart = apart
        self._done = 0

    def divide(self, some: Ints) -> None:
        """Take halves apart where both may stand alone, and mix them where not."""
        if len(some) == 1:
            self._release(some)
            return
        one, other = self._halves(some)
        if self._apart(one, other):
            self.divide(one)
            self.divide(other)
            return
        first, undivided = len(self.crowds), []
        self._mix(one, other, undivided)
        self.joins.append(Join((one, other), tuple(self.crowds[first:]), tuple(undivided)))

    def _mix(self, one: Ints, other: Ints, undivided: list[tuple[Ints, Ints] | None]) -> None:
        """Divide both into halves, and put each half of one with one of the other, as long as both may stand alone."""
        parts = None
        if min(len(one), len(other)) > 1:
            pairs = self._matched(*self._halves(one), *self._halves(other))
            parts = (np.concatenate(pairs[0]), np.concatenate(pairs[1]))
            if self._apart(*parts):
                self._mix(*pairs[0], undivided)
                self._mix(*pairs[1], undivided)
                return
        undivided.append(parts)
        self._release(np.concatenate((one, other)))

    def _halves(self, some: Ints) -> tuple[Ints, Ints]:
        """Cut in the middle, along the line between two groups far from each other."""
        one = some[int(np.argmax(self._from(some[0], some)))]
        from_one = self._from(one, some)
        other = some[int(np.argmax(from_one))]
        order = some[np.argsort(from_one - self._from(other, some), kind="stable")]
        return order[: len(some) // 2], order[len(some) // 2 :]

    def _matched(self, one: Ints, two: Ints, three: Ints, four: Ints) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
        """One and two, each with the one of three and four that lies nearer."""
        centres = [np.concatenate([self.rows_of[group] for group in some]) for some in (one, two)]
        from_one, from_two = ([self._distances(rows, some).mean() for some in (three, four)] for rows in centres)
        if from_one[0] + from_two[1] <= from_one[1] + from_two[0]:
            return (one, three), (two, four)
        return (one, four), (two, three)

    def _from(self, group: int, some: Ints) -> NDArray[np.float64]:
        return self._distances(self.rows_of[group], some)

    def _release(self, crowd: Ints) -> None:
        self.crowds.append(np.sort(crowd))
        self._done += len(crowd)
        progress.step("joining groups", self._done, len(self.rows_of))


def _rows_of(groups: Ints) -> list[Ints]:
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups))[:-1]
    return list(np.split(order, ends))
