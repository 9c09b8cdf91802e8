"""One part of a table, wherever it is: read, checked, and turned into rows. None of it sees two parts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.io import Roles, Table, read_table, resolve_roles
from shoal.io.files import shown
from shoal.io.kinds.choices import ColumnChoices
from shoal.io.kinds.label_checks import check_labels
from shoal.io.kinds.number_forms import NumberForm
from shoal.io.kinds.recognition import FEW_VALUES
from shoal.io.parts import local_copy
from shoal.io.row_order import check_sortable, sort_rows, sortable
from shoal.io.table import check_no_gaps
from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.blocks.executors import memory_of
from shoal.microaggregation.blocks.tree import sample_keys
from shoal.microaggregation.exact_sums import exact_sums, squared_deviations
from shoal.protection.masked import values_of
from shoal.protection.tables.layout import Layout, TableProtection, carried_as, number_behind
from shoal.protection.tables.representatives import standardised
from shoal.release.tables.columns import ColumnOutline, Explained, outline_column
from shoal.release.tables.crowd_columns import crowd_columns
from shoal.results.dictionary import ColumnDictionary, Dialect
from shoal.results.promised import GroupPromises

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

KEPT = ", or pass --missing group, impute or withhold"  # what else can be done with gaps


@dataclass(frozen=True)
class Opened:
    """One file as it was read."""

    table: Table
    roles: Roles
    part: str  # its name; "" for a table in one piece
    rows: Ints | None = None  # of the file, from 0, where some were left out
    records: NDArray[Any] | None = None  # the id of each row's record, where a column has it


@dataclass(frozen=True)
class Outline:
    """The columns of a part."""

    roles: Roles
    columns: tuple[str, ...]  # of the file
    quasi: Mapping[str, ColumnOutline]
    format: str
    dictionary: Mapping[str, ColumnDictionary] = field(default_factory=dict)
    dialect: Dialect | None = None


@dataclass(frozen=True)
class Reading:
    """What is known of a part once it is read."""

    schema: pa.Schema  # of the columns that stay as they are and of labels, in the file's order
    n_rows: int
    sums: list[int]  # exact, of each number
    gaps: Ints  # in each number
    lowest: Floats
    highest: Floats
    few: tuple[frozenset[float] | None, ...]  # the different values of each number, where these are few
    withheld: list[str]  # rows that miss a number
    labels: Mapping[str, tuple[pa.Array, Ints]]  # different values of each column of labels, and their counts


@dataclass(frozen=True)
class Part:
    """The rows of one file that are released."""

    reading: Reading
    values: Floats  # (rows, numbers), NaN where one is missing
    others: pa.Table  # labels, confidential and insensitive columns
    names: NDArray[Any]  # file and row
    crowd: Mapping[str, Ints]  # whose each row is, and the k it asks for, where that is promised
    records: NDArray[Any] | None = None  # ids

    def __sizeof__(self) -> int:
        return memory_of(self.values, self.names) + int(self.others.nbytes)


def open_part(part: Any, roles: Roles | None, verbatim: Sequence[str], whole: bool) -> Opened:
    """Read a file; columns that are released unchanged, and labels that are explained, are taken as they stand."""
    if whole:
        table = read_table(part, verbatim=verbatim)
        return Opened(table, resolve_roles(table, roles), "")
    with local_copy(part) as path:
        table = read_table(path, verbatim=verbatim)
    with _named(part):
        return Opened(table, resolve_roles(table, roles), part)


def outline_of(opened: Opened, choices: ColumnChoices, explained: Explained) -> Outline:
    """The columns of a part, and of which kind its quasi-identifiers are."""
    data, quasi = opened.table.data, opened.roles.quasi
    with _named(opened.part):
        choices.check(data.column_names, quasi)
        columns = {name: outline_column(name, data[name], choices, explained) for name in quasi}
    table = opened.table
    return Outline(opened.roles, tuple(data.column_names), columns, table.format, table.dictionary, table.dialect)


def complete_part(
    opened: Opened,
    forms: Mapping[str, NumberForm],
    missing: str,
    unexplained: Sequence[str] | None,
    hierarchy: bool,
    promises: GroupPromises,
) -> Part:
    """The rows that are released, in the order of their content if they are all; `forms` are those of the numbers.

    `unexplained` are columns of labels without an ontology of their own; None: labels are not protected as such.
    """
    table, roles, data = opened.table, opened.roles, opened.table.data
    numbers = tuple(forms)
    with _named(opened.part):
        if unexplained is not None:
            check_labels(table, unexplained, hierarchy)
        values = np.empty((data.num_rows, len(numbers)), dtype=np.float64)
        for place, (name, form) in enumerate(forms.items()):
            values[:, place] = form.numbers(data[name], shown(name))
        complete: NDArray[np.bool_] = np.ones(len(values), dtype=bool)
        if missing == "refuse":
            check_no_gaps(numbers, values, KEPT)
        elif missing == "withhold":
            complete = np.logical_not(np.isnan(values).any(axis=1))
        kept = (*(name for name in roles.quasi if name not in numbers), *roles.confidential, *roles.insensitive)
        others = pa.table({name: sortable(data[name]) for name in data.column_names if name in kept})
        for name in others.column_names:
            check_sortable(name, others[name])
        crowd = crowd_columns(data, promises)
    rows = np.flatnonzero(complete)
    prefix = f"{Path(opened.part).name}:" if opened.part else ""
    numbers_of_rows = range(len(complete)) if opened.rows is None else opened.rows.tolist()
    names = np.array([f"{prefix}{row + 1}" for row in numbers_of_rows], dtype=object)
    if not opened.part:
        content = data.select([*roles.quasi, *roles.confidential, *roles.insensitive])
        for name, column in crowd.items():
            content = content.append_column(f"\0{name}", pa.array(column))
        order = sort_rows(content)
        rows = order[complete[order]]
    values, kept_rows = values[rows], others.take(pa.array(rows)) if others.num_columns else others
    reading = Reading(
        schema=others.schema,
        n_rows=len(rows),
        sums=exact_sums(np.nan_to_num(values)),
        gaps=np.isnan(values).sum(axis=0),
        lowest=np.where(np.isnan(values), np.inf, values).min(axis=0, initial=np.inf),
        highest=np.where(np.isnan(values), -np.inf, values).max(axis=0, initial=-np.inf),
        few=tuple(map(_few, values.T)),
        withheld=names[~complete].tolist(),
        labels={name: _different(kept_rows[name]) for name in roles.quasi if name not in numbers},
    )
    records = None if opened.records is None else opened.records[rows]
    of_crowd = {name: column[rows] for name, column in crowd.items()}
    return Part(reading, values, kept_rows, names[rows], of_crowd, records)


@contextmanager
def _named(part: str) -> Iterator[None]:
    """Mistakes in one of several files say which it is."""
    try:
        yield
    except InputError as problem:
        if not part:
            raise
        raise InputError(f"{shown(part)}: {problem}") from None


def _few(column: Floats) -> frozenset[float] | None:
    """The different numbers of a column, where these are few."""
    start = np.unique(column[: 100 * FEW_VALUES])
    if np.sum(~np.isnan(start)) > FEW_VALUES:
        return None
    found = np.unique(column[~np.isnan(column)])
    return frozenset(found.tolist()) if len(found) <= FEW_VALUES else None


def filled(values: Floats, mean: Floats) -> Floats:
    """Numbers with the column's mean in place of each gap."""
    return np.where(np.isnan(values), mean, values)


def _different(column: pa.ChunkedArray) -> tuple[pa.Array, Ints]:
    counts = pc.value_counts(column)
    return counts.field("values"), counts.field("counts").to_numpy()


def deviations_of(part: Part, mean: Floats) -> list[int]:
    """The exact sum of the squared deviations of each number."""
    return exact_sums(squared_deviations(filled(part.values, mean), mean))


def largest_deviation(part: Part, mean: Floats) -> Floats:
    """The largest squared deviation of each number."""
    largest: Floats = squared_deviations(filled(part.values, mean), mean).max(axis=0, initial=0.0)
    return largest


def sample_of(part: Part, layout: Layout, most: int) -> tuple[NDArray[np.uint64], Floats]:
    """Keys and numbers of some rows: those that have the smallest keys, whatever the parts."""
    values = filled(part.values, layout.mean)
    keys, rows = smallest_keys(values, layout, most)
    return keys, values[rows]


def smallest_keys(values: Floats, layout: Layout, most: int) -> tuple[NDArray[np.uint64], Ints]:
    """The rows with the smallest keys, and these; all rows of a table in one piece."""
    if len(values) <= most and layout.kept is not None:
        return np.zeros(len(values), dtype=np.uint64), np.arange(len(values))
    keys = sample_keys(sp.csr_matrix(standardised(values, layout)))
    rows = np.argsort(keys, kind="stable")[:most]
    return keys[rows], rows


def rows_of(part: Part, layout: Layout, protection: TableProtection) -> Block:
    """The rows of a part, and with each what it stood for."""
    n_rows = len(part.values)
    values = filled(part.values, layout.mean)
    carried: dict[str, NDArray[Any]] = {"name": part.names, "values": values, **part.crowd}
    if layout.has_gaps:
        carried["gaps"] = np.isnan(part.values)
    carried |= {} if part.records is None else {"record": part.records}
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
