"""What goes into an index: documents to put, and the groups of a release to start with.

A text file is named after its folder and itself, however it was reached: letters/3.txt and more/3.txt are two
documents, and letters/3.txt is the same whether it was put by itself or with its folder.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.data.corpus import Corpus
from shoal.data.files import decode, kind_of, read_bytes, reading, shown
from shoal.data.inputs import DocumentSource, Source, open_source
from shoal.data.records import collection_kind, list_folder
from shoal.data.sources import local_copy
from shoal.errors import InputError
from shoal.index.client.published import Vocabulary
from shoal.methods.pools import THOUSAND, members_with, rank_of_pools
from shoal.release.load import load
from shoal.release.private_mapping import private_folder, read_mapping, rows_of_parts
from shoal.release.protect import protect


class SourceDocument(NamedTuple):
    """A document to put."""

    name: str
    text: str
    date: str = ""  # ISO 8601
    label: str = ""


def open_documents(
    source: Source,
    text_column: str | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
    date_column: str | None = None,
) -> DocumentSource:
    """A source of documents: a single text file, or what `protect` reads."""
    if isinstance(source, str | os.PathLike) and os.path.isfile(source) and kind_of(source) == "text":
        path = Path(source)
        with reading(path):
            corpus = Corpus.from_texts([decode(read_bytes(path))], ids=[path.name])
        return DocumentSource((corpus,), {"text_column": None, "id_column": None, "label_column": None}, True, path)
    # A corpus carries one column more for each document, which is a person in a release and a date here.
    opened = open_source(
        source, text_column=text_column, id_column=id_column, label_column=label_column, person=date_column
    )
    if not isinstance(opened, DocumentSource):
        name = shown(source) if isinstance(source, str | os.PathLike) else "this"
        raise InputError(
            f"{name} is a table without texts; name the column that has them with {{option}}", "text_column"
        )
    return opened


def documents_of(source: DocumentSource) -> Iterator[SourceDocument]:
    """Every document, named as in a release: if there are several files, after the file too."""
    folder = folder_of(source)
    for part in source.parts:
        if isinstance(part, Corpus):
            for document in part:
                date = document.person or _modified(source.path, document.id, is_file=bool(folder))
                yield SourceDocument(folder + document.id, document.text, date, document.label or "")
            continue
        with local_copy(part) as path:
            for document in Corpus(path, **source.columns):
                name = f"{folder}{Path(part).name}:{document.id}"
                yield SourceDocument(name, document.text, document.person or "", document.label or "")


def _modified(path: Path | None, id: str, is_file: bool) -> str:
    """The day on which a text file was last changed."""
    if path is None or not is_file:
        return ""
    try:
        seconds = (path / id if path.is_dir() else path).stat().st_mtime
    except OSError:  # an id that is no path
        return ""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def folder_of(source: DocumentSource) -> str:
    """The folder's name that text files are put under, before their own names; "" for all other documents."""
    path = source.path
    if path is None or not source.whole:
        return ""
    if path.is_dir():
        folder = path.resolve() if collection_kind(list_folder(path)[0]) is None else None
    else:
        folder = path.resolve().parent if kind_of(path) == "text" else None
    return f"{folder.name}/" if folder is not None and folder.name else ""


@dataclass(frozen=True)
class Start:
    """The k and the vocabulary of an index, and its first groups."""

    k: int
    vocabulary: Vocabulary
    pools: Any = None  # (groups, terms), a CSR matrix
    group_of: dict[str, int] = field(default_factory=dict)  # by the name of the document


def start_of_documents(source: DocumentSource, k: int) -> Start:
    """The groups that `protect` makes of documents; the release itself is not kept."""
    with tempfile.TemporaryDirectory() as folder:
        release = protect(source, k, Path(folder) / "release", attack=False)
        return read_start(release.folder, release.private)


def read_start(
    release: str | os.PathLike[str], private: str | os.PathLike[str] | None, with_documents: bool = True
) -> Start:
    """The groups of a release of documents, by its private mapping; without documents, its k and vocabulary alone."""
    loaded = load(release)
    if loaded.counts is None or loaded.terms is None:
        raise InputError(
            f"{shown(release)} is not a release of documents with pooled counts; make one with: shoal protect"
        )
    parameters = loaded.certificate["stated"]["parameters"]
    if "ontology" in {**parameters.get("microaggregation", {}), **parameters.get("vector_space", {"ontology": ""})}:
        raise InputError(
            f"{shown(release)} was protected by meaning, or without stating how words were counted; an index counts "
            "words: protect the documents with {option}",
            "method mdav",
        )
    counts = sp.csr_matrix(loaded.counts)
    rank = rank_of_pools(counts)
    pools = sp.csr_matrix(counts[np.unique(rank, return_index=True)[1]]).astype(np.int64)
    vocabulary = _vocabulary_of_pools(loaded.terms, pools, np.bincount(rank), parameters["vector_space"])
    k = int(loaded.certificate["promises"]["anonymity"]["k"])
    if not with_documents:
        return Start(k, vocabulary)
    sizes = rows_of_parts(Path(release), "documents") or [counts.shape[0]]
    mapping = read_mapping(private_folder(release, private), sizes)
    return Start(k, vocabulary, pools, dict(zip(mapping.names.to_pylist(), rank.tolist(), strict=True)))


def _vocabulary_of_pools(
    terms: NDArray[np.str_], pools: sp.csr_matrix, sizes: NDArray[np.int64], parameters: Mapping[str, Any]
) -> Vocabulary:
    """Weights by the document frequencies that anyone can estimate from pools; the true ones are not published."""
    frequency = members_with(pools, sizes)
    used = np.flatnonzero(frequency)
    if parameters.get("weighting") == "tf":
        weights = np.ones(len(used))
    else:
        weights = np.log(THOUSAND * sizes.sum() / frequency[used])
    return Vocabulary(terms[used], weights, parameters)
