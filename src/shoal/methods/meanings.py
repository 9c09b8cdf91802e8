"""Documents by what their words mean: the part of a taxonomy that a collection needs, and representatives of groups.

A term is a number: first the words of the collection in their order, then the concepts above any sense of theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.kernels.grouping import semantic as kernel
from shoal.results.utility import Loss
from shoal.terms.taxonomy import Taxonomy, segments

Ints = NDArray[Any]
Floats = NDArray[np.float64]

HEAVIEST = 1e100  # squares of more leave the range of numbers
COMPARED = 4_000  # words that are paired at a time: of more, the table of all their distances gets large


@dataclass(frozen=True)
class Documents:
    """Documents one after the other, the terms of each by falling weight, ties by number."""

    ends: Ints  # (n + 1,)
    terms: Ints
    weights: Floats

    @staticmethod
    def of(documents: Iterable[tuple[Ints, Floats]]) -> Documents:
        """From the terms and weights of each, in any order."""
        listed = [_by_weight(terms, weights) for terms, weights in documents]
        ends = np.cumsum([0, *(len(terms) for terms, _ in listed)])
        terms = np.concatenate([np.empty(0, np.int64), *(terms for terms, _ in listed)])
        return Documents(ends, terms, np.concatenate([np.empty(0), *(weights for _, weights in listed)]))

    @property
    def arrays(self) -> tuple[Ints, Ints, Floats]:
        """As the kernels take them."""
        return self.ends, self.terms, self.weights

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, row: int) -> tuple[Ints, Floats]:
        part = slice(self.ends[row], self.ends[row + 1])
        return self.terms[part], self.weights[part]


class Meanings:
    """The senses of some words, all concepts above them, and how far terms and documents are apart.

    `concepts` are others that documents may hold as terms.
    """

    def __init__(self, taxonomy: Taxonomy, senses: Sequence[Sequence[int]], concepts: Sequence[int] = ()) -> None:
        self.n_words = len(senses)
        counts = [len(of_word) for of_word in senses]
        flat = np.array([sense for of_word in senses for sense in of_word], dtype=np.int64)
        entries, _ = segments(taxonomy.ancestor_indptr, np.union1d(flat, np.asarray(concepts, np.int64)))
        self.concepts = np.unique(taxonomy.ancestors[entries]).astype(np.int64)  # in their old order
        entries, n_ancestors = segments(taxonomy.ancestor_indptr, self.concepts)
        above, n_parents = segments(taxonomy.parent_indptr, self.concepts)
        self._tree = (
            np.cumsum([0, *n_ancestors]),
            self._numbers(taxonomy.ancestors[entries]),
            taxonomy.links[entries],
            taxonomy.depth[self.concepts],
        )
        self._parents = np.cumsum([0, *n_parents]), self._numbers(taxonomy.parents[above])
        self._senses = np.cumsum([0, *counts]), self._numbers(flat)

    def term_of_concept(self, concept: int) -> int:
        """The term that stands for a concept of the taxonomy."""
        return self.n_words + int(np.searchsorted(self.concepts, concept))

    def concept_of_term(self, term: int) -> int:
        """The concept that a term stands for; -1 for a word."""
        return -1 if term < self.n_words else int(self.concepts[term - self.n_words])

    def representative(self, documents: Documents, rows: Ints) -> tuple[Ints, Floats]:
        """The documents of these rows folded in the order given; a concept may come several times."""
        folded: tuple[Ints, Floats] = kernel.fold(
            self._tree, *self._senses, documents.ends, documents.terms, documents.weights, rows
        )
        return folded

    def pool(self, terms: Ints, counts: Ints, owner: Ints) -> tuple[Ints, Ints]:
        """The words that two or more owners have, and concepts for pairs of the others, with counts added up.

        A word that one owner has is paired with the nearest of another's, the nearest pairs first; of equally near ones
        the first by number. Of very many, each batch is paired by itself, with what the one before left over. A word
        that remains without a partner is left out: it would show its owner.
        """
        words, number = np.unique(terms, return_inverse=True)
        total = np.bincount(number, weights=counts).astype(np.int64)
        pairs = np.unique(np.column_stack([number, owner]), axis=0)
        first_pair = np.flatnonzero(np.diff(pairs[:, 0], prepend=-1))
        owners = np.diff(first_pair, append=len(pairs))
        alone, own_total, whose = words[owners == 1], total[owners == 1], pairs[first_pair[owners == 1], 1]
        shown, totals, left = [words[owners > 1]], [total[owners > 1]], np.empty(0, np.int64)
        for start in range(0, len(alone), COMPARED):
            batch = np.concatenate([left, np.arange(start, min(start + COMPARED, len(alone)))])
            apart = self._rows(alone[batch], alone[batch])
            common, one, other = kernel.pair_off(self._tree, *self._senses, alone[batch], whose[batch], apart)
            shown.append(common)
            totals.append(own_total[batch[one]] + own_total[batch[other]])
            left = np.delete(batch, np.concatenate([one, other]))[:COMPARED]
        return np.concatenate(shown), np.concatenate(totals)

    @property
    def n_terms(self) -> int:
        """Words and concepts."""
        return self.n_words + len(self.concepts)

    def distances_to_words(self, document: tuple[Ints, Floats], documents: Documents, rows: Ints) -> Floats:
        """Of one document to those of `rows`, which have words only."""
        terms, weights = document
        if len(terms) and terms.max() < self.n_words:
            apart = self._table[terms]
        else:
            distinct, row_of_term = np.unique(terms, return_inverse=True)
            apart = self._rows(distinct, np.arange(self.n_words))[row_of_term]
        distances: Floats = kernel.distances_from(np.ascontiguousarray(apart.T), weights, documents.arrays, rows)
        return distances

    def all_distances(self, first: Documents, second: Documents) -> Floats:
        """Of every document of the first to every one of the second: (len(first), len(second))."""
        distinct, columns = np.unique(second.terms, return_inverse=True)
        rows = np.arange(len(second))
        distances = np.empty((len(first), len(second)))
        for number in range(len(first)):
            terms, weights = first[number]
            own, row_of_term = np.unique(terms, return_inverse=True)
            apart = np.ascontiguousarray(self._rows(own, distinct)[row_of_term].T)
            distances[number] = kernel.distances_from(apart, weights, (second.ends, columns, second.weights), rows)
        return distances

    def paired_distances(self, first: Documents, second: Documents, first_of_second: Ints) -> Floats:
        """Of every document of the second to the one of the first that is named for it."""
        distances: Floats = kernel.distances_of_pairs(
            self._tree, *self._senses, first.arrays, second.arrays, first_of_second
        )
        return distances

    def error(self, documents: Documents, rows: Iterable[int]) -> float:
        """Of a group: squared distances of these documents to their representative, added up."""
        members = np.sort(np.fromiter(rows, dtype=np.int64))
        centre = Documents.of([self.representative(documents, members)])
        own = Documents.of(documents[row] for row in members)
        return float(np.sum(self.paired_distances(centre, own, np.zeros_like(members)) ** 2))

    @cached_property
    def _table(self) -> NDArray[np.float32]:
        """Every word with every word. Four bytes distinguish any two distances of one taxonomy."""
        words = np.arange(self.n_words)
        return self._rows(words, words)

    def _rows(self, terms: Ints, columns: Ints) -> NDArray[np.float32]:
        distances: NDArray[np.float32] = kernel.term_distances(
            self._tree, *self._parents, *self._senses_of(terms), *self._senses_of(columns)
        )
        _, in_terms, in_columns = np.intersect1d(terms, columns, assume_unique=True, return_indices=True)
        distances[in_terms, in_columns] = kernel.SAME
        return distances

    def _senses_of(self, terms: Ints) -> tuple[Ints, Ints]:
        """The senses of words, and concepts as they are: where each begins, and all of them."""
        indptr, senses = self._senses
        words = terms[terms < self.n_words]
        entries, counts = segments(indptr, words)
        number = np.ones(len(terms), np.int64)
        number[terms < self.n_words] = counts
        ends = np.cumsum([0, *number])
        senses_of_terms = np.empty(ends[-1], np.int64)
        is_word = np.repeat(terms < self.n_words, number)
        senses_of_terms[is_word] = senses[entries]
        senses_of_terms[~is_word] = terms[terms >= self.n_words] - self.n_words
        return ends, senses_of_terms

    def _numbers(self, concepts: Ints) -> Ints:
        return np.searchsorted(self.concepts, concepts)


def _by_weight(terms: Ints, weights: Floats) -> tuple[Ints, Floats]:
    order = np.lexsort((terms, -weights))
    return terms[order].astype(np.int64), weights[order].astype(np.float64)


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
        words = tuple(word for word, meant in senses.items() if meant)
        number_of = {word: number for number, word in enumerate(words)}
        meanings = Meanings(
            ontology.taxonomy,
            [senses[word] for word in words],
            [term for term in extra if not isinstance(term, str)],
        )
        known = [
            {number_of[word]: weight for word, weight in document.items() if word in number_of} for document in given
        ]
        rows = np.array([row for row, document in enumerate(known) if document], dtype=np.int64)
        read = Documents.of((np.array(list(known[row])), np.array(list(known[row].values()))) for row in rows)
        left_out = {word: frequency[word] for word in frequency if word not in number_of}
        return Collection(ontology, words, meanings, read, rows, len(given), dict(sorted(left_out.items())))

    def representatives(self, groups: Ints) -> Documents:
        """Of each group its documents, folded in the order of rows."""
        return Documents.of(self.meanings.representative(self.documents, rows) for rows in _members(groups))

    def pools(self, groups: Ints, counts: sp.csr_matrix, owner: Ints) -> sp.csr_matrix:
        """How often the documents of each group have what each term that stands for them means.

        `counts` has a row for each document and a column for each word, the result a column for each term.
        """
        own = (counts[rows] for rows in _members(groups))
        owners = (np.repeat(owner[rows], np.diff(counts.indptr)[rows]) for rows in _members(groups))
        pooled = [self.meanings.pool(part.indices, part.data, whose) for part, whose in zip(own, owners, strict=True)]
        ends = np.cumsum([0, *(len(terms) for terms, _ in pooled)])
        terms, total = (np.concatenate(parts) for parts in zip(*pooled, strict=True))
        pools_of_groups = sp.csr_matrix((total, terms, ends), shape=(len(pooled), self.meanings.n_terms))
        pools_of_groups.sum_duplicates()
        return pools_of_groups

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
            np.array([number_of[t] if isinstance(t, str) else self.meanings.term_of_concept(t) for t in terms_of_group])
            for terms_of_group in representatives.terms
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
