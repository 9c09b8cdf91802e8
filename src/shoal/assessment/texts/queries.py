"""What to ask a search engine for: what readers look for, and what was to be hidden."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp

from shoal.errors import InputError
from shoal.io.files import decode, read_bytes, reading, shown
from shoal.sanitizer.policies import Policy
from shoal.utility.clustering import spherical_kmeans
from shoal.utility.search_change import Query
from shoal.utility.spaces import distinct_rows
from shoal.vectors.search_engine import SearchEngine

__all__ = ["read_queries", "risk_queries", "subject_queries"]

SUBJECTS = 10
FEWEST = 4  # documents to a subject, on average
WORDS = 4  # of a query


def subject_queries(engine: SearchEngine, random_state: int = 0) -> list[Query]:
    """A query for each subject of the collection.

    The rule: documents are clustered by their words (spherical k-means, ten clusters or one for four documents), and
    each cluster is asked for by the four words that weigh most in it.
    """
    rows = sp.csr_matrix(engine.rows_[np.flatnonzero(np.diff(engine.rows_.indptr))])
    if not rows.shape[0]:
        return []
    distinct = distinct_rows(rows)
    n_subjects = int(np.clip(distinct.rows.shape[0] // FEWEST, 1, SUBJECTS))
    subject_of_row = spherical_kmeans(distinct, n_subjects, random_state)[distinct.of_row]
    queries = []
    for subject in range(n_subjects):
        weights = np.asarray(rows[subject_of_row == subject].sum(axis=0)).ravel()
        queries.append(Query(f"subject {subject + 1}", " ".join(engine.words(weights, WORDS))))
    return queries


def risk_queries(policy: Policy) -> list[Query]:
    """A query for each topic of the policy, of the words of its concepts, and one of all of them."""
    topics = [Query(topic.title, _once(concept.word for concept in topic.concepts)) for topic in policy.topics]
    return topics if len(topics) < 2 else [*topics, Query("all topics", _once(query.words for query in topics))]


def _once(phrases: Iterable[str]) -> str:
    """Each word once: a query asks for words, however many concepts have them."""
    return " ".join(dict.fromkeys(word for phrase in phrases for word in phrase.split()))


def read_queries(path: str | os.PathLike[str]) -> list[Query]:
    """Queries from a text file, one per line."""
    with reading(path):
        lines = [" ".join(line.split()) for line in decode(read_bytes(path)).splitlines()]
    queries = [Query(words, words) for words in lines if words]
    if not queries:
        raise InputError(f"{shown(path)} has no query; write one per line")
    return queries
