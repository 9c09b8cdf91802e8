"""An index as a client has opened it: what it promised, its vocabulary, and the folder that is kept of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.service.client.connection import Connection, Refusal
from shoal.service.client.copy import write_aside
from shoal.service.client.groups import Published
from shoal.service.client.journal import Journal
from shoal.service.client.vocabulary import Vocabulary
from shoal.vectors import VectorSpace

__all__ = ["OpenedIndex", "open_index", "settle"]


@dataclass(frozen=True)
class OpenedIndex:
    """An index whose promises have not changed since it was seen first."""

    k: int
    embargo: float | None
    vocabulary: Vocabulary
    space: VectorSpace
    journal: Journal
    published: Published


def open_index(connection: Connection, folder: Path) -> OpenedIndex:
    """Look at the index, and see whether it is the one that was seen before."""
    try:
        shown = connection.get_json("/v1/index")
    except Refusal as refusal:
        if refusal.status != 404:
            raise
        raise InputError(
            f"there is no index at {connection.server} yet; an operator makes one with: shoal index create"
        ) from None
    try:
        noted = {"id": str(shown["id"]), "k": str(int(shown["k"])), "vocabulary": str(shown["vocabulary"])}
        embargo = None if shown["embargo"] is None else float(shown["embargo"])
    except (KeyError, TypeError, ValueError):
        raise InputError("the server's answer is not what an index gives; is this the address of an index?") from None
    mine = folder / _digest(connection.account)
    journal = Journal(mine / "journal.sqlite")
    _check_same(connection, journal, noted)
    pages = mine / f"pages-{_digest(noted['id'])}"
    pages.mkdir(mode=0o700, exist_ok=True)
    vocabulary = _vocabulary(connection, mine, noted["vocabulary"])
    k = int(noted["k"])
    published = Published(connection, noted["id"], pages, vocabulary.weights, k)
    return OpenedIndex(k, embargo, vocabulary, vocabulary.space(), journal, published)


def _check_same(connection: Connection, journal: Journal, now: dict[str, str]) -> None:
    """An index keeps its k and its vocabulary. Another, or one restored from a backup, has another id."""
    before = journal.about()
    if before.get("id", now["id"]) == now["id"]:
        for what in ("k", "vocabulary"):
            if before.get(what, now[what]) != now[what]:
                raise InputError(f"the {what} of this index has changed, which it never may; ask the operator")
    else:
        settle(connection, journal)
        if before["vocabulary"] != now["vocabulary"]:
            journal.change_terms()
    journal.note(now)


def settle(connection: Connection, journal: Journal) -> None:
    """Bring the journal in line with what the server has of the documents that were put.

    Someone deleted them from another machine, say, or a backup was restored from before they got into a group.
    """
    known = journal.documents()  # before the server is asked: another put may add some meanwhile
    status_of: dict[str, str] = {}
    after: Any = ""
    while after is not None:
        page = connection.get_json(f"/v1/documents?mine=true&after={after}&limit=10000")
        status_of |= {document["id"]: document["status"] for document in page["documents"]}
        after = page["after"]
    journal.settle({document: status_of.get(document) for document in known})


def _vocabulary(connection: Connection, folder: Path, digest: str) -> Vocabulary:
    """It never changes, so it is fetched once."""
    file = folder / f"vocabulary-{_digest(digest)}.json"
    if file.exists():
        return Vocabulary.from_json(file.read_bytes(), digest)
    body = connection.get(f"/v1/vocabulary/{digest}").content
    vocabulary = Vocabulary.from_json(body, digest)
    write_aside(file, body)
    return vocabulary


def _digest(name: str) -> str:
    """A name for a file, whatever a server calls itself."""
    return hashlib.blake2b(name.encode(), digest_size=12).hexdigest()
