"""Attacks on documents: linking their released rows, and searching for the originals of sanitized texts.

In a search, the attackers have a sanitized text and a background collection, of the same texts or of others about the
same people. They put the text itself as a query to a search engine of the background and look at the documents that
come first. They do not know whether the original is there at all: to be believed, they name a document only where it is
more relevant than 95 % of those that come first for texts whose originals are not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal import progress
from shoal.attacks.rates import check_count, rate_of, sample_rows
from shoal.errors import InputError
from shoal.kernels import Floats
from shoal.results.attacks import Rate
from shoal.results.searches import Reidentification, Searched
from shoal.terms.search_engine import SearchEngine
from shoal.terms.vector_space import at_unit_length

ATTACKED = 2_000  # documents
AT_ONCE = 500  # documents compared with all rows at a time
CLOSE = 1e-9  # similarities that differ by less are equal
ROUNDING = 1e-9  # relevances closer than this tie
BLOCK = 256  # texts searched for at a time
CONFIDENCE = 0.95  # share of strangers for whom nobody is named


class DocumentLinkage:
    """Look for the released row of documents that are known word by word.

    The attacker compares a document with every released row and takes the one of the largest cosine; of rows that are
    equal, or equally near, one at random. The baseline is 1 / n.

    At most 2,000 documents, drawn at random, are looked for among the rows of all.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from shoal.attacks.documents import DocumentLinkage
    >>> documents = sp.csr_matrix([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.2, 0.8]])
    >>> rows = sp.csr_matrix([[1.0, 0.05], [0.1, 0.9]])
    >>> DocumentLinkage().run(documents, rows, [0, 0, 1, 1]).rate
    0.5
    """

    def run(self, documents: sp.csr_matrix, rows: sp.csr_matrix, groups: NDArray[np.int64]) -> Rate:
        """`rows` has one for each group, and a column for each of the documents'; `groups` is that of each document."""
        groups = np.asarray(groups, dtype=np.int64)
        if documents.shape[0] != len(groups) or documents.shape[1] != rows.shape[1]:
            raise InputError(
                f"{documents.shape[0]} documents of {documents.shape[1]} terms, groups of {len(groups)}, rows of "
                f"{rows.shape[1]} terms; give the same of all"
            )
        targets = sample_rows(len(groups), ATTACKED, 0)
        sizes = np.bincount(groups, minlength=rows.shape[0]).astype(np.float64)
        known, released = at_unit_length(documents), sp.csr_matrix(at_unit_length(rows).T)
        chances = np.empty(len(targets))
        for start in range(0, len(targets), AT_ONCE):
            block = targets[start : start + AT_ONCE]
            alike = (known[block] @ released).toarray()
            nearest = (alike >= alike.max(axis=1, keepdims=True) - CLOSE) & (sizes > 0)
            own = nearest[np.arange(len(block)), groups[block]]
            chances[start : start + AT_ONCE] = own / (nearest @ sizes)
        return rate_of("linkage of documents", chances, 1.0 / len(groups), targets=targets)


Rows = NDArray[np.int64]


class SearchAttack:
    """Search for the originals of sanitized texts, with all words that are left and with the heaviest few.

    Parameters
    ----------
    words : whole numbers
        How many words to search with besides all: of each text, those that weigh most in the background.
    language : str
        Of the texts, as in `SearchEngine`.
    most : int
        Texts to search for at most, drawn at random: each is compared with the whole background.
    random_state : int
        Draws the texts, and splits them in halves: confidence is learned from one and tried on the other.

    Examples
    --------
    >>> from shoal.attacks.documents import SearchAttack
    >>> letters = ["arms for the rebels of the coast", "a visit to the old museum", "the harvest of wheat", "rain"]
    >>> masked = ["[...] for the rebels of Loc1", "a visit to Org1", "the Misc1 of wheat", "..."]
    >>> found = SearchAttack(words=[1]).run(masked, letters)
    >>> found.with_all_words.first.rate, found.with_all_words.first.baseline
    (0.8125, 0.25)
    """

    def __init__(
        self, words: Sequence[int] = (3, 10, 30), language: str = "english", most: int = 5_000, random_state: int = 0
    ) -> None:
        self.words = words
        self.language = language
        self.most = most
        self.random_state = random_state

    def run(
        self, sanitized: Sequence[str], background: Sequence[str], originals: Sequence[int] | None = None
    ) -> Reidentification:
        """Attack; `originals` are the rows of the background, -1 where a text's original is not there.

        Default: text i is what became of document i of the background.
        """
        lengths = [*sorted(check_count(count, "words") for count in self.words), None]
        own = np.arange(len(sanitized)) if originals is None else np.asarray(originals, dtype=np.int64)
        if len(own) != len(sanitized) or (len(own) and own.max() >= len(background)):
            raise InputError(f"{len(sanitized)} texts and {len(own)} originals do not match; give one for each")
        chosen = sample_rows(len(sanitized), check_count(self.most, "most", 2), self.random_state)
        texts, own = [sanitized[row] for row in chosen], own[chosen]
        there = np.flatnonzero(own >= 0)
        if len(there) < 2 or len(background) < 3:
            raise InputError(
                f"{len(there)} texts with an original among {len(background)} documents are too few to search for; "
                "give at least 2 among 3"
            )
        engine = SearchEngine(self.language).fit(background)
        searches = []
        for number, length in enumerate(lengths):
            progress.step("searching for originals", number, len(lengths))
            ranking = _search(engine, texts, own, length)
            searches.append(_searched(length, ranking, there, len(background)))
        progress.step("searching for originals", len(lengths), len(lengths))
        chances, strangers = self._named(ranking, there)
        named = rate_of(
            "named with confidence", chances, 1.0 / len(background), control=strangers, targets=chosen[there]
        )
        random_rank = (len(background) + 1) / 2
        return Reidentification(
            len(there), len(background), tuple(searches), named, random_rank, ranks=ranking.rank[there]
        )

    def _named(self, ranking: _Ranking, there: Rows) -> tuple[Floats, Floats]:
        """Each text's chance to be named rightly, and whether a document is named for it when its own is not there."""
        half = np.random.default_rng(self.random_state).permutation(len(ranking.rank)) % 2
        right, wrong = np.zeros(len(half)), np.zeros(len(half))
        for part in (0, 1):
            learned, tried = half == 1 - part, half == part
            bar = np.quantile(ranking.best_other[learned], CONFIDENCE, method="higher") + ROUNDING
            right[tried] = ranking.first[tried] * (ranking.relevance[tried] > bar)
            wrong[tried] = ranking.best_other[tried] > bar
        return right[there], wrong


@dataclass(frozen=True)
class _Ranking:
    """Where the original of each text comes; of one that is not there, nowhere."""

    rank: Floats  # its mean place if ties are broken at random
    first: Floats  # the chance that it comes first
    ten: Floats  # or among the first ten
    relevance: Floats
    best_other: Floats  # the relevance of the document that comes first without it


def _search(engine: SearchEngine, texts: Sequence[str], own: Rows, length: int | None) -> _Ranking:
    columns: list[tuple[Floats, ...]] = []
    queries = engine.queries(texts, length)
    for start in range(0, len(texts), BLOCK):
        rows = np.arange(start, min(start + BLOCK, len(texts)))
        relevance = np.asarray((queries[rows] @ engine.postings_).toarray())  # (block, documents)
        there, row = own[rows] >= 0, np.arange(len(rows))
        mine = np.where(there, relevance[row, own[rows]], -1.0)
        higher = (relevance > mine[:, None] + ROUNDING).sum(axis=1)
        tied = (np.abs(relevance - mine[:, None]) <= ROUNDING).sum(axis=1)
        others = relevance.copy()
        others[row[there], own[rows][there]] = 0.0
        chances = [np.where(there, np.clip((r - higher) / np.maximum(tied, 1), 0.0, 1.0), 0.0) for r in (1, 10)]
        columns.append((higher + (tied + 1) / 2, *chances, mine, others.max(axis=1)))
    return _Ranking(*(np.concatenate(parts) for parts in zip(*columns, strict=True)))


def _searched(length: int | None, ranking: _Ranking, there: Rows, n_background: int) -> Searched:
    from scipy.stats import binom  # only here, and it takes a while to load

    words = "all words that are left" if length is None else f"the {length} heaviest words that are left"
    ranks = np.sort(ranking.rank[there])
    # Order statistics: a sound interval of a median whatever the distribution.
    low, high = (int(binom.ppf(point, len(ranks), 0.5)) for point in (0.025, 0.975))
    return Searched(
        length,
        first=rate_of(f"found first by {words}", ranking.first[there], 1.0 / n_background),
        ten=rate_of(f"among the first ten by {words}", ranking.ten[there], min(1.0, 10.0 / n_background)),
        median_rank=float(np.median(ranks)),
        median_low=float(ranks[max(low - 1, 0)]),
        median_high=float(ranks[min(high, len(ranks) - 1)]),
    )
