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

from shoal.errors import InputError
from shoal.io.files import shown
from shoal.io.private_files import PRIVATE_FILE
from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.diversity import JOINED
from shoal.protection.closeness import closeness
from shoal.protection.groups import diversity, meanings
from shoal.protection.tables.layout import OWN_K, PERSON
from shoal.protection.value_promises import check_kept, counted_values, reachable
from shoal.results.promised import Crowd, GroupPromises

Ints = NDArray[np.int64]

__all__ = [
    "GroupFacts",
    "Holding",
    "check_holding",
    "crowd_figures",
    "diversity_parameters",
    "facts_of",
    "holding_of",
    "lacks",
    "replacing",
    "write_mapping_part",
]


@dataclass(frozen=True)
class GroupFacts:
    """The groups of a part, by the digest of what is published of them: equal ones are one group to the reader."""

    sizes: Counter[bytes]
    values: dict[str, dict[bytes, Counter[str]]]  # of each confidential column, how many records have each value
    crowds: Counter[tuple[int, int | None, int | None]]  # groups by records, people and largest own k


def facts_of(
    digests: Sequence[bytes],
    groups: NDArray[np.int64],
    confidential: Mapping[str, NDArray[Any]],
    carried: Mapping[str, NDArray[Any]] | None = None,
) -> GroupFacts:
    """The groups of a part; `digests` has one for each of them, `carried` whose each record is and its own k."""
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
    return GroupFacts(sizes, values, _crowds_in(groups, carried or {}))


@dataclass(frozen=True)
class Holding:
    """What a block has of what is promised to its groups; the holdings of two blocks add up."""

    rows: int
    values: tuple[Counter[str], ...]  # of each confidential column, how many records have each value
    people: frozenset[int] | None  # None: records are counted
    own_k: int  # the largest k that any record asks for

    def __add__(self, other: Holding) -> Holding:
        values = tuple(one + two for one, two in zip(self.values, other.values, strict=True))
        people = None if self.people is None or other.people is None else self.people | other.people
        return Holding(self.rows + other.rows, values, people, max(self.own_k, other.own_k))

    @property
    def crowd(self) -> int:
        """People, or records where these are counted."""
        return self.rows if self.people is None else len(self.people)


def holding_of(block: Block, carried: tuple[str, ...]) -> Holding:
    """What a block has that carries confidential columns under these names."""
    values = tuple(counted_values(block.carried[name]) for name in carried)
    person, own_k = block.carried.get(PERSON), block.carried.get(OWN_K)
    people = None if person is None else frozenset(person.tolist())
    return Holding(len(block.groups), values, people, 1 if own_k is None else int(own_k.max(initial=1)))


def lacks(held: Holding, k: int, promises: GroupPromises) -> bool:
    """Whether all records together have less than is promised to a group."""
    return held.crowd < max(k, held.own_k) or not all(reachable(promises, values) for values in held.values)


def check_holding(held: Holding, confidential: tuple[str, ...], k: int, promises: GroupPromises) -> None:
    """No grouping gives groups more than all records have together."""
    if held.people is not None and held.crowd < k:
        raise InputError(
            f"k={k} needs at least {k} people, column {shown(str(promises.person))} has {held.crowd}; lower k or add "
            "people"
        )
    if held.own_k > held.crowd:
        whose = "records" if held.people is None else "people"
        raise InputError(
            f"column {shown(str(promises.k_column))} asks for a crowd of {held.own_k:,}, and there are {held.crowd:,} "
            f"{whose}; lower it to {held.crowd:,} or less"
        )
    for name, values in zip(confidential, held.values, strict=True):
        check_kept(promises, name, values)


def _crowds_in(groups: Ints, carried: Mapping[str, NDArray[Any]]) -> Counter[tuple[int, int | None, int | None]]:
    person, own_k = carried.get(PERSON), carried.get(OWN_K)
    rows = np.bincount(groups)
    people: list[Any] = [None] * len(rows)
    largest: list[Any] = [None] * len(rows)
    if person is not None:
        pairs = np.unique(np.column_stack([groups, person]), axis=0)
        people = np.bincount(pairs[:, 0]).tolist()
    if own_k is not None:
        most = np.zeros(len(rows), dtype=np.int64)
        np.maximum.at(most, groups, own_k)
        largest = most.tolist()
    return Counter(zip(rows.tolist(), people, largest, strict=True))


def crowd_figures(
    parts: Sequence[GroupFacts], confidential: tuple[str, ...], promises: GroupPromises
) -> dict[str, Any]:
    """What a summary says of the groups of all parts: their sizes, and the confidential values in them."""
    sizes: Counter[bytes] = Counter()
    for part in parts:
        sizes.update(part.sizes)
    values: dict[str, dict[bytes, Counter[str]]] = {name: {} for name in confidential}
    for part in parts:
        for name, groups in values.items():
            for digest, counts in part.values[name].items():
                groups[digest] = groups.get(digest, Counter()) + counts
    crowds: Counter[tuple[int, int | None, int | None]] = sum((part.crowds for part in parts), Counter())
    return {
        "smallest_group": min(sizes.values()),
        "group_sizes": tuple(sorted(Counter(sizes.values()).items())),
        "diversity": tuple(diversity(name, groups, promises) for name, groups in values.items()),
        "closeness": tuple(closeness(name, groups) for name, groups in values.items()),
        "crowds": tuple(Crowd(groups, *crowd) for crowd, groups in sorted(crowds.items(), key=_by_figures)),
    }


def _by_figures(crowd: tuple[tuple[int | None, ...], int]) -> tuple[int, ...]:
    return tuple(figure or 0 for figure in crowd[0])


def diversity_parameters(promises: GroupPromises) -> dict[str, Any]:
    """How groups were joined, where that was asked for."""
    return {"diversity": JOINED} if promises else {}


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
