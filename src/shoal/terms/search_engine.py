"""A search engine: an inverted index of words and numbers, weighted tf · ln(N / df), answers ranked by cosine.

A query asks for any of its words (OR): every document with at least one of them is returned, with a relevance above 0.

Source: Baeza-Yates and Ribeiro-Neto, "Modern Information Retrieval" (2011), the vector model.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.data.baskets import Basket
from shoal.terms.language import check_language, stemmer, stop_words
from shoal.terms.vector_space import VectorSpace

Floats = NDArray[np.float64]

WORD = re.compile(r"[^\W_]{1,60}")  # letters and digits: dates and numbers of cases find documents, too
ROUNDING = 1e-12  # differences that are none


class SearchEngine:
    """Index texts, then ask for words.

    Parameters
    ----------
    language : str
        One of Snowball's languages; chooses stop words and stemmer.

    Attributes
    ----------
    rows_ : (documents, terms) sparse matrix of unit rows
    postings_ : its transpose, the inverted index: of every term, the documents that have it

    Examples
    --------
    >>> engine = SearchEngine().fit(["The heron eats fish.", "Small fishes swim.", "A ship of 1952."])
    >>> engine.relevance(["fishing"])[0].round(2).tolist()
    [0.25, 0.25, 0.0]
    >>> engine.relevance(["ships in 1952"])[0].round(2).tolist()
    [0.0, 0.0, 1.0]
    """

    def __init__(self, language: str = "english") -> None:
        self.language = language

    def fit(self, texts: Iterable[str]) -> SearchEngine:
        """Index the texts."""
        self._stops, self._stem = stop_words(check_language(self.language)), stemmer(self.language).stemWord
        self._written: Counter[tuple[str, str]] = Counter()  # how often each term was written in which way
        self._space = VectorSpace(items=True, min_df=1)
        with warnings.catch_warnings():
            # In a small collection most words may be in every document; they find nothing, as they should.
            warnings.simplefilter("ignore", UserWarning)
            self.rows_: sp.csr_matrix = self._space.fit_transform([self._terms(text, seen=True) for text in texts])
        self.postings_ = self.rows_.T.tocsr()
        return self

    def queries(self, texts: Iterable[str], heaviest: int | None = None) -> sp.csr_matrix:
        """Queries as unit rows of the index: of each text all known words, or only the heaviest."""
        space = VectorSpace(items=True, min_df=1, terms_per_document=heaviest)
        asked: sp.csr_matrix = space.use_terms(self._space.terms_, self._space.idf_).transform(
            [self._terms(text) for text in texts]
        )
        return asked

    def relevance(self, texts: Sequence[str]) -> Floats:
        """The cosine of every query with every document, (queries, documents); 0 where they share no word."""
        return np.asarray((self.queries(texts) @ self.postings_).toarray())

    def words(self, weights: Floats, most: int) -> tuple[str, ...]:
        """The words of the heaviest terms, as they are usually written; ties by name."""
        heaviest = np.argsort(-weights.round(9), kind="stable")[:most]
        terms = self._space.terms_[heaviest[weights[heaviest] > 0]].tolist()
        usual: dict[str, tuple[int, str]] = {}
        for (term, word), times in self._written.items():
            usual[term] = min(usual.get(term, (0, "")), (-times, word))
        return tuple(usual[term][1] for term in terms)

    def _terms(self, text: str, *, seen: bool = False) -> Basket:
        """How often each term is in a text; `seen`: remember how it is written."""
        terms: Counter[str] = Counter()
        for word, times in words_of(text).items():
            if word not in self._stops:
                term = self._stem(word)
                terms[term] += times
                if seen:
                    self._written[term, word] += times
        return Basket({term: float(times) for term, times in terms.items()})


def words_of(text: str) -> Counter[str]:
    """How often each word or number is in a text, in lower case."""
    return Counter(WORD.findall(unicodedata.normalize("NFC", text.lower())))


def knee(relevances: Floats) -> float:
    """The threshold at the knee of the relevances: where the sorted curve lies farthest below the line of its ends.

    Documents before the knee are relevant; the threshold lies midway between the last of them and the first of the
    others. Where the curve has no knee (it is straight, or bulges) all documents returned are relevant.

    >>> knee(np.array([0.9, 0.8, 0.75, 0.25, 0.2, 0.1, 0.0]))
    0.5
    """
    ranked = np.sort(relevances[relevances > 0.0])[::-1]
    if len(ranked) == 0:
        return 0.0
    fall, ranks = ranked[0] - ranked[-1], np.arange(len(ranked))
    if len(ranked) < 3 or fall <= ROUNDING:
        return float(ranked[-1])
    below = (ranked[0] - ranked) / fall - ranks / ranks[-1]
    turn = int(np.argmax(below))
    if below[turn] <= ROUNDING:
        return float(ranked[-1])
    return float((ranked[turn - 1] + ranked[turn]) / 2)
