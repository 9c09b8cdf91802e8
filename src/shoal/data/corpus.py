"""Documents or baskets, read as a stream from whatever holds them; what cannot be read is reported and counted."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from shoal.data.baskets import BasketFault, read_basket
from shoal.data.files import PathLike, broken_unicode, counted, is_folder, kind_of, shown, unsupported
from shoal.data.records import (
    Fields,
    Record,
    Skipped,
    collection_kind,
    column_of_items,
    items_column,
    list_folder,
    read_columns,
    read_records,
)
from shoal.data.sources import TableFile, format_of
from shoal.errors import InputError

__all__ = ["Corpus", "Document", "Skipped", "looks_like_documents"]


@dataclass(frozen=True)
class Document:
    """One text or basket, the name it goes by, its class if it has one, and whose it is if that is known."""

    id: str
    text: str  # empty for a basket
    label: str | None = None
    items: Mapping[str, float] | None = None  # of a basket: how often it has each item
    person: str | None = None  # whose it is, where a column says so

    @property
    def content(self) -> str | Mapping[str, float]:
        """What is counted: the text, or the items of a basket."""
        return self.text if self.items is None else self.items


class Corpus:
    """A stream of documents that can be read again and again in bounded memory.

    `path` is a folder of text files (ids are relative paths), a JSONL, CSV, TSV or Parquet file, or a folder of
    such files of one kind. Columns default to "text" and, if there is one, "id"; else ids are row numbers from 1.
    For a folder of text files `label_column="folder"` takes the sub-folder's name as the label.

    Baskets come from a .dat file (one per line, items between blanks), from JSONL with a list per line, or from a
    column of JSONL or Parquet that holds lists (in JSONL also objects of items and counts); it defaults to "items". The
    first record decides whether there are texts or baskets.

    Faults of single documents are skipped and reported; ids that are not unique and missing labels are an
    InputError, raised when all documents have been read.

    >>> corpus = Corpus.from_texts(["the tide is out", " ", "the tide is in"])
    >>> [document.id for document in corpus]
    ['1', '3']
    >>> corpus.skipped
    (Skipped(name='text 2', reason='empty'),)
    """

    def __init__(
        self,
        path: PathLike,
        *,
        text_column: str | None = None,
        id_column: str | None = None,
        label_column: str | None = None,
        person_column: str | None = None,
    ) -> None:
        self.name = shown(path)
        self._path = Path(path)
        self._asked = Fields(text_column, id_column, label_column, person_column)
        self._given: Callable[[], Iterable[Record]] | None = None
        self._skipped: list[Skipped] = []

    @classmethod
    def from_texts(
        cls, texts: Iterable[str], ids: Iterable[object] | None = None, labels: Iterable[object] | None = None
    ) -> Corpus:
        """A corpus of texts in memory; ids are their numbers from 1 unless given."""
        if isinstance(texts, str | bytes):
            raise InputError("texts is one string; give a list of strings")
        return cls._in_memory("text", list(texts), ids, labels)

    @classmethod
    def from_baskets(
        cls, baskets: Iterable[object], ids: Iterable[object] | None = None, labels: Iterable[object] | None = None
    ) -> Corpus:
        """A corpus of baskets in memory, each a list of items or a mapping of items to counts."""
        return cls._in_memory("basket", list(baskets), ids, labels)

    @classmethod
    def _in_memory(
        cls, noun: str, kept: list[object], ids: Iterable[object] | None, labels: Iterable[object] | None
    ) -> Corpus:
        given_ids = list(ids) if ids is not None else [str(number) for number in range(1, len(kept) + 1)]
        given_labels = list(labels) if labels is not None else [None] * len(kept)
        if not len(kept) == len(given_ids) == len(given_labels):
            counts = f"{len(kept)} {noun}s, {len(given_ids)} ids and {len(given_labels)} labels"
            raise InputError(f"{counts} do not match; give as many of each")
        corpus = cls(f"the {noun}s", label_column=None if labels is None else "labels")
        corpus._given = lambda: (
            Record(f"{noun} {number}", *record)
            for number, record in enumerate(zip(given_ids, kept, given_labels, strict=True), start=1)
        )
        corpus._fields = replace(corpus._asked, of_items=noun == "basket")
        return corpus

    @cached_property
    def _fields(self) -> Fields:
        """The columns, once it is known whether they hold texts or baskets."""
        column = column_of_items(self._path, self._asked.text)
        return self._asked if column is None else replace(self._asked, text=column, of_items=True)

    def _records(self) -> Iterable[Record | Skipped]:
        return read_records(self._path, self._fields) if self._given is None else self._given()

    @property
    def of_items(self) -> bool:
        """Whether these are baskets of items, not texts."""
        return self._fields.of_items

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What the last iteration passed over (so far, if it is still running)."""
        return tuple(self._skipped)

    def __iter__(self) -> Iterator[Document]:
        # A fresh list each time, so that an iteration left halfway adds nothing to the next one's report.
        skipped: list[Skipped] = []
        self._skipped = skipped
        labelled, owned, of_items = self._asked.label is not None, self._asked.person is not None, self.of_items
        hashes = array("q")  # 8 bytes a document: the ids themselves may not fit in memory
        nameless = _Count("id", "fill in the ids or name another column with {option}", "id_column")
        ownerless = _Count("a person", "say whose they are, or leave them out")
        unlabelled = _Count("label", "label them, leave them out or name another column with {option}", "label_column")
        for record in self._records():
            if isinstance(record, Skipped):
                skipped.append(record)
                continue
            name, label = _as_name(record.id), _as_name(record.label) if labelled else None
            items, reason = _items(record.text) if of_items else (None, _fault(record.text))
            reason = reason or _fault_of_names(name, label)
            if reason is not None:
                skipped.append(Skipped(record.place, reason))
                continue
            if name is None:
                nameless.add(record.place)
            if labelled and label is None:
                unlabelled.add(record.place)
            person = _as_name(record.person) if owned else None
            if owned and person is None:
                ownerless.add(record.place)
            hashes.append(hash(name))
            text = "" if of_items else str(record.text)
            yield Document(record.place if name is None else name, text, label, items, person)
        if not hashes:
            raise self._without_documents(skipped)
        nameless.check(self.name)
        self._check_unique(hashes)
        unlabelled.check(self.name)
        ownerless.check(self.name)

    def _without_documents(self, skipped: list[Skipped]) -> InputError:
        if not skipped:
            return InputError(f"{self.name} has no documents; add some")
        reason, count = Counter(fault.reason for fault in skipped).most_common(1)[0]
        first = next(fault.name for fault in skipped if fault.reason == reason)
        return InputError(
            f"{self.name} has no documents: {len(skipped)} skipped, {count} of them with the reason "
            f"{reason!r} (first: {first}); check the input"
        )

    def _check_unique(self, hashes: array[int]) -> None:
        values, counts = np.unique(np.frombuffer(hashes, dtype=np.int64), return_counts=True)
        repeated = set(values[counts > 1].tolist())
        if not repeated:
            return
        # Only hashes were kept: the place is found by reading again. The id itself may name a person.
        records = (record for record in self._records() if isinstance(record, Record))
        first = next((record.place for record in records if hash(_as_name(record.id)) in repeated), "?")
        remedy = "leave out the id column" if self._fields.id else "name another column with {option}"
        raise InputError(
            f"{self.name}: {counted(len(repeated), 'id')} given more than once (first: {first}); "
            f"make them unique or {remedy}",
            () if self._fields.id else "id_column",
        )


class _Count:
    """How many documents lack something every one must have, and where the first of them stands."""

    def __init__(self, what: str, remedy: str, *options: str) -> None:
        self.what = what
        self.remedy = remedy
        self.options = options
        self.first = ""
        self.count = 0

    def add(self, where: str) -> None:
        self.first = self.first or where
        self.count += 1

    def check(self, name: str) -> None:
        if self.count:
            documents = counted(self.count, "document")
            raise InputError(
                f"{name}: {documents} without {self.what} (first: {self.first}); {self.remedy}", self.options
            )


def _as_name(value: object) -> str | None:
    """An id or a label as a string; None when it is missing or no single value."""
    if value is None or isinstance(value, list | dict) or (isinstance(value, float) and math.isnan(value)):
        return None
    return str(value) if str(value).strip() else None


def _fault(text: object) -> str | None:
    """Why this is not the text of a document, or None if it is."""
    if text is None:
        return "no text"
    if not isinstance(text, str):
        return "text is not a string"
    if "\0" in text:
        return "binary, not text"
    if broken_unicode(text):
        return "not UTF-8 text"
    if not text or text.isspace():
        return "empty"
    return None


def _items(basket: object) -> tuple[Mapping[str, float] | None, str | None]:
    """The items of a basket and their counts, or why it is none."""
    if basket is None:
        return None, "no items"
    try:
        items = read_basket(basket)
    except BasketFault as fault:
        return None, str(fault)
    if isinstance(basket, Mapping) and any(count % 1 for count in items.values()):
        return None, "a count is not a whole number"
    return items, None if items else "empty"


def _fault_of_names(name: str | None, label: str | None) -> str | None:
    if broken_unicode(name or "") or broken_unicode(label or "") or "\0" in f"{name}{label}":
        return "id or label is not UTF-8 text"
    return None


def looks_like_documents(path: PathLike, text_column: str | None = None) -> bool:
    """Whether `path` holds documents or baskets rather than a table: text files, JSONL, or a column of these."""
    if isinstance(path, TableFile) and format_of(path) is None and text_column is None:
        return False  # its dialect was given, so it is a table
    if format_of(path) is not None:
        if text_column is not None:
            raise InputError(f"{shown(path)} is read as a table only; export its texts as CSV, Parquet or JSONL")
        return False
    location = Path(path)
    if is_folder(location):
        names, _ = list_folder(location)
        kind = collection_kind(names)
        if kind is None:
            return True
        location /= next(name for name in names if kind_of(name) == kind)
        is_folder(location)  # refuses a pipe before it blocks
    else:
        kind = kind_of(location)
    if kind is None:
        raise unsupported(path)
    if kind in ("jsonl", "text", "dat") or text_column is not None or "text" in read_columns(location, kind):
        return True
    return items_column(location, kind, None) is not None
