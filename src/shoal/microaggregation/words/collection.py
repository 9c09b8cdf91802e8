"""Documents as people give them, {term: weight}, and as the semantic space has them; representatives the other way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.microaggregation.words.meanings import Documents, Meanings
from shoal.results.loss import Loss

__all__ = ["Collection", "Representatives", "term_names"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

HEAVIEST = 1e100  # squares of more leave the range of numbers


@dataclass(frozen=True)
class Representatives:
    """What stands for each group in words and concepts: terms by falling weight; a concept may come several times."""

    ontology: Any
    terms: tuple[tuple[str | int, ...], ...]
    weights: tuple[Floats, ...]

    @staticmethod
    def joined(parts: Sequence[Representatives]) -> Representatives:
        """All of them, one after the other."""
        terms = tuple(terms for part in parts for terms in part.terms)
        return Representatives(parts[0].ontology, terms, tuple(weights for part in parts for weights in part.weights))

    def chosen(self, rows: Sequence[int]) -> Representatives:
        """These of them, in that order."""
        return Representatives(
            self.ontology, tuple(self.terms[row] for row in rows), tuple(self.weights[row] for row in rows)
        )

    def shown(self) -> list[dict[str, float]]:
        """As {label: weight}, by falling weight; terms of one label count as one, their weights added up."""
        names = term_names({term for terms in self.terms for term in terms}, self.ontology)
        shown = []
        for terms, weights in zip(self.terms, self.weights, strict=True):
            total: dict[str, float] = {}
            for term, weight in zip(terms, weights.tolist(), strict=True):
                total[names[term]] = total.get(names[term], 0.0) + weight
            shown.append(dict(sorted(total.items(), key=lambda entry: (-entry[1], entry[0]))))
        return shown


@dataclass(frozen=True)
class Collection:
    """Documents whose words an ontology knows."""

    ontology: Any
    words: tuple[str, ...]  # in alphabetical order
    meanings: Meanings
    documents: Documents  # those that have a word
    rows: Ints  # which of the documents given these are
    n_given: int
    words_left_out: dict[str, int]  # words that the ontology does not have -> documents that have them

    @staticmethod
    def read(documents: Any, ontology: Any, beside: Representatives | None = None) -> Collection:
        """Check the documents and look up their words; `beside` brings terms of its own."""
        given = [_checked(number, document) for number, document in enumerate(_listed(documents))]
        extra = [term for terms in beside.terms for term in terms] if beside else []
        frequency = Counter(word for document in given for word in document)
        senses = {word: ontology.senses(word) for word in sorted({*frequency, *_words(extra)})}
        words = tuple(word for word, found in senses.items() if found)
        number_of = {word: number for number, word in enumerate(words)}
        meanings = Meanings(
            ontology.taxonomy,
            [senses[word] for word in words],
            [term for term in extra if not isinstance(term, str)],
        )
        known = [{number_of[word]: weight for word, weight in one.items() if word in number_of} for one in given]
        rows = np.array([row for row, document in enumerate(known) if document], dtype=np.int64)
        read = Documents.of((np.array(list(known[row])), np.array(list(known[row].values()))) for row in rows)
        left_out = {word: frequency[word] for word in frequency if word not in number_of}
        return Collection(ontology, words, meanings, read, rows, len(given), dict(sorted(left_out.items())))

    def representatives(self, groups: Ints) -> Documents:
        """Of each group its documents, folded in the order of rows."""
        return Documents.of(self.meanings.representative(self.documents, rows) for rows in _members(groups))

    def pools(self, groups: Ints, counts: sp.csr_matrix) -> sp.csr_matrix:
        """How often the documents of each group have what each of its representative's terms stands for.

        `counts` has a row for each document and a column for each word, the result a column for each term.
        """
        rows = np.repeat(np.arange(len(self.documents)), np.diff(self.documents.ends))
        in_documents = np.asarray(counts[rows, self.documents.terms], dtype=np.int64).ravel()
        pooled = [self.meanings.pool(self.documents, in_documents, members) for members in _members(groups)]
        ends = np.cumsum([0, *(len(terms) for terms, _ in pooled)])
        terms, total = (np.concatenate(parts) for parts in zip(*pooled, strict=True))
        found = sp.csr_matrix((total, terms, ends), shape=(len(pooled), self.meanings.n_terms))
        found.sum_duplicates()
        return found

    def terms(self, numbers: Ints) -> list[str | int]:
        """Words, and numbers of concepts in the ontology, from the numbers that terms have here."""
        return [self._spelt(term) for term in numbers.tolist()]

    def loss(self, groups: Ints, representatives: Documents, centre: Documents | None = None) -> Loss:
        """Squared distances of documents to their representatives, and of these to the representative of all.

        `centre` stands for more documents than these, where they are a part of a collection.
        """
        if centre is None:
            everything = np.arange(len(self.documents))
            centre = Documents.of([self.meanings.representative(self.documents, everything)])
        within = self.meanings.paired_distances(representatives, self.documents, groups)
        between = self.meanings.paired_distances(centre, representatives, np.zeros(len(representatives), np.int64))
        return Loss(sse=float(np.sum(within**2)), ssa=float(np.bincount(groups) @ between**2))

    def spelt(self, representatives: Documents) -> Representatives:
        """Representatives with words and concepts instead of numbers."""
        documents = [representatives[group] for group in range(len(representatives))]
        return Representatives(
            self.ontology,
            tuple(tuple(self._spelt(term) for term in terms.tolist()) for terms, _ in documents),
            tuple(weights for _, weights in documents),
        )

    def numbered(self, representatives: Representatives) -> Documents:
        """And the other way round, for a collection that was read beside them."""
        number_of = {word: number for number, word in enumerate(self.words)}
        terms = (
            np.array([number_of[t] if isinstance(t, str) else self.meanings.term_of_concept(t) for t in one])
            for one in representatives.terms
        )
        return Documents.of(zip(terms, representatives.weights, strict=True))

    def _spelt(self, term: int) -> str | int:
        return self.words[term] if term < len(self.words) else self.meanings.concept_of_term(term)


def term_names(terms: Iterable[str | int], ontology: Any) -> dict[str | int, str]:
    """A concept goes by its first lemma, or by its full name where that is another term's lemma, too."""
    used = sorted(set(terms), key=str)
    lemmas = {term: term if isinstance(term, str) else ontology.lemma(term) for term in used}
    bearers = Counter(lemmas.values())
    return {
        term: lemma if isinstance(term, str) or bearers[lemma] == 1 else str(ontology.taxonomy.names[term])
        for term, lemma in lemmas.items()
    }


def _members(groups: Ints) -> list[Ints]:
    """The rows of each group."""
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.cumsum(np.bincount(groups))[:-1])


def _words(terms: Iterable[str | int]) -> Iterable[str]:
    return (term for term in terms if isinstance(term, str))


def _listed(documents: Any) -> Sequence[Any]:
    """A list of documents, from any iterable of them but one document or one text."""
    if isinstance(documents, str | Mapping) or not isinstance(documents, Iterable):
        raise InputError(f"got {type(documents).__name__}; pass a list of documents, each as {{term: weight}}")
    return list(documents)


def _checked(number: int, document: Any) -> dict[str, float]:
    """The terms with weight; a term that weighs nothing is not there."""
    if not isinstance(document, Mapping):
        raise InputError(f"document {number + 1} is {type(document).__name__}; pass every document as {{term: weight}}")
    for term, weight in document.items():
        if not isinstance(term, str):
            raise InputError(f"document {number + 1} has the term {term!r}; a term must be text")
        if not isinstance(weight, Real) or not 0 <= float(weight) <= HEAVIEST:
            raise InputError(
                f"document {number + 1} has a weight of {weight!r}; it must be a number from 0 to {HEAVIEST:g}"
            )
    return {term: float(weight) for term, weight in document.items() if weight > 0}
