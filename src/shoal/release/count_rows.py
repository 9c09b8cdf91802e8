"""Counting a release of a table: k by equal rows, l by the confidential values. Shares nothing with the methods."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from shoal.release.promises import (
    anonymity,
    canonical_order,
    columns_as_promised,
    diversity,
    nothing_rides_along,
    only_of_confidential,
    rows_as_promised,
    told_by,
)
from shoal.release.released_parts import parts_of
from shoal.results import Claim

__all__ = ["TABLE_FILES", "read_released_table", "table_claims"]

TABLE_FILES = ("table.csv", "table.tsv", "table.csv.gz", "table.tsv.gz", "table.parquet")
BLOCK = 1 << 24


def table_claims(release: Path, promises: dict[str, Any]) -> Iterator[Claim]:
    """Every promise about the rows, counted from the file."""
    file, table = read_released_table(release, promises["columns"])
    if parts_of(release, "table"):
        yield Claim("files", False, "there are parts beside it that no count looks into", file)
    yield columns_as_promised([column["name"] for column in promises["columns"]], table.column_names, promises, file)
    yield rows_as_promised(table.num_rows, promises, file)
    if file.endswith(".parquet"):
        types = [column["type"] for column in promises["columns"]] == [str(kind) for kind in table.schema.types]
        yield Claim("schema", types, "types as promised" if types else "the types differ", file)
        if not nothing_rides_along(pq.ParquetFile(release / file)):
            yield Claim("schema", False, "the file has notes of its writer", file)

    quasi = [column["name"] for column in promises["columns"] if column["role"] == "quasi"]
    parts = promises["anonymity"]["shared_columns"]
    whole = promises["anonymity"]["whole_rows"]
    shared = sorted(name for part in parts for name in part)
    if not quasi or not all(parts) or shared != sorted(quasi) or (whole and len(parts) != 1):
        yield Claim("k-anonymity", False, "the promise does not speak of every protected column", file)
        return
    missing = sum(table[name].null_count for name in quasi if _is_number(table[name]))
    if missing:  # a missing label is a value of its own, a missing number is not
        yield Claim("k-anonymity", False, f"{missing} protected numbers are missing", file)
        return
    numbers = [name for name in quasi if _is_number(table[name])]
    # Counted as written: 1.0 and 1.00 are one number, but would tell two rows apart.
    written = read_released_table(release, promises["columns"], as_text=True)[1]
    if not file.endswith(".parquet") and _text(release / file) != _rewritten(written, numbers, file):
        yield Claim("schema", False, "quotes, line ends or the like are not those of a release: they mark rows", file)
    smallest = min(pc.min(written.group_by(part).aggregate([([], "count_all")])["count_all"]).as_py() for part in parts)
    yield anonymity(smallest, promises, file)
    yield from only_of_confidential(promises, file)
    for column in promises["columns"]:
        if column["role"] == "confidential":
            told = [told_by(value) for value in table[column["name"]].to_pylist()]
            watched = written.select(quasi).append_column("", pa.array(told, pa.string()))
            grouped = watched.group_by(quasi).aggregate([("", "count_distinct", pc.CountOptions(mode="only_valid"))])
            distinct = grouped.column(grouped.num_columns - 1).to_pylist()
            different = len({value for value in told if value is not None})
            yield diversity(column["name"], distinct, different, promises, file)
    keys = [(name, "ascending") for name in table.column_names]
    in_order = _same(table.take(pc.sort_indices(table, sort_keys=keys)), table)
    yield canonical_order(in_order, file)


def read_released_table(release: Path, columns: list[dict[str, str]], as_text: bool = False) -> tuple[str, pa.Table]:
    """The data file's name and its rows; in text files protected numbers are read as such, unless wanted as written."""
    file, *others = [name for name in TABLE_FILES if (release / name).is_file()]
    if others:
        raise ValueError("more than one table")
    if file.endswith(".parquet"):
        return file, pq.ParquetFile(release / file).read()
    numbers = pa.string() if as_text else pa.float64()
    types = {column["name"]: numbers if _is_protected_number(column) else pa.string() for column in columns}
    content = _text(release / file)

    def read(block: int) -> pa.Table:
        return pyarrow.csv.read_csv(
            pa.BufferReader(content),
            read_options=pyarrow.csv.ReadOptions(block_size=block),
            parse_options=pyarrow.csv.ParseOptions(delimiter=_delimiter(file), newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=False),
        )

    try:
        return file, read(BLOCK)
    except pa.ArrowInvalid:  # A row longer than a block; then the file is one block.
        return file, read(min(len(content) + 1, 2**31 - 1))


def _is_protected_number(column: dict[str, str]) -> bool:
    return column["role"] == "quasi" and column["type"] == "double"


def _is_number(column: pa.ChunkedArray) -> bool:
    return not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def _text(path: Path) -> bytes:
    raw = path.read_bytes()
    return gzip.decompress(raw) if path.suffix == ".gz" else raw


def _delimiter(file: str) -> str:
    return "\t" if ".tsv" in file else ","


def _rewritten(written: pa.Table, numbers: list[str], file: str) -> bytes:
    """The rows as Shoal writes them: protected numbers bare, everything else in quotes, a line a row."""
    columns = [written[name] if name in numbers else _quoted(written[name]) for name in written.column_names]
    lines = pc.binary_join_element_wise(*columns, _delimiter(file)).to_pylist()
    header = _delimiter(file).join(_quoted(pa.array(written.column_names)).to_pylist())
    return "".join(f"{line}\n" for line in [header, *lines]).encode()


def _quoted(texts: Any) -> Any:
    return pc.binary_join_element_wise('"', pc.replace_substring(texts, '"', '""'), '"', "")


def _same(one: pa.Table, other: pa.Table) -> bool:
    """Equal cell by cell, a missing or undefined value being equal to itself."""
    return all(repr(one[name].to_pylist()) == repr(other[name].to_pylist()) for name in one.column_names)
