"""Tables from files, databases and dataframes.

Messages name files, columns and rows, never what a cell holds: that is confidential. Rows count from 1.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

from shoal.data.columns import value_type, without_extension
from shoal.data.files import check_names, is_folder, kind_of, read_bytes, reading, shown, unsupported
from shoal.data.formats.databases import read_query
from shoal.data.formats.dialects import parse_in_dialect
from shoal.data.formats.subprocess_reader import read_in_subprocess
from shoal.data.kinds.missing_codes import without_codes
from shoal.data.sources import Query, TableFile, TableInMemory, format_of
from shoal.errors import InputError
from shoal.results.summary import ColumnDictionary, Dialect


@dataclass(frozen=True)
class Table:
    """The rows, the format they came in (csv, tsv, csv.gz, tsv.gz, parquet, sav, dta, xpt, sas7bdat, xlsx, feather or
    memory), and what the format knows of columns."""

    data: pa.Table
    format: str
    dictionary: Mapping[str, ColumnDictionary] = field(default_factory=dict)
    dialect: Dialect | None = None  # of a text file that is not written in the usual way


def read_table(source: Any, verbatim: Iterable[str] = ()) -> Table:
    """A table from a CSV, TSV (also gzipped) or Parquet file, or from a dataframe of any library.

    In columns of numbers an empty cell, `.`, `?`, NA, N/A, NaN and null are missing values. A column that mixes numbers
    and text is text, and text is taken as it stands. So is every column of a CSV or TSV that is named in `verbatim`.
    """
    codes = getattr(source, "missing_codes", None)
    if not codes:
        return _read(source, verbatim)
    read = _read(source.data if isinstance(source, TableInMemory) else source, verbatim)
    return replace(read, data=without_codes(read.data, codes, frozenset(verbatim)))


def _read(source: Any, verbatim: Iterable[str]) -> Table:
    if isinstance(source, Table):
        return source
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
            data.validate(full=True)  # text that is not UTF-8 would only show when it is used
            return _checked(data, kind, name)
        suffix = ".gz" if os.fspath(source).lower().endswith(".gz") else ""
        given = source if isinstance(source, TableFile) else None
        data, dialect = parse_in_dialect(read_bytes(source), kind, name, verbatim, given)
        return replace(_checked(data, kind + suffix, name), dialect=dialect)


def _in_format(source: str | os.PathLike[str], format: str, verbatim: Iterable[str]) -> Table:
    """A table of a statistics package or a spreadsheet, or a Feather file."""
    if format == "database":
        raise InputError(f"{Query(source, '…')} is a database; say what to read: {{option}}", "query select * from …")
    name, given = shown(source), source if isinstance(source, TableFile) else TableFile(source)
    if is_folder(source):
        raise InputError(f"{name} is a folder; give one file")
    with reading(source):
        if format == "feather":
            data = pyarrow.feather.read_table(os.fspath(source), memory_map=False)
            data.validate(full=True)
            return _checked(data, format, name)
        data, dictionary = read_in_subprocess(source, format, verbatim, given)
        return replace(_checked(data, format, name), dictionary=dictionary)


def _checked(data: pa.Table, format: str, name: str) -> Table:
    check_names(data.column_names, name)
    if data.num_columns == 0 or data.num_rows == 0:
        raise InputError(f"{name} has {data.num_columns} columns and {data.num_rows} rows; both must be at least 1")
    for number, column in enumerate(data.schema):
        if pa.types.is_string_view(column.type):  # Arrow cannot sort or take these yet
            data = data.set_column(number, column.name, data[column.name].cast(pa.large_string()))
        elif isinstance(value_type(column.type), pa.BaseExtensionType):
            data = data.set_column(number, column.name, without_extension(data[column.name].combine_chunks()))
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
