"""Search: at home in the records that were synced; else in the records of the groups that are most similar.

At home the server learns that somebody synced. By groups it learns which groups' records were fetched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from shoal import progress
from shoal.data.keys import Keys
from shoal.errors import InputError
from shoal.index.client.opened import OpenedIndex
from shoal.index.client.published import Groups, table_of
from shoal.index.client.ranking import Match, Ranking
from shoal.index.client.records import Record
from shoal.index.client.results import SearchFilter, SearchHit, SyncReport
from shoal.index.client.synced import About
from shoal.methods.pools import unit_rows

TRIES = 5
GROUPS = 100  # whose records a search fetches
COLUMNS = {
    "number": pa.int64(),
    "document": pa.string(),
    "status": pa.string(),
    "mine": pa.bool_(),
}


def sync(index: OpenedIndex, keys: Keys, *, again: bool = False) -> SyncReport:
    """Fetch the records that changed since the last sync, and note which of one's own another machine put."""
    cache, fetched = index.records(keys), 0
    if again:
        cache.clear()
    while rows := _page(index, f"/v1/records?after={cache.after}"):
        records = [(row["document"], Record.opened(row["content"], keys) if row["content"] else None) for row in rows]
        _adopt(index, rows, records)
        cache.add(records, cache.after, rows[-1]["number"])
        fetched += len(rows)
        progress.step("syncing", fetched, None)
    return SyncReport(fetched, len(cache.collection()) if cache else 0, cache.size())


def adopt_own(index: OpenedIndex, keys: Keys) -> None:
    """Note the documents that other machines of this account put, by their records."""
    after = 0
    while rows := _page(index, f"/v1/records?mine=true&after={after}"):
        _adopt(index, rows, [(row["document"], Record.opened(row["content"], keys)) for row in rows])
        after = rows[-1]["number"]


def search_at_home(index: OpenedIndex, keys: Keys, query: str, limit: int, allowed: SearchFilter) -> list[SearchHit]:
    """The documents most similar to a query, by the records on this machine."""
    cache, words = index.records(keys), index.words.of_query(query)
    if not cache:
        return []
    collection = cache.collection()
    may_be_found = None
    if allowed:
        abouts = map(collection.about, range(len(collection)))
        fits = (allowed.allows(about.name, about.date, about.label) for about in abouts)
        may_be_found = np.fromiter(fits, dtype=np.bool_, count=len(collection))
    return [
        _hit(collection.id(match.row), match, words, collection.about(match.row))
        for match in collection.ranking.best(words, limit, may_be_found)
    ]


def search_by_groups(
    index: OpenedIndex, keys: Keys | None, query: str, limit: int, allowed: SearchFilter
) -> list[SearchHit]:
    """The same, by the records of the most similar groups; documents that cannot be read come last."""
    counted = _Query.parse(query, index)
    if not counted.counts.nnz:
        return []
    for _ in range(TRIES):
        similar = _most_similar(index.published.groups(), counted)
        fetched = _group_records(index, [group.representative for group in similar])
        if fetched is not None:
            return _ranked(index, keys, query, fetched, similar, allowed)[:limit]
    raise InputError("the index changes faster than it can be searched; try again later")


@dataclass(frozen=True)
class _Query:
    """A query as terms of the vocabulary, and the words that it has for them."""

    counts: sp.csr_matrix
    words_of: dict[int, tuple[str, ...]]  # by term

    @classmethod
    def parse(cls, text: str, index: OpenedIndex) -> _Query:
        """Count the terms of a query."""
        counted = index.space.count([text])
        counts = index.space.count_rows(counted)
        column = {index.space.terms_[number]: number for number in counts.indices.tolist()}
        words_of: dict[int, tuple[str, ...]] = {}
        for word, term in sorted(counted.tally.term_of_word.items()):
            if term in column:
                words_of[column[term]] = (*words_of.get(column[term], ()), word)
        return cls(counts, words_of)

    def words(self, terms: Any) -> tuple[str, ...]:
        """The words of the query that these terms stand for."""
        return tuple(word for term in terms for word in self.words_of.get(term, ()))


@dataclass(frozen=True)
class _SimilarGroup:
    """A group by its representative, how similar it is, and the words of the query that it has."""

    representative: str
    similarity: float
    words: tuple[str, ...]


def _most_similar(groups: Groups, query: _Query) -> list[_SimilarGroup]:
    representatives = groups.representatives
    unit = unit_rows(query.counts.astype(np.float64), representatives.idf)[0]
    return [
        _SimilarGroup(representatives.names[number], similarity, query.words(representatives.matching(unit, number)))
        for number, similarity in representatives.most_similar(unit, GROUPS)
    ]


def _group_records(index: OpenedIndex, representatives: list[str]) -> list[dict[str, Any]] | None:
    """The records of all documents of groups; None if one of the groups is gone."""
    if not representatives:
        return []
    content = index.connection.get(f"/v1/groups/records?representatives={','.join(sorted(representatives))}")
    rows = table_of(content, {"document": pa.string(), "representative": pa.string()}, "content")
    return rows if {row["representative"] for row in rows} == set(representatives) else None


def _ranked(
    index: OpenedIndex,
    keys: Keys | None,
    query: str,
    rows: list[dict[str, Any]],
    groups: list[_SimilarGroup],
    allowed: SearchFilter,
) -> list[SearchHit]:
    """Readable documents by their own words, then the others by those of their groups."""
    opened = [Record.opened(row["content"], keys) if keys and row["content"] else None for row in rows]
    readable = [(row["document"], record) for row, record in zip(rows, opened, strict=True) if record is not None]
    fitting = [(id, record) for id, record in readable if allowed.allows(record.name, record.date, record.label)]
    weights = dict(zip(index.vocabulary.terms.tolist(), index.vocabulary.weights.tolist(), strict=True))
    ranking = Ranking.of_some([record.counts for _, record in fitting], weights)
    words = index.words.of_query(query)
    matches = ranking.best(words, len(fitting))
    hits = [_hit(fitting[match.row][0], match, words, fitting[match.row][1]) for match in matches]
    of = {group.representative: group for group in groups}
    if not allowed:
        closed = [(row, of[row["representative"]]) for row, record in zip(rows, opened, strict=True) if record is None]
        closed.sort(key=lambda pair: -pair[1].similarity)
        hits += [SearchHit(row["document"], group.similarity, group.words, readable=False) for row, group in closed]
    return hits


def _hit(id: str, match: Match, words: dict[str, tuple[str, ...]], about: About | Record) -> SearchHit:
    matched = tuple(word for stem in match.stems for word in words[stem])
    return SearchHit(id, match.similarity, matched, about.name, about.opening, about.date, about.label)


def _page(index: OpenedIndex, path: str) -> list[dict[str, Any]]:
    return table_of(index.connection.get(path), COLUMNS, "content")


def _adopt(index: OpenedIndex, rows: list[dict[str, Any]], records: list[tuple[str, Record | None]]) -> None:
    own = [
        (record.digest, record.name, id, row["status"] != "stored")
        for row, (id, record) in zip(rows, records, strict=True)
        if row["mine"] and record is not None
    ]
    if own:
        index.journal.adopt(own)
