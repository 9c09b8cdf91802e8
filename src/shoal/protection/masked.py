"""Protected columns, and what may be said of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.bundle.folders import Writer
from shoal.microaggregation.diversity import GroupDistances
from shoal.microaggregation.numeric import group_means
from shoal.protection.distances import NOT_TOLD
from shoal.results.rates import Rate
from shoal.results.summary import ColumnChange, Distances, Generalisation, StatedLoss

__all__ = ["Masked", "Merge", "distance_to_means", "equal_rows", "values_of"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# From groups, and the distance of rows to some of them, to groups that are diverse enough.
Merge = Callable[[Ints, GroupDistances], Ints]


@dataclass(frozen=True)
class Masked:
    """The quasi-identifiers of a table after protection, in the order of the rows that were given."""

    columns: Mapping[str, pa.Array]
    together: tuple[tuple[str, ...], ...]  # columns whose values at least k rows share
    k_anonymous: bool
    method: str  # in words
    parameters: Mapping[str, Any]
    loss: StatedLoss
    rounded_to: Mapping[str, float] = field(default_factory=dict)  # what published means are multiples of
    distances: Distances = NOT_TOLD
    above_optimum: float | None = None
    changes: tuple[ColumnChange, ...] = ()
    generalisations: tuple[Generalisation, ...] = ()
    linked: float | None = None
    attacks: tuple[Rate, ...] = ()
    private_files: Mapping[str, Writer] = field(default_factory=dict)

    def classes(self, columns: tuple[str, ...]) -> Ints:
        """Rows that are equal in these columns, as numbers."""
        return equal_rows([self.columns[name] for name in columns])


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
