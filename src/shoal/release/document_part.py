"""What is done to one part of a collection of documents, wherever it is: read, weigh, arrange, write."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.assessment.unmixing import taken_apart
from shoal.bundle.formulas import formulas_in
from shoal.io import Corpus, Skipped
from shoal.io.parts import local_copy
from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.blocks.executors import memory_of
from shoal.microaggregation.blocks.tree import sample_keys
from shoal.microaggregation.spherical import spherical_loss, spherical_representatives
from shoal.microaggregation.words.giveaways import without_giveaways
from shoal.microaggregation.words.pooling import (
    members_with,
    pooled_counts,
    pooled_weights,
    rank_of_pools,
    unit_rows,
    with_length,
    without_length,
)
from shoal.protection.documents import Published, merged_until_diverse
from shoal.protection.groups import codes_of
from shoal.release.documents import Released
from shoal.release.part_facts import SHOWN, GroupFacts, facts_of, replacing, write_mapping_part
from shoal.results.rates import Rate
from shoal.vectors import VectorSpace
from shoal.vectors.counting import Counted, Tally

__all__ = [
    "Facts",
    "Whole",
    "arranged",
    "diverse",
    "first_row",
    "frequency_in",
    "read_part",
    "reading_of",
    "rows_of",
    "settled",
    "without_terms",
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
class Whole:
    """What the weights of a part need to know of all parts."""

    terms: NDArray[Any]
    idf: Floats  # of the original rows
    frequency: Ints | None  # of the released ones, in thousandths; None for weights without it
    n_rows: int
    min_df: int
    tried: int  # groups that are taken apart


@dataclass(frozen=True)
class Facts:
    """What the owner must know of a part that was written: its groups, and sums over the vocabulary."""

    groups: GroupFacts
    sse: float
    sse_of_means: float  # what exact means of the same groups would cost
    means: NDArray[np.float64]  # sum of these means over the rows
    total: NDArray[np.float64]  # sum of the original rows
    released: NDArray[np.float64]  # sum of the released rows
    documents: NDArray[np.int64]  # released rows that have each term
    sample: tuple[NDArray[np.uint64], sp.csr_matrix, sp.csr_matrix]  # keys, rows before, rows after
    attacks: tuple[Rate, ...]
    formulas: Counter[str]  # labels that a spreadsheet would run


def read_part(part: str, columns: dict[str, str | None], space: VectorSpace) -> Part:
    """Read a file and count its terms."""
    names: list[str] = []
    labels: list[str] = []
    with local_copy(part) as path:
        corpus = Corpus(path, **columns)

        def texts() -> Iterator[str]:
            for document in corpus:
                names.append(f"{Path(part).name}:{document.id}")
                labels.append(document.label or "")
                yield document.text

        counted = space.count(texts())
    return Part(counted, np.array(names, dtype=object), np.array(labels, dtype=object), corpus.skipped)


def reading_of(part: Part) -> tuple[Tally, tuple[Skipped, ...]]:
    """What reading the part told: words and terms, and what could not be read."""
    return part.counted.tally, part.skipped


def rows_of(part: Part, space: VectorSpace) -> Block:
    """The rows that have terms, in the fitted space; with each its length, from which its counts are known again."""
    counts = space.count_rows(part.counted)
    rows = np.flatnonzero(np.diff(counts.indptr))
    X, lengths = unit_rows(counts[rows], space.idf_)
    carried = {"label": part.labels[rows], "name": part.names[rows], "length": lengths}
    return Block(with_length(X, lengths), carried, np.zeros(len(rows), dtype=np.int64))


def without_terms(part: Part, space: VectorSpace) -> list[str]:
    """Documents that no term is left of."""
    return [str(name) for name in part.names[np.diff(space.weigh(part.counted).indptr) == 0]]


def settled(block: Block, idf: Floats) -> Block:
    """The block with groups from whose pools no member can be read off."""
    X, lengths = without_length(block.X), block.carried["length"]
    return replace(block, groups=without_giveaways(_counts(block, idf), X, lengths, block.groups))


def frequency_in(block: Block, idf: Floats) -> Ints:
    """About how many documents have each term, by the pools of the groups, in thousandths."""
    return members_with(_pools(block, idf), np.bincount(block.groups).astype(np.int64))


def diverse(block: Block, least: int) -> Block:
    """The block with groups joined until each has `least` labels."""
    return replace(
        block, groups=merged_until_diverse(without_length(block.X), block.groups, block.carried["label"], least)
    )


def arranged(block: Block, idf: Floats) -> Block:
    """The rows in the order of what will be released of them."""
    rank = rank_of_pools(_pools(block, idf))
    block = replace(block, groups=rank[block.groups])
    # Rows of a block are in the order of their content, and stay so where groups and labels are equal: sums of rows
    # then have the same last digit however the collection was cut into parts.
    return block.take(np.lexsort((codes_of(block.carried["label"]), block.groups)))


def first_row(block: Block, idf: Floats) -> tuple[Any, ...]:
    """What the first row will be released as."""
    first = _pools(block, idf)[0]
    return first.indices.tolist(), first.data.tolist(), block.carried["label"][0]


def write_part(block: Block, whole: Whole, label: str | None, target: str, mapping: str) -> Facts:
    """Write the rows, and privately which document became which of them."""
    pools = _pools(block, whole.idf)
    published = Published(pools, pooled_weights(pools, whole.frequency, whole.n_rows), whole.terms)
    labels = block.carried["label"]
    released = Released(block.groups, published, {} if label is None else {label: labels})
    with replacing(target) as path:
        released.write_parquet(path)
    write_mapping_part(block.carried["name"], block.groups, mapping)

    sizes = np.bincount(block.groups)
    digests = [_digest(pools, group) for group in range(len(sizes))]
    X, representatives = without_length(block.X), published.weights
    means = spherical_representatives(X, block.groups)
    keys = sample_keys(X)
    shown = np.argsort(keys, kind="stable")[:SHOWN]
    return Facts(
        groups=facts_of(digests, block.groups, {} if label is None else {label: labels}),
        sse=spherical_loss(X, block.groups, representatives).sse,
        sse_of_means=spherical_loss(X, block.groups, means).sse,
        means=means.T @ sizes,
        total=np.asarray(X.sum(axis=0)).ravel(),
        released=representatives.T @ sizes,
        documents=(pools != 0).T @ sizes,
        sample=(keys[shown], X[shown], representatives[block.groups[shown]]),
        attacks=taken_apart(
            pools, whole.terms, _counts(block, whole.idf), whole.terms, block.groups, whole.min_df, tried=whole.tried
        ),
        formulas=formulas_in(pa.table({} if label is None else {label: pa.array(labels, pa.string())})),
    )


def _counts(block: Block, idf: Floats) -> sp.csr_matrix:
    """How often each document has each term: rows of unit length are counts times weights over lengths."""
    counts = without_length(block.X)
    entries = np.repeat(block.carried["length"], np.diff(counts.indptr)) / idf[counts.indices]
    counts.data = np.rint(counts.data * entries).astype(np.int64)
    return counts


def _pools(block: Block, idf: Floats) -> sp.csr_matrix:
    return pooled_counts(_counts(block, idf), block.groups)


def _digest(pools: sp.csr_matrix, group: int) -> bytes:
    part = slice(pools.indptr[group], pools.indptr[group + 1])
    content = pools.indices[part].astype(np.int32).tobytes() + pools.data[part].tobytes()
    return hashlib.blake2b(content, digest_size=16).digest()
