"""What is known of the parts that were written, when no machine saw them all: groups by digest, and their content."""

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
from shoal.microaggregation.diversity import JOINED
from shoal.protection.closeness import closeness
from shoal.protection.groups import diversity, meaning, meanings

__all__ = [
    "GroupFacts",
    "crowd_figures",
    "diversity_parameters",
    "facts_of",
    "replacing",
    "values_in",
    "write_mapping_part",
]


@dataclass(frozen=True)
class GroupFacts:
    """The groups of a part, by the digest of what is published of them: equal ones are one group to the reader."""

    sizes: Counter[bytes]
    values: dict[str, dict[bytes, Counter[str]]]  # of each confidential column, how many records have each value


def facts_of(
    digests: Sequence[bytes], groups: NDArray[np.int64], confidential: Mapping[str, NDArray[Any]]
) -> GroupFacts:
    """The groups of a part; `digests` has one for each of them."""
    sizes: Counter[bytes] = Counter()
    for digest, size in zip(digests, np.bincount(groups).tolist(), strict=True):
        sizes[digest] += size
    values: dict[str, dict[bytes, Counter[str]]] = {}
    for name, column in confidential.items():
        of_group: dict[bytes, Counter[str]] = {digest: Counter() for digest in digests}
        for group, value in zip(groups.tolist(), meanings(column), strict=True):
            if value is not None:
                of_group[digests[group]][value] += 1
        values[name] = of_group
    return GroupFacts(sizes, values)


def values_in(block: Block, carried: tuple[str, ...]) -> list[frozenset[str]]:
    """The values, spelling aside, that the block carries under each of these names."""
    different = ({meaning(value) for value in set(block.carried[name].tolist())} for name in carried)
    return [frozenset(value for value in values if value is not None) for values in different]


def crowd_figures(parts: Sequence[GroupFacts], confidential: tuple[str, ...]) -> dict[str, Any]:
    """What a summary says of the groups of all parts: their sizes, and the confidential values in them."""
    sizes: Counter[bytes] = Counter()
    for part in parts:
        sizes.update(part.sizes)
    values: dict[str, dict[bytes, Counter[str]]] = {name: {} for name in confidential}
    for part in parts:
        for name, groups in values.items():
            for digest, counts in part.values[name].items():
                groups[digest] = groups.get(digest, Counter()) + counts
    return {
        "smallest_group": min(sizes.values()),
        "group_sizes": tuple(sorted(Counter(sizes.values()).items())),
        "diversity": tuple(diversity(name, groups) for name, groups in values.items()),
        "closeness": tuple(closeness(name, groups) for name, groups in values.items()),
    }


def diversity_parameters(l: int | None) -> dict[str, Any]:
    """How groups were joined, where that was asked for."""
    return {} if l is None else {"diversity": JOINED}


def write_mapping_part(
    names: NDArray[Any], groups: NDArray[np.int64], target: str, records: NDArray[Any] | None = None
) -> None:
    """Privately: which record became which row of the part; `records` are the ids that it goes by in other tables."""
    private = {"id": names.tolist(), "released_row": np.arange(1, len(names) + 1), "group": groups}
    private |= {} if records is None else {"record": records.tolist()}
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
