"""Where texts come from: one file, a folder of files, or records with a column of text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from shoal.data.corpus import Corpus
from shoal.data.files import PathLike, broken_unicode, is_folder, kind_of, reading, shown
from shoal.data.records import COLLECTIONS, Skipped, collection_kind, list_folder
from shoal.errors import InputError
from shoal.sanitizer.reading.mail import html_text, looks_like_mail, mail_text
from shoal.sanitizer.reading.office import docx_text, odt_text, rtf_text
from shoal.sanitizer.reading.pdf import pdf_text

LARGEST = 5_000_000  # characters of one document
LARGEST_FILE = 200_000_000  # bytes; a PDF or DOCX may be mostly pictures
PLAIN = (".txt", ".text", ".md", ".markdown", ".rst", ".log", ".csv", ".tsv")
PAGES = (".html", ".htm", ".xhtml")
# What does not survive as text, by suffix.
LOST = {
    **dict.fromkeys(PAGES, "title, tags, scripts, styles, comments and attributes"),
    ".docx": "layout, pictures, charts, footnotes, comments, deleted text, embedded files and properties of the file",
    ".odt": "layout, pictures, comments, deleted text, embedded files and properties of the file",
    ".rtf": "layout, pictures, headers, footers, footnotes, comments, embedded files and properties of the file",
    ".eml": "the content of attachments, headers of transport, and other versions of the same text",
    ".pdf": "layout, pictures, forms, annotations and properties of the file",
}
# Files without a suffix go by how they begin.
_BEGINNINGS = ((b"%PDF-", ".pdf"), (b"{\\rtf", ".rtf"), (b"<!doctype html", ".html"), (b"<html", ".html"))
_SHORTEST_UTF16 = 8  # bytes without a mark
_BINARY = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
# Letters of other code pages, read as Western ones: "Wa³êsa", "Ïðèâåò".
_MISREAD = re.compile(r"[^\W\d_][³¹¿¶¼½¾¢¤¦¨¬±¸×÷][^\W\d_]|[À-ÿ]{4}|[ðþÐÞ][À-ÿ]|[À-ÿ][ðþÐÞ]")


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
        folder = is_folder(self.path)
        names, closed = list_folder(self.path) if folder else ([], [])
        if collection_kind(names) is not None if folder else kind_of(self.path) in COLLECTIONS:
            yield from self._records()
            return
        if any(name is not None for name in self._columns.values()):
            raise InputError(f"{shown(self.path)} has no columns; leave out the names of columns")
        if not folder:
            yield _read(self.path, self.path.name)
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


def _read(path: Path, name: str) -> SourceText:
    """One file, by its suffix; a mail that must be decoded is decoded whatever its name is."""
    content, title = _content(path, name), shown(path)
    suffix = _kind(path, content)
    readers: dict[str, Callable[[], str]] = {
        ".docx": lambda: docx_text(content, title),
        ".odt": lambda: odt_text(content, title),
        ".rtf": lambda: rtf_text(content, title),
        ".eml": lambda: mail_text(content, title),
        **dict.fromkeys(PAGES, lambda: html_text(_decoded(content, title))),
    }
    recognised = False
    if suffix == ".pdf":
        text, recognised = pdf_text(content, title)
    else:
        text = readers.get(suffix, lambda: _decoded(content, title))()
    if not text.strip():
        raise InputError(f"{title} contains no text; remove it, or give one that does")
    _check_length(text, title)
    lost = (
        LOST.get(suffix, "") + "; pages that are pictures were read by Tesseract: look for misread letters" * recognised
    )
    return SourceText(name, text, lost, path if suffix == ".pdf" and not recognised else None)


def _kind(path: Path, content: bytes) -> str:
    """The suffix that says how a file is read. What is of no known kind might hide text that nobody would review."""
    suffix = path.suffix.lower()
    if suffix in PLAIN and looks_like_mail(content, encoded=True):
        return ".eml"
    if suffix in LOST or suffix in PLAIN:
        return suffix
    start = content.lstrip()[:20].lower()
    beginning = next((known for mark, known in _BEGINNINGS if start.startswith(mark)), "")
    is_named = len(suffix) > 1 and not suffix[1:].isdigit()  # mails are often called 17 or 17.
    if is_named or not (beginning or looks_like_mail(content)):
        kinds = ".txt, .md, .html, .eml, .rtf, .odt, .docx, .pdf or .jsonl"
        raise InputError(f"{shown(path)} is of no known kind; save it as {kinds}")
    return beginning or ".eml"


def _decoded(content: bytes, title: str) -> str:
    """Text in UTF-8, UTF-16 with or without a mark, or Windows-1252."""
    for encoding in _encodings(content):
        try:
            text = content.decode(encoding)
        except UnicodeError:
            continue
        if not _BINARY.search(text) and not (encoding == "cp1252" and _MISREAD.search(text)):
            return text
    raise InputError(f"{title} is not text in UTF-8, UTF-16 or Windows-1252; save it as UTF-8")


def _encodings(content: bytes) -> tuple[str, ...]:
    if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return ("utf-16",)
    start = content[:4000]
    odd, even = start[1::2].count(0), start[::2].count(0)
    if len(start) >= _SHORTEST_UTF16 and 4 * max(odd, even) > len(start):  # half of the bytes of Latin letters are zero
        return ("utf-16-le",) if odd > even else ("utf-16-be",)
    return "utf-8-sig", "cp1252"


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
