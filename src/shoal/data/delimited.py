"""CSV and TSV: the delimiter, rows as a strict stream, and whole tables parsed by Arrow."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable, Iterable
from typing import TextIO

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from shoal.data.columns import MISSING, any_match
from shoal.data.files import broken_unicode, check_names, counted, shown
from shoal.errors import InputError

_LONGEST_HEADER = 1 << 20
_LARGEST_FIELD = (1 << 31) - 1  # what a C long holds everywhere
_BLOCK = 1 << 24
_LONG_INTEGER = r"^\s*[+-]?[0-9]{19,}\s*$"
_PADDED = r"^\s*[+-]?0[0-9]+\s*$"
_PADDED_CELL = re.compile(rb'(?:^|[,;\t\r\n"])[ ]*[+-]?0[0-9]')


class Rows:
    """The rows of a delimited stream, None in place of a row whose quotes do not match."""

    def __init__(self, stream: TextIO, kind: str, name: str, delimiter: str | None = None) -> None:
        csv.field_size_limit(max(csv.field_size_limit(), _LARGEST_FIELD))
        first = "\n"
        while first and not first.strip("\r\n"):
            first = stream.readline(_LONGEST_HEADER)
        if not first:
            raise InputError(f"{name} is empty; give a file with a header and rows")
        if "\0" in first:
            raise InputError(f"{name} is binary, not text; export it as CSV, or name it by its real kind")
        if len(first) == _LONGEST_HEADER:
            raise InputError(f"{name} has a header line of a million characters or more; is it CSV?")
        self.delimiter = delimiter or ("\t" if kind == "tsv" else _delimiter(first))
        self._name = name
        self._reader = csv.reader(itertools.chain([first], stream), delimiter=self.delimiter, strict=True)
        self.number = -1  # of the row last read; the header is row 0, data rows count from 1

    def __iter__(self) -> Rows:
        return self

    def __next__(self) -> list[str] | None:
        row: list[str] | None = []
        while row == []:  # blank lines are not rows
            try:
                row = next(self._reader)
            except csv.Error as problem:
                if "unexpected end" in str(problem):
                    where = f"row {self.number + 1}" if self.number >= 0 else "the header"
                    message = f"{self._name}: a quote opened in {where} never closes; close it or double it"
                    raise InputError(message) from None
                row = None
        self.number += 1
        return row


def _delimiter(header: str) -> str:
    """A comma, unless the header has none and semicolons or tabs stand in its place."""
    bare = re.sub(r'"[^"]*"', "", header)
    if "," in bare:
        return ","
    return max(",;\t", key=bare.count)  # max takes the first of equals: the comma


def stream_rows(stream: TextIO, kind: str, name: str, delimiter: str | None = None) -> tuple[list[str], Rows]:
    """The header, and the rows after it one by one."""
    rows = Rows(stream, kind, name, delimiter)
    header = next(rows)
    if header is None:
        raise InputError(f"{name}: the quotes in the header are unbalanced; correct the first line")
    if any(broken_unicode(column) for column in header):
        raise InputError(f"{name}: the header is not UTF-8 text; save the file as UTF-8")
    return header, rows


def parse_table(
    content: bytes, kind: str, name: str, verbatim: Iterable[str] = (), delimiter: str | None = None
) -> pa.Table:
    """The whole table with a type inferred for every column; ragged or undecodable rows are errors.

    Columns of text are taken as they are, so "NA" stays "NA" there; in a column of numbers it is a missing value. Whole
    numbers with leading zeros are text: 01005 is a postcode, and the mean of postcodes has no meaning.
    Columns named in `verbatim` are taken as text whatever they hold, so that 007 stays 007.
    """
    at = content.find(b"\0")
    if at >= 0:
        line = content.count(b"\n", 0, at) + 1
        raise InputError(f"{name} is binary, not text (a NUL byte in line {line}); export it as CSV again")
    stream = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", errors="surrogateescape", newline="")
    header, rows = stream_rows(stream, kind, name, delimiter)
    check_names(header, name)
    _check_rows(rows, header, name, quoted=b'"' in content, decodable=_is_utf8(content))
    owned = _owned_by_arrow(content)
    try:
        table = _parse(owned, rows.delimiter)
    except pa.ArrowInvalid:
        _check_widths(owned, rows.delimiter, name)
        raise
    return _keep_text(table, owned, rows.delimiter, frozenset(verbatim), _PADDED_CELL.search(content) is not None)


def _keep_text(table: pa.Table, content: pa.Buffer, delimiter: str, verbatim: frozenset[str], padded: bool) -> pa.Table:
    """Columns that Arrow would change stay text: those in `verbatim`, dates and truth values, of which a text file has
    only the words, integers that no int64 holds, which Arrow would round, and whole numbers of which one begins with a
    zero."""
    patterns: dict[str, str] = {}  # a column stays text if one of its cells matches
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        if name in verbatim or pa.types.is_temporal(kind) or pa.types.is_boolean(kind):
            patterns[name] = ""
        elif pa.types.is_float64(kind) and (pc.max(pc.abs(table[name])).as_py() or 0) >= 2**63:
            patterns[name] = _LONG_INTEGER
        elif pa.types.is_integer(kind) and padded:
            patterns[name] = _PADDED
    as_text = _parse(content, delimiter, dict.fromkeys(patterns, pa.string())) if patterns else table
    for name, pattern in patterns.items():
        if any_match(as_text[name], pattern):
            table = table.set_column(table.column_names.index(name), name, as_text[name])
    return table


def _check_rows(rows: Rows, header: list[str], name: str, *, quoted: bool, decodable: bool) -> None:
    """There must be a row, quotes must fit, bytes must be text: Arrow swallows the rows that follow an open quote, and
    complains aloud of a ragged row that it cannot decode."""
    for row in rows:
        if row is None:
            raise InputError(
                f"{name}: the quotes in row {rows.number} are unbalanced; double a quote inside a quoted value"
            )
        if not decodable:
            _check_encoding(row, header, f"{name}: row {rows.number}")
        elif not quoted:
            return
    if rows.number == 0:
        raise InputError(f"{name} has a header and no rows; add rows")


def _check_encoding(row: list[str], header: list[str], where: str) -> None:
    for number, value in enumerate(row):
        if broken_unicode(value):
            column = shown(header[number]) if number < len(header) else "beyond the header"
            raise InputError(f"{where} is not UTF-8 text (column {column}); save the file as UTF-8")


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _owned_by_arrow(content: bytes) -> pa.Buffer:
    """A copy with no Python object behind it.

    Arrow's threads may let go of what they read after `read_csv` has returned. For a Python object they then ask for
    the interpreter's lock; one that asks while the interpreter ends is killed, and the process with it (exit 134).
    """
    stream = pa.BufferOutputStream()
    stream.write(content)
    return stream.getvalue()


def _check_widths(content: pa.Buffer, delimiter: str, name: str) -> None:
    """Refuse ragged rows, with how many there are and where the first is."""
    ragged: list[tuple[int, int, int]] = []  # number, expected fields, actual fields

    def note(row: arrow_csv.InvalidRow) -> str:
        ragged.append((row.number, row.expected_columns, row.actual_columns))
        return "skip"

    _parse(content, delimiter, note=note)
    if ragged:
        first = min(ragged)
        raise InputError(
            f"{name}: {counted(len(set(ragged)), 'row')} not as wide as the header (first: row {first[0] - 1} "
            f"has {counted(first[2], 'field')} where the header has {first[1]}); correct or quote them"
        )


def _parse(
    content: pa.Buffer,
    delimiter: str,
    types: dict[str, pa.DataType] | None = None,
    note: Callable[[arrow_csv.InvalidRow], str] | None = None,
) -> pa.Table:
    """The table, read by all threads; by this one alone if it is to `note` ragged rows, which are an error otherwise.

    Only then does Arrow know their numbers (the header is row 1), and only this thread may run Python: see
    `_owned_by_arrow`.
    """

    def attempt(block: int) -> pa.Table:
        return arrow_csv.read_csv(
            pa.BufferReader(content),
            arrow_csv.ReadOptions(use_threads=note is None, block_size=block),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=note),
            arrow_csv.ConvertOptions(null_values=list(MISSING), strings_can_be_null=False, column_types=types),
        )

    try:
        return attempt(_BLOCK)
    except pa.ArrowInvalid:  # A row longer than two blocks; then the file is one block.
        return attempt(min(content.size + 1, _LARGEST_FIELD))
