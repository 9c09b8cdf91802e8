"""What is done to one part of a table, wherever it is: read, standardise, arrange, write. None of it sees two."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.bundle.formulas import formulas_in
from shoal.errors import InputError
from shoal.io import Roles, check_complete, quasi_matrix, read_table, resolve_roles
from shoal.io.files import shown
from shoal.io.parts import local_copy
from shoal.io.row_order import check_sortable, sort_rows, sortable
from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.blocks.executors import memory_of
from shoal.microaggregation.blocks.tree import sample_keys
from shoal.microaggregation.exact_sums import exact_sums, squared_deviations
from shoal.microaggregation.numeric import group_means
from shoal.protection.masked import values_of
from shoal.protection.publishable import moved_records
from shoal.protection.rounding import on_grid
from shoal.release.part_facts import SHOWN, GroupFacts, facts_of, replacing, write_mapping_part
from shoal.release.tables import classes_of, merged_until_diverse, write_table

__all__ = [
    "Facts",
    "Layout",
    "Reading",
    "added_error",
    "arranged",
    "carried_as",
    "deviations_of",
    "diverse",
    "first_row",
    "largest_deviation",
    "read_part",
    "reading_of",
    "rows_of",
    "sample_of",
    "squared_error",
    "write_part",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """The rows of one file that miss no quasi-identifier."""

    reading: Reading
    values: Floats  # quasi-identifiers
    unchanged: pa.Table  # confidential and insensitive columns
    names: NDArray[Any]  # file and row

    def __sizeof__(self) -> int:
        return memory_of(self.values, self.names) + int(self.unchanged.nbytes)


@dataclass(frozen=True)
class Reading:
    """What reading a part told."""

    columns: tuple[str, ...]  # of the file
    schema: pa.Schema  # of those released, in the file's order
    n_rows: int
    sums: list[int]  # exact, of each quasi-identifier
    lowest: Floats
    highest: Floats
    withheld: list[str]  # rows that miss a quasi-identifier


@dataclass(frozen=True)
class Layout:
    """What all parts agree on: the columns released, and the scale on which rows are compared."""

    roles: Roles
    schema: pa.Schema
    mean: Floats
    scale: Floats
    constant: NDArray[np.bool_]  # columns of one value


@dataclass(frozen=True)
class Arranged:
    """The rows of a block as they will be released, in canonical order; and as they were."""

    released: pa.Table
    names: NDArray[Any]
    values: Floats
    masked: Floats
    moved: Ints  # records that the mean of their group changed, by quasi-identifier

    def __sizeof__(self) -> int:
        return memory_of(self.names, self.values, self.masked) + int(self.released.nbytes)


@dataclass(frozen=True)
class Facts:
    """What the owner must know of a part that was written: its groups, and sums over each quasi-identifier."""

    groups: GroupFacts
    moved: Ints  # records that the mean of their group changed
    lost: Floats  # squared error
    spread: Floats  # squares before
    squares: Floats  # and after
    sample: tuple[NDArray[np.uint64], Floats, Floats]  # keys, rows before, rows after
    formulas: Counter[str]  # cells of each column that a spreadsheet would run


def read_part(part: str, roles: Roles, missing: str) -> Part:
    """Read a file; the columns that are released unchanged are taken as they stand."""
    with local_copy(part) as path:
        table = read_table(path, verbatim=(*roles.confidential, *roles.insensitive))
    try:
        resolve_roles(table, roles)
        values, complete = quasi_matrix(table, roles)
        if missing == "refuse":
            check_complete(table, roles, complete)
        plain = {name: sortable(table.data[name]) for name in (*roles.confidential, *roles.insensitive)}
        for name, column in plain.items():
            check_sortable(name, column)
    except InputError as problem:
        raise InputError(f"{shown(part)}: {problem}") from None
    rows = np.flatnonzero(complete)
    names = np.array([f"{Path(part).name}:{row + 1}" for row in range(len(complete))], dtype=object)
    types = {name: column.type for name, column in plain.items()} | dict.fromkeys(roles.quasi, pa.float64())
    columns = tuple(table.data.column_names)
    values = values[rows]
    reading = Reading(
        columns=columns,
        schema=pa.schema([(name, types[name]) for name in columns if name in types]),
        n_rows=len(rows),
        sums=exact_sums(values),
        lowest=values.min(axis=0, initial=np.inf),
        highest=values.max(axis=0, initial=-np.inf),
        withheld=names[~complete].tolist(),
    )
    return Part(reading, values, pa.table(plain).take(pa.array(rows)) if plain else pa.table({}), names[rows])


def reading_of(part: Part) -> Reading:
    """What reading the part told."""
    return part.reading


def deviations_of(part: Part, mean: Floats) -> list[int]:
    """The exact sum of the squared deviations of each quasi-identifier."""
    return exact_sums(squared_deviations(part.values, mean))


def largest_deviation(part: Part, mean: Floats) -> Floats:
    """The largest squared deviation of each quasi-identifier."""
    largest: Floats = squared_deviations(part.values, mean).max(axis=0, initial=0.0)
    return largest


def sample_of(part: Part, layout: Layout) -> tuple[NDArray[np.uint64], Floats]:
    """Keys and values of some of the rows: those that have the smallest keys, whatever the parts."""
    keys = sample_keys(sp.csr_matrix((part.values - layout.mean) / layout.scale))
    rows = np.argsort(keys, kind="stable")[:SHOWN]
    return keys[rows], part.values[rows]


def rows_of(part: Part, layout: Layout) -> Block:
    """The standardised rows, and with each what it stood for."""
    standard = (part.values - layout.mean) / layout.scale
    unchanged = {name: _plain(part.unchanged[name]) for name in part.unchanged.column_names}
    cells = zip(*(column.tolist() for column in unchanged.values()), strict=True) if unchanged else [()] * len(standard)
    digests = np.empty(len(standard), dtype=object)
    for row, (numbers, others) in enumerate(zip(part.values.tolist(), cells, strict=True)):
        digests[row] = hashlib.blake2b(repr((numbers, others)).encode(), digest_size=16).digest()
    carried = {carried_as(name): column for name, column in unchanged.items()}
    carried |= {"digest": digests, "name": part.names, "values": part.values}
    return Block(sp.csr_matrix(standard), carried, np.zeros(len(standard), dtype=np.int64))


def diverse(block: Block, columns: tuple[str, ...], least: int) -> Block:
    """The block with groups joined until each has `least` values of every confidential column."""
    confidential = {name: block.carried[carried_as(name)] for name in columns}
    return replace(block, groups=merged_until_diverse(block.X.toarray(), block.groups, confidential, least))


def squared_error(block: Block, layout: Layout) -> float:
    """Of the means of the block's groups, each column on the scale of its deviation."""
    values = block.carried["values"]
    return float(np.sum(((values - _means(block)) / layout.scale) ** 2))


def added_error(block: Block, layout: Layout, steps: Floats) -> float:
    """What rounding the means of the block's groups adds to that."""
    means = _means(block)
    return float(np.sum(((on_grid(means, steps) - means) / layout.scale) ** 2))


def _means(block: Block) -> Floats:
    """Of each row's group."""
    return group_means(block.carried["values"], block.groups)[block.groups]


def arranged(block: Block, layout: Layout, steps: Floats) -> Arranged:
    """The rows in the order of what will be released of them, means on a grid of the given steps."""
    values, means = block.carried["values"], _means(block)
    masked = np.where(layout.constant, values, on_grid(means, steps)) + 0.0  # no negative zeros
    moved = np.where(layout.constant, 0, moved_records(values, means))
    columns = {}
    for field in layout.schema:
        if field.name in layout.roles.quasi:
            columns[field.name] = pa.array(masked[:, layout.roles.quasi.index(field.name)])
        else:
            columns[field.name] = _as_type(block.carried[carried_as(field.name)], field.type)
    released = pa.table(columns, schema=layout.schema)
    order = sort_rows(released)
    return Arranged(released.take(pa.array(order)), block.carried["name"][order], values[order], masked[order], moved)


def first_row(part: Arranged) -> pa.Table:
    """The first row that will be released."""
    return part.released.slice(0, 1)


def write_part(part: Arranged, layout: Layout, target: str, mapping: str) -> Facts:
    """Write the rows, and privately which record became which of them."""
    with replacing(target) as path:
        write_table(part.released.combine_chunks(), path)
    groups = classes_of(part.masked)
    write_mapping_part(part.names, groups, mapping)

    _, first = np.unique(groups, return_index=True)
    digests = [hashlib.blake2b(part.masked[row].tobytes(), digest_size=16).digest() for row in first.tolist()]
    before, after = ((rows - layout.mean) / layout.scale for rows in (part.values, part.masked))
    keys = sample_keys(sp.csr_matrix(before))
    shown_rows = np.argsort(keys, kind="stable")[:SHOWN]
    return Facts(
        groups=facts_of(digests, groups, {name: values_of(part.released[name]) for name in layout.roles.confidential}),
        moved=part.moved,
        lost=np.sum((before - after) ** 2, axis=0),
        spread=np.sum(before**2, axis=0),
        squares=np.sum(after**2, axis=0),
        sample=(keys[shown_rows], part.values[shown_rows], part.masked[shown_rows]),
        formulas=formulas_in(part.released),
    )


def carried_as(column: str) -> str:
    """Under which name a column released unchanged is carried."""
    return f"column {column}"


def _plain(column: pa.ChunkedArray) -> NDArray[Any]:
    """The values as Python has them; dates and times as the numbers behind them, for Python has no nanoseconds."""
    return values_of(column.cast(_number_behind(column.type)) if pa.types.is_temporal(column.type) else column)


def _as_type(values: NDArray[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_temporal(kind):
        return pa.array(values.tolist(), _number_behind(kind)).cast(kind)
    return pa.array(values.tolist(), kind)


def _number_behind(kind: pa.DataType) -> pa.DataType:
    return pa.int32() if kind.bit_width == 32 else pa.int64()
