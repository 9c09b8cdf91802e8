"""Blocks of documents with the pools of their groups, and what every protection of documents can do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.blocks.executors import Schedule
from shoal.microaggregation.words.pooling import without_length
from shoal.results.loss import Loss
from shoal.results.promised import GroupPromises
from shoal.results.summary import Distances
from shoal.vectors import VectorSpace
from shoal.vectors.counting import Tally

__all__ = [
    "DocumentProtection",
    "PooledBlock",
    "ReadsDocuments",
    "Term",
    "Vocabulary",
    "counts_behind",
    "counts_of",
    "with_space",
]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Term = str | int  # a word, or the number of a concept


@dataclass(frozen=True)
class Vocabulary:
    """The terms of a release, in the alphabetical order of their names."""

    names: NDArray[Any]
    column_of: dict[Term, int]

    @staticmethod
    def of(names: dict[Term, str]) -> Vocabulary:
        """From the name of each term."""
        by_name = sorted(names, key=names.__getitem__)
        return Vocabulary(np.array([names[term] for term in by_name]), {t: place for place, t in enumerate(by_name)})


@dataclass(frozen=True)
class PooledBlock:
    """Documents in groups, and how often the documents of each group together have each term."""

    block: Block
    pools: sp.csr_matrix  # (groups, terms)
    terms: tuple[Term, ...]  # of the pools' columns

    def pools_in(self, vocabulary: Vocabulary) -> sp.csr_matrix:
        """The pools with a column for each term of the release."""
        columns = np.array([vocabulary.column_of[term] for term in self.terms], dtype=np.int64)
        shape = (self.pools.shape[0], len(vocabulary.names))
        pools = sp.csr_matrix((self.pools.data, columns[self.pools.indices], self.pools.indptr), shape=shape)
        pools.sort_indices()
        return pools


class ReadsDocuments(Protocol):
    """What a protection must know to have documents read."""

    space: VectorSpace  # fitted once all parts have been read

    def known(self, tally: Tally) -> Tally:
        """The tally without the terms that the method cannot place."""


class DocumentProtection(ReadsDocuments, Protocol):
    """Documents in, groups and their pools out. Every method takes a block, so that any machine can do the work."""

    name: str  # of the method, in words
    in_meaning: bool  # terms are words and concepts, and distances are those of meaning
    most_shown: int  # documents whose distances the report shows

    def group(self, block: Block) -> Block:
        """All documents in groups."""

    def group_parts(self, parts: list[Any], n_rows: int, schedule: Schedule) -> list[Any]:
        """Blocks of documents in groups (futures), from parts of them (futures)."""

    def diverse(self, block: Block, promises: GroupPromises, overall: Sequence[Mapping[str, int]]) -> Block:
        """The block with groups joined until each has what is promised of labels; `overall` counts those of all."""

    def pooled(self, block: Block) -> PooledBlock:
        """The block with the pools of its groups."""

    def names(self, terms: Iterable[Term]) -> dict[Term, str]:
        """What each of these terms is called beside the others."""

    def centre(self, pooled: PooledBlock) -> Any:
        """What stands for all documents of a block."""

    def common_centre(self, centres: Sequence[Any]) -> Any:
        """What stands for the documents of all blocks."""

    def losses(self, pooled: PooledBlock, weights: sp.csr_matrix, vocabulary: Vocabulary, centre: Any) -> list[Loss]:
        """The loss of a block, published as `weights` (groups, vocabulary); and of exact means of the same groups."""

    def sample(self, pooled: PooledBlock, rows: Ints, weights: sp.csr_matrix, vocabulary: Vocabulary) -> Any:
        """Some documents before and after, for `distances`."""

    def first(self, sample: Any, n_documents: int) -> Any:
        """The first documents of a sample."""

    def distances(self, samples: Sequence[Any], n_rows: int) -> Distances:
        """Distances between the sampled documents before and after."""

    def parameters(self) -> dict[str, Any]:
        """Of the space and of the method."""


Protection = TypeVar("Protection", bound=ReadsDocuments)


def with_space(protection: Protection, space: VectorSpace) -> Protection:
    """The protection as workers need it: with a fitted space, without the words that were left out."""
    fitted = copy(protection)
    fitted.space = clone(space).settle_on(space.terms_, space.idf_)
    return fitted


def counts_of(block: Block, idf: Floats) -> sp.csr_matrix:
    """How often each document has each term."""
    return counts_behind(without_length(block.X), block.carried["length"], idf)


def counts_behind(unit: sp.csr_matrix, lengths: Floats, idf: Floats) -> sp.csr_matrix:
    """Rows of unit length are counts times weights over lengths; the counts share the places of the rows."""
    counts = unit.data * np.repeat(lengths, np.diff(unit.indptr))
    counts /= idf[unit.indices]
    whole = np.rint(counts, out=counts).astype(np.int32)  # as they were counted
    return sp.csr_matrix((whole, unit.indices, unit.indptr), shape=unit.shape)
