"""The file of a release of sketches: a list of numbers per record, and its labels. No term is in it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from shoal.sketch.sketches import SketchedRows

__all__ = ["SKETCH", "WHOLE", "described", "files_of", "write_sketches"]

SKETCH = "sketch"
WHOLE = "sketches.parquet"
MOST_ROWS = 20_000  # written at a time, so that memory stays bounded
MOST_NUMBERS = 4_000_000

Ints = NDArray[np.int64]


def described(labels: tuple[str, ...]) -> tuple[dict[str, str], ...]:
    """Name, role and type of each released column."""
    sketch = {"name": SKETCH, "role": "quasi", "type": "list of numbers"}
    return (sketch, *({"name": name, "role": "confidential", "type": "text"} for name in labels))


def files_of(noun: str, label: str | None, whole: bool) -> tuple[tuple[str, str], ...]:
    """The files of the release and what they are, for the reader."""
    rows = f"one row per {noun}: its sketch, a list of numbers" + (", and its label" if label else "")
    return ((WHOLE, rows),) if whole else (("sketches", f"folder of parts, {rows}"),)


def write_sketches(
    path: Path, rows: SketchedRows, place: Ints, longest: int, confidential: Mapping[str, NDArray[Any]]
) -> list[bytes]:
    """One row per record: the sketch at its place, and its own labels; digests of the sketches are returned.

    `rows` are all different, and `place` rises. `longest` is the longest sketch of all parts.
    """
    schema = pa.schema([(SKETCH, pa.list_(pa.float64()))] + [(name, pa.string()) for name in confidential])
    at_once = max(min(MOST_ROWS, MOST_NUMBERS // longest), 1)
    digests: list[bytes] = []
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, len(place), at_once):
            part = slice(start, start + at_once)
            first, last = int(place[part][0]), int(place[part][-1])
            different = rows.take(np.arange(first, last + 1))
            for number in range(len(digests), last + 1):
                digests.append(hashlib.blake2b(different[number - first].tobytes(), digest_size=16).digest())
            sketches = different[place[part] - first]
            columns: list[Any] = [pa.ListArray.from_arrays(sketches.offsets.astype(np.int32), sketches.values)]
            columns += [pa.array(values[part].tolist(), pa.string()) for values in confidential.values()]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
    return digests
