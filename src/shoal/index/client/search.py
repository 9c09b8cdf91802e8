"""Search, at home in the records that were synced: the server learns that somebody synced, and nothing of the query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal import progress
from shoal.data.keys import Keys
from shoal.index.client.connection import Connection
from shoal.index.client.journal import Journal
from shoal.index.client.opened import OpenedIndex
from shoal.index.client.published import table_of
from shoal.index.client.records import About, Record
from shoal.index.client.synced import Match

COLUMNS = {
    "number": pa.int64(),
    "document": pa.string(),
    "status": pa.string(),
    "mine": pa.bool_(),
}


@dataclass(frozen=True)
class SearchFilter:
    """Which documents a search may find; by what their records say, on this machine."""

    since: str = ""  # ISO 8601: not before this
    until: str = ""  # not after this; 2024 is all of the year
    folder: str = ""
    label: str = ""

    def __bool__(self) -> bool:
        return any((self.since, self.until, self.folder, self.label))

    def allows(self, about: About) -> bool:
        """Whether a document may be found."""
        return (
            (not self.since or about.date >= self.since)
            and (not self.until or (bool(about.date) and about.date[: len(self.until)] <= self.until))
            and (not self.folder or about.name.startswith(f"{self.folder.rstrip('/')}/"))
            and (not self.label or about.label == self.label)
        )


@dataclass(frozen=True)
class SearchHit:
    """A document, how similar it is to the query, and the words of the query that it has."""

    document: str
    similarity: float
    words: tuple[str, ...]  # of the query that matched, the heaviest first
    name: str | None = None  # that its owner put it under
    opening: str = ""
    date: str = ""
    label: str = ""


@dataclass(frozen=True)
class SyncReport:
    """What a sync fetched, and what this machine has now."""

    fetched: int  # records that changed
    readable: int  # documents that can be searched here
    bytes: int  # on this machine's disk


def sync(index: OpenedIndex, keys: Keys, *, again: bool = False) -> SyncReport:
    """Fetch the records that changed since the last sync, and note which of one's own another machine put."""
    cache, fetched = index.records(keys), 0
    if again:
        cache.clear()
    while rows := _page(index.connection, f"/v1/records?after={cache.after}"):
        records = [(row["document"], Record.opened(row["content"], keys) if row["content"] else None) for row in rows]
        _adopt(index, rows, records)
        cache.add(records, cache.after, rows[-1]["number"])
        fetched += len(rows)
        progress.step("syncing", fetched, None)
    return SyncReport(fetched, len(cache.all()) if cache else 0, cache.size())


def adopt_own(index: OpenedIndex, keys: Keys) -> None:
    """Note the documents that other machines of this account put, by their records."""
    for rows in _own_pages(index.connection):
        _adopt(index, rows, [(row["document"], Record.opened(row["content"], keys)) for row in rows])


def settle(connection: Connection, journal: Journal) -> None:
    """Bring the journal in line with the documents that the server has.

    Some may have been deleted from another machine, or a backup may have been restored from before they were grouped.
    """
    known = journal.documents()  # before the server is asked: another put may add documents meanwhile
    status_of = {row["document"]: row["status"] for rows in _own_pages(connection) for row in rows}
    journal.settle({document: status_of.get(document) for document in known})


def search_at_home(index: OpenedIndex, keys: Keys, query: str, limit: int, allowed: SearchFilter) -> list[SearchHit]:
    """The documents most similar to a query, by the records on this machine."""
    cache, words = index.records(keys), index.words.of_query(query)
    if not cache:
        return []
    records = cache.all()
    may_be_found = None
    if allowed:
        fits = (allowed.allows(records.about_row(row)) for row in range(len(records)))
        may_be_found = np.fromiter(fits, dtype=np.bool_, count=len(records))
    matches = records.ranking.best(words, limit, may_be_found)
    return [_hit(records.id(match.row), match, words, records.about_row(match.row)) for match in matches]


def _hit(id: str, match: Match, words: Mapping[str, tuple[str, ...]], about: About) -> SearchHit:
    matched = tuple(word for stem in match.stems for word in words[stem])
    return SearchHit(id, match.similarity, matched, about.name, about.opening, about.date, about.label)


def _own_pages(connection: Connection) -> Iterator[list[dict[str, Any]]]:
    """The records of this account's documents."""
    after = 0
    while rows := _page(connection, f"/v1/records?mine=true&after={after}"):
        yield rows
        after = rows[-1]["number"]


def _page(connection: Connection, path: str) -> list[dict[str, Any]]:
    return table_of(connection.get(path), COLUMNS, "content")


def _adopt(index: OpenedIndex, rows: list[dict[str, Any]], records: list[tuple[str, Record | None]]) -> None:
    own = [
        (record.digest, record.about.name, id, row["status"] != "stored")
        for row, (id, record) in zip(rows, records, strict=True)
        if row["mine"] and record is not None
    ]
    if own:
        index.journal.adopt(own)
