"""What is told of parts that were written, when no place has seen them all: groups by digest, and what lies in them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from shoal.io.private_files import PRIVATE_FILE
from shoal.microaggregation.blocks.block import Block
from shoal.protection.groups import meaning
from shoal.results.claims import Diversity

__all__ = [
    "SHOWN",
    "GroupFacts",
    "diversity_of",
    "facts_of",
    "replacing",
    "sizes_over",
    "values_in",
    "write_mapping_part",
]

SHOWN = 2_000  # records whose distances the report shows


@dataclass(frozen=True)
class GroupFacts:
    """One line a group, by the digest of its representative: equal representatives are one group to the reader."""

    sizes: dict[bytes, int]
    values: dict[str, dict[bytes, frozenset[str]]]  # of each confidential column


def facts_of(
    digests: Sequence[bytes], groups: NDArray[np.int64], confidential: Mapping[str, NDArray[Any]]
) -> GroupFacts:
    """The groups of a part; `digests` has one for each of them."""
    sizes: Counter[bytes] = Counter()
    for digest, size in zip(digests, np.bincount(groups).tolist(), strict=True):
        sizes[digest] += size
    values: dict[str, dict[bytes, frozenset[str]]] = {}
    for name, column in confidential.items():
        found: dict[bytes, set[str]] = {digest: set() for digest in digests}
        for group, value in zip(groups.tolist(), column.tolist(), strict=True):
            if (told := meaning(value)) is not None:
                found[digests[group]].add(told)
        values[name] = {digest: frozenset(one) for digest, one in found.items()}
    return GroupFacts(dict(sizes), values)


def values_in(block: Block, carried: tuple[str, ...]) -> list[frozenset[str]]:
    """What the values tell that the block carries under each of these names."""
    told = ({meaning(value) for value in set(block.carried[name].tolist())} for name in carried)
    return [frozenset(value for value in values if value is not None) for values in told]


def sizes_over(facts: Sequence[GroupFacts]) -> NDArray[np.int64]:
    """The size of each group, over all parts."""
    sizes: Counter[bytes] = Counter()
    for fact in facts:
        sizes.update(fact.sizes)
    return np.array(list(sizes.values()))


def diversity_of(column: str, facts: Sequence[GroupFacts]) -> Diversity:
    """Distinct values of a confidential column in each group, over all parts."""
    values: dict[bytes, frozenset[str]] = {}
    for fact in facts:
        for digest, found in fact.values[column].items():
            values[digest] = values.get(digest, frozenset()) | found
    distinct = [len(found) for found in values.values()]
    different = frozenset().union(*values.values())
    return Diversity(column, min(distinct), sum(count <= 1 for count in distinct), len(distinct), len(different))


def write_mapping_part(names: NDArray[Any], groups: NDArray[np.int64], target: str) -> None:
    """Privately: which record became which row of the part."""
    private = {"id": names.tolist(), "released_row": np.arange(1, len(names) + 1), "group": groups}
    with replacing(target) as path:
        pq.write_table(pa.table(private), path)
        path.chmod(PRIVATE_FILE)  # here, for on a cluster the worker may be another user than who asked


@contextmanager
def replacing(target: str) -> Iterator[Path]:
    """A file aside that takes the target's place when it is whole.

    A worker that a cluster gave up may still be writing when another does its work again.
    """
    place = Path(target)
    aside = place.with_name(f".{uuid4().hex}-{place.name}")
    try:
        yield aside
        os.replace(aside, place)
    finally:
        aside.unlink(missing_ok=True)
