"""Counting a release of documents: k by equal rows, l by their labels, and every weight from the counts of its group.

Rows are counted a row group at a time. Weights follow from counts by the formula in docs/certificate.md, written from
that page alone. Shares nothing with the methods.
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.results.claims import Claim
from shoal.verification.listed_rows import ListedRows, bytes_of_labels, checked_labels, layouts_as_promised
from shoal.verification.parquet import check_memory, parquet_file
from shoal.verification.promises import Counts, crowd_claims
from shoal.verification.release_files import Refused, ReleaseFolder

VECTORS, MATRIX, TERMS = "vectors.parquet", "vectors.npz", "terms.txt"
DOCUMENT_FILES = (VECTORS, MATRIX, TERMS)
MEMBERS = ("indices", "indptr", "format", "shape", "data", "_is_array")
HEADER = 128  # bytes at most of the header of an array of one dimension or none
MOST_MEMBERS = 100_000  # bytes of an archive's list of members; six take far fewer
LARGEST_TERMS = 128_000_000  # bytes
COLUMNS = {  # name, type as certificates have it, type of the list in Parquet
    "terms": ("list of text", pa.string()),
    "counts": ("list of whole numbers", pa.int64()),
    "weights": ("list of numbers", pa.float64()),
}
OFFSETS: dict[str, Any] = {"<i4": np.dtype("<i4"), "<i8": np.dtype("<i8")}
Ints = NDArray[np.int64]
LARGEST_COUNT = 2**40  # occurrences of a term in a group: products with the size of a group stay whole numbers
DECIMALS = 9
SLACK = 1.5e-9  # machines may differ in the last digit
Row = tuple[Any, Ints, NDArray[np.float64]]  # term numbers, counts, weights


def document_claims(release: ReleaseFolder, promises: dict[str, Any], counts: Counts) -> Iterator[Claim]:
    """Every promise about the rows, counted from the files."""
    if promises["form"] is None:
        raise Refused("form", "it does not say what is published of a group", VECTORS)
    confidential = [column["name"] for column in promises["columns"] if column["role"] == "confidential"]
    if promises["anonymity"]["shared_columns"] != [list(COLUMNS)]:
        raise Refused("k-anonymity", "the promise does not speak of every protected column", VECTORS)
    promised = [kind for kind, _ in COLUMNS.values()] + ["text"] * len(confidential)
    if [column["type"] for column in promises["columns"]] != promised:
        raise Refused("schema", "the types that are promised are not those of documents", VECTORS)
    parts = release.parts("documents")
    if parts and MATRIX in release:
        raise Refused("files", "the rows are there twice, in parts and in one file", MATRIX)
    types = {name: pa.list_(kind) for name, (_, kind) in COLUMNS.items()} | dict.fromkeys(confidential, pa.string())
    layouts = yield from layouts_as_promised(release, "documents", VECTORS, types, promises)
    terms = _terms(release, sum(group.chunks[0].memory for layout in layouts.values() for group in layout.row_groups))
    rows = DocumentRows(terms, confidential, None if parts else Matrix(release, MATRIX))
    for name, layout in layouts.items():
        rows.next_part()
        file = parquet_file(release, name, layout.texts)
        for number in range(len(layout.row_groups)):
            rows.count(file.read_row_group(number), name)
    counts.group_sizes.update(rows.groups.sizes)
    counts.documents_with.update(rows.pools.documents_with(rows.groups.sizes, terms))
    yield from crowd_claims([rows.groups], rows.groups, rows.values, rows.in_order, promises, VECTORS)
    unit = "every row has length 1" if rows.unit else "a row does not have length 1"
    yield Claim("unit length", rows.unit, unit, VECTORS)
    yield rows.pools.claim(rows.groups.sizes, promises["form"], VECTORS)
    if not rows.used.all():
        yield Claim("schema", False, "a term is listed that no row has", TERMS)
    if not parts:
        same = rows.same_as_matrix and rows.ends_with_matrix()
        detail = f"holds the same rows as {VECTORS}" if same else f"does not hold the same rows as {VECTORS}"
        yield Claim("same data", same, detail, MATRIX)


def _terms(release: ReleaseFolder, largest: int) -> pa.Array:
    """The terms, one per line, each line ended, in order and distinct; no longer than those that rows can have."""
    raw = release.read(TERMS, min(largest, LARGEST_TERMS))
    ends = np.flatnonzero(np.frombuffer(raw, dtype=np.uint8) == ord("\n")).astype(np.int32)
    if not raw.endswith(b"\n") or np.any(np.diff(ends, prepend=np.int32(-1)) < 2):
        raise Refused("schema", "is not one term per line, each line ended", TERMS)
    starts = np.concatenate((np.zeros(1, dtype=np.int32), ends[:-1] + 1))
    # Lines with their ends: Arrow's texts lie one after the other.
    offsets = np.append(starts, np.int32(len(raw)))
    lines = pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(raw))
    lines.validate(full=True)
    terms = pc.utf8_slice_codeunits(lines, 0, -1)
    if not pc.all(pc.less(terms[:-1], terms[1:])).as_py() and len(terms) > 1:
        raise Refused("schema", "terms are not distinct and in order", TERMS)
    return terms


class DocumentRows(ListedRows):
    """Terms, counts and weights of documents, compared with the matrix beside them."""

    def __init__(self, terms: pa.Array, confidential: list[str], matrix: Matrix | None) -> None:
        super().__init__(confidential)
        self.unit = self.same_as_matrix = True
        self.pools = Pools(len(terms))
        self._terms = terms
        self._bytes_of_term = pc.binary_length(terms).to_numpy()
        self.used = np.zeros(len(terms), dtype=np.bool_)  # by a row
        self._matrix = matrix
        self._n_rows = self._n_entries = 0

    def count(self, table: pa.Table, file: str) -> None:
        """Take in the rows of a row group."""
        ends, numbers, weights = self._lists(table, file)
        counts = self._counts(table, ends, file)
        labels = checked_labels(table, list(self.values), file)
        check_memory(int(self._bytes_of_term[numbers].sum()) + bytes_of_labels(labels), file)
        lengths = np.sqrt(np.add.reduceat(np.minimum(weights, 2.0) ** 2, ends[:-1]))  # no weight is above 1
        self.unit &= bool(np.all(np.abs(lengths - 1.0) < 1e-6))
        self.used[numbers] = True
        group_of_row = self._grouped(ends, numbers, weights, counts, labels)
        for values, label in zip(self.values.values(), labels, strict=True):
            values.add(group_of_row, label, file)
        if self._matrix is not None:
            self._compare(self._matrix, ends, numbers, weights)
        self._n_rows += len(ends) - 1
        self._n_entries += len(numbers)

    def _grouped(self, ends: Ints, numbers: Any, weights: Any, counts: Ints, labels: list[Any]) -> Ints:
        """The number of each row's group. Rows that are equal follow each other, or the order is not canonical."""
        equal = _equal_to_the_one_before(ends, numbers, counts, weights.view(np.int64))
        self.compare_labels(np.flatnonzero(equal).tolist(), labels)
        group_of_row = np.empty(len(equal), dtype=np.int64)
        for first, end in pairwise([*np.flatnonzero(~equal).tolist(), len(equal)]):
            part = slice(ends[first], ends[first + 1])
            whole = numbers[part].tobytes() + weights[part].tobytes() + counts[part].tobytes()
            digest = hashlib.blake2b(whole, digest_size=32).digest()
            group = group_of_row[first:end] = self.groups.add(digest, end - first)
            self.pools.add(group, numbers[part], counts[part], weights[part])
            # Rows rise by terms, then counts, then labels.
            content = numbers[part].tolist(), counts[part].tolist()
            rows = [(*content, *(label[row].as_py() for label in labels)) for row in (first, end - 1)]
            self.follow(rows[0], rows[1])
        return group_of_row

    def ends_with_matrix(self) -> bool:
        """The matrix has no more rows, no more entries, and as many columns as there are terms."""
        matrix = self._matrix
        if matrix is None:
            return False
        arrays = matrix.arrays
        offsets = arrays["indptr"][0]
        return (
            arrays["indptr"] == (offsets, (self._n_rows + 1,))
            and arrays["indices"] == (offsets, (self._n_entries,))
            and arrays["data"] == ("<f8", (self._n_entries,))
            and (arrays["shape"], arrays["format"], arrays["_is_array"]) == (("<i8", (2,)), ("|S3", ()), ("|b1", ()))
            and matrix.is_next("shape", np.array([self._n_rows, len(self._terms)], dtype="<i8"))
            and matrix.is_next("format", np.bytes_(b"csr"))
            and matrix.is_next("_is_array", np.bool_(True))
            and matrix.ends()
        )

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
            self.same_as_matrix &= matrix.is_next(member, values)


def _equal_to_the_one_before(ends: Ints, *values: Any) -> NDArray[np.bool_]:
    """Whether each row has the same values, to the last bit, as the row before it."""
    lengths = np.diff(ends)
    as_long = np.concatenate(([False], lengths[1:] == lengths[:-1]))
    before = np.arange(ends[-1]) - np.repeat(np.where(as_long, lengths, 0), lengths)
    same = np.logical_and.reduce([one == one[before] for one in values])
    return as_long & np.logical_and.reduceat(same, ends[:-1])


@dataclass
class Pools:
    """The row that each group shares: whether its weights follow from its counts, and from nothing else."""

    n_terms: int
    _rows: dict[int, Row] = field(default_factory=dict)

    def add(self, group: int, numbers: Any, counts: Ints, weights: NDArray[np.float64]) -> None:
        """The row of a group."""
        self._rows.setdefault(group, (numbers.copy(), counts.copy(), weights.copy()))

    def documents_with(self, sizes: Sequence[int], terms: pa.Array) -> dict[str, int]:
        """How many rows have each term."""
        documents = np.zeros(self.n_terms, dtype=np.int64)
        for group, (numbers, _, _) in self._rows.items():
            documents[numbers] += sizes[group]
        return dict(zip(terms.to_pylist(), documents.tolist(), strict=True))

    def claim(self, sizes: Sequence[int], form: str, file: str) -> Claim:
        """Whether every weight is the one that the counts of groups of these sizes give."""
        idf = self._idf(sizes, form)
        if all(self._follows(row, idf) for row in self._rows.values()):
            return Claim("form", True, "weights follow from the pooled counts of groups, and from nothing else", file)
        return Claim("form", False, "a weight does not follow from the counts: it may tell documents apart", file)

    def _idf(self, sizes: Sequence[int], form: str) -> NDArray[np.float64]:
        """The weight of one occurrence of each term."""
        if form != "pooled counts, tf-idf":
            return np.ones(self.n_terms)
        thousandths = np.zeros(self.n_terms, dtype=np.int64)
        for group, (numbers, counts, _) in self._rows.items():
            size = sizes[group]
            thousandths[numbers] += 1000 * counts * size // (counts + size - 1)
        with np.errstate(divide="ignore"):  # a term that no row has
            idf: NDArray[np.float64] = np.log(1000 * sum(sizes) / thousandths)
        return idf

    def _follows(self, row: Row, idf: NDArray[np.float64]) -> bool:
        numbers, counts, weights = row
        expected = counts * idf[numbers]
        expected /= np.sqrt(np.sum(expected**2))
        rounded = np.array_equal(weights, np.round(weights, DECIMALS))
        return rounded and bool(np.all(np.abs(weights - expected) <= SLACK))


class Matrix:
    """The arrays of a SciPy matrix, read beside the rows that they must hold; never more than these call for."""

    def __init__(self, release: ReleaseFolder, name: str) -> None:
        self._name = name
        self._file = release.open(name)
        try:
            archive = zipfile.ZipFile(self._file)
            if sorted(archive.namelist()) != sorted(f"{member}.npy" for member in MEMBERS):
                raise ValueError("other members")
            self._streams: dict[str, IO[bytes]] = {name: archive.open(f"{name}.npy") for name in MEMBERS}
            self.arrays = {name: self._array(stream) for name, stream in self._streams.items()}  # type and shape
        except (ValueError, OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError):
            raise Refused("same data", "is not a matrix as SciPy writes one", name) from None

    def _array(self, stream: IO[bytes]) -> tuple[str, tuple[int, ...]]:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ValueError("another version")
        shape, in_columns, kind = np.lib.format.read_array_header_1_0(stream, max_header_size=HEADER)
        if in_columns and len(shape) > 1:
            raise ValueError("another order")
        return kind.str, shape

    def is_next(self, member: str, values: Any) -> bool:
        """Whether the next bytes of a member are those of the values."""
        try:
            expected: bytes = values.tobytes()
            return self._streams[member].read(len(expected)) == expected
        except (ValueError, OSError, EOFError, zlib.error, zipfile.BadZipFile):
            raise Refused("same data", f"{member} cannot be unpacked", self._name) from None

    def ends(self) -> bool:
        """Whether all of every member was read."""
        return not any(stream.read(1) for stream in self._streams.values())
