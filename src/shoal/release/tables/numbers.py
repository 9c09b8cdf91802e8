"""Numbers of tables: means of groups over all quasi-identifiers, or values masked column by column.

A gap counts as the column's mean in every figure, and apart from it as a value of its own in the distance, where that
is asked for. See docs/kinds.md for what is published of a group with gaps, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pyarrow as pa
from sklearn.base import clone

from shoal.errors import InputError
from shoal.methods.blocks.grouping import Plan, block_count
from shoal.methods.masking import Noise, RankSwap
from shoal.methods.mdav import EuclideanSpace
from shoal.methods.numeric import Microaggregation
from shoal.promises.joining import GroupDistances, distance_to_means
from shoal.release.tables.rows import Ints, MaskedRows, TableLayout, TableMethod, TableRows, coordinates, group_numbers
from shoal.results.summary import IN_WORDS


class Means(TableMethod):
    """Microaggregation of numbers in one partition."""

    def __init__(self, method: Microaggregation, k: int) -> None:
        self.k = k
        self.name = words_for(method)
        self._model: Microaggregation = clone(method).set_params(k=k)

    def group(self, rows: TableRows) -> tuple[Ints, float]:
        if rows.gaps is not None:
            return self._model.partition(coordinates(rows.numbers, rows.gaps, self.layout))[0], 0.0
        return self._model.partition(rows.numbers)

    def group_distances(self, rows: TableRows, group_of_row: Ints) -> GroupDistances:
        return distance_to_means(coordinates(rows.numbers, rows.gaps, self.layout), group_of_row)

    def represent(self, rows: TableRows, group_of_row: Ints) -> MaskedRows:
        numbers, gaps = group_numbers(rows, group_of_row, self.layout)
        return MaskedRows(rows, numbers, {}, gaps)

    def parameters(self) -> dict[str, Any]:
        return dict(self._model.get_params())

    def block_plan(self, n_rows: int) -> Plan:
        model = self._model
        if model.method != "mdav":
            raise InputError(f"method {model.method!r} sorts all rows at once; for a table in parts use 'mdav'")
        most = -(-n_rows // block_count(model.blocks, n_rows, model.k))
        return Plan(model.k, most, EuclideanSpace, model.refine, model.time_budget, model.random_state)


class Columnwise(TableMethod):
    """Rank swapping, noise, or microaggregation of attribute groups: whole records hide in no crowd."""

    k_anonymous = False

    def __init__(self, method: RankSwap | Noise | Microaggregation, k: int) -> None:
        self.averages = isinstance(method, Microaggregation)
        self.k = k if self.averages else 1
        self.name = words_for(method)
        self._model = clone(method).set_params(k=k) if self.averages else clone(method)

    def prepared(self, layout: TableLayout, values: Mapping[str, tuple[pa.Array, Ints]]) -> Self:
        ready = super().prepared(layout, values)
        if isinstance(self._model, Microaggregation):
            ready.together = attribute_groups(self._model, layout.numbers)
        return ready

    def group(self, rows: TableRows) -> tuple[Ints, float]:
        return np.zeros(len(rows), dtype=np.int64), 0.0

    def group_distances(self, rows: TableRows, group_of_row: Ints) -> GroupDistances:
        raise InputError(f"{type(self._model).__name__} makes no groups over all quasi-identifiers to be joined")

    def represent(self, rows: TableRows, group_of_row: Ints) -> MaskedRows:
        table = pa.table(dict(zip(self.layout.numbers, map(pa.array, rows.numbers.T), strict=True)))
        masked = clone(self._model).set_output(transform="default").fit_transform(table)
        return MaskedRows(rows, np.column_stack([column.to_numpy() for column in masked.columns]), {})

    def parameters(self) -> dict[str, Any]:
        # Who knows the seed can undo swapping and noise, so it is never published.
        given = self._model.get_params()
        return {name: value for name, value in given.items() if self.averages or name != "random_state"}

    def block_plan(self, n_rows: int) -> Plan:
        if isinstance(self._model, Microaggregation):
            if self._model.attribute_groups is None:
                raise InputError(
                    f"method {self._model.method!r} sorts all rows at once; for a table in parts use 'mdav'"
                )
            raise InputError("a table in parts is protected over all quasi-identifiers; leave out the attribute groups")
        raise InputError(f"{type(self._model).__name__} needs all rows at once; give the table in one file")


def attribute_groups(method: Microaggregation, names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The sets of columns that are microaggregated together."""
    model: Microaggregation = clone(method)
    model.feature_names_in_ = np.array(names, dtype=object)
    return tuple(tuple(names[column] for column in columns) for columns in model.columns_apart(len(names)))


def words_for(method: Microaggregation | RankSwap | Noise) -> str:
    """The method as the report names it."""
    if isinstance(method, Microaggregation):
        return IN_WORDS[method.method] + (", refined" if method.refine and method.method == "mdav" else "")
    return IN_WORDS["rank-swap" if isinstance(method, RankSwap) else "noise"]
