"""What is done to one part of a collection of documents, wherever it is: read, count, arrange, write."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal import progress
from shoal.assessment.unmixing import taken_apart
from shoal.bundle.formulas import formulas_in
from shoal.errors import InputError
from shoal.io import Corpus, Skipped
from shoal.io.parts import local_copy
from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.blocks.executors import memory_of
from shoal.microaggregation.blocks.tree import sample_keys
from shoal.microaggregation.words.pooling import (
    members_with,
    pooled_weights,
    rank_of_pools,
    unit_rows,
    with_length,
    without_length,
)
from shoal.protection.distances import spread_out
from shoal.protection.documents.pools import DocumentProtection, PooledBlock, Vocabulary, counts_of
from shoal.protection.groups import codes_of
from shoal.release.documents.files import write_vectors
from shoal.release.part_facts import GroupFacts, facts_of, replacing, write_mapping_part
from shoal.results.loss import Loss
from shoal.results.rates import Rate
from shoal.vectors import VectorSpace
from shoal.vectors.counting import Counted, Tally

__all__ = [
    "Arranged",
    "Collected",
    "DocumentFacts",
    "arranged",
    "attacked",
    "first_row",
    "frequency_in",
    "read_part",
    "reading_of",
    "rows_of",
    "shown",
    "without_terms",
    "write_matrix",
    "write_part",
]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """The documents of one file, counted."""

    counted: Counted
    names: NDArray[Any]
    labels: NDArray[Any]
    skipped: tuple[Skipped, ...]

    def __sizeof__(self) -> int:
        counted = self.counted
        return memory_of(self.names, self.labels, counted.row_end, counted.numbers, counted.counts)


@dataclass(frozen=True)
class Arranged:
    """A block, and its documents in the order in which they will be released."""

    pooled: PooledBlock
    pools: sp.csr_matrix  # (groups, vocabulary)
    rank: Ints  # of each group's pool among the different ones
    order: Ints  # of the documents


@dataclass(frozen=True)
class Collected:
    """What writing a part needs to know of all parts."""

    vocabulary: Vocabulary
    frequency: Ints | None  # of the released terms, in thousandths; None for weights without it
    centre: Any  # what stands for all documents
    n_rows: int
    tried: int  # groups that are taken apart; 0 for none


@dataclass(frozen=True)
class DocumentFacts:
    """What the owner must know of a part that was written: its groups, and sums over the vocabulary."""

    groups: GroupFacts
    loss: Loss
    loss_of_means: Loss  # what exact means of the same groups would cost
    weight: Floats  # of each term, over the released rows
    documents: Ints  # released rows that have each term
    sample: tuple[NDArray[np.uint64], Any]  # keys, and these documents before and after
    attacks: tuple[Rate, ...]
    formulas: Counter[str]  # labels that a spreadsheet would run


def read_part(part: str | Corpus, columns: Mapping[str, str | None], space: VectorSpace) -> Part:
    """Read a file and count its terms; documents of one of several files are named after it as well."""
    if isinstance(part, Corpus):
        return _counted(part, "", space)
    with local_copy(part) as path:
        return _counted(Corpus(path, **columns), f"{Path(part).name}:", space)


def _counted(corpus: Corpus, prefix: str, space: VectorSpace) -> Part:
    if corpus.of_items != space.items:
        here, others = ("baskets", "texts") if corpus.of_items else ("texts", "baskets")
        raise InputError(f"{corpus.name} has {here}, and the first part {others}; give parts of one kind")
    names: list[str] = []
    labels: list[str] = []

    def contents() -> Iterator[Any]:
        for document in corpus if prefix else progress.track("reading", corpus):
            names.append(f"{prefix}{document.id}")
            labels.append(document.label or "")
            yield document.content

    counted = space.count(contents())
    return Part(counted, np.array(names, dtype=object), np.array(labels, dtype=object), corpus.skipped)


def reading_of(part: Part) -> tuple[Tally, tuple[Skipped, ...]]:
    """Words and terms of a part, and what could not be read."""
    return part.counted.tally, part.skipped


def rows_of(part: Part, space: VectorSpace) -> Block:
    """The documents that have terms, in the order of their content, so that the order of the input has no bearing.

    Each carries its length, from which its counts are known again.
    """
    counts = space.count_rows(part.counted)
    rows = _in_order_of_content(counts, part.labels)
    X, lengths = unit_rows(counts[rows], space.idf_)
    carried = {"label": part.labels[rows], "name": part.names[rows], "length": lengths}
    return Block(with_length(X, lengths), carried, np.zeros(len(rows), dtype=np.int64))


def _in_order_of_content(counts: sp.csr_matrix, labels: NDArray[Any]) -> Ints:
    def content(row: int) -> tuple[bytes, bytes, str]:
        part = slice(counts.indptr[row], counts.indptr[row + 1])
        return counts.indices[part].tobytes(), counts.data[part].tobytes(), labels[row]

    return np.array(sorted(np.flatnonzero(np.diff(counts.indptr)).tolist(), key=content), dtype=np.int64)


def without_terms(part: Part, space: VectorSpace) -> tuple[list[str], Counter[str]]:
    """Documents that no term is left of, and occurrences of terms that are too light in their document."""
    empty = np.diff(space.count_rows(part.counted).indptr) == 0
    return [str(name) for name in part.names[empty]], space.light_terms(part.counted)


def arranged(pooled: PooledBlock, vocabulary: Vocabulary) -> Arranged:
    """The documents in the order of what will be released of them: pools, then labels."""
    pools = pooled.pools_in(vocabulary)
    rank = rank_of_pools(pools)
    block = pooled.block
    return Arranged(pooled, pools, rank, np.lexsort((codes_of(block.carried["label"]), rank[block.groups])))


def first_row(part: Arranged) -> tuple[Any, ...]:
    """What the first document will be released as."""
    document = part.order[0]
    pool = part.pools[part.pooled.block.groups[document]]
    return pool.indices.tolist(), pool.data.tolist(), part.pooled.block.carried["label"][document]


def frequency_in(part: Arranged) -> Ints:
    """About how many documents have each term, by the pools of the groups, in thousandths."""
    return members_with(part.pools, np.bincount(part.pooled.block.groups).astype(np.int64))


def write_part(
    part: Arranged, protection: DocumentProtection, all_parts: Collected, label: str | None, target: str, mapping: str
) -> DocumentFacts:
    """Write the rows, and privately which document became which of them."""
    block, pools, names = part.pooled.block, part.pools, all_parts.vocabulary.names
    weights = pooled_weights(pools, all_parts.frequency, all_parts.n_rows)
    labels = block.carried["label"][part.order]
    confidential = {} if label is None else {label: labels}
    with replacing(target) as path:
        write_vectors(path, block.groups[part.order], pools, weights, names, confidential)
    groups = part.rank[block.groups]
    write_mapping_part(block.carried["name"][part.order], groups[part.order], mapping)

    of_rank = np.unique(part.rank, return_index=True)[1]  # groups with equal pools are one to the reader
    sizes = np.bincount(groups)
    distinct = sp.csr_matrix(pools[of_rank])
    loss, loss_of_means = protection.losses(part.pooled, weights, all_parts.vocabulary, all_parts.centre)
    whole = len(groups) == all_parts.n_rows
    rows, keys = shown(part.order, block, protection.most_shown, whole)
    return DocumentFacts(
        groups=facts_of([_digest(distinct, rank) for rank in range(len(sizes))], groups[part.order], confidential),
        loss=loss,
        loss_of_means=loss_of_means,
        weight=weights[of_rank].T @ sizes,
        documents=(distinct != 0).T @ sizes,
        sample=(keys, protection.sample(part.pooled, rows, weights, all_parts.vocabulary)),
        attacks=attacked(part, protection.space, all_parts),
        formulas=formulas_in(pa.table({name: pa.array(values, pa.string()) for name, values in confidential.items()})),
    )


def shown(order: Ints, block: Block, most: int, whole: bool) -> tuple[Ints, NDArray[np.uint64]]:
    """Documents whose distances the report shows: spread evenly, or those with the smallest keys; and their keys."""
    if whole:
        rows = order[spread_out(len(order), most)]
        return rows, np.zeros(len(rows), dtype=np.uint64)
    keys = sample_keys(without_length(block.X))
    rows = np.argsort(keys, kind="stable")[:most]
    return rows, keys[rows]


def write_matrix(part: Arranged, all_parts: Collected, target: str) -> None:
    """The weights of a release in one piece as a SciPy matrix."""
    weights = pooled_weights(part.pools, all_parts.frequency, all_parts.n_rows)
    sp.save_npz(target, sp.csr_array(weights[part.pooled.block.groups[part.order]]))


def attacked(part: Arranged, space: VectorSpace, all_parts: Collected) -> tuple[Rate, ...]:
    """How many documents are recovered from the pools of some groups."""
    if not all_parts.tried:
        return ()
    different = part.pools[np.unique(part.rank, return_index=True)[1]]
    block, names = part.pooled.block, all_parts.vocabulary.names
    counts, groups = counts_of(block, space.idf_), part.rank[block.groups]
    return taken_apart(different, names, counts, space.terms_, groups, space.min_df, tried=all_parts.tried)


def _digest(pools: sp.csr_matrix, group: int) -> bytes:
    part = slice(pools.indptr[group], pools.indptr[group + 1])
    content = pools.indices[part].astype(np.int32).tobytes() + pools.data[part].tobytes()
    return hashlib.blake2b(content, digest_size=16).digest()
