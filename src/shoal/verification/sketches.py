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
from shoal.verification.listed_rows import ListedRows, Row, bytes_of_labels, checked_labels, layouts_as_promised
from shoal.verification.parquet import check_memory, parquet_file
from shoal.verification.promises import Counts, crowd_claims
from shoal.verification.release_files import Refused, ReleaseFolder

SKETCHES = "sketches.parquet"
SKETCH_FILES = (SKETCHES,)
CROWD = "crowd sketches"
SKETCH = "sketch"
DECIMALS = 3
LARGEST = 2.0**53
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def sketch_claims(release: ReleaseFolder, promises: dict[str, Any], counts: Counts) -> Iterator[Claim]:
    """Every promise about the rows, counted from the files."""
    confidential = [column["name"] for column in promises["columns"] if column["role"] == "confidential"]
    if promises["anonymity"]["shared_columns"] != [[SKETCH]]:
        raise Refused("k-anonymity", "the promise does not speak of the sketches", SKETCHES)
    if [column["type"] for column in promises["columns"]] != ["list of numbers", *("text" for _ in confidential)]:
        raise Refused("schema", "the types that are promised are not those of sketches", SKETCHES)
    yield _form(promises)
    types = {SKETCH: pa.list_(pa.float64())} | dict.fromkeys(confidential, pa.string())
    layouts = yield from layouts_as_promised(release, "sketches", SKETCHES, types, promises)
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
    shortest, longest = min(rows.lengths), max(rows.lengths)
    of = f"{shortest:,}" if shortest == longest else f"{shortest:,} to {longest:,}"
    found = f"sketches have {of} numbers"
    same = (shortest, longest) == (promised["shortest"], promised["longest"])
    return Claim("lengths", same, f"{found}, as promised" if same else f"{found}, which is not as promised", SKETCHES)


class SketchRows(ListedRows):
    """The numbers of sketches."""

    def __init__(self, confidential: list[str]) -> None:
        super().__init__(confidential)
        self.lengths: Counter[int] = Counter()  # how many sketches have each

    def count(self, table: pa.Table, file: str) -> None:
        """Take in the rows of a row group."""
        ends, numbers = _sketches(table[SKETCH].combine_chunks(), file)
        labels = checked_labels(table, list(self.values), file)
        check_memory(bytes_of_labels(labels), file)
        self.lengths.update(np.diff(ends).tolist())
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

        self.follow(row(0), row(len(rise)))
        self.in_order &= not np.any(rise < 0)
        self.compare_labels((1 + np.flatnonzero(rise == 0)).tolist(), labels)


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
        raise Refused(
            "schema", f"a number is too large, or has more than {DECIMALS} decimals, which could mark records", file
        )
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
