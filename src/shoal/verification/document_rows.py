"""Rows of a release of documents, counted as they go by. Part of verification: shares nothing with the methods."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.verification.distinct_values import DistinctValues
from shoal.verification.forms.npz import MEMBERS, Matrix
from shoal.verification.forms.parquet import check_room
from shoal.verification.forms.refused import Refused
from shoal.verification.group_counts import GroupCounts
from shoal.verification.labels import checked_labels, rank_of_row, room_of_labels
from shoal.verification.pools import LARGEST_COUNT, Pools

__all__ = ["TERMS", "DocumentRows"]

TERMS = "terms.txt"
OFFSETS: dict[str, Any] = {"<i4": np.dtype("<i4"), "<i8": np.dtype("<i8")}

Ints = NDArray[np.int64]


class DocumentRows:
    """Rows counted as they go by, a row group at a time: what is kept is a digest of each different row."""

    def __init__(self, terms: pa.Array, lists: list[str], confidential: list[str], matrix: Matrix | None) -> None:
        self.groups = GroupCounts()
        self.values = {name: DistinctValues() for name in confidential}
        self.in_order = self.unit = self.same_as_matrix = True
        self.pools = Pools(len(terms))
        self._has_counts = "counts" in lists
        self._terms = terms
        self._bytes_of_term = pc.binary_length(terms).to_numpy()
        self._used = np.zeros(len(terms), dtype=np.bool_)
        self._matrix = matrix
        self._before: tuple[Any, ...] | None = None  # the row before: numbers, values, labels
        self._first: tuple[Any, ...] | None = None  # row of the part before
        self._n_rows = self._n_entries = 0

    def next_part(self) -> None:
        """The rows that follow are another part's: parts rise by their first rows, and rows within a part."""
        self._before = None
        self.groups.next_part()
        self.pools.next_part()

    def count(self, table: pa.Table, schema: pa.Schema, file: str) -> pa.Table:
        """Take in some rows, and give them back as plain text and numbers."""
        ends, numbers, weights = self._lists(table, file)
        counts = self._counts(table, ends, file) if self._has_counts else None
        labels = checked_labels(table, list(self.values), file)
        lengths = np.sqrt(np.add.reduceat(np.minimum(weights, 2.0) ** 2, ends[:-1]))  # no weight is above 1
        self.unit &= bool(np.all(np.abs(lengths - 1.0) < (1e-9 if counts is None else 1e-6)))
        self._used[numbers] = True
        group_of_row = self._grouped(ends, numbers, weights, counts, labels)
        for values, label in zip(self.values.values(), labels, strict=True):
            values.add(group_of_row, label)
        if self._matrix is not None:
            self._compare(self._matrix, ends, numbers, weights)
        self._n_rows += len(ends) - 1
        self._n_entries += len(numbers)
        texts = int(self._bytes_of_term[numbers].sum()) + room_of_labels(labels)
        check_room(texts, file)
        offsets = pa.array(ends.astype(np.int32))
        columns = [pa.ListArray.from_arrays(offsets, self._terms.take(pa.array(numbers)))]
        entries = [weights] if counts is None else [counts, weights]
        columns += [pa.ListArray.from_arrays(offsets, pa.array(one)) for one in entries]
        columns += [label.cast(pa.string()) for label in labels]
        return pa.Table.from_arrays(columns, schema=schema)

    def _grouped(self, ends: Ints, numbers: Any, weights: Any, counts: Ints | None, labels: list[Any]) -> Ints:
        """The number of each row's group. Rows that are equal follow each other, or the order is not canonical."""
        ranks = [rank_of_row(label) for label in labels]
        bits = weights.view(np.int64)
        equal = _equal_to_the_one_before(ends, numbers, *([bits] if counts is None else [counts, bits]))
        for row in np.flatnonzero(equal).tolist() if ranks else ():
            self.in_order &= [rank[row - 1] for rank in ranks] <= [rank[row] for rank in ranks]
        group_of_row = np.empty(len(equal), dtype=np.int64)
        for first, end in pairwise([*np.flatnonzero(~equal).tolist(), len(equal)]):
            part = slice(ends[first], ends[first + 1])
            values = weights[part] if counts is None else counts[part]
            whole = numbers[part].tobytes() + weights[part].tobytes() + values.tobytes()
            digest = hashlib.blake2b(whole, digest_size=32).digest()
            group = group_of_row[first:end] = self.groups.add(digest, end - first)
            if counts is not None:
                self.pools.add(group, end - first, numbers[part], counts[part], weights[part])
            # Rows rise by terms, then counts (or weights), then labels.
            content = numbers[part].tolist(), values.tolist()
            here = *content, *(label[first].as_py() for label in labels)
            if self._before is None:
                self.in_order &= self._first is None or self._first <= here
                self._first = here
            else:
                self.in_order &= self._before <= here
            self._before = *content, *(label[end - 1].as_py() for label in labels)
        return group_of_row

    def ends_with_matrix(self) -> bool:
        """The matrix has no more rows, no more entries, and as many columns as there are terms."""
        matrix = self._matrix
        if matrix is None:
            return False
        shape = np.array([self._n_rows, len(self._terms)], dtype="<i8").tobytes()
        kinds = dict(zip(MEMBERS, (matrix.arrays[name] for name in MEMBERS), strict=True))
        offsets = kinds["indptr"][0]
        return (
            kinds["indptr"] == (offsets, self._n_rows + 1)
            and kinds["indices"] == (offsets, self._n_entries)
            and kinds["data"] == ("<f8", self._n_entries)
            and (kinds["shape"], kinds["format"], kinds["_is_array"]) == (("<i8", 2), ("|S3", None), ("|b1", None))
            and (matrix.read("shape", 16), matrix.read("format", 3)) == (shape, b"csr")
            and matrix.read("_is_array", 1) == b"\1"
            and matrix.ends()
        )

    def every_term_used(self) -> bool:
        """No term is listed that no row has."""
        return bool(self._used.all())

    def _lists(self, table: pa.Table, file: str) -> tuple[Ints, Any, Any]:
        """Row ends, term numbers and weights; equal lists give equal bytes."""
        names, weights = table["terms"].combine_chunks(), table["weights"].combine_chunks()
        ends = np.asarray(names.offsets, dtype=np.int64)
        if not np.array_equal(ends, np.asarray(weights.offsets)) or np.any(np.diff(ends) < 1):
            raise Refused("schema", "a row has no terms, or more terms than weights", file)
        words = names.flatten()
        number_of_word = pc.index_in(words.dictionary, value_set=self._terms)
        if any(part.null_count for part in (names, words, weights, weights.flatten(), number_of_word)):
            raise Refused("schema", f"a term is not listed in {TERMS}, or something is missing", file)
        numbers = np.asarray(number_of_word, np.int32)[np.asarray(words.indices)]
        values = np.asarray(weights.flatten(), np.float64)
        if not np.all(np.isfinite(values)) or np.any(np.signbit(values)):
            raise Refused("schema", "a weight is negative, minus zero or not finite", file)
        ends = ends - ends[0]
        rising = np.diff(numbers) > 0
        rising[ends[1:-1] - 1] = True  # from one row to the next
        if not rising.all():
            raise Refused("schema", "the terms of a row are not distinct and in order", file)
        return ends, numbers, values

    def _counts(self, table: pa.Table, ends: Ints, file: str) -> Ints:
        """The counts, one for each term of each row."""
        lists = table["counts"].combine_chunks()
        counts = lists.flatten()
        offsets = np.asarray(lists.offsets, dtype=np.int64)
        if not np.array_equal(offsets - offsets[0], ends) or lists.null_count or counts.null_count:
            raise Refused("schema", "a row has no terms, or more terms than counts", file)
        found: Ints = np.asarray(counts, dtype=np.int64)
        if found.min() < 1 or found.max() > LARGEST_COUNT:
            raise Refused("schema", f"a count is not a whole number from 1 to {LARGEST_COUNT:,}", file)
        return found

    def _compare(self, matrix: Matrix, ends: Any, numbers: Any, weights: Any) -> None:
        kind = OFFSETS.get(matrix.arrays["indptr"][0])
        if kind is None:
            self.same_as_matrix = False
            return
        starts = (ends if self._n_rows == 0 else ends[1:]) + self._n_entries
        for member, values in (("indptr", starts.astype(kind)), ("indices", numbers.astype(kind)), ("data", weights)):
            self.same_as_matrix &= matrix.read(member, values.nbytes) == values.tobytes()


def _equal_to_the_one_before(ends: Ints, *values: Any) -> NDArray[np.bool_]:
    """Whether each row has the same values, to the last bit, as the row before it."""
    lengths = np.diff(ends)
    as_long = np.concatenate(([False], lengths[1:] == lengths[:-1]))
    before = np.arange(ends[-1]) - np.repeat(np.where(as_long, lengths, 0), lengths)
    same = np.logical_and.reduce([one == one[before] for one in values])
    return as_long & np.logical_and.reduceat(same, ends[:-1])
