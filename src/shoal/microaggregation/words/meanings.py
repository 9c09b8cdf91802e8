"""Words by what they mean: the part of a taxonomy that a collection needs, and documents as terms with weights.

A term is a number: first the words of the collection in their order, then the concepts above any sense of theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import semantic as kernel
from shoal.ontology.taxonomy import Taxonomy, segments

__all__ = ["Documents", "Meanings"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]


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
        places, _ = segments(taxonomy.ancestor_indptr, np.union1d(flat, np.asarray(concepts, np.int64)))
        self.concepts = np.unique(taxonomy.ancestors[places]).astype(np.int64)  # in their old order
        places, n_ancestors = segments(taxonomy.ancestor_indptr, self.concepts)
        above, n_parents = segments(taxonomy.parent_indptr, self.concepts)
        self._tree = (
            np.cumsum([0, *n_ancestors]),
            self._numbers(taxonomy.ancestors[places]),
            taxonomy.links[places],
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
        terms, weights, _ = self._folded(documents, np.zeros(len(documents.terms), dtype=np.int64), rows)
        return terms, weights

    def pool(self, documents: Documents, counts: Ints, rows: Ints) -> tuple[Ints, Ints]:
        """The terms that two or more of these documents went into, and how often these have what each stands for.

        `counts` has one for every entry of `documents`. A concept may come several times. Words that found no partner
        are left out: they are all of the longest documents, and would show them.
        """
        terms, _, total = self._folded(documents, counts, rows)
        _, _, members = self._folded(documents, np.ones_like(counts), rows)
        return terms[members > 1], total[members > 1]

    def _folded(self, documents: Documents, counts: Ints, rows: Ints) -> tuple[Ints, Floats, Ints]:
        folded: tuple[Ints, Floats, Ints] = kernel.fold(
            self._tree, *self._senses, documents.ends, documents.terms, documents.weights, counts, rows
        )
        return folded

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
            distinct, place = np.unique(terms, return_inverse=True)
            apart = self._rows(distinct, np.arange(self.n_words))[place]
        found: Floats = kernel.distances_from(np.ascontiguousarray(apart.T), weights, documents.arrays, rows)
        return found

    def all_distances(self, first: Documents, second: Documents) -> Floats:
        """Of every document of the first to every one of the second: (len(first), len(second))."""
        distinct, columns = np.unique(second.terms, return_inverse=True)
        rows = np.arange(len(second))
        found = np.empty((len(first), len(second)))
        for number in range(len(first)):
            terms, weights = first[number]
            own, place = np.unique(terms, return_inverse=True)
            apart = np.ascontiguousarray(self._rows(own, distinct)[place].T)
            found[number] = kernel.distances_from(apart, weights, (second.ends, columns, second.weights), rows)
        return found

    def paired_distances(self, first: Documents, second: Documents, first_of_second: Ints) -> Floats:
        """Of every document of the second to the one of the first that is named for it."""
        found: Floats = kernel.distances_of_pairs(
            self._tree, *self._senses, first.arrays, second.arrays, first_of_second
        )
        return found

    @cached_property
    def _table(self) -> NDArray[np.float32]:
        """Every word with every word. Four bytes tell any two distances of one taxonomy apart."""
        words = np.arange(self.n_words)
        return self._rows(words, words)

    def _rows(self, terms: Ints, columns: Ints) -> NDArray[np.float32]:
        found: NDArray[np.float32] = kernel.term_distances(
            self._tree, *self._parents, *self._senses_of(terms), *self._senses_of(columns)
        )
        _, in_terms, in_columns = np.intersect1d(terms, columns, assume_unique=True, return_indices=True)
        found[in_terms, in_columns] = kernel.SAME
        return found

    def _senses_of(self, terms: Ints) -> tuple[Ints, Ints]:
        """The senses of words, and concepts as they are: where each begins, and all of them."""
        indptr, senses = self._senses
        words = terms[terms < self.n_words]
        places, counts = segments(indptr, words)
        number = np.ones(len(terms), np.int64)
        number[terms < self.n_words] = counts
        ends = np.cumsum([0, *number])
        found = np.empty(ends[-1], np.int64)
        is_word = np.repeat(terms < self.n_words, number)
        found[is_word] = senses[places]
        found[~is_word] = terms[terms >= self.n_words] - self.n_words
        return ends, found

    def _numbers(self, concepts: Ints) -> Ints:
        return np.searchsorted(self.concepts, concepts)


def _by_weight(terms: Ints, weights: Floats) -> tuple[Ints, Floats]:
    order = np.lexsort((terms, -weights))
    return terms[order].astype(np.int64), weights[order].astype(np.float64)
