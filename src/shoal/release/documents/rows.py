"""Documents as rows of a vector space, the pools of their groups, and both as they are released."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.methods.pools import counts_of, rank_of_pools, without_length
from shoal.methods.sketches.sketches import SketchedRows
from shoal.promises.values import GroupFacts
from shoal.results.utility import Loss

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Term = str | int  # a word, or the number of a concept


@dataclass(frozen=True)
class DocumentRows:
    """Documents at unit length, each with its length before, its label and its name."""

    X: sp.csr_matrix  # (documents, terms + 2): the last two columns bring documents of like lengths together
    lengths: Floats
    labels: NDArray[Any]  # "" where there is none
    names: NDArray[Any]
    person: Ints | None = None  # whose each document is, where a crowd is of people

    def __len__(self) -> int:
        return len(self.lengths)

    def take(self, rows: Ints) -> DocumentRows:
        """Some of the documents, in that order."""
        person = None if self.person is None else self.person[rows]
        return DocumentRows(self.X[rows], self.lengths[rows], self.labels[rows], self.names[rows], person)

    def vectors(self) -> sp.csr_matrix:
        """The rows without the columns of lengths. Made when asked for: they take as much memory as X."""
        return without_length(self.X)

    def counts(self, idf: Floats) -> sp.csr_matrix:
        """How often each document has each term; `idf` is what an occurrence weighs."""
        return counts_of(self.vectors(), self.lengths, idf)


@dataclass(frozen=True)
class Vocabulary:
    """The terms of a release, in the alphabetical order of their names."""

    names: NDArray[Any]
    column_of: dict[Term, int]

    @staticmethod
    def of(names: Mapping[Term, str]) -> Vocabulary:
        """From the name of each term."""
        terms = sorted(names, key=names.__getitem__)
        return Vocabulary(
            np.array([names[term] for term in terms]), {term: column for column, term in enumerate(terms)}
        )


@dataclass(frozen=True)
class Pools:
    """How often the documents of each group together have each term."""

    counts: sp.csr_matrix  # (groups, terms)
    terms: tuple[Term, ...]

    def in_vocabulary(self, vocabulary: Vocabulary) -> sp.csr_matrix:
        """The counts with a column for each term of the release."""
        columns = np.array([vocabulary.column_of[term] for term in self.terms], dtype=np.int64)
        shape = (self.counts.shape[0], len(vocabulary.names))
        pools = sp.csr_matrix((self.counts.data, columns[self.counts.indices], self.counts.indptr), shape=shape)
        pools.sum_duplicates()  # a word and the concept that it alone means are one term
        return pools


@dataclass(frozen=True)
class ReleasedDocuments:
    """Documents in groups, the pool of each group, and the order in which the documents will be released."""

    rows: DocumentRows
    groups: Ints
    pools: sp.csr_matrix  # (groups, vocabulary)
    rank: Ints  # of what is released of each group among the different rows: equal ones are one group to the reader
    order: Ints  # of the documents: by rank, then by label
    sketches: SketchedRows | None = None  # the different rows, where these are sketches of pools

    @staticmethod
    def of(rows: DocumentRows, groups: Ints, pools: Pools, vocabulary: Vocabulary) -> ReleasedDocuments:
        """Documents that are released as the pools of their groups."""
        counts, labels = pools.in_vocabulary(vocabulary), codes_of(rows.labels)
        rank = rank_of_pools(counts)
        return ReleasedDocuments(rows, groups, counts, rank, np.lexsort((labels, rank[groups])))

    def confidential(self, label: str | None) -> dict[str, NDArray[Any]]:
        """The labels in the order of the release, if it has any."""
        return {} if label is None else {label: self.rows.labels[self.order]}

    def distinct_groups(self) -> Ints:
        """A group for each of the different rows."""
        return np.unique(self.rank, return_index=True)[1]


@dataclass(frozen=True)
class CorpusTotals:
    """What publishing a part of the documents needs to know of all of them."""

    n_rows: int
    vocabulary: Vocabulary
    frequency: Ints | None  # of the released terms, in thousandths; None for weights without it
    centre: Any  # what stands for all documents
    label: str | None  # the confidential column


@dataclass(frozen=True)
class DocumentFacts:
    """What is known of documents that are released: their groups, and sums over the vocabulary. Facts add up."""

    groups: GroupFacts
    loss: Loss
    loss_of_means: Loss  # what exact means of the same groups would cost
    weight: Floats  # of each term, over the released rows
    documents: Ints  # released rows that have each term
    formulas: Counter[str]  # labels that a spreadsheet would run

    def __add__(self, other: DocumentFacts) -> DocumentFacts:
        return DocumentFacts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


def codes_of(values: NDArray[Any]) -> NDArray[np.int64]:
    """Each text's place among the different ones, sorted. NumPy's own texts would all take the room of the longest."""
    place = {value: number for number, value in enumerate(sorted(set(values.tolist())))}
    return np.fromiter((place[value] for value in values.tolist()), dtype=np.int64, count=len(values))
