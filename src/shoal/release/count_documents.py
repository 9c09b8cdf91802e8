"""Counting a release of documents: k by equal rows, l by their labels. Shares nothing with the methods."""

from __future__ import annotations

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
    only_of_confidential,
    rows_as_promised,
)
from shoal.results import Claim

__all__ = ["DOCUMENT_FILES", "document_claims"]

DOCUMENT_FILES = VECTORS, MATRIX, TERMS = "vectors.parquet", "vectors.npz", "terms.txt"
MATRIX_PARTS = {"indptr", "indices", "data", "shape", "format", "_is_array"}  # what SciPy writes


def document_claims(release: Path, promises: dict[str, Any]) -> Iterator[Claim]:
    """Every promise about the rows, counted from the files."""
    table = pq.ParquetFile(release / VECTORS, read_dictionary=["terms.list.element"]).read().combine_chunks()
    confidential = [column["name"] for column in promises["columns"] if column["role"] == "confidential"]
    terms = (release / TERMS).read_text(encoding="utf-8").split("\n")[:-1]
    yield columns_as_promised(["terms", "weights", *confidential], table.column_names, promises, VECTORS)
    yield rows_as_promised(table.num_rows, promises, VECTORS)

    ends, numbers, weights = _lists(table, terms)
    rows = [(numbers[start:end].tobytes(), weights[start:end].tobytes()) for start, end in pairwise(ends.tolist())]
    classes = Counter(rows)
    if promises["anonymity"]["shared_columns"] != [["terms", "weights"]]:
        yield Claim("k-anonymity", False, "the promise does not speak of every protected column", VECTORS)
        return
    yield anonymity(min(classes.values()), promises, VECTORS)
    yield from only_of_confidential(promises, VECTORS)
    for name in confidential:
        values: dict[Any, set[Any]] = {}
        for row, value in zip(rows, table[name].to_pylist(), strict=True):
            values.setdefault(row, set()).add(value)
        different = len(set().union(*values.values()))
        yield diversity(name, [len(found) for found in values.values()], different, promises, VECTORS)

    yield _in_order(ends, numbers, weights, [table[name].to_pylist() for name in confidential])
    lengths = np.sqrt(np.add.reduceat(weights**2, ends[:-1]))
    unit = bool(np.all(np.abs(lengths - 1.0) < 1e-9))
    yield Claim("unit length", unit, "every row has length 1" if unit else "some row has not length 1", VECTORS)
    yield _same_matrix(release, ends, numbers, weights, len(terms))


def _lists(table: pa.Table, terms: list[str]) -> tuple[Any, Any, Any]:
    """Row ends, term numbers and weights; equal lists give equal bytes."""
    names = table["terms"].combine_chunks()
    weights = table["weights"].combine_chunks()
    ends = np.asarray(names.offsets, dtype=np.int64)
    if not np.array_equal(ends, np.asarray(weights.offsets)) or np.any(np.diff(ends) < 1):
        raise ValueError("a row without terms, or with more terms than weights")
    if len(set(terms)) != len(terms) or sorted(terms) != terms:
        raise ValueError("terms are not distinct and in order")
    numbers = pc.index_in(names.values.cast(pa.string()), value_set=pa.array(terms))
    if pc.count_distinct(numbers).as_py() != len(terms):
        raise ValueError("a term is listed that no row has, or the other way round")
    if numbers.null_count or weights.values.null_count:
        raise ValueError("a term that is not listed, or a missing weight")
    return ends, np.asarray(numbers, dtype=np.int32), np.asarray(weights.values, dtype=np.float64)


def _in_order(ends: Any, numbers: Any, weights: Any, labels: list[list[Any]]) -> Claim:
    """Rows rise by terms, then weights, then labels."""

    def content(row: int) -> tuple[Any, ...]:
        part = slice(ends[row], ends[row + 1])
        return numbers[part].tolist(), weights[part].tolist(), *(column[row] for column in labels)

    before = content(0)
    for row in range(1, len(ends) - 1):
        here = content(row)
        if here < before:
            return canonical_order(False, VECTORS)
        before = here
    return canonical_order(True, VECTORS)


def _same_matrix(release: Path, ends: Any, numbers: Any, weights: Any, n_terms: int) -> Claim:
    with np.load(release / MATRIX, allow_pickle=False) as matrix:
        same = (
            set(matrix.files) <= MATRIX_PARTS
            and np.array_equal(matrix["indptr"], ends)
            and np.array_equal(matrix["indices"], numbers)
            and np.array_equal(matrix["data"], weights)
            and tuple(matrix["shape"]) == (len(ends) - 1, n_terms)
        )
    detail = f"holds the same rows as {VECTORS}" if same else f"does not hold the same rows as {VECTORS}"
    return Claim("same data", same, detail, MATRIX)
