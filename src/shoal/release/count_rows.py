"""Counting a release of a table: k by equal rows, l by the confidential values. Shares nothing with the methods."""

from __future__ import annotations

import gzip
import sys
from collections import Counter
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
    """Every promise about the rows, counted from the file, or from its parts one at a time."""
    parts = parts_of(release, "table")
    beside = [name for name in TABLE_FILES if (release / name).exists()]
    if parts and beside:
        yield Claim("files", False, "the rows are there twice, in parts and in one file", beside[0])
        return
    file = parts[0] if parts else _only_file(release)
    quasi = [column["name"] for column in promises["columns"] if column["role"] == "quasi"]
    confidential = [column["name"] for column in promises["columns"] if column["role"] == "confidential"]
    together = promises["anonymity"]["shared_columns"]
    shared = sorted(name for columns in together for name in columns)
    whole = promises["anonymity"]["whole_rows"]
    speaks_of_all = quasi and all(together) and shared == sorted(quasi) and (not whole or len(together) == 1)
    rows = _Rows(quasi, together, confidential)
    for name in parts or [file]:
        table = _read(release, name, promises["columns"])
        yield from _schema_claims(release, name, table, promises)
        if not speaks_of_all:
            yield Claim("k-anonymity", False, "the promise does not speak of every protected column", name)
            return
        numbers = [column for column in quasi if _is_number(table[column])]
        missing = sum(table[column].null_count for column in numbers)
        if missing:  # a missing label is a value of its own, a missing number is not
            yield Claim("k-anonymity", False, f"{missing} protected numbers are missing", name)
            return
        # Counted as written: 1.0 and 1.00 are one number, but would tell two rows apart.
        written = _read(release, name, promises["columns"], as_text=True)
        if not name.endswith(".parquet") and _text(release / name) != _rewritten(written, numbers, name):
            marks = "quotes, line ends or the like are not those of a release: they mark rows"
            yield Claim("schema", False, marks, name)
        rows.count(table, written)
    yield rows_as_promised(rows.n_rows, promises, file)
    yield anonymity(rows.smallest(), promises, file)
    if parts and rows.smallest_in_a_part < (promises["anonymity"]["k"] or 1):
        # Equal rows in different files can be told apart.
        yield Claim("k-anonymity", False, "a part has fewer than k of the rows that are equal", file)
    yield from only_of_confidential(promises, file)
    for name, values in rows.values.items():
        different = len(set().union(*values.values()))
        yield diversity(name, [len(found) for found in values.values()], different, promises, file)
    yield canonical_order(rows.in_order(), file)


def _schema_claims(release: Path, file: str, table: pa.Table, promises: dict[str, Any]) -> Iterator[Claim]:
    yield columns_as_promised([column["name"] for column in promises["columns"]], table.column_names, promises, file)
    if file.endswith(".parquet"):
        types = [column["type"] for column in promises["columns"]] == [str(kind) for kind in table.schema.types]
        yield Claim("schema", types, "types as promised" if types else "the types differ", file)
        if not nothing_rides_along(pq.ParquetFile(release / file)):
            yield Claim("schema", False, "the file has notes of its writer", file)


class _Rows:
    """Rows counted as they go by, a part at a time: what is kept is one line a group."""

    def __init__(self, quasi: list[str], together: list[list[str]], confidential: list[str]) -> None:
        self.n_rows = 0
        self.smallest_in_a_part = sys.maxsize
        self.values: dict[str, dict[str, set[str]]] = {name: {} for name in confidential}
        self._quasi = quasi
        self._seen: list[tuple[list[str], Counter[str]]] = [(columns, Counter()) for columns in together]
        self._first_rows: list[pa.Table] = []
        self._parts_in_order = True

    def count(self, table: pa.Table, written: pa.Table) -> None:
        """Take in a part; `written` are its protected values as they stand in the file."""
        self.n_rows += table.num_rows
        for columns, seen in self._seen:
            for key, count in _grouped(written.select(columns), columns, ([], "count_all")):
                seen[key] += count
                self.smallest_in_a_part = min(self.smallest_in_a_part, count)
        for name, values in self.values.items():
            told = pa.array([told_by(value) for value in table[name].to_pylist()], pa.string())
            watched = written.select(self._quasi).append_column("", told)
            distinct = "", "distinct", pc.CountOptions(mode="only_valid")
            for key, found in _grouped(watched, self._quasi, distinct):
                values.setdefault(key, set()).update(found)
        self._parts_in_order &= _is_sorted(table)
        self._first_rows.append(table.slice(0, 1))

    def smallest(self) -> int:
        """How many rows share the rarest values."""
        return min(min(seen.values()) for _, seen in self._seen)

    def in_order(self) -> bool:
        """Rows rise within each part, and the parts by their first rows."""
        return self._parts_in_order and _is_sorted(pa.concat_tables(self._first_rows))


def _grouped(table: pa.Table, keys: list[str], aggregation: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """Each different row of the keys, and what the aggregation gives there."""
    grouped = table.group_by(keys).aggregate([aggregation])
    *columns, found = (column.to_pylist() for column in grouped.columns)  # by place: any name may be a key's
    return zip(map(repr, zip(*columns, strict=True)), found, strict=True)  # repr: 0.0 is not -0.0


def _is_sorted(table: pa.Table) -> bool:
    keys = [(name, "ascending") for name in table.column_names]
    return _same(table.take(pc.sort_indices(table, sort_keys=keys)), table)


def _only_file(release: Path) -> str:
    file, *others = [name for name in TABLE_FILES if (release / name).is_file()]
    if others:
        raise ValueError("more than one table")
    return file


def read_released_table(release: Path, columns: list[dict[str, str]]) -> pa.Table:
    """The released rows, of all parts; in text files protected numbers are read as such."""
    return pa.concat_tables(
        _read(release, name, columns) for name in parts_of(release, "table") or [_only_file(release)]
    )


def _read(release: Path, file: str, columns: list[dict[str, str]], as_text: bool = False) -> pa.Table:
    """The rows of a file; protected numbers are read as such, unless they are wanted as written."""
    if file.endswith(".parquet"):
        return pq.ParquetFile(release / file).read()
    numbers = pa.string() if as_text else pa.float64()
    types = {column["name"]: numbers if _is_protected_number(column) else pa.string() for column in columns}
    content = _text(release / file)

    def read(block: int) -> pa.Table:
        return pyarrow.csv.read_csv(
            pa.BufferReader(_owned_by_arrow(content)),
            read_options=pyarrow.csv.ReadOptions(block_size=block),
            parse_options=pyarrow.csv.ParseOptions(delimiter=_delimiter(file), newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=False),
        )

    try:
        return read(BLOCK)
    except pa.ArrowInvalid:  # A row longer than a block; then the file is one block.
        return read(min(len(content) + 1, 2**31 - 1))


def _owned_by_arrow(content: bytes) -> pa.Buffer:
    """A copy with no Python object behind it: an Arrow thread that lets go of one late would end in a crash at exit."""
    stream = pa.BufferOutputStream()
    stream.write(content)
    return stream.getvalue()


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
