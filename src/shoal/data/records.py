"""Records of a text or a basket, an id and a label, streamed from files of them, or from a folder of files or texts."""

from __future__ import annotations

import json
import os
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shoal.data.delimited import Rows, stream_rows
from shoal.data.files import (
    broken_unicode,
    counted,
    decode,
    is_folder,
    kind_of,
    open_text,
    read_bytes,
    reading,
    shown,
    unknown_column,
    unsupported,
)
from shoal.errors import InputError

COLLECTIONS = ("jsonl", "csv", "tsv", "parquet", "dat")
_BATCH = 256  # rows of Parquet held at a time


@dataclass(frozen=True)
class Skipped:
    """Input that is not a document: where it is, and why it was skipped."""

    name: str  # "notes/7.txt", "line 12", "row 3"
    reason: str


@dataclass(frozen=True)
class Record:
    """What was found at one place, not yet checked. Without an id column the id is the row's number."""

    place: str
    id: object
    text: object  # or a basket
    label: object = None
    person: object = None


@dataclass(frozen=True)
class Fields:
    """The columns asked for; None takes "text", "id" where there is one, no label and no person."""

    text: str | None = None
    id: str | None = None
    label: str | None = None
    person: str | None = None
    of_items: bool = False  # `text` holds baskets

    def find(self, columns: list[str], where: str) -> tuple[str, str | None, str | None, str | None]:
        """The columns of text, id, label and person among those that exist."""
        text = self.text or "text"
        identity = self.id or ("id" if "id" in columns else None)
        for name in (text, identity, self.label, self.person):
            if name is not None and name not in columns:
                raise unknown_column(name, columns, where)
            if name is not None and columns.count(name) > 1:
                raise InputError(f"{where} has {columns.count(name)} columns named {shown(name)}; rename all but one")
        return text, identity, self.label, self.person


def read_file(path: Path, kind: str, fields: Fields, part: str) -> Iterator[Record | Skipped]:
    """One file of many records; `part` names it when it is one of several."""
    with reading(path):
        if kind == "dat":
            yield from _read_dat(path, fields, part)
        elif kind == "jsonl":
            yield from _read_jsonl(path, fields, part)
        elif kind == "parquet":
            yield from _read_parquet(path, fields, part)
        else:
            yield from _read_delimited(path, kind, fields, part)


def read_columns(path: Path, kind: str) -> list[str]:
    """The names of the columns of a CSV, TSV or Parquet file, whatever its encoding."""
    with reading(path):
        if kind == "parquet":
            return list(pq.ParquetFile(path).schema_arrow.names)
        with open_text(path, newline="") as stream:
            return next(Rows(stream, kind, shown(path))) or []  # what is wrong with it, the reader of the rows says


def items_column(path: Path, kind: str, text: str | None) -> str | None:
    """The column that holds baskets: `text`, or "items" where that is None; None for a file of texts."""
    with reading(path):
        if kind == "dat":
            return _no_columns(path) if text else "items"
        if kind == "jsonl":
            return _items_column_of_jsonl(path, text)
        if kind != "parquet":
            return None
        schema, name = pq.ParquetFile(path).schema_arrow, text or "items"
        there = schema.names.count(name) == 1 and (text or "text" not in schema.names)
        return name if there and _is_list(schema.field(name).type) else None


def _items_column_of_jsonl(path: Path, text: str | None) -> str | None:
    """The first line that has a text or items decides."""
    name = text or "items"
    with open_text(path, newline="\n") as lines:
        for line in lines:
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, list):
                return name
            if isinstance(record, dict) and not text and record.get("text") is not None:
                return None
            if isinstance(record, dict) and record.get(name) is not None:
                return name if isinstance(record[name], list | dict) else None
    return None


def _no_columns(path: Path) -> NoReturn:
    raise InputError(f"{shown(path)} has no columns, only baskets; leave out the column names, or write JSONL")


def _place(part: str, unit: str, number: int) -> str:
    return f"{part} {unit} {number}" if part else f"{unit} {number}"


def keys_of_first(path: Path) -> list[str]:
    """The keys of the first object of a JSONL file."""
    with reading(path), open_text(path, newline="\n") as lines:
        for line in lines:
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict):
                return list(record)
    return []


def _row_id(part: str, number: int) -> str:
    return f"{part}:{number}" if part else str(number)


def _read_dat(path: Path, fields: Fields, part: str) -> Iterator[Record | Skipped]:
    """A basket per line, its items separated by blanks; an empty line is an empty basket."""
    if any(name is not None for name in (fields.id, fields.label, fields.person)):
        _no_columns(path)
    with open_text(path, newline="\n") as lines:
        for number, line in enumerate(lines, start=1):
            if "\0" in line:
                raise InputError(f"{shown(path)} is binary, not text; write a basket per line, items between blanks")
            where = _place(part, "line", number)
            if broken_unicode(line):
                yield Skipped(where, "not UTF-8 text")
            else:
                blanks = line.rstrip("\r\n").replace("\t", " ")
                yield Record(where, _row_id(part, number), list(filter(None, blanks.split(" "))))


def _read_jsonl(path: Path, fields: Fields, part: str) -> Iterator[Record | Skipped]:
    text = fields.text or "text"
    first: list[str] = []  # keys of the first object; whether there is an "id" is read from it
    wanted = {name for name in (text, fields.id, fields.label, fields.person) if name is not None}
    with open_text(path, newline="\n") as lines:
        for number, line in enumerate(lines, start=1):
            where = _place(part, "line", number)
            if line.isspace():
                continue
            if broken_unicode(line):
                yield Skipped(where, "not UTF-8 text")
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                yield Skipped(where, "not JSON")
                continue
            if isinstance(record, list) and fields.of_items:
                yield Record(where, None if fields.id else _row_id(part, number), record)
                continue
            if not isinstance(record, dict):
                yield Skipped(where, "neither a JSON list nor an object" if fields.of_items else "not a JSON object")
                continue
            first = first or list(record)
            wanted.difference_update(record)
            identity = fields.id or ("id" if "id" in first else None)
            yield Record(
                where,
                record.get(identity) if identity else _row_id(part, number),
                record.get(text),
                record.get(fields.label) if fields.label else None,
                record.get(fields.person) if fields.person else None,
            )
    if first and wanted:
        raise unknown_column(sorted(wanted)[0], first, shown(path))


def _read_delimited(path: Path, kind: str, fields: Fields, part: str) -> Iterator[Record | Skipped]:
    with open_text(path, newline="") as stream:
        header, rows = stream_rows(stream, kind, shown(path))
        text, identity, label, person = fields.find(header, shown(path))
        at_text = header.index(text)
        at_id = header.index(identity) if identity is not None else None
        at_label = header.index(label) if label is not None else None
        at_person = header.index(person) if person is not None else None
        for row in rows:
            where = _place(part, "row", rows.number)
            if row is None:
                yield Skipped(where, "quotes do not fit")
            elif len(row) != len(header):
                yield Skipped(where, f"has {counted(len(row), 'field')} where the header has {len(header)}")
            elif any(broken_unicode(value) for value in row):
                yield Skipped(where, "not UTF-8 text")
            else:
                yield Record(
                    where,
                    row[at_id] if at_id is not None else _row_id(part, rows.number),
                    row[at_text],
                    row[at_label] if at_label is not None else None,
                    row[at_person] if at_person is not None else None,
                )


def _read_parquet(path: Path, fields: Fields, part: str) -> Iterator[Record | Skipped]:
    # The buffer makes Arrow stream a column instead of loading a whole row group.
    with pq.ParquetFile(path, buffer_size=1 << 20) as source:
        schema = source.schema_arrow
        text, identity, label, person = fields.find(list(schema.names), shown(path))
        kind = schema.field(text).type
        if fields.of_items and not _is_list(kind):
            raise InputError(f"{shown(path)}: column {shown(text)} is {kind}, not a list of items; name another")
        if not fields.of_items and not _is_text(kind):
            raise InputError(f"{shown(path)}: column {shown(text)} is {kind}, not text; name the text column")
        columns = [name for name in (text, identity, label, person) if name is not None]
        number = 0
        for batch in source.iter_batches(batch_size=_BATCH, columns=list(dict.fromkeys(columns))):
            values: dict[str, list[Any]] = {
                name: _as_strings(batch.column(name), name, shown(path)) for name in columns if name != text
            }
            column = batch.column(text)
            values[text] = column.to_pylist() if fields.of_items else _as_strings(column, text, shown(path))
            for row in range(batch.num_rows):
                number += 1
                yield Record(
                    _place(part, "row", number),
                    values[identity][row] if identity is not None else _row_id(part, number),
                    values[text][row],
                    values[label][row] if label is not None else None,
                    values[person][row] if person is not None else None,
                )


def _is_list(kind: pa.DataType) -> bool:
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, pa.types.is_list_view)
    return any(test(kind) for test in tests)


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_string_view,
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_null,
    )
    return any(test(kind) for test in tests)


def _as_strings(column: pa.Array, name: str, where: str) -> list[str | None]:
    """The values as strings; bytes that are not UTF-8 become surrogates, as they do in text files."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_null(column, nan_is_null=True), None, column)
    try:
        column = column if _is_text(column.type) else column.cast(pa.string())
        column = column.cast(pa.large_binary())
    except pa.ArrowException:
        message = f"{where}: column {shown(name)} is {column.type}, which cannot name a document; choose another column"
        raise InputError(message) from None
    return [None if value is None else value.decode("utf-8", "surrogateescape") for value in column.to_pylist()]


def read_records(path: Path, fields: Fields) -> Iterator[Record | Skipped]:
    """Everything at `path`, in order, a piece at a time."""
    if is_folder(path):
        yield from _read_folder(path, fields)
        return
    kind = kind_of(path)
    if kind == "text":
        raise InputError(f"{shown(path)} is a single text file; give a folder of text files, JSONL, CSV or Parquet")
    if kind is None:
        raise unsupported(path)
    yield from read_file(path, kind, fields, "")


def column_of_items(path: Path, text: str | None) -> str | None:
    """The column that holds baskets; None for texts. Of a folder, the first file decides."""
    if not is_folder(path):
        return items_column(path, kind_of(path) or "", text)
    names, _ = list_folder(path)
    kind = collection_kind(names)
    first = next((path / name for name in names if not _is_marker(name)), path)
    return None if kind is None or is_folder(first) else items_column(first, kind, text)


def list_folder(folder: Path) -> tuple[list[str], list[Skipped]]:
    """The visible files below a folder, sorted, as paths relative to it; and the sub-folders that cannot be opened."""
    names: list[str] = []
    closed: list[Skipped] = []

    def note(problem: OSError) -> None:
        if Path(problem.filename) == folder:
            raise problem
        name = Path(problem.filename).relative_to(folder).as_posix()
        closed.append(Skipped(shown(name), "folder cannot be opened"))

    with reading(folder):
        for parent, folders, files in os.walk(folder, onerror=note):
            folders[:] = [name for name in folders if not name.startswith(".")]
            inside = Path(parent).relative_to(folder)
            names.extend((inside / name).as_posix() for name in files if not name.startswith("."))
    if not names and not closed:
        raise InputError(f"{shown(folder)} is an empty folder; put text files, JSONL, CSV or Parquet into it")
    return sorted(names), closed


def collection_kind(names: list[str]) -> str | None:
    """The kind of a folder in which all files are JSONL, or all CSV, TSV, Parquet or .dat; None: texts."""
    kinds = {kind_of(name) for name in names if not _is_marker(name)}
    return next(iter(kinds)) if len(kinds) == 1 and kinds <= set(COLLECTIONS) else None


def _is_marker(name: str) -> bool:
    return Path(name).name.startswith("_")  # Spark writes _SUCCESS and the like beside its parts.


def _read_folder(folder: Path, fields: Fields) -> Iterator[Record | Skipped]:
    names, closed = list_folder(folder)
    yield from closed
    kind = collection_kind(names)
    if kind is not None:
        for name in names:
            if _is_marker(name):
                yield Skipped(shown(name), f"not {kind}")
            elif not is_folder(folder / name):
                yield from read_file(folder / name, kind, fields, shown(name))
        return
    if any(name is not None for name in (fields.text, fields.id, fields.person)):
        raise InputError(f"{shown(folder)} is a folder of text files, which has no columns; leave out the column names")
    if fields.label not in (None, "folder"):
        raise InputError(
            f"{shown(folder)} is a folder of text files, its only label is the sub-folder's name; "
            f"use the label column 'folder' instead of {shown(fields.label or '')}"
        )
    for name in names:
        yield _read_text(folder, name)


def _read_text(folder: Path, name: str) -> Record | Skipped:
    """One text file; its label is the sub-folder it lies in."""
    path = folder / name
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return Skipped(shown(name), "not a regular file")
        content = read_bytes(path)
        text = decode(content)
    except PermissionError:
        return Skipped(shown(name), "no permission to read it")
    except UnicodeError:
        return Skipped(shown(name), "binary, not text" if b"\0" in content else "not UTF-8 text")
    except (EOFError, zlib.error):
        return Skipped(shown(name), "broken gzip")
    except OSError:  # BadGzipFile among them
        return Skipped(shown(name), "broken gzip" if name.lower().endswith(".gz") else "cannot be read")
    if broken_unicode(name):
        return Skipped(shown(name), "name is not UTF-8")
    parent = Path(name).parent.as_posix()
    return Record(shown(name), name, text, None if parent == "." else parent)
