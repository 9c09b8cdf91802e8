"""Distinct rows with their counts: what the categorical methods work on, and back to rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import concepts
from shoal.microaggregation.labels import Labels
from shoal.results import Loss

__all__ = ["Pairs", "Tuples", "distinct_tuples", "labels_of", "tuple_loss"]

Ints = NDArray[np.int64]


class Tuples(NamedTuple):
    """Distinct rows in the order of their codes."""

    codes: Ints  # (p, m)
    counts: Ints  # (p,) rows of each
    tuple_of_row: Ints  # (n,)


@dataclass(frozen=True)
class Pairs:
    """A partition of tuples with counts: which group has how many records of which tuple."""

    group: Ints
    member: Ints
    count: Ints

    def represent(self, table: concepts.Concepts, tuples: Tuples, generalise: bool) -> Ints:
        """The concepts that stand for each group: (g, m)."""
        order = np.argsort(self.group, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(self.group))])
        codes, counts = tuples.codes[self.member[order]], self.count[order]
        found: Ints = concepts.represent(table, codes, counts, indptr, generalise)
        return found

    def group_of_rows(self, tuples: Tuples) -> Ints:
        """The group of each row; equal rows that are in several groups are shared out in their order."""
        by_tuple = np.argsort(self.member, kind="stable")
        rows = np.argsort(tuples.tuple_of_row, kind="stable")
        groups = np.empty(len(rows), dtype=np.int64)
        groups[rows] = np.repeat(self.group[by_tuple], self.count[by_tuple])
        return groups


def distinct_tuples(columns: Sequence[Labels]) -> Tuples:
    """The different rows of the columns together."""
    key = np.zeros(len(columns[0].codes), dtype=np.int64)
    for one in columns:
        # Numbered anew at each step, so that products stay within the range of numbers.
        _, key = np.unique(key * len(one.concept_of_value) + one.codes, return_inverse=True)
    counts = np.bincount(key)
    first = np.empty(len(counts), dtype=np.int64)
    first[key[::-1]] = np.arange(len(key))[::-1]
    codes = np.column_stack([one.codes[first] for one in columns])
    return Tuples(np.ascontiguousarray(codes), counts.astype(np.int64), key)


def tuple_loss(table: concepts.Concepts, columns: Sequence[Labels], tuples: Tuples, pairs: Pairs, found: Ints) -> Loss:
    """SSE: squared distance of the records to what stands for their group; SST: to the centroid of all records."""
    n_tuples = len(tuples.counts)
    everything = Pairs(np.zeros(n_tuples, dtype=np.int64), np.arange(n_tuples), tuples.counts)
    sse, sst = (
        float(np.sum(some.count * _distances(columns, tuples.codes[some.member], centres[some.group]) ** 2))
        for some, centres in ((pairs, found), (everything, everything.represent(table, tuples, False)))
    )
    return Loss(sse=sse, ssa=sst - sse)


def labels_of(columns: Sequence[Labels], found: Ints) -> NDArray[Any]:
    """The labels of concepts given by their places: (g, m) of text, numbers or None."""
    labels = np.empty(found.shape, dtype=object)
    for place, one in enumerate(columns):
        labels[:, place] = [one.labels[concept] for concept in found[:, place]]
    return labels


def _distances(columns: Sequence[Labels], codes: Ints, centres: Ints) -> NDArray[np.float64]:
    """Mean over the attributes of the distance of each row's values to the concepts beside them."""
    total = np.zeros(len(codes))
    for place, one in enumerate(columns):
        total += one.distance[centres[:, place], codes[:, place]]
    return total / len(columns)
