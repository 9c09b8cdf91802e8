"""Rows that were published before stay as they were; newcomers are grouped and masked on their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.methods.blocks.grouping import Plan
from shoal.methods.label_columns import ABSENT, Flat
from shoal.promises.joining import GroupDistances
from shoal.release.tables.grouping import join_groups
from shoal.release.tables.labels import Concepts
from shoal.release.tables.rows import ANY, Floats, Ints, MaskedLabels, MaskedRows, TableLayout, TableMethod, TableRows
from shoal.request.options import GroupPromises


class Following(TableMethod):
    """Another method for newcomers, and for all others the row that is published of them already."""

    def __init__(self, newcomers: TableMethod, rows: pa.Table, row_of: Mapping[str, int], layout: TableLayout) -> None:
        """`rows` are published, and `row_of` says which is that of a record; whoever is not in it is a newcomer."""
        if not newcomers.k_anonymous:
            raise InputError(
                "a release that follows another keeps its crowds, and this method promises none; use microaggregation"
            )
        self.k = newcomers.k
        self.name = f"{newcomers.name}, after an earlier release"
        self.together = newcomers.together
        self.newcomers = newcomers
        self._layout = layout
        self._numbers: Floats = np.column_stack(
            [np.zeros((rows.num_rows, 0)), *(rows[name].cast(pa.float64()).to_numpy() for name in layout.numbers)]
        )
        self._labels = {name: _plain_texts(rows[name]) for name in layout.labels}
        self._row_of = row_of

    def group(self, rows: TableRows) -> tuple[Ints, float]:
        return self.join(rows, GroupPromises()), 0.0

    def join(self, rows: TableRows, promises: GroupPromises) -> Ints:
        """Those who are published by one row are a group; newcomers have groups of their own, with what is promised."""
        row, new = self._published(rows)
        groups = np.unique(row, return_inverse=True)[1].astype(np.int64)
        if len(new):
            alone = rows.take(new)
            groups[new] = groups.max() + 1 + self._grouped_anew(alone, promises)
            groups = np.unique(groups, return_inverse=True)[1].astype(np.int64)
        return groups

    def group_distances(self, rows: TableRows, group_of_row: Ints) -> GroupDistances:
        return self.newcomers.group_distances(rows, group_of_row)

    def represent(self, rows: TableRows, group_of_row: Ints) -> MaskedRows:
        row, new = self._published(rows)
        old = np.flatnonzero(row >= 0)
        numbers = np.zeros((len(row), len(self._layout.numbers)))
        numbers[old] = self._numbers[row[old]]
        fresh = None
        if len(new):
            own_groups = np.unique(group_of_row[new], return_inverse=True)[1].astype(np.int64)
            fresh = self.newcomers.represent(rows.take(new), own_groups)
            numbers[new] = fresh.numbers
        labels = {}
        for name in self._layout.labels:
            reading = self._concepts.readings[name]
            concepts, codes, *_ = reading.encode(rows.columns[name])
            texts = np.empty(len(row), dtype=object)
            after = np.zeros(len(row), dtype=np.int64)
            texts[old] = self._labels[name][row[old]]
            named = _concepts_by_name(reading, concepts)
            after[old] = [named.get(text, reading.ontology.taxonomy.root) for text in texts[old].tolist()]
            if fresh is not None:
                texts[new], after[new] = fresh.labels[name].released.to_pylist(), fresh.labels[name].after
            labels[name] = MaskedLabels(pa.array(texts.tolist(), pa.string()), concepts[codes], after)
        return MaskedRows(rows, numbers, labels)

    def coarser(self, name: str, labels: MaskedLabels) -> int:
        return self.newcomers.coarser(name, labels)

    def squares(self, masked: MaskedRows, released: Floats) -> tuple[float, float]:
        return self.newcomers.squares(masked, released)

    def parameters(self) -> dict[str, Any]:
        return self.newcomers.parameters()

    def block_plan(self, n_rows: int) -> Plan:
        raise InputError("a release that follows another is made of a table in one piece; join the parts first")

    def block_coordinates(self, rows: TableRows) -> Floats:
        return self.newcomers.block_coordinates(rows)

    def loss_anew(self, rows: TableRows, promises: GroupPromises) -> float:
        """What would be lost by a release of the same records that follows no other."""
        masked = self.newcomers.represent(rows, self._grouped_anew(rows, promises))
        sse, sst = self.squares(masked, masked.numbers)
        return sse / sst if sst > 0 else 0.0

    def _grouped_anew(self, rows: TableRows, promises: GroupPromises) -> Ints:
        """Groups as if nothing was published before, with what is promised."""
        groups = self.newcomers.group(rows)[0]
        return join_groups(self.newcomers, rows, groups, self._layout.roles, promises) if promises.asked else groups

    @property
    def _concepts(self) -> Concepts:
        assert isinstance(self.newcomers, Concepts)
        return self.newcomers

    def _published(self, rows: TableRows) -> tuple[Ints, Ints]:
        """The published row of each record, -1 for none; and the rows of those who have none."""
        assert rows.records is not None
        row = np.array([self._row_of.get(record, -1) for record in rows.records.tolist()], dtype=np.int64)
        return row, np.flatnonzero(row < 0)


def _plain_texts(column: pa.ChunkedArray) -> NDArray[Any]:
    texts = np.empty(len(column), dtype=object)
    texts[:] = [None if text is None or text == "" else str(text) for text in column.to_pylist()]
    return texts


def _concepts_by_name(reading: Any, concepts: Ints) -> dict[Any, int]:
    """The concept behind each label that a release may show: a value of the column, or something above one."""
    taxonomy, ontology = reading.ontology.taxonomy, reading.ontology
    above = {int(one) for concept in concepts[concepts >= 0].tolist() for one in taxonomy.ancestors_of(concept)}
    named: dict[Any, int] = {str(ontology.label(concept)): concept for concept in sorted(above, reverse=True)}
    if isinstance(ontology, Flat):
        named[ANY] = taxonomy.root
    return named | {None: ABSENT}
