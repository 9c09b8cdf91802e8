"""Rows of a release of sketches, counted as they go by. Part of verification: shares nothing with the methods."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.verification.distinct_values import DistinctValues
from shoal.verification.forms.parquet import check_room
from shoal.verification.forms.refused import Refused
from shoal.verification.group_counts import GroupCounts
from shoal.verification.labels import checked_labels, rank_of_row, room_of_labels

__all__ = ["SKETCH", "SketchRows"]

SKETCH = "sketch"
DECIMALS = 3
LARGEST = 2.0**53

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Row = tuple[Any, ...]  # the numbers of a sketch, and the labels


class SketchRows:
    """Rows counted as they go by, a row group at a time: what is kept is a digest of each different sketch."""

    def __init__(self, confidential: list[str]) -> None:
        self.groups = GroupCounts()
        self.values = {name: DistinctValues() for name in confidential}
        self.in_order = True
        self.shortest, self.longest = 1 << 62, 0
        self._before: Row | None = None  # the row before
        self._first: Row | None = None  # row of the part before

    def next_part(self) -> None:
        """The rows that follow are another part's: parts rise by their first rows, and rows within a part."""
        self._before = None
        self.groups.next_part()

    def count(self, table: pa.Table, schema: pa.Schema, file: str) -> pa.Table:
        """Take in some rows, and give them back as plain text and numbers."""
        ends, numbers = _sketches(table[SKETCH].combine_chunks(), file)
        labels = checked_labels(table, list(self.values), file)
        check_room(room_of_labels(labels), file)
        lengths = np.diff(ends)
        self.shortest, self.longest = min(self.shortest, int(lengths.min())), max(self.longest, int(lengths.max()))
        rise = _compared_with_the_one_before(ends, numbers)
        self._look_at_order(ends, numbers, rise, labels)
        group_of_row = self._grouped(ends, numbers, rise)
        for values, label in zip(self.values.values(), labels, strict=True):
            values.add(group_of_row, label)
        columns = [pa.ListArray.from_arrays(pa.array(ends.astype(np.int32)), pa.array(numbers))]
        columns += [label.cast(pa.string()) for label in labels]
        return pa.Table.from_arrays(columns, schema=schema)

    def _grouped(self, ends: Ints, numbers: Floats, rise: Ints) -> Ints:
        """The number of each row's group: of the rows whose sketches have the same bytes."""
        starts = np.concatenate(([0], 1 + np.flatnonzero(rise), [len(rise) + 1]))
        sizes = np.diff(starts)
        group_of_run = np.empty(len(sizes), dtype=np.int64)
        for run, (first, size) in enumerate(zip(starts[:-1].tolist(), sizes.tolist(), strict=True)):
            content = numbers[ends[first] : ends[first + 1]].tobytes()
            group_of_run[run] = self.groups.add(hashlib.blake2b(content, digest_size=32).digest(), size)
        return np.repeat(group_of_run, sizes)

    def _look_at_order(self, ends: Ints, numbers: Floats, rise: Ints, labels: list[Any]) -> None:
        """Rows rise by the numbers of their sketches, then by labels."""

        def row(number: int) -> Row:
            sketch = numbers[ends[number] : ends[number + 1]].tolist()
            return sketch, *(label[number].as_py() for label in labels)

        first = row(0)
        if self._before is None:
            self.in_order &= self._first is None or self._first <= first
            self._first = first
        else:
            self.in_order &= self._before <= first
        self.in_order &= not np.any(rise < 0)
        ranks = [rank_of_row(label) for label in labels]
        for later in (1 + np.flatnonzero(rise == 0)).tolist() if ranks else ():
            self.in_order &= [rank[later - 1] for rank in ranks] <= [rank[later] for rank in ranks]
        self._before = row(len(rise))


def _sketches(lists: Any, file: str) -> tuple[Ints, Floats]:
    """Where each sketch starts and ends, and all their numbers."""
    flat = lists.flatten()
    ends = np.asarray(lists.offsets, dtype=np.int64)
    if lists.null_count or flat.null_count or np.any(np.diff(ends) < 1):
        raise Refused("schema", "a sketch is missing, or has no numbers", file)
    numbers: Floats = np.asarray(flat, dtype=np.float64)
    if not np.all(np.isfinite(numbers)) or np.any(np.signbit(numbers) & (numbers == 0)):
        raise Refused("schema", "a number is minus zero or not finite", file)
    if np.abs(numbers).max() > LARGEST or not np.array_equal(numbers, np.round(numbers, DECIMALS)):
        raise Refused("schema", f"a number is too large, or has more than {DECIMALS} decimals, which could tell", file)
    return ends - ends[0], numbers


def _compared_with_the_one_before(ends: Ints, numbers: Floats) -> Ints:
    """For each row but the first: 1 if it is larger than the one before, -1 if it is smaller, 0 if both are equal."""
    lengths = np.diff(ends)
    shared = np.minimum(lengths[1:], lengths[:-1])
    if not len(shared):
        return np.empty(0, dtype=np.int64)
    start = np.cumsum(shared) - shared
    place = np.arange(int(shared.sum())) - np.repeat(start, shared)
    change = numbers[np.repeat(ends[1:-1], shared) + place] - numbers[np.repeat(ends[:-2], shared) + place]
    first = np.minimum.reduceat(np.where(change != 0, place, len(place)), start)
    differs = first < shared
    where = np.where(differs, start + np.minimum(first, shared - 1), 0)
    return np.where(differs, np.sign(change[where]), np.sign(np.diff(lengths))).astype(np.int64)
