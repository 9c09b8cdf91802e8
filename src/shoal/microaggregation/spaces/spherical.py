"""The unit sphere: sparse rows of unit length, distance 1 - <a, b>."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.kernels.grouping import spherical as kernel
from shoal.kernels.grouping.nearest import farthest
from shoal.kernels.grouping.repair import SPHERE
from shoal.microaggregation.spaces.euclidean import COMPACT_BELOW, LOOK_AGAIN
from shoal.microaggregation.spaces.sums import divided, group_sums, squared_lengths

__all__ = ["SphericalSpace"]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


class SphericalSpace:
    """What remains of a set of sparse unit rows, searched exactly through inverted lists.

    The centre moves little when records leave. Products with it are computed for all rows once in a while; in
    between, only rows whose product can still be the lowest are looked at (see `farthest_from_moved_sum`).
    """

    number = SPHERE  # by which kernels know it

    def __init__(self, X: Any) -> None:
        self.remaining = X.shape[0]
        self._compared_with = -1
        self._rows = np.arange(X.shape[0], dtype=np.int64)  # original number of each row kept here
        self._place = self._rows.copy()  # and the other way round
        self._sum = np.asarray(X.sum(axis=0), dtype=np.float64).ravel()
        self._hold(X)

    @staticmethod
    def rows(X: sp.csr_matrix) -> sp.csr_matrix:
        """The rows as this space holds them."""
        return X

    @staticmethod
    def centres(X: sp.csr_matrix, groups: Rows) -> sp.csr_matrix:
        """The direction of each group."""
        sums = group_sums(X, groups)
        return divided(sums, np.sqrt(squared_lengths(sums)))

    @staticmethod
    def between(one: Floats, two: Floats) -> Floats:
        """The direction from one centre, given as the mean of its rows, to another."""
        lengths = (float(np.linalg.norm(mean)) or 1.0 for mean in (one, two))
        one, two = (mean / length for mean, length in zip((one, two), lengths, strict=True))
        return one - two

    @staticmethod
    def errors(X: sp.csr_matrix, groups: Rows) -> Floats:
        """The error of each group: the distance of its unit rows to its direction, summed."""
        return np.subtract(np.bincount(groups), np.sqrt(squared_lengths(group_sums(X, groups))), dtype=np.float64)

    def farthest_from_centre(self) -> int:
        if self._looked_at > LOOK_AGAIN * self.remaining:
            self._measure_from_centre()
        local, looked_at = kernel.farthest_from_moved_sum(
            self._csr, self._alive, self._order, self._dots, self._sum_then, self._sum
        )
        self._looked_at += looked_at
        return int(self._rows[local])

    def farthest_from(self, row: int) -> int:
        if self._compared_with != row:
            indptr, indices, data = self._csr
            part = slice(indptr[self._place[row]], indptr[self._place[row] + 1])
            kernel.distances_to(self._lists, indices[part], data[part], self._distances)
            self._compared_with = row
        return int(self._rows[farthest(self._distances, self._alive)])

    def take(self, row: int, k: int) -> Rows:
        place = self._place[row]
        local = kernel.take_group(self._csr, self._lists, self._alive, self._distances, self._sum, place, k)
        self._compared_with = row
        self.remaining -= len(local)
        return self._rows[local]

    def take_rest(self) -> Rows:
        local = np.flatnonzero(self._alive)
        self._alive[local] = False
        self.remaining = 0
        return self._rows[local]

    def _hold(self, X: sp.csr_matrix) -> None:
        self._X = X
        self._csr = kernel.csr(X)
        self._lists = kernel.invert(self._csr, X.shape[1])
        self._alive = np.ones(X.shape[0], dtype=np.bool_)
        self._distances = np.zeros(X.shape[0])
        self._compared_with = -1
        self._measure_from_centre()

    def _measure_from_centre(self) -> None:
        if self.remaining < COMPACT_BELOW * len(self._rows):
            self._rows = self._rows[self._alive]
            self._place[self._rows] = np.arange(len(self._rows))
            self._hold(self._X[self._alive])
            return
        self._sum_then = self._sum.copy()
        self._dots = self._X @ self._sum
        self._order = np.argsort(self._dots, kind="stable")
        self._looked_at = 0
