"""Counting a release of documents: k by equal rows, l by their labels. Shares nothing with the methods."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shoal.release.promises import (
    anonymity,
    canonical_order,
    columns_as_promised,
    diversity,
    nothing_rides_along,
    only_of_confidential,
    rows_as_promised,
    told_by,
)
from shoal.release.released_parts import parts_of
from shoal.results import Claim

__all__ = ["DOCUMENT_FILES", "document_claims"]

DOCUMENT_FILES = VECTORS, MATRIX, TERMS = "vectors.parquet", "vectors.npz", "terms.txt"
MATRIX_PARTS = {"indptr", "indices", "data", "shape", "format", "_is_array"}  # what SciPy writes
NPY_HEADER = 128  # bytes before the numbers of an array of one dimension


def document_claims(release: Path, promises: dict[str, Any]) -> Iterator[Claim]:
    """Every promise about the rows, counted from the files."""
    confidential = [column["name"] for column in promises["columns"] if column["role"] == "confidential"]
    terms = (release / TERMS).read_text(encoding="utf-8").split("\n")[:-1]
    if len(set(terms)) != len(terms) or sorted(terms) != terms:
        yield Claim("schema", False, "terms are not distinct and in order", TERMS)
        return
    if promises["anonymity"]["shared_columns"] != [["terms", "weights"]]:
        yield Claim("k-anonymity", False, "the promise does not speak of every protected column", VECTORS)
        return
    parts = parts_of(release, "documents")
    if parts and any((release / name).exists() for name in (VECTORS, MATRIX)):
        yield Claim("files", False, "the rows are there twice, in parts and in one file", VECTORS)
        return
    files = {name: pq.ParquetFile(release / name) for name in parts or [VECTORS]}
    for name, file in files.items():
        yield columns_as_promised(["terms", "weights", *confidential], file.schema_arrow.names, promises, name)
        if not _is_plain(file):
            yield Claim("schema", False, "types differ from those of a release, or something rides along", name)
            return
    n_rows = sum(file.metadata.num_rows for file in files.values())
    yield rows_as_promised(n_rows, promises, parts[0] if parts else VECTORS)

    rows = _Rows(terms, confidential, None if parts else _matrix(release / MATRIX))
    for file in files.values():
        rows.next_part()
        for group in range(file.num_row_groups):
            rows.count(file.read_row_group(group))
    yield anonymity(min(rows.seen.values()), promises, VECTORS)
    if min(rows.seen_in_part.values()) < promises["anonymity"]["k"]:
        # Equal rows in different files can be told apart.
        yield Claim("k-anonymity", False, "a part has fewer than k of the rows that are equal", VECTORS)
    yield from only_of_confidential(promises, VECTORS)
    for name, values in rows.values.items():
        different = len(set().union(*values.values()))
        yield diversity(name, [len(found) for found in values.values()], different, promises, VECTORS)
    yield canonical_order(rows.in_order, VECTORS)
    unit = "every row has length 1" if rows.unit else "some row has not length 1"
    yield Claim("unit length", rows.unit, unit, VECTORS)
    if not rows.every_term_used():
        yield Claim("schema", False, "a term is listed that no row has", TERMS)
    if not parts:
        same = rows.same_as_matrix and rows.ends_with_matrix()
        detail = f"holds the same rows as {VECTORS}" if same else f"does not hold the same rows as {VECTORS}"
        yield Claim("same data", same, detail, MATRIX)


def _is_plain(file: pq.ParquetFile) -> bool:
    """Lists of text and of doubles, labels of text. Decimals, say, have digits that no double counts."""
    terms, weights, *labels = file.schema_arrow.types
    return (
        [terms, weights] == [pa.list_(pa.string()), pa.list_(pa.float64())]
        and all(label == pa.string() for label in labels)
        and nothing_rides_along(file)
    )


def _matrix(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as file:
        parts = {part: file[part] for part in file.files}
        members = file.zip.infolist()
        comment = file.zip.comment
    # Nothing else rides along: no other member, no second of a name, no comment, no value that nobody compares.
    parts["only"] = (
        len(members) == len(parts)
        and MATRIX_PARTS - {"_is_array"} <= set(parts) <= MATRIX_PARTS
        and all(member.file_size <= NPY_HEADER + parts[member.filename[:-4]].nbytes for member in members)
        and not comment
        and parts["format"].tobytes() == b"csr"
        and parts.get("_is_array", np.True_).tobytes() == b"\1"
    )
    return parts


class _Rows:
    """Rows counted as they go by, a part of the file at a time: what is kept is a digest of each different row."""

    def __init__(self, terms: list[str], confidential: list[str], matrix: dict[str, Any] | None) -> None:
        self.seen: Counter[bytes] = Counter()
        self.seen_in_part: Counter[tuple[int, bytes]] = Counter()
        self.values: dict[str, dict[bytes, set[Any]]] = {name: {} for name in confidential}
        self.in_order = self.unit = self.same_as_matrix = True
        self._terms = pa.array(terms, pa.string())
        self._used = np.zeros(len(terms), dtype=np.bool_)
        self._matrix = matrix
        self._before: tuple[Any, ...] | None = None
        self._first: tuple[Any, ...] | None = None  # row of the part before
        self._n_rows = self._n_entries = self._part = 0

    def next_part(self) -> None:
        """The rows that follow are another part's: parts rise by their first rows, and rows within a part."""
        self._before = None
        self._part += 1

    def count(self, table: pa.Table) -> None:
        """Take in some rows."""
        ends, numbers, weights = self._lists(table)
        labels = [table[name].to_pylist() for name in self.values]
        lengths = np.sqrt(np.add.reduceat(weights**2, ends[:-1]))
        self.unit &= bool(np.all(np.abs(lengths - 1.0) < 1e-9))
        self._used[numbers] = True
        for row, (start, end) in enumerate(pairwise(ends.tolist())):
            digest = hashlib.blake2b(numbers[start:end].tobytes() + weights[start:end].tobytes()).digest()
            here = digest, *(column[row] for column in labels)
            self.seen[digest] += 1
            self.seen_in_part[self._part, digest] += 1
            for values, label in zip(self.values.values(), here[1:], strict=True):
                found = values.setdefault(digest, set())
                if (told := told_by(label)) is not None:
                    found.add(told)
            # Rows rise by terms, then weights, then labels.
            content = numbers[start:end].tolist(), weights[start:end].tolist(), *here[1:]
            if self._before is None:
                self.in_order &= self._first is None or self._first <= content
                self._first = content
            else:
                self.in_order &= self._before <= content
            self._before = content
        if self._matrix is not None:
            self._compare(self._matrix, ends, numbers, weights)

    def ends_with_matrix(self) -> bool:
        """The matrix has no more rows, no more entries, and as many columns as there are terms."""
        if self._matrix is None:
            return False
        parts = self._matrix
        sizes = len(parts["indptr"]) - 1, len(parts["indices"]), len(parts["data"])
        shape = self._n_rows, len(self._terms)
        return (
            parts["only"]
            and tuple(parts["shape"]) == shape
            and sizes == (self._n_rows, self._n_entries, self._n_entries)
        )

    def every_term_used(self) -> bool:
        """No term is listed that no row has."""
        return bool(self._used.all())

    def _lists(self, table: pa.Table) -> tuple[Any, Any, Any]:
        """Row ends, term numbers and weights; equal lists give equal bytes."""
        names, weights = table["terms"].combine_chunks(), table["weights"].combine_chunks()
        ends = np.asarray(names.offsets, dtype=np.int64)
        if not np.array_equal(ends, np.asarray(weights.offsets)) or np.any(np.diff(ends) < 1):
            raise ValueError("a row without terms, or with more terms than weights")
        numbers = pc.index_in(names.flatten(), value_set=self._terms)
        if names.null_count or weights.null_count or numbers.null_count or weights.flatten().null_count:
            raise ValueError("a term that is not listed, or something missing")
        return ends - ends[0], np.asarray(numbers, np.int32), np.asarray(weights.flatten(), np.float64)

    def _compare(self, parts: dict[str, Any], ends: Any, numbers: Any, weights: Any) -> None:
        entries = slice(self._n_entries, self._n_entries + len(numbers))
        rows = slice(self._n_rows, self._n_rows + len(ends))
        self.same_as_matrix &= (
            np.array_equal(parts["indptr"][rows], ends + self._n_entries)
            and np.array_equal(parts["indices"][entries], numbers)
            and parts["data"][entries].dtype == weights.dtype
            and parts["data"][entries].tobytes() == weights.tobytes()  # -0.0 equals 0.0, and can be told from it
        )
        self._n_rows += len(ends) - 1
        self._n_entries += len(numbers)
