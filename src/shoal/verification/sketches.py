"""Counting a release of sketches: k by equal sketches, l by their labels. Shares nothing with the methods."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.results.claims import Claim, Statement
from shoal.verification.parquet import check_memory, layout_of, parquet_file
from shoal.verification.promises import (
    Counts,
    GroupCounts,
    check_rows,
    columns_as_promised,
    crowd_claims,
    rows_as_promised,
)
from shoal.verification.release_files import Refused, ReleaseFolder
from shoal.verification.values import DistinctValues, bytes_of_labels, checked_labels, rank_of_row

SKETCHES = "sketches.parquet"
SKETCH_FILES = (SKETCHES,)
MOST_ROWS = 20_000  # of a row group
CROWD = "crowd sketches"
SKETCH = "sketch"
DECIMALS = 3
LARGEST = 2.0**53
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Row = tuple[Any, ...]  # the numbers of a sketch, and the labels


def sketch_claims(release: ReleaseFolder, promises: dict[str, Any], counts: Counts) -> Iterator[Claim]:
    """Every promise about the rows, counted from the files."""
    confidential = [column["name"] for column in promises["columns"] if column["role"] == "confidential"]
    if promises["anonymity"]["shared_columns"] != [[SKETCH]]:
        yield Claim("k-anonymity", False, "the promise does not speak of the sketches", SKETCHES)
        return
    if [column["type"] for column in promises["columns"]] != ["list of numbers", *("text" for _ in confidential)]:
        yield Claim("schema", False, "the types that are promised are not those of sketches", SKETCHES)
        return
    yield _form(promises)
    parts = release.parts("sketches")
    if parts and SKETCHES in release:
        yield Claim("files", False, "the rows are there twice, in parts and in one file", SKETCHES)
        return
    names = parts or [SKETCHES]
    layouts = {name: layout_of(release, name, MOST_ROWS) for name in names}
    n_rows = sum(layout.rows for layout in layouts.values())
    check_rows(n_rows, promises, names[0])
    expected = [(SKETCH, pa.list_(pa.float64())), *((name, pa.string()) for name in confidential)]
    for name in names:
        schema = parquet_file(release, name).schema_arrow
        yield columns_as_promised([name for name, _ in expected], schema.names, promises, name)
        if [(field.name, field.type) for field in schema] != expected:
            yield Claim("schema", False, "types differ from those of a release", name)
            return
    yield rows_as_promised(n_rows, promises, names[0])

    rows = SketchRows(confidential)
    for name, layout in layouts.items():
        rows.next_part()
        file = parquet_file(release, name, confidential)
        for number in range(len(layout.row_groups)):
            rows.count(file.read_row_group(number), name)
    counts.group_sizes.update(rows.groups.sizes)
    counts.lengths.update(rows.lengths)
    yield from crowd_claims([rows.groups], rows.groups, rows.values, rows.in_order, promises, SKETCHES)
    yield _lengths(rows, promises["lengths"])


def sketch_statements(content: dict[str, Any]) -> tuple[Statement, ...]:
    """What is said of single records, which nobody can count without the originals."""
    form, parameters = content["promises"]["form"], content["stated"]["parameters"].get("sketch")
    given = parameters if isinstance(parameters, dict) else {}
    if form == "delta sketches":
        detail = f"the variance of every attribute's estimate is at least {_shown(given.get('delta'), 'delta')}"
        return (Statement("delta", detail, SKETCHES),)
    if form == "k-variance sketches":
        of = f"the {_shown(given.get('k'), 'k')} nearest neighbours of each record"
        return (Statement("k-variance", f"products with {of} are estimated too coarsely to tell them apart", SKETCHES),)
    return ()


def _shown(value: Any, name: str) -> str:
    return f"{value:g}" if type(value) in (int, float) else name


def _form(promises: dict[str, Any]) -> Claim:
    """Crowd sketches promise a crowd, and are of one length; others promise none."""
    form, lengths = promises["form"], promises["lengths"]
    crowd = promises["anonymity"]["k"] is not None
    if (form == CROWD) != crowd:
        return Claim("form", False, f"{form} cannot promise {'a' if crowd else 'no'} crowd", SKETCHES)
    if crowd and lengths["shortest"] != lengths["longest"]:
        return Claim("form", False, f"{form} of different lengths tell groups apart", SKETCHES)
    return Claim("form", True, form, SKETCHES)


def _lengths(rows: SketchRows, promised: dict[str, int]) -> Claim:
    of = f"{rows.shortest:,}" if rows.shortest == rows.longest else f"{rows.shortest:,} to {rows.longest:,}"
    found = f"sketches have {of} numbers"
    same = (rows.shortest, rows.longest) == (promised["shortest"], promised["longest"])
    return Claim("lengths", same, f"{found}, as promised" if same else f"{found}, which is not as promised", SKETCHES)


class SketchRows:
    """Rows counted as they go by, a row group at a time: what is kept is a digest of each different sketch."""

    def __init__(self, confidential: list[str]) -> None:
        self.groups = GroupCounts()
        self.values = {name: DistinctValues() for name in confidential}
        self.in_order = True
        self.shortest, self.longest = 1 << 62, 0
        self.lengths: Counter[int] = Counter()  # how many sketches have each
        self._before: Row | None = None  # the row before
        self._first: Row | None = None  # row of the part before

    def next_part(self) -> None:
        """The rows that follow are another part's: parts rise by their first rows, and rows within a part."""
        self._before = None
        self.groups.next_part()

    def count(self, table: pa.Table, file: str) -> None:
        """Take in the rows of a row group."""
        ends, numbers = _sketches(table[SKETCH].combine_chunks(), file)
        labels = checked_labels(table, list(self.values), file)
        check_memory(bytes_of_labels(labels), file)
        lengths = np.diff(ends)
        self.shortest, self.longest = min(self.shortest, int(lengths.min())), max(self.longest, int(lengths.max()))
        self.lengths.update(lengths.tolist())
        rise = _compared_with_the_one_before(ends, numbers)
        self._look_at_order(ends, numbers, rise, labels)
        group_of_row = self._grouped(ends, numbers, rise)
        for values, label in zip(self.values.values(), labels, strict=True):
            values.add(group_of_row, label, file)

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
