"""The unit sphere: sparse rows of unit length, distance 1 - <a, b>."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.grouping import spherical as kernel

__all__ = ["SphericalSpace"]

Rows = NDArray[np.int64]

COMPACT_BELOW = 0.75  # compact when this share of the rows last compacted remains: total cost stays linear
LOOK_AGAIN = 3  # measure all rows again when so many looks for each were taken: about what measuring costs


class SphericalSpace:
    """What remains of a set of sparse unit rows, searched exactly through inverted lists.

    The centre moves little when records leave. Products with it are computed for all rows once in a while; in
    between, only rows whose product can still be the lowest are looked at (see `least_similar_to_sum`).
    """

    def __init__(self, X: Any) -> None:
        self.remaining = X.shape[0]
        self._n_columns = X.shape[1]
        self._compared_with = -1
        self._rows = np.arange(X.shape[0], dtype=np.int64)  # original number of each row kept here
        self._place = self._rows.copy()  # and the other way round
        self._sum = np.asarray(X.sum(axis=0), dtype=np.float64).ravel()
        self._hold(
            X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False), X.data.astype(np.float64, copy=False)
        )

    def farthest_from_centre(self) -> int:
        if self._looked_at > LOOK_AGAIN * self.remaining:
            self._measure_from_centre()
        local, looked_at = kernel.least_similar_to_sum(
            *self._csr, self._alive, self._order, self._dots, self._sum_then, self._sum
        )
        self._looked_at += looked_at
        return int(self._rows[local])

    def farthest_from(self, row: int) -> int:
        if self._compared_with != row:
            indptr, indices, data = self._csr
            start, end = indptr[self._place[row]], indptr[self._place[row] + 1]
            kernel.similarities(*self._lists, indices[start:end], data[start:end], self._scores)
            self._compared_with = row
        return int(self._rows[kernel.least_similar(self._scores, self._alive)])

    def take(self, row: int, k: int) -> Rows:
        local = kernel.take_group(*self._lists, *self._csr, self._alive, self._scores, self._sum, self._place[row], k)
        self._compared_with = row
        self.remaining -= len(local)
        return self._rows[local]

    def take_rest(self) -> Rows:
        local = np.flatnonzero(self._alive)
        self._alive[local] = False
        self.remaining = 0
        return self._rows[local]

    def _hold(self, indptr: Rows, indices: Rows, data: NDArray[np.float64]) -> None:
        self._csr = (indptr, indices, data)
        self._lists = kernel.invert(indptr, indices, data, self._n_columns)
        n_rows = len(indptr) - 1
        self._alive = np.ones(n_rows, dtype=np.bool_)
        self._scores = np.zeros(n_rows)
        self._compared_with = -1
        self._measure_from_centre()

    def _measure_from_centre(self) -> None:
        if self.remaining < COMPACT_BELOW * len(self._rows):
            self._rows = self._rows[self._alive]
            self._place[self._rows] = np.arange(len(self._rows))
            self._hold(*kernel.compact_rows(*self._csr, self._alive))
            return
        self._sum_then = self._sum.copy()
        self._dots = kernel.dots_with(*self._csr, self._sum)
        self._order = np.argsort(self._dots, kind="stable")
        self._looked_at = 0
