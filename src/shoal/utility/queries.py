"""Queries: does a search in the protected space find the documents it finds in the original?

A query is a few terms; a document's score is its cosine with them; the answer are the r documents with the highest
scores, those with none of the terms never. Protected documents tie in groups, so which of the last ones make the list
is chance. F1 of the two answers A and B is therefore given in expectation. A document is in an answer for sure, or
with the chance that it is drawn from the documents that tie for the last places:

    p(document) = 1 above the r-th score, places left / documents tied at it, 0 below

The lengths of the answers are fixed and ties are broken in each on its own, so

    E F1 = 2 E|A ∩ B| / (|A| + |B|),    E|A ∩ B| = Σ p_A(document) · p_B(document)

is exact.

Source of the six kinds: Abril, Navarro-Arribas and Torra, "Spherical microaggregation: anonymizing sparse vector
spaces", Computers & Security 49 (2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.kernels import Floats, Ints
from shoal.results.utility import QueryAgreement
from shoal.utility.spaces import SpacePair

KINDS = (
    "most frequent terms",
    "least frequent terms",
    "random terms, first draw",
    "random terms, second draw",
    "highest mean weight",
    "highest single weight",
)
LENGTHS = (1, 3, 5)
BEST = (10, 50, 100)
ROUNDING = 1e-9  # scores closer than this tie


def pair_queries(
    pair: SpacePair, lengths: Sequence[int] = LENGTHS, best: Sequence[int] = BEST, random_state: int = 0
) -> tuple[QueryAgreement, ...]:
    """Expected F1 of the answers from both spaces, for every kind of query, number of terms and length of the answer.

    Examples
    --------
    >>> from shoal.utility.queries import pair_queries
    >>> from shoal.utility.spaces import space_pair
    >>> before = [[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]
    >>> after = [[1.0, 0.0], [0.6, 0.8], [0.6, 0.8]]
    >>> found = pair_queries(space_pair(before, after), lengths=[1], best=[2])
    >>> found[0].kind, found[0].f1  # the first term: rows 0 and 1, against row 0 and one of rows 1 and 2
    ('most frequent terms', 0.75)
    """
    n_rows = pair.original.shape[0]
    if min(best) < 1:
        raise InputError(f"best={list(best)!r}: an answer must have at least 1 document")
    rankings = query_terms(pair.original, lengths, random_state)
    queries = [(kind, n_terms, ranked[:n_terms]) for kind, ranked in rankings.items() for n_terms in lengths]
    before, after = (_scores(X, [terms for _, _, terms in queries]) for X in (pair.original, pair.protected))
    agreements = []
    for number, (kind, n_terms, _) in enumerate(queries):
        for r in best:
            own = chances_to_be_best(before[number], r)
            other = chances_to_be_best(after[number], r)
            # A list of as many documents drawn at random has each with the same chance.
            chance = np.full(n_rows, other.sum() / n_rows)
            values = (expected_f1(own, list_) for list_ in (other, own, chance))
            agreements.append(QueryAgreement(kind, n_terms, r, *values))
    return tuple(agreements)


def query_terms(X: sp.csr_matrix, lengths: Sequence[int], random_state: int) -> dict[str, Ints]:
    """The terms of each kind of query, in their order; shorter queries are the beginnings of longer ones."""
    documents = np.bincount(X.indices, minlength=X.shape[1])
    terms = np.flatnonzero(documents)
    if min(lengths) < 1 or max(lengths) > len(terms):
        raise InputError(f"lengths={list(lengths)!r}: a query has 1 to {len(terms)} terms, as many as the space has")
    random = np.random.default_rng(random_state)
    total = np.asarray(X.sum(axis=0)).ravel()  # by the same number of documents for every term
    highest = X.max(axis=0).toarray().ravel()
    ranked = (
        _ranked(terms, -documents),
        _ranked(terms, documents),
        random.permutation(terms),
        random.permutation(terms),
        _ranked(terms, -total.round(9)),  # rounded: a sum over the rows in another order is the same weight
        _ranked(terms, -highest.round(9)),
    )
    return dict(zip(KINDS, (order[: max(lengths)] for order in ranked), strict=True))


def _ranked(terms: Ints, value: NDArray[Any]) -> Ints:
    """Terms by rising value; ties to the lower column, so that a figure can be repeated."""
    order: Ints = terms[np.argsort(value[terms], kind="stable")]
    return order


def _scores(X: sp.csr_matrix, queries: list[Ints]) -> Floats:
    """The cosine of every document with every query, (queries, n)."""
    columns = np.concatenate(queries)
    of_query = np.repeat(np.arange(len(queries)), [len(terms) for terms in queries])
    weights = 1.0 / np.sqrt([len(queries[number]) for number in of_query])
    asked = sp.csr_matrix((weights, (columns, of_query)), shape=(X.shape[1], len(queries)))
    return np.ascontiguousarray((X @ asked).toarray().T)


def chances_to_be_best(scores: Floats, r: int) -> Floats:
    """Each document's chance to be among the r with the highest positive scores, ties broken at random."""
    answers = np.flatnonzero(scores > ROUNDING)
    chances = np.zeros(len(scores))
    if len(answers) <= r:
        chances[answers] = 1.0
        return chances
    last = np.partition(scores[answers], len(answers) - r)[len(answers) - r]
    surely = scores > last + ROUNDING
    tied = np.abs(scores - last) <= ROUNDING
    chances[surely] = 1.0
    chances[tied] = (r - surely.sum()) / tied.sum()
    return chances


def expected_f1(first: Floats, second: Floats) -> float:
    """Of two lists, from every document's chance to be on each; two empty lists agree."""
    length = first.sum() + second.sum()
    return float(2.0 * (first @ second) / length) if length > 0 else 1.0
