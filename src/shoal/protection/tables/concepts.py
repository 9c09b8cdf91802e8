"""Labels become concepts as general as their group needs them, alone or beside numbers, which become means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from shoal.io.delimited import MISSING as GAPS
from shoal.io.kinds.choices import SET
from shoal.microaggregation import CategoricalMicroaggregation, MixedMicroaggregation
from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.blocks.executors import Schedule
from shoal.microaggregation.blocks.grouping import Plan, divided_into_blocks
from shoal.microaggregation.labels.column import Reading, centroid_of
from shoal.microaggregation.labels.column_ontologies import readings
from shoal.microaggregation.labels.embedding import embedded
from shoal.microaggregation.labels.mixed_table import CATEGORICAL, Scales, column_weights
from shoal.microaggregation.labels.unordered import Equals, Flat
from shoal.microaggregation.spaces.euclidean import EuclideanSpace
from shoal.protection.concept_tree import MISSING
from shoal.protection.tables.diverse import joined_as_promised
from shoal.protection.tables.layout import Layout, MaskedBlock, MaskedLabels, TableProtection, column_of
from shoal.protection.tables.representatives import coordinates, gap_coordinates, represented
from shoal.results.methods import IN_WORDS
from shoal.results.promised import GroupPromises

__all__ = ["Concepts"]

GAP = "\0gap "  # before the number of a column of gaps; no column of a table is called so
ANY = "*"  # any value of a column whose values have nothing above them
BETWEEN = " | "  # the values of a set
BLOCK_ROWS = 12_500  # rows of a block, where they come in parts

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Concepts:
    """Microaggregation of labels, or of labels and numbers."""

    averages = True
    k_anonymous = True

    def __init__(self, method: CategoricalMicroaggregation | MixedMicroaggregation, k: int) -> None:
        self.k = k
        name = IN_WORDS["mixed" if isinstance(method, MixedMicroaggregation) else "sa-mdav"]
        self.name = name + (", refined" if method.refine else "")
        self.together: tuple[tuple[str, ...], ...] = ()
        self.readings: dict[str, Reading] = {}
        self._mixed = isinstance(method, MixedMicroaggregation)
        self._method = method
        self._model = clone(method).set_params(k=k)
        self._centre: dict[str, Ints] = {}  # the concept in the middle of each column of labels
        self._scales = Scales(np.empty(0), np.empty(0), np.empty(0))
        self._gap_roots: Floats = np.empty(0)  # of the weights of numbers with gaps

    def prepared(self, layout: Layout, values: Mapping[str, tuple[pa.Array, Ints]]) -> TableProtection:
        names, ready = list(layout.labels), copy(self)
        ready.together = (layout.roles.quasi,)
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
        weights = column_weights(layout.roles.quasi, getattr(method, "weights", None))
        of = dict(zip(layout.roles.quasi, weights.tolist(), strict=True))
        roots = {name: np.sqrt(of[name]) for name in of}
        numbers = np.array([roots[name] for name in layout.numbers])
        ready._scales = Scales(
            layout.mean, layout.scale / numbers, distances / np.array([roots[name] for name in names])
        )
        ready._gap_roots = numbers[layout.gap_places]
        return ready

    def rows(self, block: Block, layout: Layout) -> Block:
        columns = [coordinates(block.carried["values"], block.carried.get("gaps"), layout)]
        for name, reading in self.readings.items():
            concepts, codes, *_ = reading.encode(column_of(block, layout, name))
            columns.append(embedded(reading.ontology.taxonomy, concepts)[codes])
        return replace(block, X=sp.csr_matrix(np.column_stack(columns)))

    def group(self, block: Block, layout: Layout) -> tuple[Block, float]:
        return self._grouped(block, layout), 0.0

    def nearest(self, grouped: Block, rows: Block, layout: Layout) -> Ints:
        model = self._represented(self._quasi(grouped, layout), grouped.groups)
        found: Ints = model.nearest(self._quasi(rows, layout))
        return found

    def group_parts(self, parts: list[Any], n_rows: int, layout: Layout, schedule: Schedule) -> list[Any]:
        blocks = divided_into_blocks(parts, n_rows, Plan(self.k, BLOCK_ROWS, EuclideanSpace), schedule)
        return [schedule.submit(self._grouped, block, layout) for block in blocks]

    def diverse(
        self,
        block: Block,
        layout: Layout,
        promises: GroupPromises,
        overall: Sequence[Mapping[str, int]] | None = None,
    ) -> Block:
        quasi = self._quasi(block, layout)
        distances = self._represented(quasi, block.groups).distance_to_groups(quasi)
        return joined_as_promised(block, layout, self.k, promises, overall, distances)

    def masked(self, block: Block, layout: Layout) -> MaskedBlock:
        quasi = self._quasi(block, layout)
        model = self._represented(quasi, block.groups)
        rows = model.representatives_[block.groups]
        concepts = dict(zip(self.readings, model.concepts_[block.groups].T, strict=True))
        labels = {}
        for name, reading in self.readings.items():
            distinct, codes, *_ = reading.encode(quasi[name].combine_chunks())
            place = layout.roles.quasi.index(name)
            released = _texts(rows[:, place], concepts[name], reading)
            if layout.categories.get(name) == SET:
                released = _sets(quasi[name].combine_chunks(), block.groups)
            labels[name] = MaskedLabels(released, distinct[codes], concepts[name])
        return MaskedBlock(block, *_numbers_of(block, layout, labels))

    def squares(self, masked: MaskedBlock, released: Floats, layout: Layout) -> tuple[float, float]:
        moves, offsets = self._moves(masked, after=True), self._moves(masked, after=False)
        if not self._mixed:
            return tuple(float(np.sum(np.mean(side, axis=1) ** 2)) for side in (moves, offsets))  # type: ignore[return-value]
        values, scales = masked.block.carried["values"], self._scales
        sse = np.sum((moves / scales.label_scale) ** 2) + np.sum(((values - released) / scales.scale) ** 2)
        sst = np.sum((offsets / scales.label_scale) ** 2) + np.sum(((values - scales.mean) / scales.scale) ** 2)
        if len(layout.gap_places):
            sides = (masked.block.carried["gaps"], masked.gaps)
            before, after = (gap_coordinates(gaps, layout, len(values)) * self._gap_roots for gaps in sides)
            sse, sst = sse + np.sum((before - after) ** 2), sst + np.sum(before**2)
        return float(sse), float(sst)

    def parameters(self) -> dict[str, Any]:
        given: dict[str, Any] = self._method.get_params() | {"k": self.k}
        # A mapping lists the original values, or says where on the owner's machine they are.
        return given | {"mapping": None if self._method.mapping is None else "given"}

    def _grouped(self, block: Block, layout: Layout) -> Block:
        quasi, model = self._quasi(block, layout), clone(self._model)
        fitted = model.fit_scaled(quasi, self._all_scales()) if self._mixed else model.fit(quasi)
        return replace(block, groups=fitted.groups_)

    def _represented(self, quasi: pa.Table, groups: Ints) -> Any:
        """The estimator with these groups of the rows."""
        model = clone(self._model)
        if self._mixed:
            return model.fit_groups(quasi, groups, self._all_scales())
        return model.fit_groups(quasi, groups)

    def _quasi(self, block: Block, layout: Layout) -> pa.Table:
        """The quasi-identifiers of a block's rows, as they were."""
        columns: dict[str, Any] = {name: column_of(block, layout, name) for name in layout.labels}
        columns |= dict(zip(layout.numbers, map(pa.array, block.carried["values"].T), strict=True))
        apart = gap_coordinates(block.carried.get("gaps"), layout, len(block.groups)) * self._gap_roots
        gaps = {f"{GAP}{place}": pa.array(column) for place, column in enumerate(apart.T)}
        return pa.table({name: columns[name] for name in layout.roles.quasi} | gaps)

    def _all_scales(self) -> Scales:
        """The scales of the numbers, and of gaps beside them, which are on theirs already."""
        scales, n_gaps = self._scales, len(self._gap_roots)
        return Scales(
            np.append(scales.mean, np.zeros(n_gaps)), np.append(scales.scale, np.ones(n_gaps)), scales.label_scale
        )

    def _moves(self, masked: MaskedBlock, after: bool) -> Floats:
        """How far each row's labels moved, or are from the middle of their column: (rows, labels)."""
        found = np.empty((len(masked.block.groups), len(self.readings)))
        for place, (name, reading) in enumerate(self.readings.items()):
            labels = masked.labels[name]
            if after:
                found[:, place] = reading.moved(labels.before, labels.after)
            else:
                concepts, row = np.unique(labels.before, return_inverse=True)
                found[:, place] = reading.distances(concepts, self._centre[name])[row, 0]
        return found


def _readings(
    names: list[str], values: Mapping[str, tuple[pa.Array, Ints]], method: Any, categories: Mapping[str, str]
) -> dict[str, Reading]:
    """How each column of labels is read: plain categories as a set of equals, the others by meaning."""
    by_meaning = [name for name in names if name not in categories]
    found = readings(by_meaning, [values[name][0] for name in by_meaning], method.ontology, method.mapping)
    of = dict(zip(by_meaning, found, strict=True))
    return {name: of[name] if name in of else Reading(name, Equals(*values[name])) for name in names}


def _numbers_of(block: Block, layout: Layout, labels: dict[str, MaskedLabels]) -> tuple[Any, ...]:
    numbers, gaps = represented(block, layout)
    return numbers, labels, gaps


def _sets(column: pa.Array, groups: Ints) -> pa.Array:
    """The different values of each row's group, in order; a missing one among them is named."""
    encoded = column.dictionary_encode(null_encoding="encode")
    texts = np.array([MISSING if _is_absent(value) else spelt(value) for value in encoded.dictionary.to_pylist()])
    pairs = np.unique(np.column_stack([groups, np.asarray(encoded.indices)]), axis=0)
    of_group: list[list[str]] = [[] for _ in range(int(groups.max()) + 1)]
    for group, code in pairs.tolist():
        of_group[group].append(str(texts[code]))
    sets = np.array([BETWEEN.join(sorted(set(members))) for members in of_group], dtype=object)
    return pa.array(sets[groups], pa.string())


def _is_absent(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.strip() in GAPS)


def _texts(labels: NDArray[Any], concepts: Ints, reading: Reading) -> pa.Array:
    """Labels as text; a missing value stays missing."""
    texts = [None if label is None else spelt(label) for label in labels.tolist()]
    if isinstance(reading.ontology, Flat) and not isinstance(reading.ontology, Equals):
        root = reading.ontology.taxonomy.root
        texts = [ANY if concept == root else text for concept, text in zip(concepts.tolist(), texts, strict=True)]
    return pa.array(texts, pa.string())


def spelt(label: Any) -> str:
    """A label as text; whole numbers as such, whatever their type, and truth values as files write them."""
    if isinstance(label, bool):
        return str(label).lower()
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
