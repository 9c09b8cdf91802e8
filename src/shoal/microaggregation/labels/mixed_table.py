"""A table of numbers and labels, on scales that make its columns weigh the same.

A number is standardised. The distances of a label are divided by their root mean square to the centroid of the whole
column, as standardising does for a number and its mean: so both kinds have mean square 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.io.columns import is_number
from shoal.io.files import counted, shown
from shoal.kernels.grouping import concepts
from shoal.kernels.grouping.group_errors import Items, Problem
from shoal.microaggregation.exact_sums import scale_of
from shoal.microaggregation.labels.column import Labels, pack
from shoal.microaggregation.numeric import group_means
from shoal.results.loss import Loss

__all__ = [
    "CATEGORICAL",
    "NUMERIC",
    "MixedRows",
    "Scales",
    "column_kinds",
    "column_weights",
    "means_of",
    "mixed_rows",
    "number_matrix",
    "scales_of",
]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NUMERIC, CATEGORICAL = "numeric", "categorical"


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
    table: concepts.Concepts
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
        return means_of(self.numbers, groups), concepts.represent(self.table, self.codes, once_each, groups)

    def squared_distances(self, means: Floats, centroids: Ints) -> Floats:
        """Of each row to the point beside it."""
        total: Floats = np.sum((self.numbers - means) ** 2, axis=1)
        for place in range(self.codes.shape[1]):
            total += self.squares[place, centroids[:, place], self.codes[:, place]]
        return total

    def loss(self, groups: Ints) -> Loss:
        """SSE: squared distance to what stands for the group. SSA: what it lacks of that to the centre of all rows."""
        sse, sst = (
            float(np.sum(self.squared_distances(means[some], centroids[some])))
            for some, (means, centroids) in ((some, self.centres(some)) for some in (groups, np.zeros_like(groups)))
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
    for place, one in enumerate(labels):
        n_concepts, n_values = one.distance.shape
        squares[place, :n_concepts, :n_values] = (one.distance / scales.label_scale[place]) ** 2
        codes[:, place] = one.codes
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
    found = []
    for name, column in zip(names, columns, strict=True):
        by_type = NUMERIC if is_number(column) and not pa.types.is_null(column.type) else CATEGORICAL
        kind = roles.get(name, by_type)
        if kind == NUMERIC and not is_number(column):
            raise InputError(f"column {shown(name)} is {column.type}, not numbers; make it categorical in roles")
        found.append(kind)
    return found


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
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        numbers = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        bad = np.flatnonzero(~np.isfinite(numbers))
        if len(bad):
            found = counted(len(bad), "missing (NaN) or infinite value")
            raise InputError(
                f"column {shown(name)}: {found} (first in row {bad[0] + 1}); "
                "fill them, drop the rows, or make the column categorical"
            )
        matrix[:, place] = numbers
    return matrix


def _check_columns(what: str, given: Mapping[str, Any], names: Sequence[str]) -> None:
    astray = [shown(name) for name in given if name not in names]
    if astray:
        raise InputError(f"{what} names {', '.join(astray[:5])}, which is not a column; there are: {', '.join(names)}")
