"""Columns and rows of a table as values: equal rows, distances of rows to means, values as Python has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.microaggregation.numeric import group_means

__all__ = ["distance_to_means", "equal_rows", "values_of"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def equal_rows(columns: list[pa.Array]) -> Ints:
    """The number of each row among the different ones."""
    number = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        encoded = column.dictionary_encode(null_encoding="encode")
        # Numbered anew at each step, so that products stay within the range of numbers.
        number = number * len(encoded.dictionary) + np.asarray(encoded.indices, dtype=np.int64)
        number = np.unique(number, return_inverse=True)[1].astype(np.int64)
    return number


def distance_to_means(standard: Floats, groups: Ints) -> Callable[[Ints, Ints], Floats]:
    """How far the mean of some rows is from those of some groups, squared."""
    means = group_means(standard, groups)

    def distance(rows: Ints, some: Ints) -> Floats:
        squared: Floats = np.sum((means[some] - standard[rows].mean(axis=0)) ** 2, axis=1)
        return squared

    return distance


def values_of(column: pa.ChunkedArray) -> NDArray[Any]:
    """The values as Python has them."""
    if pa.types.is_temporal(column.type) and getattr(column.type, "unit", "") == "ns":
        column = column.cast(pa.int64())  # Python has no nanoseconds
    values = np.empty(len(column), dtype=object)
    values[:] = column.to_pylist()
    return values
