"""Labels become concepts as general as their group needs them, alone or beside numbers, which become means; and the
tree of a column's concepts as it may be published.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import clone

from shoal.methods.blocks.grouping import Plan
from shoal.methods.categorical import CategoricalMicroaggregation
from shoal.methods.label_columns import ColumnReading, Equals, Flat, centroid_of, column_readings, embedded
from shoal.methods.mdav import EuclideanSpace
from shoal.methods.mixed import CATEGORICAL, MixedMicroaggregation, Scales, column_weights
from shoal.promises.joining import GroupDistances
from shoal.release.tables.rows import (
    ANY,
    BLOCK_ROWS,
    MISSING,
    Floats,
    Ints,
    MaskedLabels,
    MaskedRows,
    TableLayout,
    TableMethod,
    TableRows,
    coordinates,
    gap_coordinates,
    group_numbers,
    spelt,
)
from shoal.results.summary import IN_WORDS, Concept, Generalisation
from shoal.terms.taxonomy import Taxonomy, subsumers

MOST = 150  # concepts of one tree; the least used ones are left out of a picture that nobody could read
GAP = "\0gap "  # before the number of a column of gaps; no column of a table is called so


class Concepts(TableMethod):
    """Microaggregation of labels, or of labels and numbers."""

    def __init__(self, method: CategoricalMicroaggregation | MixedMicroaggregation, k: int) -> None:
        self.k = k
        name = IN_WORDS["mixed" if isinstance(method, MixedMicroaggregation) else "sa-mdav"]
        self.name = name + (", refined" if method.refine else "")
        self.readings: dict[str, ColumnReading] = {}
        self._mixed = isinstance(method, MixedMicroaggregation)
        self._method = method
        self._model = clone(method).set_params(k=k)
        self._centre: dict[str, Ints] = {}  # the concept in the middle of each column of labels
        self._scales = Scales(np.empty(0), np.empty(0), np.empty(0))
        self._gap_roots: Floats = np.empty(0)  # of the weights of numbers with gaps

    def prepared(self, layout: TableLayout, values: Mapping[str, tuple[pa.Array, Ints]]) -> Self:
        names, ready = list(layout.labels), super().prepared(layout, values)
        method = self._method
        ready.readings = _readings(names, values, method, layout.categories)
        # One ontology for all blocks: a set without structure would else be another one in each.
        ontologies = {name: reading.ontology for name, reading in ready.readings.items()}
        ready._model = clone(self._model).set_params(ontology=ontologies or None)
        if self._mixed:  # codes may be numbers by their type
            ready._model.set_params(roles=dict.fromkeys(layout.labels, CATEGORICAL))
        middle = {name: centroid_of(reading, *values[name]) for name, reading in ready.readings.items()}
        ready._centre = {name: np.array([concept]) for name, (concept, _) in middle.items()}
        distances = np.array([distance for _, distance in middle.values()])
        weights = column_weights(layout.masked, getattr(method, "weights", None))
        of = dict(zip(layout.masked, weights.tolist(), strict=True))
        roots = {name: np.sqrt(of[name]) for name in of}
        numbers = np.array([roots[name] for name in layout.numbers])
        ready._scales = Scales(
            layout.mean, layout.scale / numbers, distances / np.array([roots[name] for name in names])
        )
        ready._gap_roots = numbers[layout.gap_columns]
        return ready

    def group(self, rows: TableRows) -> tuple[Ints, float]:
        quasi, model = self._quasi(rows), clone(self._model)
        fitted = model.fit_scaled(quasi, self._all_scales()) if self._mixed else model.fit(quasi)
        return fitted.groups_, 0.0

    def group_distances(self, rows: TableRows, group_of_row: Ints) -> GroupDistances:
        quasi = self._quasi(rows)
        distances: GroupDistances = self._represented(quasi, group_of_row).distance_to_groups(quasi)
        return distances

    def represent(self, rows: TableRows, group_of_row: Ints) -> MaskedRows:
        quasi, layout = self._quasi(rows), self.layout
        model = self._represented(quasi, group_of_row)
        representatives = model.representatives_[group_of_row]
        concepts = dict(zip(self.readings, model.concepts_[group_of_row].T, strict=True))
        labels = {}
        for name, reading in self.readings.items():
            distinct, codes, *_ = reading.encode(quasi[name].combine_chunks())
            column = representatives[:, layout.masked.index(name)]
            released = _texts(column, concepts[name], reading)
            labels[name] = MaskedLabels(released, distinct[codes], concepts[name])
        numbers, gaps = group_numbers(rows, group_of_row, layout)
        return MaskedRows(rows, numbers, labels, gaps)

    def coarser(self, name: str, labels: MaskedLabels) -> int:
        if name in self.layout.categories:
            return 0
        taxonomy = self.readings[name].ontology.taxonomy
        pairs, counts = np.unique(np.column_stack([labels.before, labels.after]), axis=0, return_counts=True)
        return sum(
            count
            for (before, after), count in zip(pairs.tolist(), counts.tolist(), strict=True)
            if before != after and before >= 0 and after in taxonomy.ancestors_of(before)
        )

    def squares(self, masked: MaskedRows, released: Floats) -> tuple[float, float]:
        moves, offsets = self._moves(masked, after=True), self._moves(masked, after=False)
        if not self._mixed:
            return tuple(float(np.sum(np.mean(side, axis=1) ** 2)) for side in (moves, offsets))  # type: ignore[return-value]
        values, scales = masked.rows.numbers, self._scales
        sse = np.sum((moves / scales.label_scale) ** 2) + np.sum(((values - released) / scales.scale) ** 2)
        sst = np.sum((offsets / scales.label_scale) ** 2) + np.sum(((values - scales.mean) / scales.scale) ** 2)
        if len(self.layout.gap_columns):
            sides = (masked.rows.gaps, masked.gaps)
            before, after = (gap_coordinates(gaps, self.layout, len(values)) * self._gap_roots for gaps in sides)
            sse, sst = sse + np.sum((before - after) ** 2), sst + np.sum(before**2)
        return float(sse), float(sst)

    def parameters(self) -> dict[str, Any]:
        given: dict[str, Any] = self._method.get_params() | {"k": self.k}
        # A mapping lists the original values, or says where on the owner's machine they are.
        return given | {"mapping": None if self._method.mapping is None else "given"}

    def block_plan(self, n_rows: int) -> Plan:
        method = self._method
        return Plan(self.k, BLOCK_ROWS, EuclideanSpace, method.refine, method.time_budget, method.random_state)

    def block_coordinates(self, rows: TableRows) -> Floats:
        columns = [coordinates(rows.numbers, rows.gaps, self.layout)]
        for name, reading in self.readings.items():
            concepts, codes, *_ = reading.encode(rows.columns[name])
            columns.append(embedded(reading.ontology.taxonomy, concepts)[codes])
        return np.column_stack(columns)

    def _represented(self, quasi: pa.Table, group_of_row: Ints) -> Any:
        """The estimator with these groups of the rows."""
        model = clone(self._model)
        if self._mixed:
            return model.fit_groups(quasi, group_of_row, self._all_scales())
        return model.fit_groups(quasi, group_of_row)

    def _quasi(self, rows: TableRows) -> pa.Table:
        """The quasi-identifiers of the rows, as they were."""
        layout = self.layout
        columns: dict[str, Any] = {name: rows.columns[name] for name in layout.labels}
        columns |= dict(zip(layout.numbers, map(pa.array, rows.numbers.T), strict=True))
        scaled = gap_coordinates(rows.gaps, layout, len(rows)) * self._gap_roots
        gaps = {f"{GAP}{number}": pa.array(column) for number, column in enumerate(scaled.T)}
        return pa.table({name: columns[name] for name in layout.masked} | gaps)

    def _all_scales(self) -> Scales:
        """The scales of the numbers, and of gaps beside them, which are on theirs already."""
        scales, n_gaps = self._scales, len(self._gap_roots)
        return Scales(
            np.append(scales.mean, np.zeros(n_gaps)), np.append(scales.scale, np.ones(n_gaps)), scales.label_scale
        )

    def _moves(self, masked: MaskedRows, after: bool) -> Floats:
        """How far each row's labels moved, or are from the middle of their column: (rows, labels)."""
        distances = np.empty((len(masked.rows), len(self.readings)))
        for column, (name, reading) in enumerate(self.readings.items()):
            labels = masked.labels[name]
            if after:
                distances[:, column] = reading.moved(labels.before, labels.after)
            else:
                concepts, row = np.unique(labels.before, return_inverse=True)
                distances[:, column] = reading.distances(concepts, self._centre[name])[row, 0]
        return distances


def _readings(
    names: list[str], values: Mapping[str, tuple[pa.Array, Ints]], method: Any, categories: Collection[str]
) -> dict[str, ColumnReading]:
    """How each column of labels is read: plain categories as a set of equals, the others by meaning."""
    by_meaning = [name for name in names if name not in categories]
    found = column_readings(by_meaning, [values[name][0] for name in by_meaning], method.ontology, method.mapping)
    of = dict(zip(by_meaning, found, strict=True))
    return {name: of[name] if name in of else ColumnReading(name, Equals(*values[name])) for name in names}


def _texts(labels: NDArray[Any], concepts: Ints, reading: ColumnReading) -> pa.Array:
    """Labels as text; a missing value stays missing."""
    texts = [None if label is None else spelt(label) for label in labels.tolist()]
    if isinstance(reading.ontology, Flat) and not isinstance(reading.ontology, Equals):
        root = reading.ontology.taxonomy.root
        texts = [ANY if concept == root else text for concept, text in zip(concepts.tolist(), texts, strict=True)]
    return pa.array(texts, pa.string())


def concept_tree(
    taxonomy: Taxonomy, labels: Mapping[int, str], before: Ints, after: Ints, k: int
) -> tuple[tuple[Concept, ...], int]:
    """The lines of the tree from the top, and of how many records, about, it does not tell what they had.

    `before` and `after` are each record's concept, negative for a missing value; `labels` names the concepts.
    """
    had, has = _counts(before), _counts(after)
    publishable = _published(had, k)
    named = sorted({*has, *publishable}, key=lambda one: (-has.get(one, 0), -had.get(one, 0), one))[:MOST]
    inside = np.array([concept for concept in named if concept >= 0], dtype=np.int64)
    # Where branches meet, so that the tree shows what is near to what.
    joints = np.unique(subsumers(taxonomy, inside, inside)) if len(inside) else inside
    shown = np.union1d(inside, joints)
    children: dict[int | None, list[int]] = {}
    for concept in shown.tolist():
        children.setdefault(_parent(taxonomy, concept, shown), []).append(concept)

    def line(concept: int, level: int, label: str) -> Concept:
        records = publishable.get(concept) if concept in had else 0
        return Concept(label, level, records and _in_crowds(records, k), has.get(concept, 0))

    lines: list[Concept] = []

    def walk(concept: int, level: int) -> None:
        lines.append(line(concept, level, labels[concept]))
        for child in sorted(children.get(concept, []), key=lambda one: (-weight[one], labels[one])):
            walk(child, level + 1)

    weight = {concept: _weight(concept, children, has) for concept in shown.tolist()}
    for top in sorted(children.get(None, []), key=lambda one: (-weight[one], labels[one])):
        walk(top, 0)
    if any(concept < 0 for concept in named):
        lines.append(line(-1, 0, MISSING))
    counted = publishable.keys() & {*shown.tolist(), *named}
    left_out = sum(records for concept, records in had.items() if concept not in counted)
    return tuple(lines), _in_crowds(left_out, k)


def _in_crowds(records: int, k: int) -> int:
    """The nearest multiple of k; none only where there is none."""
    return max((2 * records + k) // (2 * k) * k, k if records else 0)


def _published(had: Mapping[int, int], k: int) -> dict[int, int]:
    """The counts that may be published: none below k, and those left out add up to none or to k and more."""
    publishable = {concept: records for concept, records in had.items() if records >= k}
    left_out = sum(had.values()) - sum(publishable.values())
    if 0 < left_out < k and publishable:
        del publishable[min(publishable, key=lambda concept: (publishable[concept], concept))]
    return publishable


def _counts(concepts: Ints) -> dict[int, int]:
    found, counts = np.unique(np.maximum(concepts, -1), return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))


def _parent(taxonomy: Taxonomy, concept: int, shown: Ints) -> int | None:
    """The deepest of the shown concepts above this one; the lowest number of several."""
    start, stop = taxonomy.ancestor_indptr[concept : concept + 2]
    above = [one for one in np.intersect1d(taxonomy.ancestors[start:stop], shown).tolist() if one != concept]
    return max(above, key=lambda one: (int(taxonomy.depth[one]), -one)) if above else None


def _weight(concept: int, children: Mapping[Any, list[int]], has: Mapping[int, int]) -> int:
    return has.get(concept, 0) + sum(_weight(child, children, has) for child in children.get(concept, []))


def generalisation(
    reading: ColumnReading, moves: Mapping[tuple[int, int], int], spelt: Mapping[int, str], k: int, publishable: bool
) -> Generalisation:
    """`moves` counts records by their concepts before and after, `spelt` has how concepts are written."""
    ontology: Any = reading.ontology

    class Labels(dict[int, str]):
        def __missing__(self, concept: int) -> str:
            label = None if concept < 0 else ontology.label(concept)
            return MISSING if concept < 0 else "any value" if label is None else str(label)

    pairs, counts = np.array(list(moves), dtype=np.int64), np.array(list(moves.values()), dtype=np.int64)
    before, after = (np.repeat(side, counts) for side in pairs.T)
    lines, unnamed = concept_tree(ontology.taxonomy, Labels(spelt), before, after, k)
    mean_move = round(float(reading.moved(*pairs.T) @ counts) / counts.sum(), 4) if publishable else None
    return Generalisation(reading.name, lines, unnamed, mean_move)
