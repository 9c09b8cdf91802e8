"""A first look at a file: what it is, its columns, and its first rows or documents."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from shoal.errors import InputError
from shoal.io import Corpus
from shoal.io.delimited import stream_rows
from shoal.io.files import is_folder, kind_of, open_text, reading, shown
from shoal.io.kinds.inspection import ColumnInspection, Inspection, inspect
from shoal.io.kinds.recognition import plain_values
from shoal.io.record_files import read_columns
from shoal.io.table import read_table

__all__ = ["MOST_VALUES", "Look", "look_at", "values_of"]

FIRST = 6  # rows shown
LONGEST = 80  # characters of a cell
LONGEST_TEXT = 400  # of a document
KEYED = 50  # lines of JSONL whose keys are looked at
MOST_VALUES = 200  # that somebody would put into groups by hand


@dataclass(frozen=True)
class Look:
    """What a file is, and how it begins. It quotes the data and is for its owner alone."""

    inspection: Inspection
    header: tuple[str, ...]
    first: tuple[tuple[str, ...], ...]
    fields: tuple[str, ...] = ()  # of documents: the columns that may hold text, id or label

    @property
    def is_table(self) -> bool:
        return self.inspection.kind == "table"

    @property
    def columns(self) -> tuple[ColumnInspection, ...]:
        return self.inspection.columns

    @property
    def texts(self) -> list[str]:
        """A table's columns of sentences: perhaps these are the documents."""
        return [column.name for column in self.columns if column.kind == "text"]


def look_at(path: Path, text_column: str | None = None) -> Look:
    """Inspect the file, as documents if a column of text is named."""
    if text_column is None:
        inspection = inspect(path)
        if inspection.kind == "table":
            header, rows = _first_rows(path)
            return Look(inspection, header, rows, header)
    corpus = Corpus(path, text_column=text_column)
    first = list(islice(corpus, FIRST))
    if text_column is not None:
        inspection = Inspection("baskets" if corpus.of_items else "documents", _suffix(path), inspect(path).rows)
    shown_first = tuple((document.id, _text(document.text or document.items)) for document in first)
    return Look(inspection, ("Name", "Items" if corpus.of_items else "Text"), shown_first, _fields(path))


def values_of(path: Path, column: str, most: int | None = None) -> list[str]:
    """The different values of a column, as a hierarchy must spell them."""
    found = plain_values(read_table(path, [column]).data[column])
    if most is not None and len(found) > most:
        raise InputError(
            f"column {shown(column)} has {len(found):,} different values, more than the {most} that can be put into "
            "groups by hand; give a hierarchy as a file"
        )
    return sorted(str(value) for value in found.to_pylist())


def _first_rows(path: Path) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    kind = kind_of(path)
    with reading(path):
        if kind in ("csv", "tsv"):
            with open_text(path, newline="") as stream:
                header, rows = stream_rows(stream, kind, shown(path))
                return tuple(header), _cells(row or [] for row in islice(rows, FIRST))
        if kind == "parquet":
            file = pq.ParquetFile(path)
            batch = next(file.iter_batches(batch_size=FIRST), None)
            columns = [] if batch is None else [column.to_pylist() for column in batch.columns]
            return tuple(file.schema_arrow.names), _cells(zip(*columns, strict=True))
    data = read_table(path).data.slice(0, FIRST)
    return tuple(data.column_names), _cells(zip(*(column.to_pylist() for column in data.columns), strict=True))


def _cells(rows: Iterable[Iterable[Any]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(_cut("" if cell is None else str(cell), LONGEST) for cell in row) for row in rows)


def _text(content: Any) -> str:
    return _cut(content if isinstance(content, str) else ", ".join(map(str, content or ())), LONGEST_TEXT)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _suffix(path: Path) -> str:
    return path.name.lower().removesuffix(".gz").rpartition(".")[2]


def _fields(path: Path) -> tuple[str, ...]:
    """What the columns of documents are called; texts in a folder have their sub-folder."""
    if is_folder(path):
        return ("folder",)
    kind = kind_of(path)
    if kind in ("csv", "tsv", "parquet"):
        return tuple(read_columns(path, kind))
    if kind != "jsonl":
        return ()
    keys: dict[str, None] = {}
    with reading(path), open_text(path, newline="\n") as lines:
        for line in islice(lines, KEYED):
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                continue
            keys |= dict.fromkeys(found) if isinstance(found, dict) else {}
    return tuple(map(str, keys))
