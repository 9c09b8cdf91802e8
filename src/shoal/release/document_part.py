"""What is done to one part of a collection of documents, wherever it is: read, weigh, arrange, write."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.io import Corpus, Skipped
from shoal.io.parts import local_copy
from shoal.microaggregation.block import Block
from shoal.microaggregation.schedule import memory_of
from shoal.microaggregation.spherical import spherical_loss, spherical_representatives
from shoal.microaggregation.tree import sample_keys
from shoal.release.document_methods import merged_until_diverse
from shoal.release.documents import Released, rank_of_groups
from shoal.release.groups import codes_of
from shoal.release.part_facts import SHOWN, GroupFacts, facts_of, replacing, write_mapping_part
from shoal.vectors import VectorSpace
from shoal.vectors.counting import Counted, Tally

__all__ = [
    "Facts",
    "arranged",
    "diverse",
    "first_row",
    "read_part",
    "reading_of",
    "rows_of",
    "without_terms",
    "write_part",
]


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
class Facts:
    """What the owner must know of a part that was written: its groups, and sums over the vocabulary."""

    groups: GroupFacts
    sse: float
    total: NDArray[np.float64]  # sum of the original rows
    released: NDArray[np.float64]  # sum of the released rows
    documents: NDArray[np.int64]  # released rows that have each term
    sample: tuple[NDArray[np.uint64], sp.csr_matrix, sp.csr_matrix]  # keys, rows before, rows after


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
    """The rows that have terms, in the fitted space."""
    X = space.weigh(part.counted)
    rows = np.flatnonzero(np.diff(X.indptr))
    carried = {"label": part.labels[rows], "name": part.names[rows]}
    return Block(X[rows], carried, np.zeros(len(rows), dtype=np.int64))


def without_terms(part: Part, space: VectorSpace) -> list[str]:
    """Documents that no term is left of."""
    return [str(name) for name in part.names[np.diff(space.weigh(part.counted).indptr) == 0]]


def diverse(block: Block, least: int) -> Block:
    """The block with groups joined until each has `least` labels."""
    return replace(block, groups=merged_until_diverse(block.X, block.groups, block.carried["label"], least))


def arranged(block: Block) -> Block:
    """The rows in the order of what will be released of them."""
    rank = rank_of_groups(spherical_representatives(block.X, block.groups))
    block = replace(block, groups=rank[block.groups])
    # Rows of a block are in the order of their content, and stay so where groups and labels are equal: sums of rows
    # then have the same last digit however the collection was cut into parts.
    return block.take(np.lexsort((codes_of(block.carried["label"]), block.groups)))


def first_row(block: Block) -> tuple[Any, ...]:
    """What the first row will be released as."""
    first = spherical_representatives(block.X, block.groups)[0]
    return first.indices.tolist(), first.data.tolist(), block.carried["label"][0]


def write_part(block: Block, terms: NDArray[Any], label: str | None, target: str, mapping: str) -> Facts:
    """Write the rows, and privately which document became which of them."""
    representatives = spherical_representatives(block.X, block.groups)
    labels = block.carried["label"]
    released = Released(block.groups, representatives, terms, {} if label is None else {label: labels})
    with replacing(target) as path:
        released.write_parquet(path)
    write_mapping_part(block.carried["name"], block.groups, mapping)

    sizes = np.bincount(block.groups)
    digests = [_digest(representatives, group) for group in range(len(sizes))]
    keys = sample_keys(block.X)
    shown = np.argsort(keys, kind="stable")[:SHOWN]
    return Facts(
        groups=facts_of(digests, block.groups, {} if label is None else {label: labels}),
        sse=spherical_loss(block.X, block.groups, representatives).sse,
        total=np.asarray(block.X.sum(axis=0)).ravel(),
        released=representatives.T @ sizes,
        documents=(representatives != 0).T @ sizes,
        sample=(keys[shown], block.X[shown], representatives[block.groups[shown]]),
    )


def _digest(representatives: sp.csr_matrix, group: int) -> bytes:
    part = slice(representatives.indptr[group], representatives.indptr[group + 1])
    content = representatives.indices[part].astype(np.int32).tobytes() + representatives.data[part].tobytes()
    return hashlib.blake2b(content, digest_size=16).digest()
