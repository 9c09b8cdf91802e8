"""Files of a release of documents: rows as Parquet, weights as a SciPy matrix, terms as text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["TERM_COLUMNS", "described", "write_terms", "write_vectors"]

TERM_COLUMNS = {"terms": "list of text", "counts": "list of whole numbers", "weights": "list of numbers"}
ROWS_AT_ONCE = 20_000  # rows written to Parquet at a time, so that memory stays bounded


def described(labels: tuple[str, ...]) -> tuple[dict[str, str], ...]:
    """Name, role and type of each released column."""
    columns = [{"name": name, "role": "quasi", "type": kind} for name, kind in TERM_COLUMNS.items()]
    return (*columns, *({"name": name, "role": "confidential", "type": "text"} for name in labels))


def write_vectors(
    path: Path,
    groups: NDArray[np.int64],
    pools: sp.csr_matrix,
    weights: sp.csr_matrix,
    names: NDArray[Any],
    confidential: Mapping[str, NDArray[Any]],
) -> None:
    """One row per document: terms, counts and weights of its group, and its own labels."""
    fields = [("terms", pa.list_(pa.string())), ("counts", pa.list_(pa.int64())), ("weights", pa.list_(pa.float64()))]
    schema = pa.schema(fields + [(name, pa.string()) for name in confidential])
    terms = pa.array(names.tolist(), pa.string())
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, len(groups), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            counts, weighted = (rows[groups[part]] for rows in (pools, weights))
            ends = pa.array(counts.indptr, pa.int32())
            lists = terms.take(pa.array(counts.indices)), pa.array(counts.data), pa.array(weighted.data)
            columns: list[Any] = [pa.ListArray.from_arrays(ends, values) for values in lists]
            columns += [pa.array(values[part].tolist(), pa.string()) for values in confidential.values()]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def write_terms(path: Path, names: NDArray[Any]) -> None:
    """One term per line."""
    path.write_text("".join(f"{name}\n" for name in names.tolist()), encoding="utf-8", newline="\n")
