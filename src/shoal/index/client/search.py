"""Search on the client: it ranks the groups itself, and asks the server for the documents of the best."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from shoal.errors import InputError
from shoal.index.client.connection import Connection, Refusal
from shoal.index.client.opened import OpenedIndex
from shoal.index.client.published import Groups
from shoal.index.client.put import as_terms
from shoal.index.client.results import SearchHit
from shoal.methods.pools import unit_rows
from shoal.terms.vector_space import VectorSpace

TRIES = 5


def search(index: OpenedIndex, query: str, limit: int, thin: bool) -> list[SearchHit]:
    """The documents most similar to a query, ranked here, or if `thin` by the server, which then sees the query."""
    parsed = _Query.parse(query, index.space)
    if not parsed.counts.nnz:
        return []
    if thin:
        answer = index.connection.post_json("/v1/search", {"terms": as_terms(parsed.counts), "limit": limit})
        return [SearchHit(hit["id"], hit["similarity"], parsed.words(hit["terms"])) for hit in answer["hits"]]
    for _ in range(TRIES):
        hits = _ranked(index.connection, index.published.recent_groups(), parsed, limit)
        if hits is not None:
            return hits
        index.published.expire()
    raise InputError("the index changes faster than it can be searched; try again later")


@dataclass(frozen=True)
class _Query:
    """A query as terms of the vocabulary, and the words that it has for them."""

    counts: sp.csr_matrix
    words_of: dict[int, tuple[str, ...]]  # by term

    @classmethod
    def parse(cls, text: str, space: VectorSpace) -> _Query:
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


def _ranked(connection: Connection, groups: Groups, query: _Query, limit: int) -> list[SearchHit] | None:
    """Documents of the most similar groups; None if one of these groups is gone.

    The server sees which groups' documents are asked for, and nothing of the query.
    """
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
