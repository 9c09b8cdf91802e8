"""Tables, the role of each of their columns, and the numbers microaggregation works on.

Messages name files, columns and rows, never what a cell holds: that is confidential. Rows count from 1.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather
import pyarrow.parquet as pq

from shoal.errors import InputError
from shoal.io.delimited import MISSING
from shoal.io.files import (
    check_names,
    counted,
    is_folder,
    kind_of,
    read_bytes,
    reading,
    shown,
    unknown_column,
    unsupported,
)
from shoal.io.formats.apart import read_apart
from shoal.io.formats.databases import read_query
from shoal.io.formats.dialects import parse_in_dialect
from shoal.io.formats.extension_types import is_extended, without_extension
from shoal.io.formats.sources import Query, TableFile, format_of
from shoal.io.kinds.vocabulary import checked_kinds, checked_orders
from shoal.results.dictionary import ColumnDictionary, Dialect

__all__ = [
    "Role",
    "Roles",
    "Table",
    "check_complete",
    "check_no_gaps",
    "column_numbers",
    "holds_numbers",
    "not_numbers",
    "quasi_matrix",
    "read_table",
    "resolve_roles",
]

_OTHER_ROLE = "give it another role (--confidential, --drop)"
_LARGEST = 1e150  # squares of larger numbers overflow
_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"


class Role(StrEnum):
    """What a column means to an intruder, and so what becomes of it."""

    IDENTIFIER = "identifier"  # names a person: dropped
    QUASI = "quasi"  # known from elsewhere: masked
    CONFIDENTIAL = "confidential"  # what the intruder wants: kept, its spread in a group reported
    INSENSITIVE = "insensitive"  # kept


@dataclass(frozen=True)
class Roles:
    """The columns of each role; and of some, of which kind they are and the order of their labels."""

    quasi: tuple[str, ...]
    confidential: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    identifier: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    order: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for role in Role:  # one name stands for itself, and any sequence of names will do
            given = getattr(self, role.value)
            object.__setattr__(self, role.value, (given,) if isinstance(given, str) else tuple(given))
        object.__setattr__(self, "kinds", checked_kinds(self.kinds))
        object.__setattr__(self, "order", checked_orders(self.order))

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Roles:
        """Roles from a file of lists, such as `quasi = ["age", "zip"]`; it may have the tables [kinds] and [order]."""
        name = shown(path)
        if is_folder(path):
            raise InputError(f"{name} is a folder; give a TOML file with the roles of the columns")
        with reading(path):
            content = Path(path).read_bytes().decode("utf-8-sig")
        try:
            lists = tomllib.loads(content)
        except (tomllib.TOMLDecodeError, RecursionError) as problem:
            raise InputError(f'{name} is not TOML ({problem}); write lines such as quasi = ["age", "zip"]') from None
        tables = {key: lists.pop(key, {}) for key in ("kinds", "order")}
        for key, table in tables.items():
            if not isinstance(table, dict):
                raise InputError(f"{name}: {key} must be a table of columns; write [{key}], and a line for each column")
        for key, columns in lists.items():
            if key not in list(Role):
                raise InputError(f"{name}: {shown(key)} is no role; use {', '.join(Role)}")
            if not isinstance(columns, list) or not all(isinstance(column, str) for column in columns):
                raise InputError(f'{name}: {key} must be a list of column names; write it like {key} = ["age", "zip"]')
        try:
            of_roles: dict[str, Any] = {role.value: tuple(lists.get(role, ())) for role in Role}
            return cls(**of_roles, **tables)
        except InputError as problem:
            raise InputError(f"{name}: {problem}") from None

    def columns(self, role: Role) -> tuple[str, ...]:
        """The columns that have this role."""
        listed: tuple[str, ...] = getattr(self, role.value)
        return listed


@dataclass(frozen=True)
class Table:
    """The rows, the format they came in (csv, tsv, csv.gz, tsv.gz, parquet, sav, dta, xpt, sas7bdat, xlsx, feather or
    memory), and what that says of columns."""

    data: pa.Table
    format: str
    dictionary: Mapping[str, ColumnDictionary] = field(default_factory=dict)
    dialect: Dialect | None = None  # of a text file that is not written in the usual way


def read_table(source: Any, verbatim: Iterable[str] = ()) -> Table:
    """A table from a CSV, TSV (also gzipped) or Parquet file, or from a dataframe of any library.

    In columns of numbers an empty cell, `.`, `?`, NA, N/A, NaN and null are missing values. A column that mixes numbers
    and text is text, and text is taken as it stands. So is every column of a CSV or TSV that is named in `verbatim`.
    """
    if isinstance(source, Query):
        return _checked(read_query(source), "memory", "the answer of the database")
    if not isinstance(source, str | os.PathLike):
        return _checked(_from_dataframe(source), "memory", "the table")
    if (format := format_of(source)) is not None:
        return _in_format(source, format, verbatim)
    name, kind = shown(source), kind_of(source)
    if is_folder(source):
        raise InputError(f"{name} is a folder; give one CSV, TSV or Parquet file")
    if kind == "jsonl":
        raise InputError(f"{name} is JSONL, which holds documents; give tables as CSV, TSV or Parquet")
    if kind == "dat":
        raise InputError(f"{name} holds baskets; give tables as CSV, TSV or Parquet")
    if kind is None or kind == "text":
        raise unsupported(source)
    with reading(source):
        if kind == "parquet":
            data = pq.ParquetFile(source).read()
            data.validate(full=True)  # text that is no UTF-8 would only be found when it is used
            return _checked(data, kind, name)
        suffix = ".gz" if os.fspath(source).lower().endswith(".gz") else ""
        given = source if isinstance(source, TableFile) else None
        data, dialect = parse_in_dialect(read_bytes(source), kind, name, verbatim, given)
        usual = Dialect("\t" if kind == "tsv" else ",")
        return replace(_checked(data, kind + suffix, name), dialect=None if dialect == usual else dialect)


def _in_format(source: str | os.PathLike[str], format: str, verbatim: Iterable[str]) -> Table:
    """A table of a statistics package or a spreadsheet, or a Feather file."""
    if format == "database":
        raise InputError(f"{Query(source, '…')} is a database; say what to read: --query 'select * from …'")
    name, given = shown(source), source if isinstance(source, TableFile) else TableFile(source)
    if is_folder(source):
        raise InputError(f"{name} is a folder; give one file")
    with reading(source):
        if format == "feather":
            data = pyarrow.feather.read_table(os.fspath(source), memory_map=False)
            data.validate(full=True)
            return _checked(data, format, name)
        data, dictionary = read_apart(source, format, verbatim, given.encoding, given.sheet)
        return replace(_checked(data, format, name), dictionary=dictionary)


def _checked(data: pa.Table, format: str, name: str) -> Table:
    check_names(data.column_names, name)
    if data.num_columns == 0 or data.num_rows == 0:
        raise InputError(f"{name} has {data.num_columns} columns and {data.num_rows} rows; both must be at least 1")
    for place, column in enumerate(data.schema):
        if pa.types.is_string_view(column.type):  # Arrow cannot sort or take these yet
            data = data.set_column(place, column.name, data[column.name].cast(pa.large_string()))
        elif is_extended(column.type):
            data = data.set_column(place, column.name, without_extension(data[column.name].combine_chunks()))
    # Metadata of the schema may describe an index or carry whatever its writer liked.
    return Table(data.replace_schema_metadata(None), format)


def _from_dataframe(source: Any) -> pa.Table:
    if isinstance(source, pa.Table):
        return source
    try:
        frame = nw.from_native(source)
        eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        names = [str(column) for column in eager.columns]
    except nw.exceptions.DuplicateError:
        raise InputError("the table: column names occur more than once; rename the columns") from None
    except Exception:  # Each library has its own complaints.
        kind = type(source).__name__
        raise InputError(f"a {kind} is no table; give a path, or a pandas, polars or Arrow table") from None
    check_names(names, "the table")
    try:
        return eager.to_arrow().select(names)  # select: an index becomes a column on the way
    except Exception:  # Arrow's message would quote the value.
        raise InputError(f"column {_mixed_column(eager)}: values of several types; make them all one type") from None


def _mixed_column(frame: nw.DataFrame[Any]) -> str:
    for column in frame.columns:
        try:
            frame.select(nw.col(column)).to_arrow()
        except Exception:
            return shown(str(column))
    return "?"


def resolve_roles(table: Table, roles: Roles | None) -> Roles:
    """The roles, checked against the table; without any, all columns are quasi-identifiers if all are numbers."""
    columns = table.data.column_names
    check_names(columns, "the table")
    if roles is None:
        text = [shown(field.name) for field in table.data.schema if not holds_numbers(field.type)]
        if text:
            listed = ", ".join(text[:10]) + (", …" if len(text) > 10 else "")
            raise InputError(
                f"{counted(len(text), 'column')} not numeric ({listed}); "
                "give the columns roles with --quasi, --confidential and --drop"
            )
        return Roles(quasi=tuple(columns))
    if not roles.quasi:
        raise InputError("no column is a quasi-identifier; name at least 1 with --quasi")
    role_of: dict[str, Role] = {}
    for role in Role:
        for column in roles.columns(role):
            if column not in columns:
                raise unknown_column(column, columns, "the table")
            if column in role_of:
                raise InputError(
                    f"column {shown(column)} is listed twice ({role_of[column]} and {role}); give it one role"
                )
            role_of[column] = role
    return roles


def quasi_matrix(table: Table, roles: Roles) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """The quasi-identifiers as numbers (rows, columns), and which rows miss none of them; missing values are NaN."""
    matrix = np.empty((table.data.num_rows, len(roles.quasi)), dtype=np.float64)
    for place, column in enumerate(roles.quasi):
        matrix[:, place] = column_numbers(table.data[column], shown(column))
    complete: npt.NDArray[np.bool_] = np.logical_not(np.isnan(matrix).any(axis=1))
    return matrix, complete


def check_complete(
    table: Table, roles: Roles, complete: npt.NDArray[np.bool_], remedy: str = ", or pass --missing group or withhold"
) -> None:
    """Refuse missing values: count them by column and name the first row."""
    if complete.all():
        return
    check_no_gaps(roles.quasi, quasi_matrix(table, roles)[0], remedy)


def check_no_gaps(columns: Sequence[str], numbers: npt.NDArray[np.float64], remedy: str) -> None:
    """Refuse missing values (NaN) of columns side by side: count them by column and name the first row."""
    found: list[str] = []
    for place, column in enumerate(columns):
        rows = np.flatnonzero(np.isnan(numbers[:, place]))
        if rows.size and not found:
            found.append(f"{shown(column)}: {counted(rows.size, 'missing value')} (first in row {rows[0] + 1})")
        elif rows.size:
            found.append(f"{shown(column)}: {rows.size}")
    if found:
        raise InputError(f"column {', '.join(found)}; fill them, drop the rows{remedy}")


def holds_numbers(kind: pa.DataType) -> bool:
    """Whether a column of this type can be averaged."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    return any(test(kind) for test in tests)


def column_numbers(column: pa.ChunkedArray, name: str) -> npt.NDArray[np.float64]:
    """The column as float64, NaN where a value is missing."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not holds_numbers(column.type):
        raise not_numbers(column, name)
    numbers: npt.NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy()
    infinite = np.flatnonzero(np.isinf(numbers))
    if infinite.size:
        raise InputError(
            f"column {name}: {counted(infinite.size, 'infinite value')} (first in row {infinite[0] + 1}); "
            "replace them or drop the rows"
        )
    vast = np.flatnonzero(np.abs(numbers) >= _LARGEST)
    if vast.size:
        raise InputError(
            f"column {name}: {counted(vast.size, 'number')} of {_LARGEST:g} or more (first in row {vast[0] + 1}), too "
            f"large to square; rescale the column or {_OTHER_ROLE}"
        )
    whole = pa.types.is_integer(column.type) or (pa.types.is_decimal(column.type) and column.type.scale <= 0)
    large = np.flatnonzero(np.abs(numbers) >= 2**53) if whole else np.empty(0, dtype=np.intp)
    if large.size:
        raise InputError(
            f"column {name}: {counted(large.size, 'integer')} of 2^53 or more (first in row {large[0] + 1}) would lose "
            f"digits; rescale the column or {_OTHER_ROLE}"
        )
    return numbers


def not_numbers(column: pa.ChunkedArray, name: str, remedy: str = "correct them") -> InputError:
    """Why this column cannot be averaged, and what to do."""
    kind = column.type
    if pa.types.is_boolean(kind):
        return InputError(f"column {name} is true or false, not a number; recode it as 0 and 1, or {_OTHER_ROLE}")
    if pa.types.is_temporal(kind):
        return InputError(
            f"column {name} holds dates or times, not numbers; recode it, say as a year or days, or {_OTHER_ROLE}"
        )
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        return InputError(f"column {name} is {kind}, not numbers; {_OTHER_ROLE}")
    texts = column.cast(pa.large_string())
    present = pc.and_(pc.is_valid(texts), pc.invert(pc.is_in(texts, pa.array(MISSING, pa.large_string()))))
    wrong = pc.and_(present, pc.invert(pc.fill_null(pc.match_substring_regex(texts, _NUMBER), False)))
    rows = np.flatnonzero(wrong.to_numpy())
    if not rows.size:  # also long integers in a CSV, which are kept as text
        return InputError(
            f"column {name} is text, though no value is anything but a number; convert it to numbers below 2^53, "
            f"or {_OTHER_ROLE}"
        )
    return InputError(
        f"column {name} is text, which cannot be averaged: {rows.size} of {counted(len(texts), 'value')} not numbers "
        f"(first in row {rows[0] + 1}); {remedy}, or {_OTHER_ROLE}"
    )
