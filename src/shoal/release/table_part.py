"""What is done to one part of a table, wherever it is: read, arrange, write. None of it sees two parts."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.bundle.formulas import formulas_in
from shoal.errors import InputError
from shoal.io import Roles, Table, check_complete, quasi_matrix, read_table, resolve_roles
from shoal.io.files import shown
from shoal.io.parts import local_copy
from shoal.io.row_order import check_sortable, sort_rows, sortable
from shoal.io.table import check_labels, holds_numbers
from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.blocks.executors import memory_of
from shoal.microaggregation.blocks.tree import sample_keys
from shoal.microaggregation.exact_sums import exact_sums, squared_deviations
from shoal.protection.masked import equal_rows, values_of
from shoal.protection.publishable import moved_records
from shoal.protection.rounding import on_grid
from shoal.protection.tables.layout import (
    Layout,
    MaskedBlock,
    MaskedLabels,
    TableProtection,
    carried_as,
    column_of,
    number_behind,
)
from shoal.protection.tables.means import standardised
from shoal.release.part_facts import GroupFacts, facts_of, replacing, write_mapping_part
from shoal.release.table_files import write_table
from shoal.results.loss import Loss

__all__ = [
    "Facts",
    "Outline",
    "Reading",
    "added_error",
    "arranged",
    "coarse",
    "complete_part",
    "deviations_of",
    "first_row",
    "largest_deviation",
    "masked_values",
    "open_part",
    "outline_of",
    "reading_of",
    "rows_of",
    "sample_of",
    "squared_error",
    "write_part",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Opened:
    """One file as it was read."""

    table: Table
    roles: Roles
    part: str  # its name; "" for a table in one piece


@dataclass(frozen=True)
class Outline:
    """The columns of a part."""

    roles: Roles
    columns: tuple[str, ...]  # of the file
    numbers: frozenset[str]  # quasi-identifiers that hold numbers
    format: str


@dataclass(frozen=True)
class Reading:
    """What reading a part told."""

    schema: pa.Schema  # of the columns that stay as they are and of labels, in the file's order
    n_rows: int
    sums: list[int]  # exact, of each number
    lowest: Floats
    highest: Floats
    withheld: list[str]  # rows that miss a number
    labels: Mapping[str, tuple[pa.Array, Ints]]  # different values of each column of labels, and their counts


@dataclass(frozen=True)
class Part:
    """The rows of one file that miss no number."""

    reading: Reading
    values: Floats  # (rows, numbers)
    others: pa.Table  # labels, confidential and insensitive columns
    names: NDArray[Any]  # file and row

    def __sizeof__(self) -> int:
        return memory_of(self.values, self.names) + int(self.others.nbytes)


@dataclass(frozen=True)
class Arranged:
    """The rows of a block as they will be released, in canonical order; and as they were."""

    released: pa.Table
    names: NDArray[Any]
    values: Floats
    masked: Floats
    labels: Mapping[str, MaskedLabels]
    moved: Mapping[str, int]  # records whose value the representative of their group changed, by column
    texts: Mapping[str, Counter[tuple[Any, Any]]]  # of each column of labels, records by what was and is written
    loss: Loss
    order: Ints  # of the block's rows

    def __sizeof__(self) -> int:
        return memory_of(self.names, self.values, self.masked) + int(self.released.nbytes)


@dataclass(frozen=True)
class Facts:
    """What the owner must know of a part that was written: its groups, and sums over each quasi-identifier."""

    groups: GroupFacts
    smallest: int  # fewest rows that share a value of the columns protected together
    moved: Mapping[str, int]
    loss: Loss
    lost: Floats  # squared error of each number
    spread: Floats  # squares before
    sample: tuple[NDArray[np.uint64], Floats, Floats]  # keys, numbers before, numbers after
    concepts: Mapping[str, Counter[tuple[int, int]]]  # of each column of labels: records by concept before and after
    texts: Mapping[str, Counter[tuple[Any, Any]]]  # and by what was written
    spelt: Mapping[str, Mapping[int, str]]  # how concepts are written in the release
    formulas: Counter[str]  # cells of each column that a spreadsheet would run


def open_part(part: Any, roles: Roles | None, verbatim: Sequence[str], whole: bool) -> Opened:
    """Read a file; columns that are released unchanged, and labels that are explained, are taken as they stand."""
    if whole:
        table = read_table(part, verbatim=verbatim)
        return Opened(table, resolve_roles(table, roles), "")
    with local_copy(part) as path:
        table = read_table(path, verbatim=verbatim)
    with _named(part):
        return Opened(table, resolve_roles(table, roles), part)


def outline_of(opened: Opened) -> Outline:
    """The columns of a part, and which quasi-identifiers hold numbers; an empty column may hold anything."""
    data, quasi = opened.table.data, opened.roles.quasi
    numbers = frozenset(name for name in quasi if holds_numbers(data[name].type))
    return Outline(opened.roles, tuple(data.column_names), numbers, opened.table.format)


def complete_part(
    opened: Opened, numbers: tuple[str, ...], missing: str, unexplained: Sequence[str] | None, hierarchy: bool
) -> Part:
    """The rows that miss none of the numbers, in the order of their content if they are all.

    `unexplained` are columns of labels without an ontology of their own; None: labels are not protected as such.
    """
    table, roles, data = opened.table, opened.roles, opened.table.data
    averaged = replace(roles, quasi=numbers)
    with _named(opened.part):
        if unexplained is not None:
            check_labels(table, unexplained, hierarchy)
        values, complete = quasi_matrix(table, averaged)
        if missing == "refuse":
            check_complete(table, averaged, complete)
        kept = (*(name for name in roles.quasi if name not in numbers), *roles.confidential, *roles.insensitive)
        others = pa.table({name: sortable(data[name]) for name in data.column_names if name in kept})
        for name in others.column_names:
            check_sortable(name, others[name])
    rows = np.flatnonzero(complete)
    prefix = f"{Path(opened.part).name}:" if opened.part else ""
    names = np.array([f"{prefix}{row + 1}" for row in range(len(complete))], dtype=object)
    if not opened.part:
        order = sort_rows(data.select([*roles.quasi, *roles.confidential, *roles.insensitive]))
        rows = order[complete[order]]
    values, kept_rows = values[rows], others.take(pa.array(rows)) if others.num_columns else others
    reading = Reading(
        schema=others.schema,
        n_rows=len(rows),
        sums=exact_sums(values),
        lowest=values.min(axis=0, initial=np.inf),
        highest=values.max(axis=0, initial=-np.inf),
        withheld=names[~complete].tolist(),
        labels={name: _different(kept_rows[name]) for name in roles.quasi if name not in numbers},
    )
    return Part(reading, values, kept_rows, names[rows])


@contextmanager
def _named(part: str) -> Iterator[None]:
    """Mistakes in one of several files say which it is."""
    try:
        yield
    except InputError as problem:
        if not part:
            raise
        raise InputError(f"{shown(part)}: {problem}") from None


def _different(column: pa.ChunkedArray) -> tuple[pa.Array, Ints]:
    counts = pc.value_counts(column)
    return counts.field("values"), counts.field("counts").to_numpy()


def reading_of(part: Part) -> Reading:
    """What reading the part told."""
    return part.reading


def deviations_of(part: Part, mean: Floats) -> list[int]:
    """The exact sum of the squared deviations of each number."""
    return exact_sums(squared_deviations(part.values, mean))


def largest_deviation(part: Part, mean: Floats) -> Floats:
    """The largest squared deviation of each number."""
    largest: Floats = squared_deviations(part.values, mean).max(axis=0, initial=0.0)
    return largest


def sample_of(part: Part, layout: Layout, most: int) -> tuple[NDArray[np.uint64], Floats]:
    """Keys and numbers of some rows: those that have the smallest keys, whatever the parts."""
    keys, rows = _smallest(part.values, layout, most)
    return keys, part.values[rows]


def _smallest(values: Floats, layout: Layout, most: int) -> tuple[NDArray[np.uint64], Ints]:
    if len(values) <= most and layout.kept is not None:
        return np.zeros(len(values), dtype=np.uint64), np.arange(len(values))
    keys = sample_keys(sp.csr_matrix(standardised(values, layout)))
    rows = np.argsort(keys, kind="stable")[:most]
    return keys[rows], rows


def rows_of(part: Part, layout: Layout, protection: TableProtection) -> Block:
    """The rows of a part, and with each what it stood for."""
    n_rows = len(part.values)
    carried: dict[str, NDArray[Any]] = {"name": part.names, "values": part.values}
    nothing = sp.csr_matrix((n_rows, 0))
    if layout.kept is not None:
        return Block(nothing, carried | {"row": np.arange(n_rows)}, np.zeros(n_rows, dtype=np.int64))
    columns = {name: _plain(part.others[name], layout.schema.field(name).type) for name in part.others.column_names}
    cells = zip(*(column.tolist() for column in columns.values()), strict=True) if columns else [()] * n_rows
    digests = np.empty(n_rows, dtype=object)
    for row, (numbers, others) in enumerate(zip(part.values.tolist(), cells, strict=True)):
        digests[row] = hashlib.blake2b(repr((numbers, others)).encode(), digest_size=16).digest()
    carried |= {carried_as(name): column for name, column in columns.items()} | {"digest": digests}
    return protection.rows(Block(nothing, carried, np.zeros(n_rows, dtype=np.int64)), layout)


def _plain(column: pa.ChunkedArray, kind: pa.DataType) -> NDArray[Any]:
    """The values as Python has them; dates and times as the numbers behind them."""
    column = column.cast(kind)
    return values_of(column.cast(number_behind(kind)) if pa.types.is_temporal(kind) else column)


def masked_values(masked: MaskedBlock, place: int) -> tuple[Floats, Ints]:
    """The different masked values of a number, and how many rows have each."""
    values, counts = np.unique(masked.numbers[:, place], return_counts=True)
    return values, counts


def coarse(masked: MaskedBlock, classes: Mapping[int, tuple[Floats, Floats]]) -> MaskedBlock:
    """The block with numbers aggregated once more; `classes` has, by column, masked values and what they become."""
    numbers = masked.numbers.copy()
    for place, (values, becomes) in classes.items():
        numbers[:, place] = becomes[np.searchsorted(values, numbers[:, place])]
    return replace(masked, numbers=numbers)


def squared_error(masked: MaskedBlock, layout: Layout) -> float:
    """Of the masked numbers, each column on the scale of its deviation."""
    return float(np.sum(((masked.block.carried["values"] - masked.numbers) / layout.scale) ** 2))


def added_error(masked: MaskedBlock, layout: Layout, steps: Floats) -> float:
    """What rounding adds to that."""
    return float(np.sum(((on_grid(masked.numbers, steps) - masked.numbers) / layout.scale) ** 2))


def arranged(masked: MaskedBlock, layout: Layout, protection: TableProtection, steps: Floats, form: str) -> Arranged:
    """The rows in the order of what will be released of them, means on a grid of the given steps."""
    block, values = masked.block, masked.block.carried["values"]
    # The mean of equal values may differ from them by a rounding; and no negative zeros.
    numbers = np.where(layout.constant, values, on_grid(masked.numbers, steps)) + 0.0
    moved = np.where(layout.constant, 0, moved_records(values, masked.numbers)).tolist()
    columns: dict[str, Any] = {name: labels.released for name, labels in masked.labels.items()}
    columns |= {name: column_of(block, layout, name) for name in layout.schema.names if name not in columns}
    columns |= dict(zip(layout.numbers, map(pa.array, numbers.T), strict=True))
    for name in masked.labels:
        # Text files have no sign for a missing text but the empty one.
        columns[name] = columns[name] if form == "parquet" else pc.fill_null(columns[name], "")
    released = pa.table({name: columns[name] for name in layout.released})
    order = sort_rows(released)
    sse, sst = protection.squares(masked, numbers, layout)
    return Arranged(
        released=released.take(pa.array(order)),
        names=block.carried["name"][order],
        values=values[order],
        masked=numbers[order],
        labels={
            name: MaskedLabels(labels.released.take(pa.array(order)), labels.before[order], labels.after[order])
            for name, labels in masked.labels.items()
        },
        moved=dict(zip(layout.numbers, moved, strict=True))
        | {name: int(np.sum(labels.before != labels.after)) for name, labels in masked.labels.items()},
        texts={name: _texts(column_of(block, layout, name), labels.released) for name, labels in masked.labels.items()},
        loss=Loss(sse, sst - sse),
        order=order,
    )


def _texts(before: pa.Array, after: pa.Array) -> Counter[tuple[Any, Any]]:
    pairs = pa.table({"before": before, "after": after}).group_by(["before", "after"]).aggregate([([], "count_all")])
    return Counter({(pair["before"], pair["after"]): pair["count_all"] for pair in pairs.to_pylist()})


def first_row(part: Arranged) -> pa.Table:
    """The first row that will be released."""
    return part.released.slice(0, 1)


def write_part(
    part: Arranged, layout: Layout, protection: TableProtection, most: int, target: str, mapping: str
) -> Facts:
    """Write the rows, and privately which record became which of them."""
    with replacing(target) as path:
        write_table(part.released, path)
    groups = _equal(part.released, layout.roles.quasi)
    write_mapping_part(part.names, groups, mapping)

    first = np.unique(groups, return_index=True)[1]
    contents = part.released.select(list(layout.roles.quasi)).take(pa.array(first)).to_pylist()
    digests = [hashlib.blake2b(repr(content).encode(), digest_size=16).digest() for content in contents]
    before, after = (standardised(rows, layout) for rows in (part.values, part.masked))
    keys, shown_rows = _smallest(part.values, layout, most)
    confidential = {name: values_of(part.released[name]) for name in layout.roles.confidential}
    return Facts(
        groups=facts_of(digests, groups, confidential),
        smallest=min(int(np.bincount(_equal(part.released, part_of)).min()) for part_of in protection.together),
        moved=part.moved,
        loss=part.loss,
        lost=np.sum((before - after) ** 2, axis=0),
        spread=np.sum(before**2, axis=0),
        sample=(keys, part.values[shown_rows], part.masked[shown_rows]),
        concepts={name: _pairs(labels.before, labels.after) for name, labels in part.labels.items()},
        texts=part.texts,
        spelt={name: _spelt(labels) for name, labels in part.labels.items()},
        formulas=formulas_in(part.released),
    )


def _equal(released: pa.Table, names: Sequence[str]) -> Ints:
    return equal_rows([released[name].combine_chunks() for name in names])


def _pairs(before: Ints, after: Ints) -> Counter[tuple[int, int]]:
    pairs, counts = np.unique(np.column_stack([before, after]), axis=0, return_counts=True)
    return Counter(dict(zip(map(tuple, pairs.tolist()), counts.tolist(), strict=True)))


def _spelt(labels: MaskedLabels) -> dict[int, str]:
    concepts, first = np.unique(labels.after, return_index=True)
    texts = labels.released.take(pa.array(first)).to_pylist()
    return {concept: text for concept, text in zip(concepts.tolist(), texts, strict=True) if text}
