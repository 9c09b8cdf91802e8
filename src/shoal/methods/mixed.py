"""Microaggregation of tables with numbers and labels: one distance, one grouping, a representative of both kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shoal.data.frames import like_columns
from shoal.kernels.grouping import euclidean as kernel
from shoal.methods.estimator import GroupsRows, check_k, check_time_budget
from shoal.methods.label_columns import checked_columns, column_readings, label_column
from shoal.methods.label_rows import (
    CATEGORICAL,
    NUMERIC,
    MixedRows,
    Scales,
    column_kinds,
    column_weights,
    labels_of,
    means_of,
    mixed_rows,
    number_matrix,
    scales_of,
)
from shoal.methods.mdav import MixedSpace, mdav
from shoal.methods.refinement import regrouped

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class MixedMicroaggregation(GroupsRows):
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
        Search for a better partition from MDAV's; False is plain MDAV.
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
        groups = mdav(MixedSpace(rows.numbers, rows.codes, rows.table, rows.squares), k)
        if self.refine:
            groups = regrouped(rows.problem, groups, k, self.time_budget, self.random_state)
        return self._store(rows, groups)

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

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Group the rows and return each row's representative."""
        self.fit(X)
        return like_columns(list(self.representatives_[self.groups_].T), X, self)

    def transform(self, X: Any) -> Any:
        """Give each row, new or old, the nearest existing representative."""
        nearest = self.nearest(X)
        return like_columns(list(self.representatives_[nearest].T), X, self)

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

        def distance(chosen: Ints, groups: Ints) -> Floats:
            chosen_rows = replace(rows, numbers=rows.numbers[chosen], codes=rows.codes[chosen])
            mean, centroid = chosen_rows.centres(np.zeros(len(chosen), dtype=np.int64))
            total: Floats = np.sum((means[groups] - mean) ** 2, axis=1)
            for attribute, labels in enumerate(rows.labels):
                there = labels.concepts[centroids[groups, attribute]]
                apart = labels.reading.distances(there, labels.concepts[centroid[:, attribute]])
                total += (apart[:, 0] / self.scales_.label_scale[attribute]) ** 2
            return total

        return distance

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags

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
