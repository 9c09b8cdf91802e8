"""Counting a release of a table: k by equal rows, l by the confidential values. Shares nothing with the methods."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from shoal.results.claims import Claim
from shoal.verification import delimited
from shoal.verification.copies import as_shown, check_dictionary
from shoal.verification.parquet import check_memory, layout_of, parquet_file
from shoal.verification.promises import (
    Counts,
    GroupCounts,
    Units,
    check_rows,
    columns_as_promised,
    crowd_claims,
    gaps_as_promised,
    rows_as_promised,
    unit_claims,
    visible_claims,
)
from shoal.verification.release_files import Refused, ReleaseFolder, owned_by_arrow
from shoal.verification.values import DistinctValues, bounds_of_copy

TABLE_FILES = ("table.csv", "table.tsv", "table.csv.gz", "table.tsv.gz", "table.parquet")
MOST_ROWS = 1 << 17  # of a row group
KEY = ("quasi", "weight")  # roles of columns that are equal within a crowd
UNIT = "unit"  # the column that numbers people or households
KINDS = {"string": pa.string(), "int64": pa.int64(), "double": pa.float64()}  # of columns in text files
Ints = NDArray[np.int64]
NO_VALUE = np.iinfo(np.int64).min  # the bits of a gap: those of minus zero, which no release has


def table_claims(release: ReleaseFolder, promises: dict[str, Any], counts: Counts) -> Iterator[Claim]:
    """Every promise about the rows, counted from the file, or from its parts one at a time."""
    parts = release.parts("table")
    copy = promises.get("copy")
    beside = [name for name in TABLE_FILES if name in release and not (copy and name == copy["file"])]
    if parts and beside:
        raise Refused("files", "the rows are there twice, in parts and in one file", beside[0])
    if copy and copy["file"] not in release:
        raise Refused("files", "is missing", copy["file"])
    if copy and beside != ["table.parquet"]:
        raise Refused("files", "there is a copy of rows that are not there in Parquet", copy["file"])
    file = parts[0] if parts else _only_file(release)
    quasi = [column["name"] for column in promises["columns"] if column["role"] in KEY]
    together = promises["anonymity"]["shared_columns"]
    shared = sorted(name for columns in together for name in columns)
    whole = promises["anonymity"]["whole_rows"]
    if not (quasi and all(together) and shared == sorted(quasi) and (not whole or len(together) == 1)):
        raise Refused("k-anonymity", "the promise does not speak of every protected column", file)
    units = [column for column in promises["columns"] if column["role"] == UNIT]
    if units and (units != promises["columns"][-1:] or units[0]["type"] != "int64" or not whole):
        raise Refused(
            "numbers", "people are numbered by the last column alone, in whole numbers, where k is promised", file
        )
    if units and (promises["diversity"]["l"] or {"closeness", "likeness"} & promises.keys()):
        raise Refused("numbers", "values are counted in groups of rows, and numbers join the rows of people", file)
    rows = TableRows(promises)
    if file.endswith(".parquet"):
        yield from _count_parquet(release, parts or [file], promises, rows)
    else:
        yield from _count_text(release, file, promises, rows)
    counts.group_sizes.update(rows.whole.sizes)
    counts.texts.update(rows.texts)
    yield rows_as_promised(rows.n_rows, promises, file)
    yield from gaps_as_promised(rows.gaps, promises, file)
    yield from crowd_claims(rows.sets, rows.whole, rows.values, rows.in_order(), promises, file)
    yield from visible_claims(rows.showing, promises, file)
    if rows.units is not None:
        yield from unit_claims(rows.units, rows.whole.sizes, promises, file)
    if copy:
        check_dictionary(parquet_file(release, file).read(), copy)
        yield from bounds_of_copy(rows.shown, len(rows.whole), promises, copy["file"])


def _count_parquet(
    release: ReleaseFolder, files: list[str], promises: dict[str, Any], rows: TableRows
) -> Iterator[Claim]:
    layouts = {name: layout_of(release, name, MOST_ROWS) for name in files}
    check_rows(sum(layout.rows for layout in layouts.values()), promises, files[0])
    for name, layout in layouts.items():
        schema = parquet_file(release, name).schema_arrow
        yield columns_as_promised(_names(promises), schema.names, promises, name)
        yield _types_as_promised(schema, promises, name)
        file = parquet_file(release, name, layout.texts)
        rows.next_part()
        for number in range(len(layout.row_groups)):
            table = file.read_row_group(number).combine_chunks()
            check_memory(sum(map(_bytes_of_texts, table.columns)), name)
            rows.count(table, name)


def _count_text(release: ReleaseFolder, file: str, promises: dict[str, Any], rows: TableRows) -> Iterator[Claim]:
    names = _names(promises)
    numbers = {column["name"] for column in promises["columns"] if is_bare_number(column)}
    kinds = {column["name"]: column["type"] for column in promises["columns"]}
    protected = [column["type"] for column in promises["columns"] if column["role"] in KEY]
    if not {*kinds.values()} <= {"string", *delimited.NUMBERS} or not {*protected} <= {"string", "double", "int64"}:
        raise Refused("schema", "a type is promised that a text file does not have", file)
    yield columns_as_promised(names, names, promises, file)
    rows.next_part()
    for table in delimited.rows_as_written(release, file, names, numbers):
        rows.count(table, file)
        for name in kinds.keys() - numbers:
            if kinds[name] != "string" and not delimited.are_numbers(table[name], kinds[name]):
                raise Refused("schema", f"a column is promised as {kinds[name]}, and a value in it is not one", file)


def _types_as_promised(schema: pa.Schema, promises: dict[str, Any], file: str) -> Claim:
    """Types are those of the certificate; what is protected is a finite double, a whole number, a date or text."""
    if [column["type"] for column in promises["columns"]] != [str(kind) for kind in schema.types]:
        raise Refused("schema", "the types differ", file)
    for column in promises["columns"]:
        kind = schema.field(column["name"]).type
        if column["role"] in KEY and not _can_be_protected(kind):
            raise Refused("schema", f"a protected column is {kind}, not a double, a whole number, a date or text", file)
        if not _is_shown(kind):
            raise Refused("schema", f"a column is {kind}, which no release has", file)
    return Claim("schema", True, "types as promised", file)


def _can_be_protected(kind: pa.DataType) -> bool:
    dates = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    return dates or kind in (pa.float64(), pa.int64(), pa.string())


def _bytes_of_texts(column: pa.ChunkedArray) -> int:
    """Bytes of a column of texts, written out."""
    if not pa.types.is_dictionary(column.type):
        return 0
    encoded = column.combine_chunks()
    lengths = np.append(pc.binary_length(encoded.dictionary).to_numpy(zero_copy_only=False), 0)
    return int(lengths[encoded.indices.fill_null(len(lengths) - 1).to_numpy()].sum())


def _names(promises: dict[str, Any]) -> list[str]:
    return [column["name"] for column in promises["columns"]]


def _is_shown(kind: pa.DataType) -> bool:
    """Whether every reader shows the values of a column: binary ones and lists are not shown."""
    plain = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_floating)
    return any(is_kind(kind) for is_kind in (*plain, pa.types.is_boolean, pa.types.is_temporal, pa.types.is_decimal))


def _only_file(release: ReleaseFolder) -> str:
    file, *others = [name for name in TABLE_FILES if name in release]
    if others and "table.parquet" in release:
        return "table.parquet"  # the other is a copy, or is refused as one file too many
    if others:
        raise ValueError("more than one table")
    return file


def read_released_table(release: ReleaseFolder, columns: list[dict[str, str]]) -> pa.Table:
    """The released rows, of all parts, with the types that the certificate states."""
    return pa.concat_tables(_read(release, name, columns) for name in release.parts("table") or [_only_file(release)])


def _read(release: ReleaseFolder, file: str, columns: list[dict[str, str]]) -> pa.Table:
    if file.endswith(".parquet"):
        return parquet_file(release, file).read()
    with release.open(file) as opened:
        raw = opened.read()
    content = gzip.decompress(raw) if file.endswith(".gz") else raw
    types = {column["name"]: KINDS[column["type"]] for column in columns}

    def read(block: int) -> pa.Table:
        return pyarrow.csv.read_csv(
            pa.BufferReader(owned_by_arrow(content)),
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


def is_bare_number(column: dict[str, str]) -> bool:
    """Whether a column of the certificate holds numbers that were protected, or made."""
    return column["role"] in (*KEY, UNIT) and column["type"] in ("double", "int64")


def _missing(column: pa.Array) -> int:
    """Cells without a value: null, or in text files the empty text."""
    if pa.types.is_dictionary(column.type) or pa.types.is_string(column.type):
        return int(column.null_count + (pc.sum(pc.equal(column.cast(pa.string()), "")).as_py() or 0))
    return int(column.null_count)


class TableRows:
    """Rows counted as they go by, a batch at a time: what is kept is one line per group."""

    def __init__(self, promises: dict[str, Any]) -> None:
        roles = {column["name"]: column["role"] for column in promises["columns"]}
        self.n_rows = 0
        self.values = {name: DistinctValues() for name, role in roles.items() if role == "confidential"}
        self._copy = promises.get("copy", {}).get("file")
        self.shown = {name: DistinctValues() for name in self.values if self._copy}  # as the copy shows them
        self._most = promises["rows"]
        self._quasi = [name for name, role in roles.items() if role in KEY]
        self._numbers = {column["name"]: column["type"] for column in promises["columns"] if is_bare_number(column)}
        self.gaps: dict[str, int] = {}  # protected columns in which values are missing that may be, and how many
        self._may_have_gaps = {column["name"] for column in promises["columns"] if "gaps" in column}
        self.texts: dict[str, dict[str | None, int]] = {name: {} for name in self._quasi}
        self.whole = _EqualRows(self._quasi)
        self.sets = [_EqualRows(columns) for columns in promises["anonymity"]["shared_columns"]]
        self.showing: dict[str, Counter[str | None]] = {
            visible["column"]: Counter() for visible in promises.get("visible", ())
        }
        self._first_rows: list[pa.Table] = []
        self._last_row: pa.Table | None = None
        self._rows_in_order = True
        self.units = Units(promises["columns"][-1]["name"]) if UNIT in roles.values() else None

    def next_part(self) -> None:
        """The rows that follow are another part's."""
        self._last_row = None
        for groups in self.sets:
            groups.next_part()
        self.whole.next_part()

    def count(self, table: pa.Table, file: str) -> None:
        """Take in some rows."""
        if table.num_rows == 0:
            return
        self.n_rows += table.num_rows
        if self.n_rows > self._most:
            raise Refused("rows", f"more rows than the {self._most:,} that are promised", file)
        table = table.combine_chunks()
        bits = {name: self._bits(name, table[name].chunk(0), file) for name in self._quasi}
        for groups in self.sets:
            groups.count(bits)
        group_of_row = self.whole.count(bits)
        for name, values in self.values.items():
            values.add(group_of_row, table[name].chunk(0), file)
        for name, values in self.shown.items():
            values.add(group_of_row, as_shown(table[name].chunk(0), self._copy), file)
        for name, showing in self.showing.items():
            for counted in pc.value_counts(table[name].chunk(0)).to_pylist():
                showing[counted["values"]] += counted["counts"]
        if self.units is not None:
            self.units.add(table, group_of_row, file)
        self._look_at_order(table)

    def in_order(self) -> bool:
        """Rows rise within each part, and the parts by their first rows."""
        return self._rows_in_order and _is_sorted(pa.concat_tables(self._first_rows))

    def _bits(self, name: str, column: pa.Array, file: str) -> Ints:
        """A number for each value, the same for equal ones only: a double's bits, a text's place among those seen."""
        if name in self._may_have_gaps:
            self.gaps[name] = self.gaps.get(name, 0) + _missing(column)
        if not (pa.types.is_string(column.type) or pa.types.is_dictionary(column.type)):
            return self._bits_of_numbers(name, column, file)
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        texts = encoded.dictionary.to_pylist()
        if name in self._numbers:
            self._check_numbers(name, texts, file)
        codes = self.texts[name]
        place: Ints = encoded.indices.fill_null(len(texts)).to_numpy()
        code_of_text = np.array([codes.setdefault(text, len(codes)) for text in [*texts, None]], dtype=np.int64)
        return code_of_text[place]

    def _bits_of_numbers(self, name: str, column: pa.Array, file: str) -> Ints:
        """Of doubles, whole numbers and dates; a gap has bits of its own, where there may be one."""
        if column.null_count and name not in self._may_have_gaps:  # a missing label is a value of its own
            raise Refused("k-anonymity", f"{column.null_count} protected numbers are missing", file)
        gaps = np.asarray(pc.is_null(column))
        if pa.types.is_floating(column.type):
            values: NDArray[np.float64] = column.fill_null(0.0).to_numpy()
            if not np.all(np.isfinite(values)) or np.any((values == 0.0) & np.signbit(values)):
                raise Refused("k-anonymity", "a protected number is not finite, or is minus zero", file)
            bits = values.view(np.int64)
        else:
            narrow = pa.int32() if column.type.bit_width == 32 else pa.int64()
            bits = np.asarray(column.cast(narrow).fill_null(0)).astype(np.int64)
            if np.any(bits == NO_VALUE):
                raise Refused("k-anonymity", "a protected number is beyond the numbers that a release has", file)
        return np.where(gaps, NO_VALUE, bits)

    def _check_numbers(self, name: str, texts: list[str], file: str) -> None:
        given = [text for text in texts if text != "" or name not in self._may_have_gaps]
        if not all(map(delimited.is_number, given)):
            raise Refused("k-anonymity", "a protected number is missing, or not spelt as Shoal spells it", file)
        if self._numbers[name] == "int64" and not all(map(delimited.is_whole, given)):
            raise Refused("schema", "a column is promised as int64, and a value in it is not one", file)

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


class _EqualRows(GroupCounts):
    """Rows that are equal in some columns, counted over all batches."""

    def __init__(self, columns: list[str]) -> None:
        super().__init__()
        self._columns = columns

    def count(self, bits: dict[str, Ints]) -> Ints:
        """The number of each row's group."""
        columns = [bits[name] for name in self._columns]
        codes = _codes(columns[0])
        for column in columns[1:]:  # below 2 ** 62: there are fewer codes than rows
            codes = _codes(codes * len(column) + _codes(column))
        first = np.empty(codes.max() + 1, dtype=np.int64)
        first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
        different = np.ascontiguousarray(np.column_stack(columns)[first])
        sizes = zip(different, np.bincount(codes).tolist(), strict=True)
        numbers: Ints = np.array([self.add(row.tobytes(), size) for row, size in sizes], dtype=np.int64)
        return numbers[codes]


def _codes(values: Ints) -> Ints:
    """Each value's place among the different ones."""
    codes: Ints = pa.array(values).dictionary_encode().indices.to_numpy().astype(np.int64)
    return codes


def _numbers_of(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Protected numbers as numbers; they are text in text files."""
    if not (pa.types.is_string(column.type) or pa.types.is_dictionary(column.type)):
        return column
    texts = column.cast(pa.string())
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts).cast(pa.float64())


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
