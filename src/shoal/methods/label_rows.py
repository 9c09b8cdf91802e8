"""Rows of labels, distinct ones with their counts; and rows of labels and numbers, on scales that weigh them the same.

A number is standardised. The distances of a label are divided by their root mean square to the centroid of the whole
column, as standardising does for a number and its mean: so both kinds have mean square 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data.columns import holds_numbers
from shoal.data.exact_sums import scale_of
from shoal.data.files import counted, shown
from shoal.errors import InputError
from shoal.kernels.grouping import labels as kernel
from shoal.kernels.grouping.group_errors import Items, Problem
from shoal.methods.label_columns import Labels, pack
from shoal.methods.numeric import group_means
from shoal.results.utility import Loss

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NUMERIC, CATEGORICAL = "numeric", "categorical"


@dataclass(frozen=True)
class Tuples:
    """The different rows of some columns of labels, in the order of their codes."""

    labels: Sequence[Labels]
    codes: Ints  # (p, m)
    counts: Ints  # (p,) rows of each
    tuple_of_row: Ints  # (n,)

    @cached_property
    def by_meaning(self) -> kernel.Concepts:
        """What can stand for the values, as the kernels take it."""
        return pack(self.labels)

    @cached_property
    def problem(self) -> Problem:
        """What a search for better groups of whole tuples needs: an error is the square of the mean distance."""
        apart = np.zeros(self.by_meaning.distance.shape).transpose(0, 2, 1).copy()
        for attribute, labels in enumerate(self.labels):
            apart[attribute, : labels.distance.shape[0], : labels.distance.shape[1]] = labels.distance / len(
                self.labels
            )
        items = Items(self.counts, self.codes, np.zeros((len(self.counts), 0)))
        return Problem(items, self.by_meaning, apart, of_mean=True)


@dataclass(frozen=True)
class TuplePartition:
    """A partition of tuples with counts: which group has how many records of which tuple."""

    group: Ints
    member: Ints  # a tuple
    count: Ints

    @classmethod
    def of_rows(cls, tuples: Tuples, groups: Ints, rows: Ints | None = None) -> TuplePartition:
        """The partition that puts each row in its group, or each of some rows."""
        n_tuples = len(tuples.counts)
        tuple_of_row = tuples.tuple_of_row if rows is None else tuples.tuple_of_row[rows]
        key, count = np.unique(groups * n_tuples + tuple_of_row, return_counts=True)
        return cls(key // n_tuples, key % n_tuples, count)

    def centroids(self, tuples: Tuples) -> Ints:
        """The concepts that stand for each group: (g, m)."""
        return kernel.represent(tuples.by_meaning, tuples.codes[self.member], self.count, self.group)

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
        whole = TuplePartition(np.zeros_like(tuples.counts), np.arange(len(tuples.counts)), tuples.counts)
        sse = self._error(tuples, centres)
        return Loss(sse=sse, ssa=whole._error(tuples, whole.centroids(tuples)) - sse)

    def _error(self, tuples: Tuples, centres: Ints) -> float:
        """Σ count · (mean over the attributes of the distance to the group's centre)²."""
        total = np.zeros(len(self.member))
        for attribute, labels in enumerate(tuples.labels):
            total += labels.distance[centres[self.group, attribute], tuples.codes[self.member, attribute]]
        return float(np.sum(self.count * (total / len(tuples.labels)) ** 2))


def distinct_tuples(columns: Sequence[Labels]) -> Tuples:
    """The different rows of the columns together."""
    key = columns[0].codes
    for column in columns[1:]:
        # Numbered anew at each step, so that products stay within the range of numbers.
        key = _numbered(key * len(column.concept_of_value) + column.codes)
    counts = np.bincount(key)
    some_row = np.empty(len(counts), dtype=np.int64)
    some_row[key] = np.arange(len(key))
    codes = np.column_stack([column.codes[some_row] for column in columns])
    return Tuples(columns, np.ascontiguousarray(codes), counts.astype(np.int64), key)


def _numbered(keys: Ints) -> Ints:
    """Each key's place among the different ones: by counting where the keys are small, by sorting else."""
    if keys.max() < 4 * len(keys):
        number: Ints = np.cumsum(np.bincount(keys) > 0)[keys] - 1
        return number
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


def labels_of(columns: Sequence[Labels], concepts: Ints) -> NDArray[Any]:
    """The labels of concepts given by their places: (g, m) of text, numbers or None."""
    labels = np.empty(concepts.shape, dtype=object)
    for attribute, column in enumerate(columns):
        labels[:, attribute] = [column.labels[number] for number in concepts[:, attribute]]
    return labels


@dataclass(frozen=True)
class Scales:
    """What standardising needs to know of the columns, weights included."""

    mean: Floats  # (d,) of the numbers
    scale: Floats  # (d,) standard deviation / √weight
    label_scale: Floats  # (m,) root mean square distance to the centroid / √weight


@dataclass(frozen=True)
class MixedRows:
    """The rows of a table on the scale of the distance."""

    values: Floats  # (n, d) numbers as they came
    numbers: Floats  # (n, d) and standardised
    codes: Ints  # (n, m)
    table: kernel.Concepts
    squares: Floats  # (m, c, v) squared distance of every value to every concept
    labels: Sequence[Labels]

    @property
    def problem(self) -> Problem:
        """What a search for better groups needs."""
        return Problem(
            Items(np.ones(len(self.codes), np.int64), self.codes, self.numbers), self.table, self.squares, of_mean=False
        )

    def centres(self, groups: Ints) -> tuple[Floats, Ints]:
        """What stands for each group: the mean of every number (g, d), the centroid of every label (g, m)."""
        once_each = np.ones(len(groups), dtype=np.int64)
        return means_of(self.numbers, groups), kernel.represent(self.table, self.codes, once_each, groups)

    def squared_distances(self, means: Floats, centroids: Ints) -> Floats:
        """Of each row to the point beside it."""
        total: Floats = np.sum((self.numbers - means) ** 2, axis=1)
        for attribute in range(self.codes.shape[1]):
            total += self.squares[attribute, centroids[:, attribute], self.codes[:, attribute]]
        return total

    def loss(self, groups: Ints) -> Loss:
        """SSE: squared distance to what stands for the group. SSA: what it lacks of that to the centre of all rows."""
        sse, sst = (
            float(np.sum(self.squared_distances(means[partition], centroids[partition])))
            for partition, (means, centroids) in (
                (partition, self.centres(partition)) for partition in (groups, np.zeros_like(groups))
            )
        )
        return Loss(sse=sse, ssa=sst - sse)


def means_of(numbers: Floats, groups: Ints) -> Floats:
    """Mean of each group, (g, d), also where there are no numbers."""
    return group_means(numbers, groups) if numbers.shape[1] else np.zeros((int(groups.max()) + 1, 0))


def mixed_rows(numbers: Floats, labels: Sequence[Labels], scales: Scales) -> MixedRows:
    """Numbers (n, d) and columns of labels on one scale."""
    table = pack(labels)
    squares = np.zeros(table.distance.shape).transpose(0, 2, 1).copy()
    codes = np.zeros((len(numbers), len(labels)), dtype=np.int64)
    for attribute, column in enumerate(labels):
        n_concepts, n_values = column.distance.shape
        squares[attribute, :n_concepts, :n_values] = (column.distance / scales.label_scale[attribute]) ** 2
        codes[:, attribute] = column.codes
    standard = np.ascontiguousarray((numbers - scales.mean) / scales.scale)
    return MixedRows(numbers, standard, codes, table, squares, labels)


def scales_of(numbers: Floats, labels: Sequence[Labels], number_weights: Floats, label_weights: Floats) -> Scales:
    """Scales on which every column has mean square 1, times its weight; a constant column stays 0."""
    deviation = scale_of(numbers.std(axis=0), np.abs(numbers).max(axis=0, initial=0.0))
    return Scales(
        mean=numbers.mean(axis=0),
        scale=deviation / np.sqrt(number_weights),
        label_scale=np.array([column.centroid(np.bincount(column.codes))[1] for column in labels])
        / np.sqrt(label_weights),
    )


def column_kinds(names: Sequence[str], columns: Sequence[pa.Array], roles: Any) -> list[str]:
    """NUMERIC or CATEGORICAL for every column: as `roles` says, else by type."""
    if roles is None:
        roles = {}
    elif isinstance(roles, Mapping):
        roles = {str(name): kind for name, kind in roles.items()}
    elif isinstance(roles, str) or not isinstance(roles, Sequence):
        raise InputError("roles must be a dict of column: 'numeric' or 'categorical', or a list of categorical columns")
    else:
        roles = {str(name): CATEGORICAL for name in roles}
    _check_columns("roles", roles, names)
    wrong = [kind for kind in roles.values() if kind not in (NUMERIC, CATEGORICAL)]
    if wrong:
        raise InputError(f"roles gives a column the role {wrong[0]!r}; use 'numeric' or 'categorical'")
    kinds = []
    for name, column in zip(names, columns, strict=True):
        by_type = NUMERIC if holds_numbers(column.type) and not pa.types.is_null(column.type) else CATEGORICAL
        kind = roles.get(name, by_type)
        if kind == NUMERIC and not holds_numbers(column.type):
            raise InputError(f"column {shown(name)} is {column.type}, not numbers; make it categorical in roles")
        kinds.append(kind)
    return kinds


def column_weights(names: Sequence[str], weights: Any) -> Floats:
    """The weight of every column, 1 unless given."""
    if weights is None:
        weights = {}
    if not isinstance(weights, Mapping):
        raise InputError("weights must be a dict of column: number above 0")
    weights = {str(name): weight for name, weight in weights.items()}
    _check_columns("weights", weights, names)
    for name, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float | np.number) or not 0 < weight < np.inf:
            raise InputError(f"weights gives column {shown(name)} {weight!r}; give a number above 0")
    return np.array([float(weights.get(name, 1.0)) for name in names])


def number_matrix(names: Sequence[str], columns: Sequence[pa.Array], n_rows: int) -> Floats:
    """Columns of numbers side by side; missing or infinite ones are refused."""
    matrix = np.empty((n_rows, len(columns)))
    for attribute, (name, column) in enumerate(zip(names, columns, strict=True)):
        numbers = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        bad = np.flatnonzero(~np.isfinite(numbers))
        if len(bad):
            complaint = counted(len(bad), "missing (NaN) or infinite value")
            raise InputError(
                f"column {shown(name)}: {complaint} (first in row {bad[0] + 1}); "
                "fill them, drop the rows, or make the column categorical"
            )
        matrix[:, attribute] = numbers
    return matrix


def _check_columns(what: str, given: Mapping[str, Any], names: Sequence[str]) -> None:
    astray = [shown(name) for name in given if name not in names]
    if astray:
        raise InputError(f"{what} names {', '.join(astray[:5])}, which is not a column; there are: {', '.join(names)}")
