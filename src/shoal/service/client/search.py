"""Search on the client: it ranks the groups by itself, and asks the server for the documents of the best."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from shoal.microaggregation.words.pooling import unit_rows
from shoal.service.client.connection import Connection, Refusal
from shoal.service.client.groups import Groups
from shoal.service.client.put import as_terms
from shoal.vectors import VectorSpace

__all__ = ["Query", "SearchHit", "ranked_by_server", "ranked_here"]


@dataclass(frozen=True)
class SearchHit:
    """A document, as similar to the query as all of its group, and why."""

    document: str
    similarity: float
    words: tuple[str, ...]  # of the query that matched, the heaviest first
    name: str | None = None  # what its owner calls it


@dataclass(frozen=True)
class Query:
    """A query as terms of the vocabulary, and its own words for them."""

    counts: sp.csr_matrix
    words_of: dict[int, tuple[str, ...]]  # by term

    @classmethod
    def of(cls, text: str, space: VectorSpace) -> Query:
        """Count the terms of a query."""
        counted = space.count([text])
        counts = space.count_rows(counted)
        column = {space.terms_[number]: number for number in counts.indices.tolist()}
        words_of: dict[int, tuple[str, ...]] = {}
        for word, term in sorted(counted.tally.term_of_word.items()):
            if term in column:
                words_of[column[term]] = (*words_of.get(column[term], ()), word)
        return cls(counts, words_of)

    def words(self, terms: Iterable[int]) -> tuple[str, ...]:
        """The words of the query that these terms stand for."""
        return tuple(word for term in terms for word in self.words_of.get(term, ()))


def ranked_here(connection: Connection, groups: Groups, query: Query, limit: int) -> list[SearchHit] | None:
    """The server sees which groups' documents are asked for, and nothing of the query. None if a group has gone."""
    representatives = groups.representatives
    unit = unit_rows(query.counts.astype(np.float64), representatives.idf)[0]
    hits: list[SearchHit] = []
    for number, similarity in representatives.most_similar(unit, limit):
        if len(hits) >= limit:
            break
        words = query.words(representatives.matching(unit, number))
        try:
            answer = connection.get_json(f"/v1/representatives/{representatives.names[number]}/documents")
        except Refusal as refusal:
            if refusal.status == 404:
                return None
            raise
        hits += [SearchHit(document, similarity, words) for document in answer["documents"]]
    return hits[:limit]


def ranked_by_server(connection: Connection, query: Query, limit: int) -> list[SearchHit]:
    """The server sees the query."""
    answer = connection.post_json("/v1/search", {"terms": as_terms(query.counts), "limit": limit})
    return [SearchHit(hit["id"], hit["similarity"], query.words(hit["terms"])) for hit in answer["hits"]]
