"""Microaggregation of tables of labels by their meaning.

Source: Martínez, Sánchez and Valls, "Semantic adaptive microaggregation of categorical microdata", Computers & Security
31 (2012). The methods that it is compared with are in benchmarks/label_baselines.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shoal.errors import InputError
from shoal.kernels.grouping import labels as kernel
from shoal.kernels.grouping.group_errors import Items, Problem
from shoal.kernels.grouping.labels import adaptive_groups
from shoal.methods.estimator import GroupsLabels, check_k, check_time_budget
from shoal.methods.items import numbered
from shoal.methods.label_columns import Labels, checked_columns, column_readings, label_column, labels_of, pack
from shoal.methods.refinement import regrouped
from shoal.results.utility import Loss

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


SA_MDAV = "sa-mdav"
AT_A_TIME = 1000  # rows whose distances to all representatives are held


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
        key = numbered(key * len(column.concept_of_value) + column.codes)
    counts = np.bincount(key)
    some_row = np.empty(len(counts), dtype=np.int64)
    some_row[key] = np.arange(len(key))
    codes = np.column_stack([column.codes[some_row] for column in columns])
    return Tuples(columns, np.ascontiguousarray(codes), counts.astype(np.int64), key)


class CategoricalMicroaggregation(GroupsLabels):
    """Replace every row of labels by concepts that stand for at least k rows.

    Labels are concepts of an ontology, compared by 1 - Wu-Palmer similarity. Rows with the same labels are one tuple
    with a count; time depends on the tuples, not on the rows. Missing values are a value of their own.

    Parameters
    ----------
    k : int, at least 2
    method : {"sa-mdav"}
        Other published methods are in Shoal's benchmarks, for comparison.
    ontology : WordNet, Hierarchy, dict of column: ontology, or None
        None: WordNet for text; numbers are labels without structure. An ontology is meant for the columns of text.
    mapping : path of a CSV file, dict of value: concept, dict of column: such a dict, or None
        Concepts of values that the ontology does not know under that name.
    refine : bool
        Search for a better partition of the tuples from SA-MDAV's; False is plain SA-MDAV.
    time_budget : float or None
        About how many seconds the search may take, counted as work done, so that results repeat.
    random_state : int, RandomState or None
        Seeds the search. None is 0.

    Attributes
    ----------
    groups_ : (n,) array, the group of each row.
    representatives_ : (g, m) array of labels; None for a missing value.
    sse_ : float, Σ over rows of (mean over the columns of the distance to the group's representative)².
    information_loss_ : float, SSE / SST; SST the same to the centroid of all rows.
    loss_ : Loss, with SST - SSE as `ssa`.
    k_anonymous_ : True

    Examples
    --------
    >>> from shoal import CategoricalMicroaggregation, Hierarchy
    >>> pairs = [("soccer", "football"), ("rugby", "football"), ("football", "sport"), ("golf", "sport")]
    >>> rows = [["soccer"], ["rugby"], ["golf"], ["golf"], ["soccer"]]
    >>> CategoricalMicroaggregation(k=2, ontology=Hierarchy.from_pairs(pairs)).fit_transform(rows).ravel().tolist()
    ['soccer', 'soccer', 'golf', 'golf', 'soccer']
    """

    def __init__(
        self,
        k: int = 3,
        *,
        method: str = SA_MDAV,
        ontology: Any = None,
        mapping: Any = None,
        refine: bool = False,
        time_budget: float | None = None,
        random_state: int | None = None,
    ) -> None:
        super().__init__(k, refine, time_budget, random_state)
        self.method = method
        self.ontology = ontology
        self.mapping = mapping

    def fit(self, X: Any, y: Any = None) -> CategoricalMicroaggregation:
        """Group the rows."""
        check_time_budget(self.time_budget)
        names, columns = checked_columns(self, X, reset=True)
        k = check_k(self.k, len(columns[0]))
        self.readings_ = column_readings(names, columns, self.ontology, self.mapping)
        tuples = self._tuples(columns)
        return self._store(tuples, self._grouped(tuples, k))

    def nearest(self, X: Any) -> Ints:
        """The group whose representative is nearest to each row, new or old."""
        check_is_fitted(self, "representatives_")
        _, columns = checked_columns(self, X, reset=False)
        encoded = [reading.encode(column) for reading, column in zip(self.readings_, columns, strict=True)]
        distances_of_attribute = [
            reading.distances(labels.concepts, self.concepts_[:, attribute])
            for attribute, (reading, labels) in enumerate(zip(self.readings_, encoded, strict=True))
        ]
        rows, row = np.unique(np.column_stack([labels.codes for labels in encoded]), axis=0, return_inverse=True)
        nearest = np.empty(len(rows), dtype=np.int64)
        for start in range(0, len(rows), AT_A_TIME):
            chunk = rows[start : start + AT_A_TIME]
            total = sum(distances[chunk[:, attribute]] for attribute, distances in enumerate(distances_of_attribute))
            # Sums that differ by rounding only are ties, which go to the lower group.
            least = np.min(total, axis=1, keepdims=True)
            nearest[start : start + AT_A_TIME] = np.argmax(total <= least + 1e-9, axis=1)
        return nearest[row.ravel()]

    def fit_groups(self, X: Any, groups: Ints) -> CategoricalMicroaggregation:
        """Take the groups of the rows as given: representatives and loss follow."""
        names, columns = checked_columns(self, X, reset=True)
        self.readings_ = column_readings(names, columns, self.ontology, self.mapping)
        tuples = self._tuples(columns)
        self._store(tuples, TuplePartition.of_rows(tuples, np.asarray(groups, dtype=np.int64)))
        self.groups_ = np.asarray(groups, dtype=np.int64)
        return self

    def distance_to_groups(self, X: Any) -> Callable[[Ints, Ints], Floats]:
        """A function that gives the distance of the centre of some of the fitted rows X to some representatives."""
        check_is_fitted(self, "representatives_")
        tuples = self._tuples(checked_columns(self, X, reset=False)[1])
        representatives = self.concepts_

        def distance(rows: Ints, groups: Ints) -> Floats:
            chosen = TuplePartition.of_rows(tuples, np.zeros(len(rows), dtype=np.int64), rows)
            centre = self._centres(tuples, chosen)[0]
            total = np.zeros(len(groups))
            for attribute, labels in enumerate(tuples.labels):
                own_concept = labels.concepts[centre[attribute : attribute + 1]]
                total += labels.reading.distances(representatives[groups, attribute], own_concept)[:, 0]
            return total / len(tuples.labels)

        return distance

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _tuples(self, columns: Sequence[Any]) -> Tuples:
        pairs = zip(self.readings_, columns, strict=True)
        return distinct_tuples([label_column(reading, column, self.k) for reading, column in pairs])

    def _grouped(self, tuples: Tuples, k: int) -> TuplePartition:
        if self.method != SA_MDAV:
            raise InputError(f"method={self.method!r} is not known; use {SA_MDAV!r}")
        groups = adaptive_groups(tuples.by_meaning, tuples.codes, tuples.counts, k, False)
        if self.refine:
            groups = regrouped(tuples.problem, groups, k, self.time_budget, self.random_state)
        return TuplePartition(groups, np.arange(len(groups)), tuples.counts)

    def _centres(self, tuples: Tuples, pairs: TuplePartition) -> Ints:
        """The concept, attribute by attribute, that stands for each group: (g, m)."""
        return pairs.centroids(tuples)

    def _store(self, tuples: Tuples, pairs: TuplePartition) -> CategoricalMicroaggregation:
        centres = self._centres(tuples, pairs)
        self.groups_ = pairs.group_of_rows(tuples)
        self.representatives_ = labels_of(tuples.labels, centres)
        self.concepts_ = np.column_stack(
            [labels.concepts[centres[:, attribute]] for attribute, labels in enumerate(tuples.labels)]
        )
        self.k_anonymous_ = True
        self._store_loss(pairs.loss(tuples, centres))
        return self
