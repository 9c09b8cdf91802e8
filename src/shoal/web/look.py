"""A first look at a file: how it is read, what it is, its columns, and its first rows or documents."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from shoal.data.corpus import Corpus
from shoal.data.delimited import stream_rows
from shoal.data.files import PathLike, is_folder, kind_of, open_text, shown
from shoal.data.files import reading as reading_file
from shoal.data.formats.subprocess_reader import sheet_names_in_subprocess
from shoal.data.kinds.inspection import ColumnInspection, Inspection, inspect
from shoal.data.kinds.recognition import plain_values
from shoal.data.kinds.sampling import is_usual_file
from shoal.data.records import read_columns
from shoal.data.sources import TableFile, format_of
from shoal.data.table import read_table
from shoal.errors import InputError
from shoal.request.request import OPTIONS
from shoal.web.worker_process import WorkerProcess
from shoal.web.workspace import Upload

if TYPE_CHECKING:
    from shoal.web.requests import Fields

Reading = Mapping[str, str]  # what was chosen, by the name of the option

RECOGNISED = {"": "recognised"}
# What the page offers: the values with their names.
READINGS = {
    "sheet": {},
    "delimiter": RECOGNISED | {"comma": "comma ,", "semicolon": "semicolon ;", "tab": "tab", "bar": "bar |"},
    "decimal": RECOGNISED | {"point": "point 1.5", "comma": "comma 1,5"},
    "encoding": RECOGNISED
    | {
        "utf-8": "UTF-8",
        "windows-1252": "Windows, Western Europe (1252)",
        "windows-1250": "Windows, Central Europe (1250)",
        "windows-1251": "Windows, Cyrillic (1251)",
        "windows-1253": "Windows, Greek (1253)",
        "windows-1254": "Windows, Turkish (1254)",
        "latin-1": "Latin-1 (ISO 8859-1)",
        "cp850": "DOS, Western Europe (850)",
        "mac-roman": "Mac, Western Europe",
        "utf-16": "UTF-16",
    },
}
_OF_TEXT, _OF_PACKAGES = ("delimiter", "decimal", "encoding"), ("encoding",)
_OF_FORMAT = {"csv": _OF_TEXT, "tsv": _OF_TEXT, "xlsx": ("sheet",)}
_OF_FORMAT |= dict.fromkeys(("sav", "dta", "sas7bdat", "xpt"), _OF_PACKAGES)


def readings_of(path: Path, sheets: Sequence[str]) -> dict[str, tuple[str, dict[str, str]]]:
    """What can be chosen for this file; nothing where there is no choice."""
    names = () if path.is_dir() else _OF_FORMAT.get(kind_of(path) or format_of(path) or "", ())
    found = {name: (OPTIONS[name].about.label, READINGS[name]) for name in names}
    if "sheet" in found:
        label, _ = found["sheet"]
        return {"sheet": (label, {sheet: sheet for sheet in sheets})} if len(sheets) > 1 else {}
    return found


def reading_from(fields: Fields) -> dict[str, str]:
    """What was chosen, in a form or an address."""
    given = {name: next(iter(fields.all(name)), "") for name in READINGS}  # a sheet's name may end with a space
    return {name: value for name, value in given.items() if value}


def opened(path: Path, reading: Reading) -> Path | TableFile:
    """The file, and how to read it if that was chosen."""
    given: dict[str, Any] = dict(reading)
    return TableFile(path, **given) if given else path


FIRST = 6  # rows shown
LONGEST = 80  # characters of a cell
LONGEST_TEXT = 400  # of a document
KEYED = 50  # lines of JSONL whose keys are looked at
MOST_KEPT = 16  # looks
MOST_VALUES = 200  # that somebody would put into groups by hand


@dataclass(frozen=True)
class Look:
    """What a file is, and how it begins. It quotes the data and is for its owner alone."""

    inspection: Inspection
    header: tuple[str, ...]
    first: tuple[tuple[str, ...], ...]
    fields: tuple[str, ...] = ()  # of documents: the columns that may hold text, id or label
    text: str = ""  # the one that holds the text, if it is not the one that is taken by itself
    reading: Reading = field(default_factory=dict)  # how it was read, where that was chosen
    sheets: tuple[str, ...] = ()  # of a spreadsheet
    read_as: str = ""  # what was recognised of a text file that is not written in the usual way

    @property
    def is_table(self) -> bool:
        return self.inspection.kind == "table"

    @property
    def column_names(self) -> tuple[str, ...]:
        """Of a table, or of documents in one."""
        return tuple(column.name for column in self.columns) or self.fields

    @property
    def columns(self) -> tuple[ColumnInspection, ...]:
        return self.inspection.columns

    @property
    def texts(self) -> list[str]:
        """A table's columns of sentences: perhaps these are the documents."""
        return [column.name for column in self.columns if column.kind == "text"]


def look_at(path: Path, text_column: str | None = None, reading: Reading | None = None) -> Look:
    """Inspect the file, as documents if a column of text is named; of several sheets, the first unless one is."""
    text = text_column or _text_key(path)
    if text is None:
        chosen, sheets = dict(reading or {}), sheets_of(path)
        if len(sheets) > 1:
            chosen.setdefault("sheet", sheets[0])
        inspection = inspect(opened(path, chosen))
        if inspection.kind == "table":
            header, rows, read_as = _first_rows(opened(path, chosen))
            return Look(inspection, header, rows, reading=chosen, sheets=sheets, read_as=read_as)
    corpus = Corpus(path, text_column=text)
    if text is not None:
        inspection = inspect(corpus)
    first = tuple((document.id, _text(document.text or document.items)) for document in islice(corpus, FIRST))
    return Look(inspection, ("Name", "Items" if corpus.of_items else "Text"), first, _fields(path), text or "")


class PreviewCache:
    """The last looks, in memory: they quote the data. A reload or a second tab need not wait."""

    def __init__(self, worker: WorkerProcess) -> None:
        self._worker = worker
        self._kept: OrderedDict[tuple[str, ...], Look] = OrderedDict()

    async def at(self, upload: Upload, text_column: str = "", reading: Reading | None = None) -> Look:
        """What was uploaded, as documents if a column of text is named; `reading` says how to read a table."""
        which = upload.id, text_column, *(f"{name}={value}" for name, value in sorted((reading or {}).items()))
        if which not in self._kept:
            self._kept[which] = await self._worker.call(look_at, upload.path, text_column or None, reading)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return self._kept[which]


def sheets_of(path: Path) -> tuple[str, ...]:
    """The names of a spreadsheet's sheets; none if it is no spreadsheet."""
    return tuple(sheet_names_in_subprocess(path)) if not is_folder(path) and format_of(path) == "xlsx" else ()


def values_of(path: PathLike, columns: Sequence[str], most: int | None = None) -> dict[str, list[str]]:
    """The different values of each of these columns, as a hierarchy must spell them."""
    return different_values(read_table(path, columns).data, columns, most)


def different_values(data: Any, columns: Sequence[str], most: int | None = None) -> dict[str, list[str]]:
    """The same of a table that was read."""
    found = {column: plain_values(data[column]) for column in columns}
    for column, values in found.items():
        if most is not None and len(values) > most:
            raise InputError(
                f"column {shown(column)} has {len(values):,} different values, more than the {most} that can be put "
                "into groups by hand; give a hierarchy as a file"
            )
    return {column: sorted(str(value) for value in values.to_pylist()) for column, values in found.items()}


def _first_rows(path: Path | TableFile) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], str]:
    """The names of the columns, the first rows, and how an unusual text file is read."""
    kind = kind_of(path)
    with reading_file(path):
        if kind in ("csv", "tsv") and not isinstance(path, TableFile) and is_usual_file(path, kind):
            with open_text(path, newline="") as stream:
                header, rows = stream_rows(stream, kind, shown(path))
                return tuple(header), _cells(row or [] for row in islice(rows, FIRST)), ""
        if kind == "parquet":
            file = pq.ParquetFile(path)
            batch = next(file.iter_batches(batch_size=FIRST), None)
            columns = [] if batch is None else [column.to_pylist() for column in batch.columns]
            return tuple(file.schema_arrow.names), _cells(zip(*columns, strict=True)), ""
    table = read_table(path)
    first = table.data.slice(0, FIRST)
    cells = _cells(zip(*(column.to_pylist() for column in first.columns), strict=True))
    return tuple(first.column_names), cells, table.dialect.in_words if table.dialect else ""


def _cells(rows: Iterable[Iterable[Any]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(_cut("" if cell is None else str(cell), LONGEST) for cell in row) for row in rows)


def _text(content: Any) -> str:
    return _cut(content if isinstance(content, str) else ", ".join(map(str, content or ())), LONGEST_TEXT)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _fields(path: Path) -> tuple[str, ...]:
    """What the columns of documents are called; texts in a folder have their sub-folder."""
    if is_folder(path):
        return ("folder",)
    kind = kind_of(path)
    if kind in ("csv", "tsv", "parquet"):
        return tuple(read_columns(path, kind))
    return tuple(_lengths(path)) if kind == "jsonl" else ()


def _text_key(path: Path) -> str | None:
    """Of JSONL without a key "text" or "items", the key with the longest texts."""
    if is_folder(path) or kind_of(path) != "jsonl":
        return None
    lengths = _lengths(path)
    return None if not lengths or {"text", "items"} & lengths.keys() else max(lengths, key=lambda key: lengths[key])


def _lengths(path: Path) -> dict[str, int]:
    """The keys of the first lines of JSONL, and how many characters the texts below each have."""
    found: dict[str, int] = {}
    with reading_file(path), open_text(path, newline="\n") as lines:
        for line in islice(lines, KEYED):
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            for key, value in record.items() if isinstance(record, dict) else ():
                found[key] = found.get(key, 0) + (len(value) if isinstance(value, str) else 0)
    return found
