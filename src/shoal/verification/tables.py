"""Counting a release of a table: k by equal rows, l by the confidential values. Shares nothing with the methods."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from shoal.results.claims import Claim
from shoal.verification.copies.claims import copy_claims
from shoal.verification.forms import delimited
from shoal.verification.forms.parquet import check_room, layout_of
from shoal.verification.forms.refused import Refused
from shoal.verification.forms.rewritten import Rewriting
from shoal.verification.promises import (
    check_rows,
    columns_as_promised,
    crowd_claims,
    gaps_as_promised,
    nothing_rides_along,
    rows_as_promised,
)
from shoal.verification.row_files import parts_of
from shoal.verification.table_rows import TableRows, is_protected_number

__all__ = ["TABLE_FILES", "read_released_table", "table_claims"]

TABLE_FILES = ("table.csv", "table.tsv", "table.csv.gz", "table.tsv.gz", "table.parquet")
ROWS_AT_ONCE = {"shoal-certificate/1": 1 << 20}  # rows of a row group, where a format has others than these:
ROWS_OF_A_ROW_GROUP = 1 << 17
KINDS = {"string": pa.string(), "int64": pa.int64(), "double": pa.float64()}  # of columns in text files


def table_claims(release: Path, promises: dict[str, Any], format: str) -> Iterator[Claim]:
    """Every promise about the rows, counted from the file, or from its parts one at a time."""
    parts = parts_of(release, "table")
    copy = promises.get("copy")
    beside = [name for name in TABLE_FILES if (release / name).exists() and not (copy and name == copy["file"])]
    if parts and beside:
        yield Claim("files", False, "the rows are there twice, in parts and in one file", beside[0])
        return
    if copy and beside != ["table.parquet"]:
        yield Claim("files", False, "there is a copy of rows that are not there in Parquet", copy["file"])
        return
    file = parts[0] if parts else _only_file(release)
    quasi = [column["name"] for column in promises["columns"] if column["role"] == "quasi"]
    together = promises["anonymity"]["shared_columns"]
    shared = sorted(name for columns in together for name in columns)
    whole = promises["anonymity"]["whole_rows"]
    if not (quasi and all(together) and shared == sorted(quasi) and (not whole or len(together) == 1)):
        yield Claim("k-anonymity", False, "the promise does not speak of every protected column", file)
        return
    rows = TableRows(promises)
    if file.endswith(".parquet"):
        yield from _count_parquet(release, parts or [file], promises, format, rows)
    else:
        yield from _count_text(release, file, promises, rows)
    yield rows_as_promised(rows.n_rows, promises, file)
    yield from gaps_as_promised(rows.gaps, promises, file)
    yield from crowd_claims(rows.sets, rows.whole, rows.values, rows.in_order(), promises, file)
    if copy:
        yield from copy_claims(release, pq.ParquetFile(release / file).read(), copy)


def _count_parquet(
    release: Path, files: list[str], promises: dict[str, Any], format: str, rows: TableRows
) -> Iterator[Claim]:
    at_once = ROWS_AT_ONCE.get(format, ROWS_OF_A_ROW_GROUP)
    layouts = {name: layout_of(release / name, name, at_once) for name in files}
    check_rows(sum(layout.rows for layout in layouts.values()), promises, files[0])
    for name, layout in layouts.items():
        plain = pq.ParquetFile(release / name)
        yield columns_as_promised(_names(promises), plain.schema_arrow.names, promises, name)
        yield _types_as_promised(plain.schema_arrow, promises, name)
        if not nothing_rides_along(plain):
            yield Claim("schema", False, "the file has notes of its writer", name)
            return
        opened = pq.ParquetFile(release / name, read_dictionary=layout.texts)  # repeated texts take no room
        rows.next_part()
        rewriting = Rewriting(release / name, name, layout, plain.schema_arrow)
        for number, group in enumerate(layout.row_groups):
            check_room(sum(chunk.room for chunk in group.chunks), name)
            table = opened.read_row_group(number).combine_chunks()
            check_room(sum(map(_room_of_texts, table.columns)), name)
            rows.count(table, name)
            rewriting.add(table.cast(plain.schema_arrow))
        yield rewriting.claim()


def _count_text(release: Path, file: str, promises: dict[str, Any], rows: TableRows) -> Iterator[Claim]:
    names = _names(promises)
    numbers = {column["name"] for column in promises["columns"] if is_protected_number(column)}
    kinds = {column["name"]: column["type"] for column in promises["columns"]}
    protected = [column["type"] for column in promises["columns"] if column["role"] == "quasi"]
    if not {*kinds.values()} <= {"string", *delimited.NUMBERS} or not {*protected} <= {"string", "double", "int64"}:
        raise Refused("schema", "a type is promised that a text file does not have", file)
    yield columns_as_promised(names, names, promises, file)
    rows.next_part()
    for table in delimited.rows_as_written(release / file, names, numbers):
        rows.count(table, file)
        for name in kinds.keys() - numbers:
            if kinds[name] != "string" and not delimited.are_numbers(table[name], kinds[name]):
                raise Refused("schema", f"a column is promised as {kinds[name]}, and a value in it is none", file)


def _types_as_promised(schema: pa.Schema, promises: dict[str, Any], file: str) -> Claim:
    """Types are those of the certificate; what is protected is a finite double, a whole number, a date or text."""
    if [column["type"] for column in promises["columns"]] != [str(kind) for kind in schema.types]:
        raise Refused("schema", "the types differ", file)
    for column in promises["columns"]:
        kind = schema.field(column["name"]).type
        if column["role"] == "quasi" and not _can_be_protected(kind):
            raise Refused("schema", f"a protected column is {kind}, not a double, a whole number, a date or text", file)
        if pa.types.is_nested(kind):
            raise Refused("schema", f"a column is {kind}, which no release has", file)
    return Claim("schema", True, "types as promised", file)


def _can_be_protected(kind: pa.DataType) -> bool:
    dates = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    return dates or kind in (pa.float64(), pa.int64(), pa.string())


def _room_of_texts(column: pa.ChunkedArray) -> int:
    """Bytes of a column of texts, written out."""
    if not pa.types.is_dictionary(column.type):
        return 0
    encoded = column.combine_chunks()
    lengths = np.append(pc.binary_length(encoded.dictionary).to_numpy(zero_copy_only=False), 0)
    return int(lengths[encoded.indices.fill_null(len(lengths) - 1).to_numpy()].sum())


def _names(promises: dict[str, Any]) -> list[str]:
    return [column["name"] for column in promises["columns"]]


def _only_file(release: Path) -> str:
    file, *others = [name for name in TABLE_FILES if (release / name).is_file()]
    if others and (release / "table.parquet").is_file():
        return "table.parquet"  # the other is a copy, or is refused as one file too many
    if others:
        raise ValueError("more than one table")
    return file


def read_released_table(release: Path, columns: list[dict[str, str]]) -> pa.Table:
    """The released rows, of all parts, with the types that the certificate states."""
    return pa.concat_tables(
        _read(release, name, columns) for name in parts_of(release, "table") or [_only_file(release)]
    )


def _read(release: Path, file: str, columns: list[dict[str, str]]) -> pa.Table:
    if file.endswith(".parquet"):
        return pq.ParquetFile(release / file).read()
    raw = (release / file).read_bytes()
    content = gzip.decompress(raw) if file.endswith(".gz") else raw
    types = {column["name"]: KINDS[column["type"]] for column in columns}

    def read(block: int) -> pa.Table:
        return pyarrow.csv.read_csv(
            pa.BufferReader(delimited.owned_by_arrow(content)),
            read_options=pyarrow.csv.ReadOptions(block_size=block),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimited.delimiter(file), newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=types, null_values=list(delimited.MISSING), strings_can_be_null=False
            ),
        )

    try:
        return read(delimited.BLOCK)
    except pa.ArrowInvalid:  # A row longer than a block; then the file is one block.
        return read(min(len(content) + 1, 2**31 - 1))
