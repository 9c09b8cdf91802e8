"""Records before and after masking on one scale, and how far apart any two are in each attribute.

Attributes and records are put in an order of their own content, so that the order in which they came changes nothing
that is learned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from shoal.attacks.labels import Labels, label_pair
from shoal.attacks.rates import identical_rows
from shoal.data.pairs import numeric_pair
from shoal.errors import InputError
from shoal.kernels import Floats, Ints
from shoal.terms.taxonomy import distances

STILL = 1e-12  # a column whose spread is this share of its values is constant, but for rounding
FAR = 2.0  # mean squared difference of two records drawn at random, on the standard scale


@dataclass(frozen=True)
class LabelColumn:
    """A column of labels: the number of each record's value before and after, and how far apart any two values are."""

    name: str
    before: Ints  # (n,) among the values that were
    after: Ints  # (n,) among the values that are released
    apart: Floats  # (values before, values after), on the scale of the numbers; not signed

    def take(self, rows: Ints) -> LabelColumn:
        return replace(self, before=self.before[rows], after=self.after[rows])


@dataclass(frozen=True)
class Crowds:
    """Records that are equal, counted once: one stands for all."""

    of_record: Ints  # (n,) the crowd of each record
    first: Ints  # (crowds,) a record of each, rising
    sizes: Ints  # (crowds,)


@dataclass(frozen=True)
class Records:
    """Row i of `after` is what became of row i of `before`; attributes are the numbers, then the labels."""

    before: Floats  # (n, numbers), each column of mean 0 and deviation 1
    after: Floats  # (n, numbers), likewise, on its own scale
    labels: tuple[LabelColumn, ...]
    names: tuple[str, ...]  # of all attributes
    order: Ints  # (n,) the row of the tables that each record was

    def __len__(self) -> int:
        return len(self.before)

    @property
    def n_attributes(self) -> int:
        return len(self.names)

    def differences(self, rows: Ints, others: Ints | None = None) -> Floats:
        """Originals less masked records, (rows, m, attributes); labels are not signed.

        `others` are the masked records: all by default, the same for all rows (m,), or those of each row (rows, m).
        """
        others = np.arange(len(self)) if others is None else others
        apart = np.empty((len(rows), others.shape[-1], self.n_attributes))
        n_numbers = self.before.shape[1]
        np.subtract(self.before[rows, None, :], self.after[others], out=apart[:, :, :n_numbers])
        for attribute, column in enumerate(self.labels, start=n_numbers):
            apart[:, :, attribute] = column.apart[column.before[rows][:, None], column.after[others]]
        return apart

    def take(self, rows: Ints) -> Records:
        """Some of the records, on the scale of all."""
        labels = tuple(column.take(rows) for column in self.labels)
        return replace(self, before=self.before[rows], after=self.after[rows], labels=labels, order=self.order[rows])

    def without(self, name: str) -> Records:
        """The same records, one attribute left out."""
        columns = [number for number in range(self.before.shape[1]) if self.names[number] != name]
        labels = tuple(column for column in self.labels if column.name != name)
        names = tuple(other for other in self.names if other != name)
        return replace(self, before=self.before[:, columns], after=self.after[:, columns], labels=labels, names=names)

    @cached_property
    def crowds(self) -> Crowds:
        """The masked records that are equal."""
        codes = [column.after.astype(np.float64) for column in self.labels]
        together = np.column_stack([self.after, *codes])
        return _crowds(together)

    @cached_property
    def twins(self) -> Crowds:
        """The records that are equal before and after masking: whatever links one of them links all."""
        return _crowds(
            np.column_stack([self.before, *(column.before for column in self.labels), self.crowds.of_record])
        )


def _crowds(values: Floats) -> Crowds:
    classes = identical_rows(values) if values.shape[1] else np.zeros(len(values), dtype=np.int64)
    _, first, sizes = np.unique(classes, return_index=True, return_counts=True)
    by_first = np.argsort(first)
    return Crowds(np.argsort(by_first)[classes], first[by_first], sizes[by_first])


def side_by_side(original: Any, protected: Any, labels: Sequence[LabelColumn] = ()) -> Records:
    """Numbers on the standard scale, each table on its own, and the labels.

    Both tables have the same columns of numbers; where there are none, None is given for both.
    """
    if original is None:
        if not labels:
            raise InputError("nothing to compare: give columns of numbers or of labels")
        names: tuple[str, ...] = ()
        before = after = np.empty((len(labels[0].before), 0))
    else:
        pair = numeric_pair(original, protected)
        names, before, after = pair.names, _standard(pair.original), _standard(pair.protected)
    by_content = sorted(
        range(len(names)), key=lambda column: _content(before[:, column], after[:, column], names[column])
    )
    before, after = before[:, by_content], after[:, by_content]
    labels = sorted(labels, key=lambda label: label.name)
    records = Records(
        np.ascontiguousarray(before),
        np.ascontiguousarray(after),
        tuple(labels),
        tuple(names[column] for column in by_content) + tuple(label.name for label in labels),
        np.arange(len(before)),
    )
    keys = [key for label in labels for key in (label.after, label.before)]
    keys += [*after.T[::-1], *before.T[::-1]]
    return records.take(np.lexsort(keys)) if keys else records


def label_columns(
    original: Mapping[str, Labels], protected: Mapping[str, Labels], ontology: Any = None
) -> list[LabelColumn]:
    """Columns of labels by name, as far apart as the ontology says where it knows both values.

    Other labels are the nearer to a value, the more likely they stand for it. `ontology` is one for all columns, or one
    per column, by name.
    """
    columns = []
    for name, values in original.items():
        about = ontology.get(name) if isinstance(ontology, Mapping) else ontology
        pair = label_pair(name, values, protected[name])
        before, after, apart = pair.before, pair.after, 1.0 - pair.chance
        if about is not None:
            apart = by_meaning(apart, pair.values, pair.released, about)
        # As the numbers: two records drawn at random are 2 apart in the mean.
        mean = float(np.bincount(before) @ apart @ np.bincount(after)) / len(before) ** 2
        scaled = np.sqrt(apart * (FAR / mean)) if mean > 0 else apart
        columns.append(LabelColumn(name, before, after, scaled))
    return columns


def by_meaning(apart: Floats, were: Sequence[str], are: Sequence[str], ontology: Any) -> Floats:
    """Distances by the ontology where it knows both values, else as they are."""
    rows, columns = ([_concept(ontology, value) for value in values] for values in (were, are))
    known_rows, known_columns = (
        [concept for concept in concepts if concept is not None] for concepts in (rows, columns)
    )
    if known_rows and known_columns:
        positions = (np.flatnonzero([concept is not None for concept in concepts]) for concepts in (rows, columns))
        apart[np.ix_(*positions)] = distances(ontology.taxonomy, known_rows, known_columns)
    return apart


def _concept(ontology: Any, value: str) -> int | None:
    """What a word means first, or the concept of that very name."""
    senses = ontology.senses(value)
    concept: int | None = senses[0] if senses else ontology.concept(value)
    return concept


def _standard(values: Floats) -> Floats:
    """Mean 0 and deviation 1; 0 throughout for a column that is constant."""
    scaled = np.empty_like(values)
    for number, column in enumerate(values.T):
        rising = np.sort(column)  # sums in an order of their own, whatever the order of the rows
        centre, deviation = rising.mean(), rising.std()
        constant = deviation <= STILL * max(abs(rising[0]), abs(rising[-1]))
        scaled[:, number] = 0.0 if constant else (column - centre) / deviation
    return scaled


def _content(before: Floats, after: Floats, name: str) -> tuple[Any, ...]:
    """What orders attributes: their values, not the order in which they came."""
    return (*np.sort(before)[:: max(1, len(before) // 64)], *np.sort(after)[:: max(1, len(after) // 64)], name)
