"""What is to be protected, opened once: documents, baskets or a table, in one piece or in parts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.data.corpus import Corpus, looks_like_documents
from shoal.data.files import shown
from shoal.data.roles import ColumnChoices, Roles, asked_choices, asked_roles
from shoal.data.sources import in_parts, list_parts, local_copy, table_source
from shoal.errors import InputError
from shoal.request.option import BASKETS, DOCUMENTS, TABLES
from shoal.request.request import Request

Source = str | os.PathLike[str] | Corpus | Iterable[str] | Any


@dataclass(frozen=True)
class DocumentSource:
    """Documents or baskets: files, or a corpus in one piece."""

    parts: tuple[str | Corpus, ...]
    columns: dict[str, str | None]  # text_column, id_column, label_column, person_column
    whole: bool  # in one piece
    path: Path | None = None  # on this machine
    of_items: bool = False  # baskets, not texts
    label: str | None = None  # the confidential column that is released as it is

    @property
    def kind(self) -> str:
        return BASKETS if self.of_items else DOCUMENTS


@dataclass(frozen=True)
class TableSource:
    """A table: files, or anything that holds rows, in one piece."""

    kind = TABLES

    parts: tuple[Any, ...]
    roles: Roles | None
    whole: bool
    path: Path | None = None


def source_of(request: Request) -> tuple[DocumentSource | TableSource, ColumnChoices]:
    """What a request points at, and what it says of columns; options that are not for such a source are refused."""
    columns, roles = request.columns, asked_roles(request.columns)
    choices = asked_choices(columns)
    opened = open_source(
        table_source(request.source, request.reading),
        roles=roles,
        text_column=columns.text_column,
        id_column=columns.id_column,
        label_column=columns.label_column,
        person=request.promises.person,
        on_cluster=request.publication.client is not None,
    )
    request.check_for(opened.kind)
    return opened, choices


def open_source(
    source: Source,
    *,
    roles: Roles | None = None,
    text_column: str | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
    person: str | None = None,
    on_cluster: bool = False,
) -> DocumentSource | TableSource:
    """Tell documents from tables, and one piece from parts; with roles it is a table."""
    if isinstance(source, DocumentSource | TableSource):
        return source
    if isinstance(source, Iterator):
        source = list(source)
    path = Path(source) if isinstance(source, str | os.PathLike) and "://" not in str(source) else None
    columns = {
        "text_column": text_column,
        "id_column": id_column,
        "label_column": label_column,
        "person_column": person,
    }
    if on_cluster or in_parts(source):
        if not isinstance(source, str | os.PathLike):
            raise InputError("a cluster reads files; give a folder or a pattern such as letters/*.parquet")
        parts = tuple(list_parts(source))
        if roles is not None:
            return TableSource(parts, roles, False, path)
        with local_copy(parts[0]) as first:
            return _documents(parts, columns, False, path, Corpus(first, **columns).of_items)
    if not _is_documents(source, roles, text_column):
        return TableSource((source,), roles, True, path)
    if roles is not None:
        raise InputError("roles are for tables, and this is a collection of documents; leave them out")
    if isinstance(source, str | os.PathLike):
        source = Corpus(source, **columns)
    elif not isinstance(source, Corpus):
        source = Corpus.from_texts(source)
    return _documents((source,), columns, True, path, source.of_items)


def _documents(
    parts: tuple[Any, ...], columns: dict[str, str | None], whole: bool, path: Path | None, of_items: bool
) -> DocumentSource:
    text = columns["text_column"] or ("items" if of_items else "text")
    _check_label(columns["label_column"], text, columns["id_column"] or "id")
    person = columns["person_column"]
    if person is not None and person in (text, columns["label_column"]):
        raise InputError(f"column {shown(person)} is for {{option}} and would be released, too; name another", "person")
    if person is not None and not whole:
        raise InputError("{option} needs one file: a person's documents may lie in several parts; join them", "person")
    return DocumentSource(parts, columns, whole, path, of_items, columns["label_column"])


def _is_documents(source: Source, roles: Roles | None, text_column: str | None) -> bool:
    if isinstance(source, str | os.PathLike):
        return roles is None and looks_like_documents(source, text_column)
    return isinstance(source, Corpus) or (isinstance(source, list | tuple) and all(isinstance(t, str) for t in source))


def _check_label(label: str | None, text: str, identity: str) -> None:
    """The label is published: it must be neither the text nor the id, nor be called like what is released beside it."""
    if label is None:
        return
    if label in (text, identity):
        raise InputError(
            f"the label column {shown(label)} is also the text or the id, which stay private; name another"
        )
    if label in ("terms", "counts", "weights", "sketch"):
        raise InputError(f"a label column named {shown(label)} would clash with the release's own; rename the column")
