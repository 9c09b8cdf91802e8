"""Rows of lists in Parquet, of documents or sketches: laid out as promised, and in the order of their content."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.results.claims import Claim
from shoal.verification.parquet import Layout, layout_of, parquet_file
from shoal.verification.promises import GroupCounts, check_rows, columns_as_promised, rows_as_promised
from shoal.verification.release_files import Refused, ReleaseFolder
from shoal.verification.values import DistinctValues

MOST_ROWS = 20_000  # of a row group
Row = tuple[Any, ...]  # what a row is sorted by: its lists, then its labels


def layouts_as_promised(
    release: ReleaseFolder, kind: str, file: str, types: Mapping[str, pa.DataType], promises: dict[str, Any]
) -> Generator[Claim, None, dict[str, Layout]]:
    """The layout of each part, or of the one file; columns and types are those of a release."""
    parts = release.parts(kind)
    if parts and file in release:
        raise Refused("files", "the rows are there twice, in parts and in one file", file)
    layouts = {name: layout_of(release, name, MOST_ROWS) for name in parts or [file]}
    first, n_rows = next(iter(layouts)), sum(layout.rows for layout in layouts.values())
    check_rows(n_rows, promises, first)
    for name in layouts:
        schema = parquet_file(release, name).schema_arrow
        yield columns_as_promised(list(types), schema.names, promises, name)
        # Decimals, say, have digits that no double counts.
        if [(field.name, field.type) for field in schema] != list(types.items()):
            raise Refused("schema", "types differ from those of a release", name)
    yield rows_as_promised(n_rows, promises, first)
    return layouts


class ListedRows:
    """Rows counted as they go by, a row group at a time: what is kept is a digest of each different row."""

    def __init__(self, confidential: Iterable[str]) -> None:
        self.groups = GroupCounts()
        self.values = {name: DistinctValues() for name in confidential}
        self.in_order = True
        self._before: Row | None = None  # the row before
        self._first: Row | None = None  # row of the part before

    def next_part(self) -> None:
        """The rows that follow are another part's: parts rise by their first rows, and rows within a part."""
        self._before = None
        self.groups.next_part()

    def follow(self, first: Row, last: Row) -> None:
        """Rows that rise from the first to the last of them come next."""
        if self._before is None:
            self.in_order &= self._first is None or self._first <= first
            self._first = first
        else:
            self.in_order &= self._before <= first
        self._before = last

    def compare_labels(self, equal: Iterable[int], labels: list[pa.DictionaryArray]) -> None:
        """Rows that are equal to the one before rise by their labels."""
        ranks = [_rank_of_row(label) for label in labels]
        for row in equal if ranks else ():
            self.in_order &= [rank[row - 1] for rank in ranks] <= [rank[row] for rank in ranks]


def checked_labels(table: pa.Table, names: Sequence[str], file: str) -> list[pa.DictionaryArray]:
    """The columns of these names; no label is missing."""
    labels = [table[name].combine_chunks() for name in names]
    if any(label.null_count or label.dictionary.null_count for label in labels):
        raise Refused("schema", "a label is missing where a release has an empty text", file)
    return labels


def _rank_of_row(label: pa.DictionaryArray) -> list[int]:
    """Each row's place among the labels in their order."""
    rank = np.empty(len(label.dictionary), dtype=np.int64)
    rank[pc.sort_indices(label.dictionary).to_numpy()] = np.arange(len(rank))
    return list(rank[label.indices.to_numpy()].tolist())


def bytes_of_labels(labels: Sequence[pa.DictionaryArray]) -> int:
    """Bytes that the texts of all rows take."""

    def size(label: pa.DictionaryArray) -> int:
        lengths = pc.binary_length(label.dictionary).to_numpy(zero_copy_only=False)
        return int(lengths[label.indices.to_numpy()].sum())

    return sum(map(size, labels))
