"""Blocks of a table's rows before and after masking, and what every protection of tables can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.io import Roles
from shoal.io.kinds.number_forms import NumberForm
from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.blocks.executors import Schedule
from shoal.results.promised import GroupPromises

__all__ = [
    "OWN_K",
    "PERSON",
    "Layout",
    "MaskedBlock",
    "MaskedLabels",
    "TableProtection",
    "carried_as",
    "column_of",
    "number_behind",
]

PERSON, OWN_K = "person", "own k"  # under which names a block carries whose each record is, and the k it asks for

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Layout:
    """What all parts of a table agree on: columns, their types, and the scale on which rows are compared."""

    roles: Roles
    schema: pa.Schema  # of the released columns that stay as they are, and of quasi-identifiers that are labels
    numbers: tuple[str, ...]  # quasi-identifiers with numbers behind them
    labels: tuple[str, ...]  # and those that are labels
    forms: tuple[NumberForm, ...]  # how the numbers are written
    mean: Floats  # of the numbers
    scale: Floats
    constant: NDArray[np.bool_]  # columns of one value
    lowest: Floats
    highest: Floats
    released: tuple[str, ...]  # columns of the release, in the file's order
    categories: Mapping[str, str] = field(default_factory=dict)  # labels without meaning, and what stands for a group
    has_gaps: bool = False  # some numbers are missing; they stand as the mean of their column
    averaged: bool = True  # the numbers of a group become its mean or median
    # Of the numbers that have gaps which count as values of their own: places, shares of gaps, and their deviation.
    gap_places: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    gap_mean: Floats = field(default_factory=lambda: np.empty(0))
    gap_scale: Floats = field(default_factory=lambda: np.empty(0))
    kept: pa.Table | None = None  # the columns of `schema`, where the table is in one piece


@dataclass(frozen=True)
class MaskedLabels:
    """A column of labels: what is released, and each row's concept before and after."""

    released: pa.Array
    before: Ints
    after: Ints


@dataclass(frozen=True)
class MaskedBlock:
    """Rows with their quasi-identifiers masked; numbers neither coarsened nor rounded yet."""

    block: Block
    numbers: Floats  # (rows, numbers)
    labels: Mapping[str, MaskedLabels]
    gaps: NDArray[np.bool_] | None = None  # (rows, numbers): a gap stands for the group


class TableProtection(Protocol):
    """Blocks of rows in, masked blocks out. Every method but `prepared` can be called on any machine."""

    name: str  # of the method, in words
    k: int  # 1 when no crowd is promised
    averages: bool  # released numbers are means, which are rounded
    k_anonymous: bool
    together: tuple[tuple[str, ...], ...]  # columns whose values at least k rows share; set by `prepared`

    def prepared(self, layout: Layout, values: Mapping[str, tuple[pa.Array, Ints]]) -> TableProtection:
        """The protection of a table; `values` has the different labels of each column and their counts."""

    def rows(self, block: Block, layout: Layout) -> Block:
        """The block with rows in which near ones are alike; of a table in parts."""

    def group(self, block: Block, layout: Layout) -> tuple[Block, float]:
        """All rows in groups, and the least SSE that any groups could have; 0 if that is not known."""

    def nearest(self, grouped: Block, rows: Block, layout: Layout) -> Ints:
        """The group that is nearest to each of some other rows."""

    def group_parts(self, parts: list[Any], n_rows: int, layout: Layout, schedule: Schedule) -> list[Any]:
        """Blocks of rows in groups (futures), from parts of them (futures)."""

    def diverse(
        self,
        block: Block,
        layout: Layout,
        promises: GroupPromises,
        overall: Sequence[Mapping[str, int]] | None = None,
    ) -> Block:
        """The block with groups joined until each has what is promised.

        `overall` has how many records of all blocks have each value of every confidential column; None: this is all.
        """

    def masked(self, block: Block, layout: Layout) -> MaskedBlock:
        """The rows with the representatives of their groups."""

    def squares(self, masked: MaskedBlock, released: Floats, layout: Layout) -> tuple[float, float]:
        """SSE of the released rows, and SST: the squared distances of the rows to the centre of all."""

    def parameters(self) -> dict[str, Any]:
        """Of the method, as far as they may be published."""


def carried_as(column: str) -> str:
    """Under which name a block carries a column."""
    return f"column {column}"


def column_of(block: Block, layout: Layout, name: str) -> pa.Array:
    """A column that is not numbers, in the order of the block's rows."""
    if layout.kept is not None:
        rows = block.carried["row"]
        column = layout.kept[name].combine_chunks()
        return column if np.array_equal(rows, np.arange(len(column))) else column.take(pa.array(rows))
    values, kind = block.carried[carried_as(name)].tolist(), layout.schema.field(name).type
    if pa.types.is_temporal(kind):
        return pa.array(values, number_behind(kind)).cast(kind)
    return pa.array(values, kind)


def number_behind(kind: pa.DataType) -> pa.DataType:
    """What a date or time is carried as: Python has no nanoseconds."""
    return pa.int32() if kind.bit_width == 32 else pa.int64()
