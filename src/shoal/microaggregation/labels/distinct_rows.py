"""Distinct rows with their counts: what the categorical methods work on, and back to rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import concepts
from shoal.kernels.grouping.group_errors import Items, Problem
from shoal.microaggregation.labels.column import Labels, pack
from shoal.results.loss import Loss

__all__ = ["Pairs", "Tuples", "distinct_tuples", "labels_of"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Tuples:
    """The different rows of some columns of labels, in the order of their codes."""

    labels: Sequence[Labels]
    codes: Ints  # (p, m)
    counts: Ints  # (p,) rows of each
    tuple_of_row: Ints  # (n,)

    @cached_property
    def by_meaning(self) -> concepts.Concepts:
        """What can stand for the values, as the kernels take it."""
        return pack(self.labels)

    @cached_property
    def problem(self) -> Problem:
        """What a search for better groups of whole tuples needs: an error is the square of the mean distance."""
        apart = np.zeros(self.by_meaning.distance.shape).transpose(0, 2, 1).copy()
        for place, one in enumerate(self.labels):
            apart[place, : one.distance.shape[0], : one.distance.shape[1]] = one.distance / len(self.labels)
        items = Items(self.counts, self.codes, np.zeros((len(self.counts), 0)))
        return Problem(items, self.by_meaning, apart, of_mean=True)


@dataclass(frozen=True)
class Pairs:
    """A partition of tuples with counts: which group has how many records of which tuple."""

    group: Ints
    member: Ints  # a tuple
    count: Ints

    @classmethod
    def of_rows(cls, tuples: Tuples, groups: Ints, rows: Ints | None = None) -> Pairs:
        """The partition that puts each row in its group, or each of some rows."""
        n_tuples = len(tuples.counts)
        tuple_of_row = tuples.tuple_of_row if rows is None else tuples.tuple_of_row[rows]
        key, count = np.unique(groups * n_tuples + tuple_of_row, return_counts=True)
        return cls(key // n_tuples, key % n_tuples, count)

    def centroids(self, tuples: Tuples) -> Ints:
        """The concepts that stand for each group: (g, m)."""
        return concepts.represent(tuples.by_meaning, tuples.codes[self.member], self.count, self.group)

    def group_of_rows(self, tuples: Tuples) -> Ints:
        """The group of each row; equal rows that are in several groups are shared out in their order."""
        if len(self.member) == len(tuples.counts):  # every tuple is whole
            group_of_tuple = np.empty_like(self.group)
            group_of_tuple[self.member] = self.group
            return group_of_tuple[tuples.tuple_of_row]
        by_tuple = np.argsort(self.member, kind="stable")
        rows = np.argsort(tuples.tuple_of_row, kind="stable")
        groups = np.empty(len(rows), dtype=np.int64)
        groups[rows] = np.repeat(self.group[by_tuple], self.count[by_tuple])
        return groups

    def loss(self, tuples: Tuples, centres: Ints) -> Loss:
        """SSE: squared distance of records to their group's centre. SSA: what it lacks of that to the centre of all."""
        whole = Pairs(np.zeros_like(tuples.counts), np.arange(len(tuples.counts)), tuples.counts)
        sse = self._error(tuples, centres)
        return Loss(sse=sse, ssa=whole._error(tuples, whole.centroids(tuples)) - sse)

    def _error(self, tuples: Tuples, centres: Ints) -> float:
        """Σ count · (mean over the attributes of the distance to the group's centre)²."""
        total = np.zeros(len(self.member))
        for place, one in enumerate(tuples.labels):
            total += one.distance[centres[self.group, place], tuples.codes[self.member, place]]
        return float(np.sum(self.count * (total / len(tuples.labels)) ** 2))


def distinct_tuples(columns: Sequence[Labels]) -> Tuples:
    """The different rows of the columns together."""
    key = columns[0].codes
    for one in columns[1:]:
        # Numbered anew at each step, so that products stay within the range of numbers.
        key = _numbered(key * len(one.concept_of_value) + one.codes)
    counts = np.bincount(key)
    some_row = np.empty(len(counts), dtype=np.int64)
    some_row[key] = np.arange(len(key))
    codes = np.column_stack([one.codes[some_row] for one in columns])
    return Tuples(columns, np.ascontiguousarray(codes), counts.astype(np.int64), key)


def _numbered(keys: Ints) -> Ints:
    """Each key's place among the different ones: by counting where the keys are small, by sorting else."""
    if keys.max() < 4 * len(keys):
        place: Ints = np.cumsum(np.bincount(keys) > 0)[keys] - 1
        return place
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def labels_of(columns: Sequence[Labels], found: Ints) -> NDArray[Any]:
    """The labels of concepts given by their places: (g, m) of text, numbers or None."""
    labels = np.empty(found.shape, dtype=object)
    for place, one in enumerate(columns):
        labels[:, place] = [one.labels[concept] for concept in found[:, place]]
    return labels
