"""Documents, read as a stream from whatever holds them; what cannot be read is reported by name and counted."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from shoal.errors import InputError
from shoal.io.files import PathLike, broken_unicode, counted, is_folder, kind_of, shown, unsupported
from shoal.io.records import Fields, Record, Skipped, collection_kind, list_folder, read_columns, read_records

__all__ = ["Corpus", "Document", "Skipped", "looks_like_documents"]


@dataclass(frozen=True)
class Document:
    """One text, the name it goes by, and its class if it has one."""

    id: str
    text: str
    label: str | None = None


class Corpus:
    """A stream of documents that can be read again and again in bounded memory.

    `path` is a folder of text files (ids are relative paths), a JSONL, CSV, TSV or Parquet file, or a folder of
    such files of one kind. Columns default to "text" and, if there is one, "id"; else ids are row numbers from 1.
    For a folder of text files `label_column="folder"` takes the sub-folder's name as the label.

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
    ) -> None:
        self.name = shown(path)
        self._fields = Fields(text_column, id_column, label_column)
        self._records: Callable[[], Iterable[Record | Skipped]] = lambda: read_records(Path(path), self._fields)
        self._skipped: list[Skipped] = []

    @classmethod
    def from_texts(
        cls, texts: Iterable[str], ids: Iterable[object] | None = None, labels: Iterable[object] | None = None
    ) -> Corpus:
        """A corpus of texts in memory; ids are their numbers from 1 unless given."""
        if isinstance(texts, str | bytes):
            raise InputError("texts is one string; give a list of strings")
        kept = list(texts)
        given_ids = list(ids) if ids is not None else [str(number) for number in range(1, len(kept) + 1)]
        given_labels = list(labels) if labels is not None else [None] * len(kept)
        if not len(kept) == len(given_ids) == len(given_labels):
            counts = f"{len(kept)} texts, {len(given_ids)} ids and {len(given_labels)} labels"
            raise InputError(f"{counts} do not go together; give as many of each")
        corpus = cls("the texts", label_column=None if labels is None else "labels")
        corpus._records = lambda: (
            Record(f"text {number}", *record)
            for number, record in enumerate(zip(given_ids, kept, given_labels, strict=True), start=1)
        )
        return corpus

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What the last iteration passed over (so far, if it is still running)."""
        return tuple(self._skipped)

    def __iter__(self) -> Iterator[Document]:
        # A fresh list each time, so that an iteration left halfway adds nothing to the next one's report.
        skipped: list[Skipped] = []
        self._skipped = skipped
        labelled = self._fields.label is not None
        hashes = array("q")  # 8 bytes a document: the ids themselves may not fit in memory
        nameless = _Count("id", "fill in the ids or name another column with --id-column")
        unlabelled = _Count("label", "label them, leave them out or name another column with --label-column")
        for record in self._records():
            if isinstance(record, Skipped):
                skipped.append(record)
                continue
            name, label = _as_name(record.id), _as_name(record.label) if labelled else None
            reason = _fault(record.text, name, label)
            if reason is not None:
                skipped.append(Skipped(record.place, reason))
                continue
            if name is None:
                nameless.add(record.place)
            if labelled and label is None:
                unlabelled.add(record.place)
            hashes.append(hash(name))
            yield Document(record.place if name is None else name, str(record.text), label)
        if not hashes:
            raise self._without_documents(skipped)
        nameless.check(self.name)
        self._check_unique(hashes)
        unlabelled.check(self.name)

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
        remedy = "leave out the id column" if self._fields.id else "name another column with --id-column"
        raise InputError(
            f"{self.name}: {counted(len(repeated), 'id')} given more than once (first: {first}); "
            f"make them unique or {remedy}"
        )


class _Count:
    """How many documents lack something every one must have, and where the first of them stands."""

    def __init__(self, what: str, remedy: str) -> None:
        self.what = what
        self.remedy = remedy
        self.first = ""
        self.count = 0

    def add(self, place: str) -> None:
        self.first = self.first or place
        self.count += 1

    def check(self, name: str) -> None:
        if self.count:
            found = counted(self.count, "document")
            raise InputError(f"{name}: {found} without {self.what} (first: {self.first}); {self.remedy}")


def _as_name(value: object) -> str | None:
    """An id or a label as a string; None when it is missing or no single value."""
    if value is None or isinstance(value, list | dict) or (isinstance(value, float) and math.isnan(value)):
        return None
    return str(value) if str(value).strip() else None


def _fault(text: object, name: str | None, label: str | None) -> str | None:
    """Why a record is no document, or None if it is one."""
    if text is None:
        return "no text"
    if not isinstance(text, str):
        return "text is not a string"
    if "\0" in text:
        return "binary, not text"
    if broken_unicode(text):
        return "not UTF-8 text"
    if broken_unicode(name or "") or broken_unicode(label or "") or "\0" in f"{name}{label}":
        return "id or label is not UTF-8 text"
    if not text or text.isspace():
        return "empty"
    return None


def looks_like_documents(path: PathLike, text_column: str | None = None) -> bool:
    """Whether `path` holds documents rather than a table: text files, JSONL, or a column of texts."""
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
    return kind in ("jsonl", "text") or text_column is not None or "text" in read_columns(location, kind)
