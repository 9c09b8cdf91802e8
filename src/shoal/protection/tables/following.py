"""Rows that were published before stay as they were; newcomers are grouped and masked on their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.blocks.executors import Schedule
from shoal.microaggregation.labels.column import ABSENT
from shoal.microaggregation.labels.unordered import Flat
from shoal.protection.tables.concepts import ANY, Concepts
from shoal.protection.tables.layout import Layout, MaskedBlock, MaskedLabels, TableProtection, column_of
from shoal.results.promised import GroupPromises

__all__ = ["Following"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Following:
    """Another protection for newcomers, and for all others the row that is published of them already."""

    averages = True
    k_anonymous = True

    def __init__(self, newcomers: TableProtection, rows: pa.Table, row_of: Mapping[str, int], layout: Layout) -> None:
        """`rows` are published, and `row_of` says which is that of a record; whoever is not in it is a newcomer."""
        if not newcomers.k_anonymous:
            raise InputError(
                "a release that follows another keeps its crowds, and this method promises none; use microaggregation"
            )
        self.k = newcomers.k
        self.name = f"{newcomers.name}, after an earlier release"
        self.together = newcomers.together
        self.newcomers = newcomers
        self._numbers: Floats = np.column_stack(
            [np.zeros((rows.num_rows, 0)), *(rows[name].cast(pa.float64()).to_numpy() for name in layout.numbers)]
        )
        self._labels = {name: _plain_texts(rows[name]) for name in layout.labels}
        self._row_of = row_of

    def prepared(self, layout: Layout, values: Mapping[str, tuple[pa.Array, Ints]]) -> TableProtection:
        return self

    def rows(self, block: Block, layout: Layout) -> Block:
        return self.newcomers.rows(block, layout)

    def group(self, block: Block, layout: Layout) -> tuple[Block, float]:
        return self._grouped(block, layout, GroupPromises()), 0.0

    def group_parts(self, parts: list[Any], n_rows: int, layout: Layout, schedule: Schedule) -> list[Any]:
        raise InputError("a release that follows another is made of a table in one piece; join the parts first")

    def nearest(self, grouped: Block, rows: Block, layout: Layout) -> Ints:
        return self.newcomers.nearest(grouped, rows, layout)

    def diverse(
        self,
        block: Block,
        layout: Layout,
        promises: GroupPromises,
        overall: Sequence[Mapping[str, int]] | None = None,
    ) -> Block:
        return self._grouped(block, layout, promises)

    def masked(self, block: Block, layout: Layout) -> MaskedBlock:
        row, new = self._published(block)
        old = np.flatnonzero(row >= 0)
        numbers = np.zeros((len(row), len(layout.numbers)))
        numbers[old] = self._numbers[row[old]]
        fresh = self.newcomers.masked(self._alone(block, new), layout) if len(new) else None
        if fresh is not None:
            numbers[new] = fresh.numbers
        labels = {}
        for name in layout.labels:
            reading = self._concepts.readings[name]
            concepts, codes, *_ = reading.encode(column_of(block, layout, name))
            texts = np.empty(len(row), dtype=object)
            after = np.zeros(len(row), dtype=np.int64)
            texts[old] = self._labels[name][row[old]]
            named = _concepts_by_name(reading, concepts)
            after[old] = [named.get(text, reading.ontology.taxonomy.root) for text in texts[old].tolist()]
            if fresh is not None:
                texts[new], after[new] = fresh.labels[name].released.to_pylist(), fresh.labels[name].after
            labels[name] = MaskedLabels(pa.array(texts.tolist(), pa.string()), concepts[codes], after)
        return MaskedBlock(block, numbers, labels)

    def squares(self, masked: MaskedBlock, released: Floats, layout: Layout) -> tuple[float, float]:
        return self.newcomers.squares(masked, released, layout)

    def parameters(self) -> dict[str, Any]:
        return self.newcomers.parameters()

    def loss_anew(self, block: Block, layout: Layout, promises: GroupPromises) -> float:
        """What would be lost by a release of the same records that follows no other."""
        grouped, _ = self.newcomers.group(block, layout)
        grouped = self.newcomers.diverse(grouped, layout, promises) if promises else grouped
        masked = self.newcomers.masked(grouped, layout)
        sse, sst = self.squares(masked, masked.numbers, layout)
        return sse / sst if sst > 0 else 0.0

    @property
    def _concepts(self) -> Concepts:
        assert isinstance(self.newcomers, Concepts)
        return self.newcomers

    def _grouped(self, block: Block, layout: Layout, promises: GroupPromises) -> Block:
        """Those who are published by one row are a group; newcomers have groups of their own."""
        row, new = self._published(block)
        groups = np.unique(row, return_inverse=True)[1].astype(np.int64)
        if len(new):
            alone = self.newcomers.group(block.take(new), layout)[0]
            alone = self.newcomers.diverse(alone, layout, promises) if promises else alone
            groups[new] = groups.max() + 1 + alone.groups
            groups = np.unique(groups, return_inverse=True)[1].astype(np.int64)
        return replace(block, groups=groups)

    def _published(self, block: Block) -> tuple[Ints, Ints]:
        """The published row of each record, -1 for none; and the places of those who have none."""
        row = np.array([self._row_of.get(record, -1) for record in block.carried["record"].tolist()], dtype=np.int64)
        return row, np.flatnonzero(row < 0)

    def _alone(self, block: Block, rows: Ints) -> Block:
        """Some rows, their groups numbered from 0."""
        some = block.take(rows)
        return replace(some, groups=np.unique(some.groups, return_inverse=True)[1].astype(np.int64))


def _plain_texts(column: pa.ChunkedArray) -> NDArray[Any]:
    texts = np.empty(len(column), dtype=object)
    texts[:] = [None if one is None or one == "" else str(one) for one in column.to_pylist()]
    return texts


def _concepts_by_name(reading: Any, concepts: Ints) -> dict[Any, int]:
    """The concept behind each label that a release may show: a value of the column, or something above one."""
    taxonomy, ontology = reading.ontology.taxonomy, reading.ontology
    above = {int(one) for concept in concepts[concepts >= 0].tolist() for one in taxonomy.ancestors_of(concept)}
    named: dict[Any, int] = {str(ontology.label(one)): one for one in sorted(above, reverse=True)}
    if isinstance(ontology, Flat):
        named[ANY] = taxonomy.root
    return named | {None: ABSENT}
