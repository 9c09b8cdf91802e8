"""Search: at home in the records that were synced; without a key, by the groups that are most similar.

At home the server learns that somebody synced. By groups it learns which groups' records were fetched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from shoal import progress
from shoal.data.keys import Keys
from shoal.errors import InputError
from shoal.index.client.connection import Connection
from shoal.index.client.journal import Journal
from shoal.index.client.opened import OpenedIndex
from shoal.index.client.published import table_of
from shoal.index.client.records import About, Record
from shoal.index.client.synced import Match, Ranking
from shoal.methods.pools import unit_rows

TRIES = 5
GROUPS = 100  # whose records a search fetches
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
    """A document, how similar it is to the query, and the words of the query that it has.

    If this user cannot read its record, similarity and words are those of its whole group.
    """

    document: str
    similarity: float
    words: tuple[str, ...]  # of the query that matched, the heaviest first
    name: str | None = None  # that its owner put it under
    opening: str = ""
    date: str = ""
    label: str = ""
    readable: bool = True


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


def search_by_groups(
    index: OpenedIndex, keys: Keys | None, query: str, limit: int, allowed: SearchFilter
) -> list[SearchHit]:
    """The same, by the records of the most similar groups; documents that cannot be read come last."""
    words, terms = index.words.of_query(query), index.vocabulary.terms.tolist()
    column_of = {term: column for column, term in enumerate(terms) if term in words}
    if not column_of:
        return []
    columns = list(column_of.values())
    asked = sp.csr_matrix((np.ones(len(columns)), columns, [0, len(columns)]), shape=(1, len(terms)))
    unit = unit_rows(asked, index.vocabulary.weights)[0]
    for _ in range(TRIES):
        representatives = index.published.groups().representatives
        similar = {
            representatives.names[number]: (similarity, representatives.matching(unit, number))
            for number, similarity in representatives.most_similar(unit, GROUPS)
        }
        rows = group_records(index, sorted(similar))
        if {row["representative"] for row in rows} == set(similar):  # none of them is gone
            break
    else:
        raise InputError("the index changes faster than it can be searched; try again later")
    opened = [Record.opened(row["content"], keys) if keys and row["content"] else None for row in rows]
    hits = _readable_hits(index, words, rows, opened, allowed)
    if not allowed:
        closed = [row for row, record in zip(rows, opened, strict=True) if record is None]
        for row in sorted(closed, key=lambda row: -similar[row["representative"]][0]):
            similarity, shared = similar[row["representative"]]
            matched = tuple(word for term in shared for word in words[terms[term]])
            hits.append(SearchHit(row["document"], similarity, matched, readable=False))
    return hits[:limit]


def group_records(index: OpenedIndex, representatives: list[str]) -> list[dict[str, Any]]:
    """The records of all documents of groups; those of a group that is gone are missing."""
    if not representatives:
        return []
    content = index.connection.get(f"/v1/groups/records?representatives={','.join(representatives)}")
    return table_of(content, {"document": pa.string(), "representative": pa.string()}, "content")


def _readable_hits(
    index: OpenedIndex,
    words: Mapping[str, tuple[str, ...]],
    rows: list[dict[str, Any]],
    opened: list[Record | None],
    allowed: SearchFilter,
) -> list[SearchHit]:
    """Documents that this user can read, ranked by their own words."""
    readable = [(row["document"], record) for row, record in zip(rows, opened, strict=True) if record is not None]
    fitting = [(id, record) for id, record in readable if allowed.allows(record.about)]
    weights = dict(zip(index.vocabulary.terms.tolist(), index.vocabulary.weights.tolist(), strict=True))
    matches = Ranking.of_some([record.counts for _, record in fitting], weights).best(words, len(fitting))
    return [_hit(fitting[match.row][0], match, words, fitting[match.row][1].about) for match in matches]


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
