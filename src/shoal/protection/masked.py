"""Columns and rows of a table as values: equal rows, values as Python has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["equal_rows", "values_of"]

Ints = NDArray[np.int64]


def equal_rows(columns: list[pa.Array]) -> Ints:
    """The number of each row among the different ones."""
    number = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        encoded = column.dictionary_encode(null_encoding="encode")
        # Numbered anew at each step, so that products stay within the range of numbers.
        number = number * len(encoded.dictionary) + np.asarray(encoded.indices, dtype=np.int64)
        number = np.unique(number, return_inverse=True)[1].astype(np.int64)
    return number


def values_of(column: pa.ChunkedArray) -> NDArray[Any]:
    """The values as Python has them."""
    if pa.types.is_temporal(column.type) and getattr(column.type, "unit", "") == "ns":
        column = column.cast(pa.int64())  # Python has no nanoseconds
    values = np.empty(len(column), dtype=object)
    values[:] = column.to_pylist()
    return values
