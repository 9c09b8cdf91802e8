"""Texts before and after sanitizing, side by side by their names."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from shoal.bundle.load import kind_of_release
from shoal.errors import InputError
from shoal.io.corpus import Corpus
from shoal.io.files import counted, is_folder, kind_of, reading
from shoal.io.records import collection_kind, list_folder
from shoal.io.texts import TextSource

__all__ = ["AlignedTexts", "align_texts", "is_sanitized", "is_texts", "read_texts"]

RELEASED = "documents"  # folder of a release's texts
UNMASKED = "index.csv"  # of shoal unmask


@dataclass(frozen=True)
class AlignedTexts:
    """Text i of `after` is what became of text i of `before`."""

    names: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]  # "" of a text that was withheld
    notes: tuple[str, ...]


def is_texts(protected: Any) -> bool:
    """Whether these are texts: strings in memory, a folder or JSONL of texts, or a release of sanitized texts."""
    if isinstance(protected, Corpus):
        return not protected.of_items
    if isinstance(protected, list | tuple):
        return all(isinstance(text, str) for text in protected)
    if not isinstance(protected, str | os.PathLike) or not os.path.exists(protected):
        return False
    if kind_of_release(protected) is not None:
        return kind_of_release(protected) == "sanitized"
    if not is_folder(protected):
        return kind_of(protected) == "jsonl"
    return collection_kind(list_folder(Path(protected))[0]) in (None, "jsonl")


def is_sanitized(protected: Any) -> bool:
    """Whether this is a release of sanitized texts."""
    return isinstance(protected, str | os.PathLike) and kind_of_release(protected) == "sanitized"


def align_texts(original: Any, protected: Any, columns: Mapping[str, str | None]) -> AlignedTexts:
    """Read both sides. A text goes by its id, a file by its name; the suffix may differ, as of letter.docx in text."""
    if any(columns.values()) and not (_has_columns(original) or _has_columns(protected)):
        raise InputError("text files have no columns; leave out --text-column and --id-column")
    released = is_sanitized(protected)
    before = (_unmasked(original) if released else None) or read_texts(original, columns)
    after = _released(Path(protected)) if released else read_texts(protected, columns)
    if not before.keys() >= after.keys():
        before, after = _by_stem(before), _by_stem(after)
    unknown = len(after.keys() - before.keys())
    if unknown:
        remedy = "give the collection that was sanitized, and its --id-column"
        if released:  # its documents have names of their own, in an order of their own
            remedy = "give the originals as shoal unmask writes them"
        raise InputError(
            f"{counted(unknown, 'sanitized text')} of {len(after)} not among the originals by name; {remedy}"
        )
    withheld = len(before) - len(after)
    notes = [] if not withheld else [f"{counted(withheld, 'text')} withheld or empty after sanitizing"]
    texts = tuple(after.get(name, "") for name in before)
    return AlignedTexts(tuple(before), tuple(before.values()), texts, tuple(notes))


def _released(folder: Path) -> dict[str, str]:
    """The texts of a release; its pages and pictures say the same."""
    texts = {}
    for path in sorted((folder / RELEASED).glob("*.txt")):
        with reading(path):
            texts[path.name] = path.read_bytes().decode("utf-8")
    return texts


def _unmasked(source: Any) -> dict[str, str] | None:
    """Originals as shoal unmask writes them, by their names in the release; None: there is no index of these."""
    index = Path(source) / UNMASKED if isinstance(source, str | os.PathLike) else None
    if index is None or not index.is_file():
        return None
    with reading(index), index.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    if not rows or rows[0] != ["document", "original"] or any(len(row) != 2 for row in rows):
        return None
    texts = {}
    for document, name in rows[1:]:
        path = Path(source) / name
        with reading(path):
            texts[f"{document}.txt"] = path.read_bytes().decode("utf-8", "surrogatepass")
    return texts


def read_texts(source: Any, columns: Mapping[str, str | None]) -> dict[str, str]:
    """The texts by their names, in order."""
    if isinstance(source, str | os.PathLike):
        named = columns if _has_columns(source) else {}
        return {text.id: text.text for text in TextSource(source, **named)}
    corpus = source if isinstance(source, Corpus) else Corpus.from_texts(source)
    return {document.id: document.text for document in corpus}


def _has_columns(source: Any) -> bool:
    """Whether these are records; a folder of text files has no columns, and texts in memory have none."""
    if not isinstance(source, str | os.PathLike) or is_sanitized(source):
        return False
    return not is_folder(source) or collection_kind(list_folder(Path(source))[0]) is not None


def _by_stem(texts: Mapping[str, str]) -> dict[str, str]:
    """The same without suffixes; two files that differ in nothing else cannot be told apart."""
    named = {PurePosixPath(name).with_suffix("").as_posix(): text for name, text in texts.items()}
    if len(named) < len(texts):
        raise InputError(
            f"{counted(len(texts) - len(named), 'text')} cannot be told apart without the suffix of the file's name, "
            "and with it the two sides differ; rename them"
        )
    return named
