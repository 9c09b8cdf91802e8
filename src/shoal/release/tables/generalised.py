"""Columns generalised as far as their group needs it: the smallest band, set or concept that holds all its values; or
left blank where a group has several.

What is released is true of every row. Other columns of the table may be averaged beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.data.columns import MISSING as GAPS
from shoal.data.files import shown
from shoal.data.kinds.number_forms import NumberForm
from shoal.data.recoding import Bands
from shoal.errors import InputError
from shoal.methods.blocks.grouping import Plan
from shoal.methods.common_values import Tree, Widening, bands, common_ancestors, value_sets, widening_groups
from shoal.methods.label_columns import embedded, embedded_values
from shoal.methods.mdav import EuclideanSpace
from shoal.methods.mixed import column_weights
from shoal.promises.joining import GroupDistances, distance_to_means
from shoal.release.tables.rows import (
    ANY,
    BETWEEN,
    BLOCK_ROWS,
    MISSING,
    AttackedColumns,
    Floats,
    Ints,
    MaskedLabels,
    MaskedRows,
    TableLayout,
    TableMethod,
    TableRows,
    gap_coordinates,
    group_numbers,
    spelt,
)
from shoal.request.method_options import MethodOptions
from shoal.request.options import AVERAGE, BLANK, GENERALISE
from shoal.results.summary import IN_WORDS
from shoal.terms.hierarchy import Hierarchy

BETWEEN_ENDS = " to "


@dataclass(frozen=True)
class Ordered:
    """A column with numbers behind its values: a group's values become a band."""

    values: pa.Array  # the different ones, without gaps
    numbers: Floats  # of each of them
    form: NumberForm
    merged: Callable[[int, int], str] | None = None  # of bands next to each other, the band they make

    def texts(self, places: Ints, groups: Ints) -> list[str | None]:
        """The band of each group."""
        low, high, misses = self.ends(places, groups)
        if self.merged is not None:
            ends = zip(np.nan_to_num(low).astype(int).tolist(), np.nan_to_num(high).astype(int).tolist(), strict=True)
            texts = [self.merged(*pair) for pair in ends]
        else:
            first, last = self._spelt(low), self._spelt(high)
            texts = [
                one if one == other else f"{one}{BETWEEN_ENDS}{other}" for one, other in zip(first, last, strict=True)
            ]
        return [_with_gap(text, band, gap) for text, band, gap in zip(texts, ~np.isnan(low), misses, strict=True)]

    def lost(self, places: Ints, group: Ints) -> Floats:
        """The share of the column's range that each row's band takes."""
        low, high, misses = self.ends(places, group)
        width = np.nan_to_num(high - low) / max(self.range, np.finfo(float).tiny)
        return np.where(misses & ~np.isnan(low), 1.0, width)[group]

    def usual_loss(self, counted: tuple[pa.Array, Ints]) -> float:
        """What a band of two records takes of the range, about."""
        counts = np.asarray(counted[1])[np.asarray(pc.index_in(self.values, value_set=counted[0]))]
        mean = np.average(self.numbers, weights=counts)
        deviation = float(np.sqrt(np.average((self.numbers - mean) ** 2, weights=counts)))
        return deviation / self.range if self.range > 0 else 0.0

    def ends(self, places: Ints, groups: Ints) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """The lowest and the highest number of each group, and whether it misses some."""
        low, high, misses = bands(np.where(places < 0, np.nan, self.numbers[places])[:, None], groups)
        return low[:, 0], high[:, 0], misses[:, 0]

    @property
    def range(self) -> float:
        """From the lowest to the highest value."""
        return float(np.ptp(self.numbers)) if len(self.numbers) else 0.0

    def _spelt(self, numbers: Floats) -> list[str]:
        written = self.form.written(np.nan_to_num(numbers, nan=float(self.numbers[0])), np.zeros(len(numbers), bool))
        return [spelt(value) for value in written.to_pylist()]


@dataclass(frozen=True)
class Named:
    """A column of categories: a group's values become a set of them, or with a hierarchy the concept above them."""

    values: pa.Array
    nodes: Ints  # of the hierarchy, of each value; without one, the value's place
    hierarchy: Hierarchy | None = None
    tree: Tree | None = None
    treatment: str = GENERALISE  # BLANK: no value in place of a set; AVERAGE: the most frequent one

    def texts(self, places: Ints, groups: Ints) -> list[str | None]:
        """The set, concept or most frequent value of each group."""
        if self.treatment == AVERAGE:
            return [None if place < 0 else spelt(self.values[place].as_py()) for place in self.modes(places, groups)]
        if self.treatment == BLANK:
            lowest, highest = extremes(places, groups)
            single = np.where(lowest == highest, lowest, -1).tolist()
            return [None if place < 0 else spelt(self.values[place].as_py()) for place in single]
        misses = np.bincount(groups, weights=places < 0) > 0
        if self.hierarchy is not None and self.tree is not None:
            texts = [self.hierarchy.label(int(node)) for node in self._above(places, groups)]
            known = np.bincount(groups, weights=places >= 0) > 0
            return [_with_gap(text, some, gap) for text, some, gap in zip(texts, known, misses, strict=True)]
        names = [spelt(value) for value in self.values.to_pylist()]
        indptr, members = value_sets(places, groups)
        sets = []
        for (start, end), gap in zip(pairwise(indptr.tolist()), misses.tolist(), strict=True):
            some = [names[place] for place in members[start:end].tolist() if place >= 0]
            text = ANY if 2 <= len(some) == len(names) else BETWEEN.join(sorted(some))
            sets.append(_with_gap(text, bool(some), gap))
        return sets

    def modes(self, places: Ints, groups: Ints) -> list[int]:
        """The most frequent value of each group; of equally frequent ones the first."""
        pairs, counts = np.unique(np.column_stack([groups, places]), axis=0, return_counts=True)
        order = np.lexsort((pairs[:, 1], -counts, pairs[:, 0]))
        first = np.unique(pairs[order, 0], return_index=True)[1]
        modes: list[int] = pairs[order[first], 1].tolist()
        return modes

    def lost(self, places: Ints, group: Ints) -> Floats:
        """The share of the column's values that each row's set or concept has; 0 for a single value."""
        if self.treatment == AVERAGE:
            changed: Floats = (np.array(self.modes(places, group))[group] != places).astype(np.float64)
            return changed
        misses = np.bincount(group, weights=places < 0) > 0
        indptr, _ = value_sets(places, group)
        sizes = np.diff(indptr) - np.bincount(group, weights=places < 0).astype(bool)
        share = np.where(sizes > 1, sizes / max(len(self.values), 1), 0.0)
        if self.tree is not None:
            share = np.where(sizes > 1, self.tree[1][self._above(places, group)] / self.tree[1].max(), 0.0)
        share = np.where(sizes > 1, 1.0, 0.0) if self.treatment == BLANK else share
        return np.where(misses & (sizes > 0), 1.0, share)[group]

    def usual_loss(self, counted: tuple[pa.Array, Ints]) -> float:
        """What a set of two records takes of the values, on average."""
        shares = np.asarray(counted[1]) / max(1, int(np.sum(counted[1])))
        differ = 1.0 - float(np.sum(shares**2))
        return differ if self.treatment == BLANK else 2.0 * differ / max(2, len(self.values))

    def _above(self, places: Ints, groups: Ints) -> Ints:
        """The lowest concept at or above all values of each group that are not missing."""
        assert self.tree is not None
        known = np.zeros(int(groups.max()) + 1, dtype=np.int64)
        np.maximum.at(known, groups, places)
        return common_ancestors(self.nodes[np.where(places < 0, known[groups], places)], groups, self.tree[0])


def tree_of(hierarchy: Hierarchy) -> Tree:
    """The hierarchy by its first parents, and the leaves below each node."""
    taxonomy = hierarchy.taxonomy
    parent = np.full(len(taxonomy), -1, dtype=np.int64)
    has_parent = np.diff(taxonomy.parent_indptr) > 0
    parent[has_parent] = taxonomy.parents[taxonomy.parent_indptr[:-1][has_parent]]
    leaves = np.zeros(len(taxonomy), dtype=np.int64)
    leaf = np.flatnonzero(~np.isin(np.arange(len(taxonomy)), parent))
    while len(leaf):
        np.add.at(leaves, leaf, 1)
        leaf = parent[leaf]
        leaf = leaf[leaf >= 0]
    return parent, leaves


def extremes(places: Ints, groups: Ints) -> tuple[Ints, Ints]:
    """The lowest and the highest place in each group."""
    n_groups = int(groups.max()) + 1
    lowest, highest = np.full(n_groups, np.iinfo(np.int64).max), np.full(n_groups, -1)
    np.minimum.at(lowest, groups, places)
    np.maximum.at(highest, groups, places)
    return lowest, highest


def _with_gap(text: str | None, known: Any, misses: Any) -> str | None:
    """A band, set or concept of a group in which values are missing; None if all are."""
    if not known:
        return None
    return f"{text}{BETWEEN}{MISSING}" if misses else text


class Generalised(TableMethod):
    """Groups made for common values: each cell as coarse as its group needs it."""

    def __init__(
        self,
        k: int,
        asked: MethodOptions,
        forms: Mapping[str, NumberForm],
        meaning: Mapping[str, Hierarchy | None],
        bands: Mapping[str, Bands],
        treat: Mapping[str, str],
        even: bool,
    ) -> None:
        self.k = k
        self.name = IN_WORDS["common-values"] + (", refined" if asked.refine else "")
        self.columns: dict[str, Ordered | Named] = {}
        self._asked = asked
        self._forms = forms  # of generalised columns with numbers behind them
        self._meaning = meaning  # of columns of labels: the hierarchy
        self._bands = bands  # that columns were recoded to
        self._treat = treat  # each column's treatment
        self._even = even  # columns count alike, by what two records lose in each on average
        self._widening: Widening
        self._ordered: dict[str, Ordered]
        self._named: dict[str, Named]

    def prepared(self, layout: TableLayout, values: Mapping[str, tuple[pa.Array, Ints]]) -> Self:
        ready = super().prepared(layout, values)
        ready.columns = {name: self._column(name, values[name][0]) for name in layout.labels}
        ready._ordered = {name: one for name, one in ready.columns.items() if isinstance(one, Ordered)}
        ready._named = {name: one for name, one in ready.columns.items() if isinstance(one, Named)}
        named = list(ready._named.values())
        if self._even:
            spans = zip(layout.numbers, layout.scale, layout.highest - layout.lowest, strict=True)
            usual = {name: float(scale / span) if span > 0 else 0.0 for name, scale, span in spans}
            usual |= {name: column.usual_loss(values[name]) for name, column in ready.columns.items()}
            importance = {name: 1.0 / usual[name] if usual[name] > 0 else 1.0 for name in layout.masked}
        else:
            given = column_weights(layout.masked, self._asked.importance)
            importance = dict(zip(layout.masked, given.tolist(), strict=True))
        ready._widening = Widening(
            np.array([*(layout.highest - layout.lowest), *(column.range for column in ready._ordered.values())]),
            # A blank costs as much as all values of a column together.
            np.array([1 if one.treatment == BLANK else len(one.values) for one in named], dtype=np.int64),
            [column.tree for column in named],
            np.array([importance[name] for name in (*layout.numbers, *ready._ordered, *ready._named)]),
        )
        return ready

    def group(self, rows: TableRows) -> tuple[Ints, float]:
        numbers, codes = self._arrays(rows)
        if not numbers.shape[1] + codes.shape[1]:
            return np.zeros(len(rows), dtype=np.int64), 0.0
        asked = self._asked
        groups = widening_groups(
            numbers, codes, self.k, self._widening, refine=asked.refine, time_budget=asked.time_budget, random_state=0
        )
        return groups, 0.0

    def group_distances(self, rows: TableRows, group_of_row: Ints) -> GroupDistances:
        return distance_to_means(self.block_coordinates(rows), group_of_row)

    def represent(self, rows: TableRows, group_of_row: Ints) -> MaskedRows:
        labels = {}
        for name, column in self.columns.items():
            places = _places(rows.columns[name], column.values)
            texts = np.array(column.texts(places, group_of_row), dtype=object)
            lowest, highest = extremes(places, group_of_row)
            after = np.where(lowest == highest, lowest, len(column.values))
            if isinstance(column, Named) and column.treatment == AVERAGE:
                after = np.array(column.modes(places, group_of_row))
            labels[name] = MaskedLabels(pa.array(texts[group_of_row], pa.string()), places, after[group_of_row])
        numbers, gaps = group_numbers(rows, group_of_row, self.layout)
        return MaskedRows(rows, numbers, labels, gaps)

    def coarser(self, name: str, labels: MaskedLabels) -> int:
        return int(np.sum(labels.before != labels.after)) if self._treat[name] == GENERALISE else 0

    def squares(self, masked: MaskedRows, released: Floats) -> tuple[float, float]:
        """The loss of each column (a share of its variance or of its values) times rows; and columns times rows."""
        layout, n_rows = self.layout, len(masked.rows)
        errors = np.sum((masked.rows.numbers - released) ** 2, axis=0)
        total = float(np.sum(np.divide(errors, layout.squares, out=np.zeros_like(errors), where=layout.squares > 0)))
        lost = total * n_rows
        for name, column in self.columns.items():
            labels = masked.labels[name]
            text = np.asarray(labels.released.dictionary_encode(null_encoding="encode").indices, dtype=np.int64)
            group = np.unique(text, return_inverse=True)[1].reshape(-1)
            lost += float(np.sum(column.lost(labels.before, group)))
        return lost, float(n_rows * max(1, len(layout.roles.quasi)))

    def attacked_columns(
        self, rows: TableRows, labels: Mapping[str, MaskedLabels], released: pa.Table, ontology: Any
    ) -> AttackedColumns:
        """The generalised columns as an attacker takes them: a band as its middle, a set as above its values."""
        before, after, meaning = dict[str, Any](), dict[str, Any](), dict[str, Any]()
        for name, column in self.columns.items():
            places, shown_as = labels[name].before, labels[name].released
            text = np.asarray(shown_as.dictionary_encode(null_encoding="encode").indices, dtype=np.int64)
            group = np.unique(text, return_inverse=True)[1].reshape(-1)
            if isinstance(column, Ordered):
                numbers = np.where(places < 0, np.nan, column.numbers[places])
                low, high, _ = column.ends(places, group)
                middle, usual = (low + high) / 2.0, float(np.nanmean(column.numbers))
                before[name] = pa.array(np.nan_to_num(numbers, nan=usual))
                after[name] = pa.array(np.nan_to_num(middle, nan=usual)[group])
            else:
                names = [spelt(value) for value in column.values.to_pylist()]
                missing = MISSING if column.hierarchy is None else names[0]  # which every hierarchy knows
                before[name] = pa.array([*names, missing]).take(pa.array(np.where(places < 0, len(names), places)))
                after[name] = pc.fill_null(shown_as, missing)
                if column.treatment == GENERALISE:
                    meaning[name] = column.hierarchy or _sets_above(before[name], after[name])
        return AttackedColumns(before, after, meaning, tuple(self._ordered))

    def parameters(self) -> dict[str, Any]:
        return {"k": self.k, "refine": self._asked.refine, "time_budget": self._asked.time_budget}

    def block_plan(self, n_rows: int) -> Plan:
        return Plan(self.k, BLOCK_ROWS, EuclideanSpace, self._asked.refine, self._asked.time_budget, 0)

    def block_coordinates(self, rows: TableRows) -> Floats:
        numbers, _ = self._arrays(rows)
        ranges = np.where(self._widening.ranges > 0, self._widening.ranges, 1.0)
        columns = [
            np.zeros((len(rows), 1)),
            np.nan_to_num(numbers) / ranges,
            gap_coordinates(rows.gaps, self.layout, len(rows)),
        ]
        for name, column in self._named.items():
            vectors = (
                embedded_values(len(column.values))
                if column.hierarchy is None
                else embedded(column.hierarchy.taxonomy, np.append(column.nodes, -1))
            )
            columns.append(vectors[_places(rows.columns[name], column.values)])
        return np.column_stack(columns)

    def _arrays(self, rows: TableRows) -> tuple[Floats, Ints]:
        """The rows as groups are made of them: numbers, and the nodes of categories; NaN and -1 are missing."""
        averaged = rows.numbers if rows.gaps is None else np.where(rows.gaps, np.nan, rows.numbers)
        numbers, codes = [averaged], [np.empty((len(rows), 0), dtype=np.int64)]
        for name, column in self.columns.items():
            places = _places(rows.columns[name], column.values)
            if isinstance(column, Ordered):
                numbers.append(np.where(places < 0, np.nan, column.numbers[places])[:, None])
            else:
                codes.append(np.where(places < 0, -1, column.nodes[places])[:, None])
        return np.ascontiguousarray(np.hstack(numbers)), np.ascontiguousarray(np.hstack(codes))

    def _column(self, name: str, different: pa.Array) -> Ordered | Named:
        """How a column's values become common ones."""
        values = different.filter(pa.array([not _is_absent(value) for value in different.to_pylist()]))
        if not len(values):
            raise InputError(f"column {shown(name)} holds no value at all; drop it ({{option}})", "drop")
        if name in self._forms:
            form = self._forms[name]
            numbers = form.numbers(pa.chunked_array([values]), shown(name))
            return Ordered(values, numbers, form, self._bands[name].merged if name in self._bands else None)
        values = values.take(pc.sort_indices(values))
        hierarchy = self._meaning.get(name)
        if hierarchy is None:
            return Named(values, np.arange(len(values)), treatment=self._treat[name])
        nodes = [hierarchy.concept(spelt(value)) for value in values.to_pylist()]
        unknown = sum(node is None for node in nodes)
        if unknown:
            raise InputError(
                f"column {shown(name)}: {unknown} of its values are not in its hierarchy; add them, or leave it out",
                f"ontology {shown(name)}=…",
            )
        return Named(values, np.array(nodes, dtype=np.int64), hierarchy, tree_of(hierarchy))


def _sets_above(before: pa.Array, after: pa.Array) -> Hierarchy:
    """Released sets above the values that they hold."""
    pairs = {(value, label) for value, label in zip(before.to_pylist(), after.to_pylist(), strict=True)}
    links = sorted((value, label) for value, label in pairs if value != label)
    return Hierarchy.from_pairs(
        [*links, *((label, "\0all") for label in sorted({label for _, label in pairs}))], root="\0all"
    )


def _places(column: pa.Array, values: pa.Array) -> Ints:
    """The place of each cell among the different values; -1 for a missing one."""
    places = pc.fill_null(pc.index_in(column, value_set=values), -1)
    return np.asarray(places, dtype=np.int64)


def _is_absent(value: Any) -> bool:
    if isinstance(value, float):
        return bool(np.isnan(value))
    return value is None or (isinstance(value, str) and value.strip() in GAPS)
