"""Rows of a release of a table, counted as they go by. Part of verification: shares nothing with the methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.verification.distinct_values import DistinctValues
from shoal.verification.forms import delimited
from shoal.verification.forms.refused import Refused
from shoal.verification.group_counts import GroupCounts

__all__ = ["TableRows", "is_protected_number"]

Ints = NDArray[np.int64]


def is_protected_number(column: dict[str, str]) -> bool:
    """Whether a column of the certificate holds numbers that were protected."""
    return column["role"] == "quasi" and column["type"] in ("double", "int64")


NO_VALUE = np.iinfo(np.int64).min  # the bits of a gap: those of minus zero, which no release has


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
        self._most = promises["rows"]
        self._quasi = [name for name, role in roles.items() if role == "quasi"]
        self._numbers = {
            column["name"]: column["type"] for column in promises["columns"] if is_protected_number(column)
        }
        self.gaps: dict[str, int] = {}  # protected columns in which values are missing that may be, and how many
        self._may_have_gaps = {column["name"] for column in promises["columns"] if "gaps" in column}
        self._texts: dict[str, dict[str | None, int]] = {name: {} for name in self._quasi}
        self.whole = _EqualRows(self._quasi)
        self.sets = [_EqualRows(columns) for columns in promises["anonymity"]["shared_columns"]]
        self._first_rows: list[pa.Table] = []
        self._last_row: pa.Table | None = None
        self._rows_in_order = True

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
            values.add(group_of_row, table[name].chunk(0))
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
        codes = self._texts[name]
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
            raise Refused("schema", "a column is promised as int64, and a value in it is none", file)

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
