"""Euclidean space: dense rows, distance as the crow flies."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.kernels.grouping import euclidean as kernel
from shoal.kernels.grouping.nearest import farthest, nearest
from shoal.kernels.grouping.repair import EUCLIDEAN
from shoal.microaggregation.spaces.sums import divided, group_sums, squared_lengths

__all__ = ["EuclideanSpace"]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

COMPACT_BELOW = 0.75  # compact when this share of the rows last compacted remains: total cost stays linear
LOOK_AGAIN = 3  # measure all rows again when so many looks for each were taken: about what measuring costs


class EuclideanSpace:
    """What remains of a set of dense rows, searched exactly by scanning.

    The centre moves little when records leave. Distances to it are computed for all rows once in a while; in between,
    only rows that can still be the farthest are looked at (see `farthest_from_moved`).
    """

    number = EUCLIDEAN  # by which kernels know it

    def __init__(self, X: Any) -> None:
        X = self.rows(X)
        self.remaining = len(X)
        self._compared_with = -1
        self._rows = np.arange(len(X), dtype=np.int64)  # original number of each row kept here
        self._place = self._rows.copy()  # and the other way round
        self._sum = X.sum(axis=0)
        self._hold(X)

    @staticmethod
    def rows(X: Any) -> Floats:
        """The rows, sparse or dense, as this space holds them."""
        return np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)

    @staticmethod
    def centres(X: sp.csr_matrix, groups: Rows) -> sp.csr_matrix:
        """The mean of each group."""
        return divided(group_sums(X, groups), np.bincount(groups))

    @staticmethod
    def between(one: Floats, two: Floats) -> Floats:
        """The direction from one centre, given as the mean of its rows, to another."""
        return one - two

    @staticmethod
    def errors(X: sp.csr_matrix, groups: Rows) -> Floats:
        """The error (SSE) of each group."""
        squares = squared_lengths(group_sums(X, groups))
        errors: Floats = np.bincount(groups, weights=squared_lengths(X)) - squares / np.bincount(groups)
        return errors

    def farthest_from_centre(self) -> int:
        if self._looked_at > LOOK_AGAIN * self.remaining:
            self._measure_from_centre()
        local, looked_at = kernel.farthest_from_moved(
            self._X, self._alive, self._order, self._from_centre, self._centre_then, self._centre()
        )
        self._looked_at += looked_at
        return int(self._rows[local])

    def farthest_from(self, row: int) -> int:
        self._compare_with(row)
        return int(self._rows[farthest(self._distances, self._alive)])

    def take(self, row: int, k: int) -> Rows:
        self._compare_with(row)
        return self._remove(nearest(self._distances, self._alive, self._place[row], k))

    def take_rest(self) -> Rows:
        return self._remove(np.flatnonzero(self._alive))

    def _centre(self) -> Floats:
        centre: Floats = self._sum / self.remaining
        return centre

    def _compare_with(self, row: int) -> None:
        """Distance of every row kept here to `row`, unless just computed."""
        if self._compared_with != row:
            kernel.squared_distances(self._X, self._X[self._place[row]], self._distances)
            self._compared_with = row

    def _remove(self, local: Rows) -> Rows:
        self._sum -= self._X[local].sum(axis=0)
        self._alive[local] = False
        self.remaining -= len(local)
        return self._rows[local]

    def _hold(self, X: Floats) -> None:
        self._X = X
        self._alive = np.ones(len(X), dtype=np.bool_)
        self._distances = np.zeros(len(X))
        self._compared_with = -1
        self._measure_from_centre()

    def _measure_from_centre(self) -> None:
        if self.remaining < COMPACT_BELOW * len(self._rows):
            self._rows = self._rows[self._alive]
            self._place[self._rows] = np.arange(len(self._rows))
            self._hold(self._X[self._alive])
            return
        self._centre_then = self._centre()
        squared = np.empty(len(self._X))
        kernel.squared_distances(self._X, self._centre_then, squared)
        self._from_centre = np.sqrt(squared)
        self._order = np.argsort(-self._from_centre, kind="stable")
        self._looked_at = 0
