"""Microaggregation of tables with numbers and labels: one distance, one grouping, a representative of both kinds.

A number is standardised. The distances of a label are divided by their root mean square to the centroid of the whole
column, as standardising does for a number and its mean: so both kinds have mean square 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shoal.data.columns import holds_numbers
from shoal.data.files import counted, shown
from shoal.errors import InputError
from shoal.kernels.grouping import euclidean as kernel
from shoal.kernels.grouping import labels as labels_kernel
from shoal.kernels.grouping.group_errors import Problem
from shoal.methods.estimator import GroupsLabels, check_k, check_time_budget
from shoal.methods.items import equal_rows, grouped_items
from shoal.methods.label_columns import (
    Labels,
    checked_columns,
    column_readings,
    label_column,
    labels_of,
    pack,
)
from shoal.methods.numeric import group_means, scale_of
from shoal.methods.refinement import regrouped
from shoal.results.utility import Loss

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
    table: labels_kernel.Concepts
    squares: Floats  # (m, c, v) squared distance of every value to every concept
    labels: Sequence[Labels]

    def problem(self) -> tuple[Problem, Ints]:
        """What grouping needs: equal rows are one item. And the item of each row."""
        items, item_of_row = equal_rows(self.numbers, self.codes)
        return Problem(items, self.table, self.squares, of_mean=False), item_of_row

    def centres(self, groups: Ints) -> tuple[Floats, Ints]:
        """What stands for each group: the mean of every number (g, d), the centroid of every label (g, m)."""
        once_each = np.ones(len(groups), dtype=np.int64)
        return means_of(self.numbers, groups), labels_kernel.represent(self.table, self.codes, once_each, groups)

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


class MixedMicroaggregation(GroupsLabels):
    """Replace every row by the mean of its group's numbers and the concepts that stand for its labels.

    Squared distances add up over the columns: numbers are standardised, and the distances of labels (1 - Wu-Palmer
    similarity) divided by their root mean square to the centroid of the column, so that all columns weigh the same.

    Parameters
    ----------
    k : int, at least 2
    roles : dict of column: "numeric" or "categorical", list of the categorical columns, or None
        What is not given goes by type. Numbers made categorical are labels without structure, unless `ontology` names
        their column.
    weights : dict of column: number above 0, or None
        How much the squared distance of a column counts; 1 unless given.
    refine : bool
        Search for better groups than the first, which are as MDAV's but about one centre.
    time_budget : float or None
        About how many seconds the search may take, counted as work done, so that results repeat.
    random_state : int, RandomState or None
        Seeds the search. None is 0.
    ontology : WordNet, Hierarchy, dict of column: ontology, or None
        None: WordNet for text. An ontology is meant for the columns of text.
    mapping : path of a CSV file, dict of value: concept, dict of column: such a dict, or None
        Concepts of values that the ontology does not know under that name.

    Attributes
    ----------
    groups_ : (n,) array, the group of each row.
    representatives_ : (g, m) array of numbers and labels; None for a missing label.
    sse_, information_loss_ : float, on the scale of the distance.
    loss_ : Loss, with SST - SSE as `ssa`; SST is the SSE of one group.
    k_anonymous_ : True
    kinds_ : list of "numeric" or "categorical", one per column.

    Examples
    --------
    >>> from shoal import Hierarchy, MixedMicroaggregation
    >>> pairs = [("soccer", "football"), ("rugby", "football"), ("football", "sport"), ("golf", "sport")]
    >>> rows = [[20, "soccer"], [24, "rugby"], [60, "golf"], [64, "golf"], [22, "soccer"]]
    >>> model = MixedMicroaggregation(k=2, ontology=Hierarchy.from_pairs(pairs))
    >>> model.fit_transform(np.array(rows, dtype=object)).tolist()[0]
    [22.0, 'soccer']
    """

    def __init__(
        self,
        k: int = 3,
        *,
        roles: Any = None,
        weights: Any = None,
        refine: bool = True,
        time_budget: float | None = None,
        random_state: int | None = None,
        ontology: Any = None,
        mapping: Any = None,
    ) -> None:
        super().__init__(k, refine, time_budget, random_state)
        self.roles = roles
        self.weights = weights
        self.ontology = ontology
        self.mapping = mapping

    def fit(self, X: Any, y: Any = None) -> MixedMicroaggregation:
        """Group the rows."""
        return self.fit_scaled(X, None)

    def fit_scaled(self, X: Any, scales: Scales | None) -> MixedMicroaggregation:
        """Group rows that are a part of a table, on the scales of all of it."""
        check_time_budget(self.time_budget)
        rows, k = self._read(X, scales)
        problem, item_of_row = rows.problem()
        groups = grouped_items(problem, k)
        if self.refine:
            groups = regrouped(problem, groups, k, self.time_budget, self.random_state)
        return self._store(rows, groups[item_of_row])

    def fit_groups(self, X: Any, groups: Ints, scales: Scales | None = None) -> MixedMicroaggregation:
        """Take the groups of the rows as given: representatives and loss follow."""
        return self._store(self._read(X, scales)[0], np.asarray(groups, dtype=np.int64))

    def _read(self, X: Any, scales: Scales | None) -> tuple[MixedRows, int]:
        """The rows on the scale of the distance, and k."""
        names, columns = checked_columns(self, X, reset=True)
        k = check_k(self.k, len(columns[0]))
        self.kinds_ = column_kinds(names, columns, self.roles)
        of_labels = self._of(CATEGORICAL, columns)
        self.readings_ = column_readings(self._of(CATEGORICAL, names), of_labels, self.ontology, self.mapping)
        weights = column_weights(names, self.weights)
        numbers = number_matrix(self._of(NUMERIC, names), self._of(NUMERIC, columns), len(columns[0]))
        labels = [label_column(reading, column, k) for reading, column in zip(self.readings_, of_labels, strict=True)]
        kinds = np.array(self.kinds_)
        of_columns = weights[kinds == NUMERIC], weights[kinds == CATEGORICAL]
        self.scales_ = scales_of(numbers, labels, *of_columns) if scales is None else scales
        return mixed_rows(numbers, labels, self.scales_), k

    def nearest(self, X: Any) -> Ints:
        """The group whose representative is nearest to each row, new or old."""
        check_is_fitted(self, "representatives_")
        names, columns = checked_columns(self, X, reset=False)
        numbers = number_matrix(self._of(NUMERIC, names), self._of(NUMERIC, columns), len(columns[0]))
        encoded = [
            labels.encode(column) for labels, column in zip(self.readings_, self._of(CATEGORICAL, columns), strict=True)
        ]
        n_values = max((len(labels.concepts) for labels in encoded), default=1)
        squares = np.zeros((len(encoded), len(self.means_), n_values))
        codes = np.zeros((len(numbers), len(encoded)), dtype=np.int64)
        for attribute, labels in enumerate(encoded):
            apart = self.readings_[attribute].distances(self.concepts_[:, attribute], labels.concepts)
            squares[attribute, :, : len(labels.concepts)] = (apart / self.scales_.label_scale[attribute]) ** 2
            codes[:, attribute] = labels.codes
        standard = np.ascontiguousarray((numbers - self.scales_.mean) / self.scales_.scale)
        own = np.tile(np.arange(len(self.means_))[:, None], (1, len(encoded)))
        nearest: Ints = kernel.nearest_point(standard, codes, squares, self.means_, own)
        return nearest

    def distance_to_groups(self, X: Any) -> Callable[[Ints, Ints], Floats]:
        """A function that gives the distance of the centre of some of the fitted rows X to some representatives."""
        rows = self._fitted_rows(X)
        means, centroids = rows.centres(self.groups_)
        squares = [
            (labels.reading.distances(labels.concepts, labels.concepts) / scale) ** 2
            for labels, scale in zip(rows.labels, self.scales_.label_scale.tolist(), strict=True)
        ]

        def distance(chosen: Ints, groups: Ints) -> Floats:
            centroid = labels_kernel.represent_one(rows.table, rows.codes[chosen])
            total: Floats = np.sum((means[groups] - rows.numbers[chosen].mean(axis=0)) ** 2, axis=1)
            for attribute, apart in enumerate(squares):
                total += apart[centroids[groups, attribute], centroid[attribute]]
            return total

        return distance

    def _of(self, kind: str, things: Any) -> list[Any]:
        """The items, of one per column, whose column is of this kind."""
        return [thing for thing, its_kind in zip(things, self.kinds_, strict=True) if its_kind == kind]

    def _fitted_rows(self, X: Any) -> MixedRows:
        check_is_fitted(self, "representatives_")
        names, columns = checked_columns(self, X, reset=False)
        numbers = number_matrix(self._of(NUMERIC, names), self._of(NUMERIC, columns), len(columns[0]))
        pairs: Any = zip(self.readings_, self._of(CATEGORICAL, columns), strict=True)
        return mixed_rows(numbers, [label_column(reading, column, self.k) for reading, column in pairs], self.scales_)

    def _store(self, rows: MixedRows, groups: Ints) -> MixedMicroaggregation:
        self.groups_ = groups
        self.means_, centroids = rows.centres(groups)
        self.concepts_ = np.column_stack(
            [np.empty((len(centroids), 0), dtype=np.int64)]
            + [labels.concepts[centroids[:, attribute]] for attribute, labels in enumerate(rows.labels)]
        )
        kinds = np.array(self.kinds_)
        self.representatives_ = np.empty((len(centroids), len(kinds)), dtype=object)
        self.representatives_[:, kinds == NUMERIC] = means_of(rows.values, groups)
        self.representatives_[:, kinds == CATEGORICAL] = labels_of(rows.labels, centroids)
        self.k_anonymous_ = True
        self._store_loss(rows.loss(groups))
        return self
