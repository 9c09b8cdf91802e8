"""Counting a release of a table: k by equal rows, l by the confidential values. Shares nothing with the methods."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from shoal.results.claims import Claim
from shoal.verification.distinct_values import DistinctValues
from shoal.verification.forms import delimited
from shoal.verification.forms.parquet import check_room, layout_of
from shoal.verification.forms.refused import Refused
from shoal.verification.forms.rewritten import Rewriting
from shoal.verification.promises import (
    anonymity,
    canonical_order,
    check_rows,
    columns_as_promised,
    diversity,
    nothing_rides_along,
    only_of_confidential,
    rows_as_promised,
)
from shoal.verification.row_files import parts_of

__all__ = ["TABLE_FILES", "read_released_table", "table_claims"]

TABLE_FILES = ("table.csv", "table.tsv", "table.csv.gz", "table.tsv.gz", "table.parquet")
ROWS_AT_ONCE = {"shoal-certificate/1": 1 << 20}  # rows of a row group, where a format has others than these:
ROWS_OF_A_ROW_GROUP = 1 << 17
KINDS = {"string": pa.string(), "int64": pa.int64(), "double": pa.float64()}  # of columns in text files

Ints = NDArray[np.int64]


def table_claims(release: Path, promises: dict[str, Any], format: str) -> Iterator[Claim]:
    """Every promise about the rows, counted from the file, or from its parts one at a time."""
    parts = parts_of(release, "table")
    beside = [name for name in TABLE_FILES if (release / name).exists()]
    if parts and beside:
        yield Claim("files", False, "the rows are there twice, in parts and in one file", beside[0])
        return
    file = parts[0] if parts else _only_file(release)
    quasi = [column["name"] for column in promises["columns"] if column["role"] == "quasi"]
    together = promises["anonymity"]["shared_columns"]
    shared = sorted(name for columns in together for name in columns)
    whole = promises["anonymity"]["whole_rows"]
    if not (quasi and all(together) and shared == sorted(quasi) and (not whole or len(together) == 1)):
        yield Claim("k-anonymity", False, "the promise does not speak of every protected column", file)
        return
    rows = Rows(promises)
    if file.endswith(".parquet"):
        yield from _count_parquet(release, parts or [file], promises, format, rows)
    else:
        yield from _count_text(release, file, promises, rows)
    yield rows_as_promised(rows.n_rows, promises, file)
    yield anonymity(rows.smallest(), promises, file)
    if parts and rows.smallest_in_a_part() < (promises["anonymity"]["k"] or 1):
        # Equal rows in different files can be told apart.
        yield Claim("k-anonymity", False, "a part has fewer than k of the rows that are equal", file)
    yield from only_of_confidential(promises, file)
    for name, values in rows.values.items():
        yield diversity(name, *values.in_groups(rows.n_groups), promises, file)
    yield canonical_order(rows.in_order(), file)


def _count_parquet(
    release: Path, files: list[str], promises: dict[str, Any], format: str, rows: Rows
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


def _count_text(release: Path, file: str, promises: dict[str, Any], rows: Rows) -> Iterator[Claim]:
    names = _names(promises)
    numbers = {column["name"] for column in promises["columns"] if _is_protected_number(column)}
    kinds = {column["name"]: column["type"] for column in promises["columns"]}
    protected = [column["type"] for column in promises["columns"] if column["role"] == "quasi"]
    if not {*kinds.values()} <= {"string", *delimited.NUMBERS} or not {*protected} <= {"string", "double"}:
        raise Refused("schema", "a type is promised that a text file does not have", file)
    yield columns_as_promised(names, names, promises, file)
    rows.next_part()
    for table in delimited.rows_as_written(release / file, names, numbers):
        rows.count(table, file)
        for name in kinds.keys() - numbers:
            if kinds[name] != "string" and not delimited.are_numbers(table[name], kinds[name]):
                raise Refused("schema", f"a column is promised as {kinds[name]}, and a value in it is none", file)


def _types_as_promised(schema: pa.Schema, promises: dict[str, Any], file: str) -> Claim:
    """Types are those of the certificate; what is protected is a finite double or text."""
    if [column["type"] for column in promises["columns"]] != [str(kind) for kind in schema.types]:
        raise Refused("schema", "the types differ", file)
    for column in promises["columns"]:
        kind = schema.field(column["name"]).type
        if column["role"] == "quasi" and kind not in (pa.float64(), pa.string()):
            raise Refused("schema", f"a protected column is {kind}, not a double or text", file)
        if pa.types.is_nested(kind):
            raise Refused("schema", f"a column is {kind}, which no release has", file)
    return Claim("schema", True, "types as promised", file)


class Rows:
    """Rows counted as they go by, a batch at a time: what is kept is one line per group."""

    def __init__(self, promises: dict[str, Any]) -> None:
        roles = {column["name"]: column["role"] for column in promises["columns"]}
        self.n_rows = 0
        self.values = {name: DistinctValues() for name, role in roles.items() if role == "confidential"}
        self._most = promises["rows"]
        self._quasi = [name for name, role in roles.items() if role == "quasi"]
        self._numbers = {column["name"] for column in promises["columns"] if _is_protected_number(column)}
        self._texts: dict[str, dict[str | None, int]] = {name: {} for name in self._quasi}
        self._whole = _Groups(self._quasi)
        self._sets = [_Groups(columns) for columns in promises["anonymity"]["shared_columns"]]
        self._first_rows: list[pa.Table] = []
        self._last_row: pa.Table | None = None
        self._rows_in_order = True

    def next_part(self) -> None:
        """The rows that follow are another part's."""
        self._last_row = None
        for groups in self._sets:
            groups.next_part()
        self._whole.next_part()

    def count(self, table: pa.Table, file: str) -> None:
        """Take in some rows."""
        if table.num_rows == 0:
            return
        self.n_rows += table.num_rows
        if self.n_rows > self._most:
            raise Refused("rows", f"more rows than the {self._most:,} that are promised", file)
        table = table.combine_chunks()
        bits = {name: self._bits(name, table[name].chunk(0), file) for name in self._quasi}
        for groups in self._sets:
            groups.count(bits)
        group_of_row = self._whole.count(bits)
        for name, values in self.values.items():
            values.add(group_of_row, table[name].chunk(0))
        self._look_at_order(table)

    def smallest(self) -> int:
        """How many rows share the rarest values."""
        return min(min(groups.seen.values()) for groups in self._sets)

    def smallest_in_a_part(self) -> int:
        return min(min(seen.values()) for groups in self._sets for seen in groups.seen_in_part)

    @property
    def n_groups(self) -> int:
        return len(self._whole.seen)

    def in_order(self) -> bool:
        """Rows rise within each part, and the parts by their first rows."""
        return self._rows_in_order and _is_sorted(pa.concat_tables(self._first_rows))

    def _bits(self, name: str, column: pa.Array, file: str) -> Ints:
        """A number for each value, the same for equal ones only: a double's bits, a text's place among those seen."""
        if pa.types.is_floating(column.type):
            if column.null_count:  # a missing label is a value of its own, a missing number is not
                raise Refused("k-anonymity", f"{column.null_count} protected numbers are missing", file)
            values: NDArray[np.float64] = column.to_numpy()
            if not np.all(np.isfinite(values)) or np.any((values == 0.0) & np.signbit(values)):
                raise Refused("k-anonymity", "a protected number is not finite, or is minus zero", file)
            return values.view(np.int64)
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        texts = encoded.dictionary.to_pylist()
        if name in self._numbers and not all(map(delimited.is_number, texts)):
            raise Refused("k-anonymity", "a protected number is missing, or not spelt as Shoal spells it", file)
        codes = self._texts[name]
        place: Ints = encoded.indices.fill_null(len(texts)).to_numpy()
        code_of_text = np.array([codes.setdefault(text, len(codes)) for text in [*texts, None]], dtype=np.int64)
        return code_of_text[place]

    def _look_at_order(self, table: pa.Table) -> None:
        """Rows rise by their columns from left to right."""
        plain = pa.table(
            {name: _numbers_of(table[name]) if name in self._numbers else table[name] for name in table.column_names}
        )
        self._rows_in_order &= _is_sorted(plain)
        ends = [_plain_row(plain, place) for place in (0, table.num_rows - 1)]
        if self._last_row is None:
            self._first_rows.append(ends[0])
        else:
            self._rows_in_order &= _is_sorted(pa.concat_tables([self._last_row, ends[0]]))
        self._last_row = ends[1]


class _Groups:
    """Rows that are equal in some columns, counted over all batches."""

    def __init__(self, columns: list[str]) -> None:
        self.seen: Counter[int] = Counter()  # rows by the number of their group
        self.seen_in_part: list[Counter[int]] = []
        self._columns = columns
        self._numbers: dict[bytes, int] = {}  # of groups, by the bits of their values

    def next_part(self) -> None:
        self.seen_in_part.append(Counter())

    def count(self, bits: dict[str, Ints]) -> Ints:
        """The number of each row's group."""
        columns = [bits[name] for name in self._columns]
        codes = _codes(columns[0])
        for column in columns[1:]:  # below 2 ** 62: there are fewer codes than rows
            codes = _codes(codes * len(column) + _codes(column))
        first = np.empty(codes.max() + 1, dtype=np.int64)
        first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
        different = np.ascontiguousarray(np.column_stack(columns)[first])
        numbers = np.array([self._numbers.setdefault(row.tobytes(), len(self._numbers)) for row in different])
        counts = dict(zip(numbers.tolist(), np.bincount(codes).tolist(), strict=True))
        self.seen.update(counts)
        self.seen_in_part[-1].update(counts)
        group_of_row: Ints = numbers[codes]
        return group_of_row


def _codes(values: Ints) -> Ints:
    """Each value's place among the different ones."""
    codes: Ints = pa.array(values).dictionary_encode().indices.to_numpy().astype(np.int64)
    return codes


def _numbers_of(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Protected numbers as numbers; they are text in text files."""
    return column if pa.types.is_floating(column.type) else column.cast(pa.float64())


def _is_sorted(table: pa.Table) -> bool:
    keys = [(f"{place}", "ascending") for place in range(table.num_columns)]
    ranked = pa.table({f"{place}": _ranked(column) for place, column in enumerate(table.columns)})
    order = pc.sort_indices(ranked, sort_keys=keys).to_numpy()  # equal rows stay as they stand
    return bool(np.array_equal(order, np.arange(len(order))))


def _ranked(column: pa.ChunkedArray) -> Any:
    """The column, or of repeated texts their places in the order of texts: those can be sorted."""
    if not pa.types.is_dictionary(column.type):
        return column
    encoded = column.combine_chunks()
    rank = np.empty(len(encoded.dictionary), dtype=np.int64)
    rank[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(rank))
    return pa.array(rank).take(encoded.indices)


def _plain_row(table: pa.Table, place: int) -> pa.Table:
    """One row, its texts written out."""
    row = table.slice(place, 1)
    types = [column.type.value_type if pa.types.is_dictionary(column.type) else column.type for column in row.columns]
    return row.cast(pa.schema(list(zip(row.column_names, types, strict=True))))


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
    if others:
        raise ValueError("more than one table")
    return file


def _is_protected_number(column: dict[str, str]) -> bool:
    return column["role"] == "quasi" and column["type"] == "double"


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
