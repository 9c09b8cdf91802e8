"""The vector space model: a document is the weights of its terms.

Source: Abril, Navarro-Arribas and Torra, "Spherical microaggregation: anonymizing sparse vector spaces",
Computers & Security 49 (2015), section 2.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from shoal.data.baskets import Basket, basket_counts
from shoal.data.frames import Frame
from shoal.errors import InputError
from shoal.kernels import words as kernel
from shoal.terms.counting import Counted, Tally, TermOf, count, count_items
from shoal.terms.hierarchy import ontologies_of
from shoal.terms.language import check_language, stemmer, stop_words
from shoal.terms.lexicon import lexicon
from shoal.terms.phrases import phrases_of

STOP = "stop words"
UNKNOWN = "not in WordNet"
SHORT = "too short"
RARE = "too rare"
EVERYWHERE = "everywhere"
LIGHT = "beyond the heaviest terms"
LIGHT_HERE = "beyond a document's heaviest terms"

FOR_WORDS = ("language", "drop_stop_words", "wordnet", "min_letters", "stem", "ontology")

# The steps in their order, and what to do when one of them leaves out more than half.
REMEDY = {
    STOP: "",
    UNKNOWN: "is the language right?",
    SHORT: "is the language right, or min_letters too high?",
    RARE: "is min_df too high for so few?",
    EVERYWHERE: "are they all alike?",
    LIGHT: "is max_terms too low?",
}


class VectorSpace(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn texts into rows of unit length, one column per term, weighted tf · ln(N / df).

    Every step can be switched off. A text left without a term becomes an empty row: it has no direction, and the
    methods that follow withhold it. Baskets become rows as well: their items are the terms.

    Parameters
    ----------
    language : str
        One of Snowball's languages; chooses stop words and stemmer.
    drop_stop_words : bool
    wordnet : bool or None
        Keep only words that WordNet knows, which drops names and jargon. None: for English only.
    min_letters : int
        Shorter words are dropped.
    stem : bool
    min_df : int
        Drop terms found in fewer documents. For a release at least k: a rarer term points at its documents.
    weighting : {"tf-idf", "tf"}
    max_terms : int or None
        Keep only this many terms, those with the largest total weight.
    terms_per_document : int or None
        Keep only this many terms of each document, its heaviest.
    items : bool
        Documents are baskets: lists of items, or mappings of items to counts. Items are terms as they are, so language,
        drop_stop_words, wordnet, min_letters, stem and ontology have no effect.
    ontology : Hierarchy, WordNet, a file or "wordnet", or several in a list; None
        Words that together name a concept become one term, the longest name first ("heart attack"), and synonyms
        become the same term. Whatever else the texts say is counted as words.

    Attributes
    ----------
    terms_ : (d,) array of str, in alphabetical order, one per column.
    document_frequency_ : (d,) array, documents that have each term.
    n_documents_ : int
    idf_ : (d,) array, the weight of one occurrence of each term.
    words_read_ : int, word occurrences in the texts.
    words_left_out_ : dict, step -> {word: occurrences}. Confidential: these are the words that were withheld.

    Examples
    --------
    >>> from shoal import VectorSpace
    >>> space = VectorSpace(min_df=1)
    >>> X = space.fit_transform(["The heron eats fish.", "Small fishes swim in shoals.", "A heron stands still."])
    >>> X.shape
    (3, 7)
    >>> space.terms_.tolist()
    ['eat', 'fish', 'heron', 'shoal', 'small', 'stand', 'swim']
    """

    def __init__(
        self,
        *,
        language: str = "english",
        drop_stop_words: bool = True,
        wordnet: bool | None = None,
        min_letters: int = 3,
        stem: bool = True,
        min_df: int = 2,
        weighting: str = "tf-idf",
        max_terms: int | None = None,
        terms_per_document: int | None = None,
        items: bool = False,
        ontology: Any = None,
    ) -> None:
        self.language = language
        self.drop_stop_words = drop_stop_words
        self.wordnet = wordnet
        self.min_letters = min_letters
        self.stem = stem
        self.min_df = min_df
        self.weighting = weighting
        self.max_terms = max_terms
        self.terms_per_document = terms_per_document
        self.items = items
        self.ontology = ontology

    def fit(self, texts: Iterable[Any], y: Any = None) -> VectorSpace:
        """Learn the terms and their weights."""
        return self.settle([self.count(texts).tally])

    def fit_transform(self, texts: Iterable[Any], y: Any = None) -> Any:
        """Learn the terms and return the texts' rows; the texts are read once, as a stream."""
        return self._as_asked(self.fit_counted(self.count(texts)), texts)

    def fit_counted(self, counted: Counted) -> sp.csr_matrix:
        """Learn the terms from texts that were counted, and return their rows."""
        X = self.settle([counted.tally]).weigh(counted)
        if light_terms := self.light_terms(counted):
            self.leave_out_light(light_terms)
        return X

    def transform(self, texts: Iterable[Any]) -> Any:
        """Rows for texts in the fitted space; words it does not have are left out."""
        check_is_fitted(self, "terms_")
        return self._as_asked(self.weigh(self.count(texts)), texts)

    def count(self, texts: Iterable[Any]) -> Counted:
        """The first half of fitting: count the terms of some texts or baskets, all or a part of the collection."""
        self._check_parameters()
        _refuse_all_but_sequences(texts, "baskets" if self.items else "texts")
        if self.items:
            return count_items(_baskets(texts))
        if self.ontology is None:
            return count(texts, self._term_of(lambda word: None))
        phrases = phrases_of(ontologies_of(self.ontology), self.language)
        return count(texts, self._term_of(phrases.term), phrases.split)

    def settle(self, tallies: Iterable[Tally]) -> VectorSpace:
        """The second half: from the tallies of all parts, which terms there are and how much they weigh."""
        tally = Tally.merged(tallies)
        if tally.n_documents == 0:
            raise InputError("there are 0 documents; a vector space needs at least 1")
        names = np.array(sorted(tally.frequency), dtype=object)
        frequency = np.array([tally.frequency[name] for name in names], dtype=np.int64)
        idf = self._idf(frequency, tally.n_documents)
        reason = np.full(len(names), "", dtype=object)
        reason[idf == 0] = EVERYWHERE
        reason[frequency < self.min_df] = RARE
        if self.max_terms is not None:
            weight = np.array([tally.occurrences[name] for name in names]) * idf
            # Heaviest first; ties by name, so that the choice does not depend on the order of the documents.
            beyond = np.argsort(np.where(reason == "", -weight, 1.0), kind="stable")[self.max_terms :]
            reason[beyond[reason[beyond] == ""]] = LIGHT

        self.terms_ = names[reason == ""].astype(str)
        self.idf_ = idf[reason == ""]
        self.document_frequency_ = frequency[reason == ""]
        self.n_documents_ = tally.n_documents
        self._account_for(tally, {name: step for name, step in zip(names, reason, strict=True) if step})
        return self

    def use_terms(self, terms: NDArray[np.str_], weights: NDArray[np.float64]) -> VectorSpace:
        """Take terms, in alphabetical order, and the weight of one occurrence of each from a space that was fitted."""
        self.terms_, self.idf_ = terms, weights
        return self

    def weigh(self, counted: Counted) -> sp.csr_matrix:
        """Counted texts as rows of the fitted space."""
        columns = _columns(counted.terms, self.terms_)
        arrays = counted.row_end, counted.numbers, counted.counts
        indptr, indices, data = kernel.weigh_rows(*arrays, columns, self.idf_)
        X = sp.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, len(self.terms_)))
        X.sort_indices()
        return X if self.terms_per_document is None else _heaviest(X, self.terms_per_document)

    def count_rows(self, counted: Counted) -> sp.csr_matrix:
        """Counted texts as rows of whole numbers: how often each has each term that it has in the fitted space."""
        counts = self._occurrences(counted)
        if self.terms_per_document is not None:
            counts = sp.csr_matrix(counts.multiply(self.weigh(counted) != 0))
        counts.sort_indices()
        return counts

    def light_terms(self, counted: Counted) -> Counter[str]:
        """Occurrences of terms that are not among the heaviest of their document."""
        if self.terms_per_document is None:
            return Counter()
        occurrences = np.asarray((self._occurrences(counted) - self.count_rows(counted)).sum(axis=0)).ravel()
        light = np.flatnonzero(occurrences)
        return Counter(dict(zip(self.terms_[light].tolist(), occurrences[light].tolist(), strict=True)))

    def leave_out_light(self, occurrences: Counter[str]) -> None:
        """Account for such terms of all parts."""
        self.words_left_out_[LIGHT_HERE] = dict(sorted(occurrences.items()))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The terms, one per column."""
        check_is_fitted(self, "terms_")
        return np.asarray(self.terms_, dtype=object)

    def inverse_transform(self, X: Any) -> list[dict[str, float]]:
        """Rows of the space as {term: weight}, as `SemanticMicroaggregation` takes them."""
        check_is_fitted(self, "terms_")
        rows = sp.csr_matrix(X)
        ends = pairwise(rows.indptr.tolist())
        parts = [slice(start, end) for start, end in ends]
        return [
            dict(zip(self.terms_[rows.indices[part]].tolist(), rows.data[part].tolist(), strict=True)) for part in parts
        ]

    def used_params(self) -> dict[str, Any]:
        """The parameters that have an effect, as they may be stated: those of words have none on baskets."""
        given: dict[str, Any] = self.get_params() | {"ontology": type(self.ontology).__name__}
        without = {*FOR_WORDS} if self.items else {"ontology"} if self.ontology is None else set[str]()
        return {name: value for name, value in given.items() if name not in without}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = not self.items
        tags.input_tags.two_d_array = False
        return tags

    def _as_asked(self, rows: sp.csr_matrix, texts: Any) -> Any:
        """Rows in the frame that `set_output` asks for, by default a sparse matrix."""
        frame = Frame.wanted(texts, self)
        return rows if frame is None else frame.of_sparse(rows)

    def _idf(self, frequency: NDArray[np.int64], n_documents: int) -> NDArray[np.float64]:
        if self.weighting == "tf":
            return np.ones(len(frequency))
        return np.log(n_documents / frequency)

    def _term_of(self, named: Callable[[str], str | None]) -> TermOf:
        """From a word to its term, or to the step that leaves it out; `named` gives the terms of an ontology."""
        stops = stop_words(self.language) if self.drop_stop_words else frozenset[str]()
        words = lexicon() if self._uses_wordnet() else None
        stem = stemmer(self.language).stemWord if self.stem else str

        def term_of(word: str) -> tuple[str | None, str]:
            if word in stops:
                return None, STOP
            if (name := named(word)) is not None:
                return name, ""
            if words is not None and word not in words:
                return None, UNKNOWN
            if len(word) < self.min_letters:
                return None, SHORT
            return stem(word), ""

        return term_of

    def _uses_wordnet(self) -> bool:
        return self.language == "english" if self.wordnet is None else self.wordnet

    def _check_parameters(self) -> None:
        check_language(self.language)
        if self.wordnet and self.language != "english":
            raise InputError(f"wordnet=True is for English only, language={self.language!r}; leave it out")
        if self.weighting not in ("tf-idf", "tf"):
            raise InputError(f"weighting={self.weighting!r} is not known; use 'tf-idf' or 'tf'")
        for name, least in (("min_df", 1), ("min_letters", 1), ("max_terms", 1), ("terms_per_document", 1)):
            value = getattr(self, name)
            if value is None and name in ("max_terms", "terms_per_document"):
                continue
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
                raise InputError(f"{name}={value!r} must be a whole number of at least {least}")

    def _account_for(self, tally: Tally, dropped_terms: dict[str, str]) -> None:
        """Count what each step left out, and say so when one of them left out most."""
        step_of_word = tally.step_of_word | {
            word: dropped_terms[term] for word, term in tally.term_of_word.items() if term in dropped_terms
        }
        self.words_read_ = tally.seen.total()
        self.words_left_out_: dict[str, dict[str, int]] = {}
        for word, step in step_of_word.items():
            self.words_left_out_.setdefault(step, {})[word] = tally.seen[word]
        reached = self.words_read_
        for step, remedy in REMEDY.items():
            dropped = sum(self.words_left_out_.get(step, {}).values())
            # Many stop words are a sign of the right language, not of the wrong one.
            if step != STOP and dropped > reached / 2:
                share = dropped / reached
                warnings.warn(
                    f"{share:.0%} of the words that came so far were left out: {step}; {remedy}", stacklevel=4
                )
            reached -= dropped

    def _occurrences(self, counted: Counted) -> sp.csr_matrix:
        """How often each text has each of the space's terms."""
        columns = _columns(counted.terms, self.terms_)[counted.numbers]
        in_space = columns >= 0
        n_before = np.concatenate(([0], np.cumsum(in_space)))  # entries before each
        ends = n_before[np.concatenate(([0], counted.row_end))]
        shape = (len(counted.row_end), len(self.terms_))
        return sp.csr_matrix((counted.counts[in_space], columns[in_space], ends), shape=shape)


def _columns(terms: Iterable[str], names: NDArray[np.str_]) -> NDArray[np.int32]:
    """The column of each term, -1 for those that have none."""
    column_of = {name: column for column, name in enumerate(names.tolist())}
    return np.fromiter((column_of.get(term, -1) for term in terms), dtype=np.int32)


def _heaviest(X: sp.csr_matrix, most: int) -> sp.csr_matrix:
    """Of every row the heaviest entries, scaled to unit length again; ties by name."""
    if not X.nnz:
        return X
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    order = np.lexsort((X.indices, -X.data, rows))
    rank = np.arange(len(rows)) - X.indptr[rows[order]]
    keep = np.zeros(len(rows), dtype=np.bool_)
    keep[order[rank < most]] = True
    ends = np.concatenate(([0], np.cumsum(np.bincount(rows[keep], minlength=X.shape[0]))))
    return at_unit_length(sp.csr_matrix((X.data[keep], X.indices[keep], ends), shape=X.shape), copy=False)


def _baskets(records: Iterable[Any]) -> Iterator[Mapping[str, float]]:
    for number, record in enumerate(records, start=1):
        yield record if isinstance(record, Basket) else basket_counts(record, f"basket {number}")


def _refuse_all_but_sequences(texts: object, what: str) -> None:
    """A table iterates over the names of its columns, and a string over its letters: neither is a list of texts."""
    table = nw.from_native(texts, pass_through=True)
    if isinstance(table, nw.DataFrame | nw.LazyFrame) or getattr(texts, "ndim", 1) != 1:
        raise InputError(f"got a table ({type(texts).__name__}); pass its column of {what}, one document per row")
    if isinstance(texts, str | bytes | Mapping) or not isinstance(texts, Iterable):
        given = "one string" if isinstance(texts, str) else type(texts).__name__
        raise InputError(f"got {given}; pass a list of {what}, one per document")


def at_unit_length(rows: Any, *, norm: str = "l2", copy: bool = True) -> Any:
    """Rows of length 1, sparse or not; a row of zeros stays."""
    from sklearn.preprocessing import normalize  # only here, and it takes a while to load

    return normalize(rows, norm=norm, copy=copy)
