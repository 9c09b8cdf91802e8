"""Numbers and labels in one space: squared distances add up, column by column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import concepts as labels_kernel
from shoal.kernels.grouping import mixed
from shoal.kernels.grouping.nearest import farthest, nearest
from shoal.microaggregation.spaces.euclidean import COMPACT_BELOW

__all__ = ["MixedSpace"]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


class MixedSpace:
    """What remains of a set of rows, searched exactly by scanning.

    The centre has the mean of every number and the centroid of every label.
    """

    def __init__(self, numbers: Floats, codes: Rows, table: labels_kernel.Concepts, squares: Floats) -> None:
        self.remaining = len(numbers)
        self._table = table
        self._squares = squares
        self._rows = np.arange(len(numbers), dtype=np.int64)  # original number of each row kept here
        self._place = self._rows.copy()  # and the other way round
        self._sum = numbers.sum(axis=0)
        self._labels = labels_kernel.empty_sets(table, 1)
        labels_kernel.join_all(table, self._labels, 0, codes, np.ones(len(codes), dtype=np.int64))
        self._hold(np.ascontiguousarray(numbers), np.ascontiguousarray(codes))

    def farthest_from_centre(self) -> int:
        if self.remaining < COMPACT_BELOW * len(self._rows):
            self._rows = self._rows[self._alive]
            self._place[self._rows] = np.arange(len(self._rows))
            self._hold(self._numbers[self._alive], self._codes[self._alive])
        centroids = np.empty(self._codes.shape[1], dtype=np.int64)
        labels_kernel.centre(self._table, self._labels, 0, False, centroids)
        self._compare_with(-1, self._sum / self.remaining, centroids)
        return int(self._rows[farthest(self._distances, self._alive)])

    def farthest_from(self, row: int) -> int:
        self._compare_with_row(row)
        return int(self._rows[farthest(self._distances, self._alive)])

    def take(self, row: int, k: int) -> Rows:
        self._compare_with_row(row)
        return self._remove(nearest(self._distances, self._alive, self._place[row], k))

    def take_rest(self) -> Rows:
        return self._remove(np.flatnonzero(self._alive))

    def _compare_with_row(self, row: int) -> None:
        if self._compared_with != row:
            place = self._place[row]
            attributes = np.arange(self._codes.shape[1])
            own = self._table.concept_of_value[attributes, self._codes[place]]
            self._compare_with(row, self._numbers[place], own)

    def _compare_with(self, row: int, point: Floats, concepts: Any) -> None:
        mixed.mixed_distances(self._numbers, self._codes, self._squares, point, concepts, self._distances)
        self._compared_with = row

    def _remove(self, local: Rows) -> Rows:
        self._sum -= self._numbers[local].sum(axis=0)
        labels_kernel.join_all(self._table, self._labels, 0, self._codes[local], np.full(len(local), -1))
        self._alive[local] = False
        self.remaining -= len(local)
        return self._rows[local]

    def _hold(self, numbers: Floats, codes: Rows) -> None:
        self._numbers, self._codes = numbers, codes
        self._alive = np.ones(len(numbers), dtype=np.bool_)
        self._distances = np.zeros(len(numbers))
        self._compared_with = -1
