"""Where texts come from: one file, a folder of files, or records with a column of text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shoal.data.corpus import Corpus
from shoal.data.files import PathLike, broken_unicode, decode, is_folder, kind_of, reading, shown
from shoal.data.records import COLLECTIONS, Skipped, collection_kind, list_folder
from shoal.errors import InputError
from shoal.sanitizer.reading.markup import docx_text, html_text
from shoal.sanitizer.reading.pdf import pdf_text

LARGEST = 5_000_000  # characters of one document
LARGEST_FILE = 200_000_000  # bytes; a PDF or DOCX may be mostly pictures
# What does not survive as text, by suffix; files with any other suffix are read as plain text.
LOST = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), "title, tags, scripts, styles, comments and attributes"),
    ".docx": "layout, pictures, charts, footnotes, comments, deleted text, embedded files and properties of the file",
    ".pdf": "layout, pictures, forms, annotations and properties of the file",
}


@dataclass(frozen=True)
class SourceText:
    """The text of a document, and what of the document is not in it."""

    id: str  # its path below the folder, or the id of its record
    text: str
    lost: str = ""  # what did not become text
    pdf: Path | None = None  # the file, whose pages can be redacted


class TextSource:
    """Documents at a path, read as a stream, again and again.

    A single file that cannot be read is an InputError; of many, those that cannot be are listed in `skipped`.
    """

    def __init__(self, path: PathLike, *, text_column: str | None = None, id_column: str | None = None) -> None:
        self.path = Path(path)
        self._columns = {"text_column": text_column, "id_column": id_column}
        self.skipped: tuple[Skipped, ...] = ()

    def __iter__(self) -> Iterator[SourceText]:
        self.skipped = ()
        if not is_folder(self.path):
            if kind_of(self.path) in COLLECTIONS:
                yield from self._records()
            else:
                self._check_no_columns()
                yield _read(self.path, self.path.name)
            return
        names, closed = list_folder(self.path)
        if collection_kind(names) is not None:
            yield from self._records()
            return
        self._check_no_columns()
        self.skipped = tuple(closed)
        for name in names:
            try:
                text = _read(self.path / name, name)
            except InputError as problem:
                reason = str(problem).removeprefix(shown(self.path / name)).lstrip(": ")
                self.skipped += (Skipped(shown(name), reason),)
            else:
                yield text

    def _records(self) -> Iterator[SourceText]:
        corpus = Corpus(self.path, **self._columns)
        for document in corpus:
            if document.items is not None:
                raise InputError(f"{shown(self.path)} holds baskets, not texts; name the column of text")
            _check_length(document.text, f"document {shown(document.id)}")
            yield SourceText(document.id, document.text)
        self.skipped = tuple(corpus.skipped)

    def _check_no_columns(self) -> None:
        if any(name is not None for name in self._columns.values()):
            raise InputError(f"{shown(self.path)} has no columns; leave out the names of columns")


def _read(path: Path, name: str) -> SourceText:
    """One file, by its suffix."""
    content, suffix = _content(path, name), path.suffix.lower()
    if suffix == ".pdf":
        text = pdf_text(content, shown(path))
    elif suffix == ".docx":
        text = docx_text(content, shown(path))
    else:
        try:
            text = decode(content)
        except UnicodeError:
            text = "\0"
        if "\0" in text:
            kinds = ".txt, .md, .html, .docx, .pdf or .jsonl"
            raise InputError(f"{shown(path)} is not text in UTF-8; save it as such, or give {kinds}")
        text = html_text(text) if suffix in LOST else text
    if not text.strip():
        raise InputError(f"{shown(path)} contains no text; remove it, or give one that does")
    _check_length(text, shown(path))
    return SourceText(name, text, LOST.get(suffix, ""), path if suffix == ".pdf" else None)


def _content(path: Path, name: str) -> bytes:
    if broken_unicode(name):
        raise InputError(f"{shown(path)} has a name that is not UTF-8; rename it")
    with reading(path):
        if is_folder(path):
            raise InputError(f"{shown(path)} is a folder; give a file")
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise InputError(f"{shown(path)} has {size:,} bytes, at most {LARGEST_FILE:,} can be read; split it")
        return path.read_bytes()


def _check_length(text: str, name: str) -> None:
    if len(text) > LARGEST:
        raise InputError(
            f"{name} has {len(text):,} characters, a document may have {LARGEST:,}; split it into documents"
        )
