"""The documents to put, from whatever holds them: what `protect` reads, and single text files.

A text file goes by its own name and that of its folder, however it was reached, so that letters/3.txt and more/3.txt
are two, and letters/3.txt is the same whether it was put by itself or with its folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import InputError
from shoal.io import Corpus
from shoal.io.files import decode, kind_of, read_bytes, reading, shown
from shoal.io.parts import local_copy
from shoal.io.records import collection_kind, list_folder
from shoal.release.sources import DocumentSource, Source, open_source

__all__ = ["Columns", "documents_of", "folder_of", "named_documents_of", "open_documents"]


@dataclass(frozen=True)
class Columns:
    """Where a file of many documents has their texts and names; None takes `text`, and `id` if there is one."""

    text: str | None = None
    id: str | None = None


def open_documents(source: Source, columns: Columns = Columns()) -> DocumentSource:
    """The source, if it holds documents."""
    if isinstance(source, str | os.PathLike) and os.path.isfile(source) and kind_of(source) == "text":
        return _single(Path(source))
    opened = open_source(source, text_column=columns.text, id_column=columns.id)
    if not isinstance(opened, DocumentSource):
        name = shown(source) if isinstance(source, str | os.PathLike) else "this"
        raise InputError(f"{name} is a table without texts; name the column that has them with --text-column")
    return opened


def documents_of(source: DocumentSource) -> Iterator[tuple[str, str]]:
    """Name and text of every document; those of one of several files are named after it as well, as in a release."""
    for part in source.parts:
        if isinstance(part, Corpus):
            yield from ((document.id, document.text) for document in part)
            continue
        with local_copy(part) as path:
            for document in Corpus(path, **source.columns):
                yield f"{Path(part).name}:{document.id}", document.text


def named_documents_of(source: DocumentSource) -> Iterator[tuple[str, str]]:
    """The same, by the names that they are put under."""
    folder = folder_of(source)
    return ((folder + name, text) for name, text in documents_of(source))


def folder_of(source: DocumentSource) -> str:
    """What stands before the names of text files: the name of their folder. Other documents have names of their own."""
    path = source.path
    if path is None or not source.whole:
        return ""
    if path.is_dir():
        folder = path.resolve() if collection_kind(list_folder(path)[0]) is None else None
    else:
        folder = path.resolve().parent if kind_of(path) == "text" else None
    return f"{folder.name}/" if folder is not None and folder.name else ""


def _single(path: Path) -> DocumentSource:
    with reading(path):
        corpus = Corpus.from_texts([decode(read_bytes(path))], ids=[path.name])
    return DocumentSource((corpus,), {"text_column": None, "id_column": None, "label_column": None}, True, path)
