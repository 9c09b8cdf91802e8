"""Records that nothing tells apart: what an attack finds of one of them, it may as well have found of another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["identical_rows", "shared"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def identical_rows(values: Floats) -> Ints:
    """A number for each row, the same for equal rows, counted in the order of the sorted rows."""
    order = np.lexsort(values.T[::-1])
    first = np.any(values[order[1:]] != values[order[:-1]], axis=1)
    class_of_row = np.empty(len(values), dtype=np.int64)
    class_of_row[order] = np.concatenate([[0], np.cumsum(first)])
    return class_of_row


def shared(chances: Floats, class_of_row: Ints) -> Floats:
    """Each row's chance as the mean over the rows it cannot be told from."""
    sums = np.bincount(class_of_row, weights=chances)
    means: Floats = (sums / np.bincount(class_of_row))[class_of_row]
    return means
