"""MDAV, maximum distance to average vector: one loop over any space, and the spaces that it works in.

A space holds the records that remain and knows four things: the record farthest from their centre, the one farthest
from a record, the nearest to a record, and how to remove records. There is Euclidean space for dense rows, and the unit
sphere for sparse ones (distance 1 - <a, b>). Numbers with labels have a loop of their own (kernels/grouping/mixed.py).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal import progress
from shoal.kernels.grouping import euclidean as kernel
from shoal.kernels.grouping import spherical as spherical_kernel
from shoal.kernels.grouping.euclidean import farthest, nearest
from shoal.kernels.grouping.repair import EUCLIDEAN, SPHERE

Rows = NDArray[np.int64]


class Space(Protocol):
    """Records that can be compared and taken away. Ties always go to the lower row."""

    remaining: int

    def farthest_from_centre(self) -> int:
        """The remaining row farthest from the average of those remaining."""

    def farthest_from(self, row: int) -> int:
        """The remaining row farthest from `row`, which may have been taken."""

    def take(self, row: int, k: int) -> Rows:
        """Remove and return `row` with the k - 1 remaining rows nearest to it."""

    def take_rest(self) -> Rows:
        """Remove and return all that remains."""


def mdav(space: Space, k: int) -> Rows:
    """Partition a space into groups of k (the last: k to 2k - 1). Returns the group of each row."""
    n_rows = space.remaining
    groups: list[Rows] = []
    while space.remaining >= 3 * k:
        r = space.farthest_from_centre()
        groups.append(space.take(r, k))
        s = space.farthest_from(r)
        groups.append(space.take(s, k))
        progress.step("grouping", n_rows - space.remaining, n_rows)
    if space.remaining >= 2 * k:
        groups.append(space.take(space.farthest_from_centre(), k))
    groups.append(space.take_rest())
    progress.step("grouping", n_rows, n_rows)

    group_of_row = np.empty(n_rows, dtype=np.int64)
    for group, rows in enumerate(groups):
        group_of_row[rows] = group
    return group_of_row


def numbered_by_first_row(groups: Rows) -> Rows:
    """The same groups, numbered in the order in which rows meet them."""
    _, first, numbers = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first, kind="stable"), kind="stable")[numbers].astype(np.int64)


Floats = NDArray[np.float64]

COMPACT_BELOW = 0.75  # compact when this share of the rows last compacted remains: total cost stays linear
LOOK_AGAIN = 3  # measure all rows again after this many looks per row: about what measuring costs


def group_sums(X: sp.csr_matrix, groups: NDArray[np.int64]) -> sp.csr_matrix:
    """The sum of each group's rows, (g, d)."""
    return sp.csr_matrix((np.ones(len(groups)), (groups, np.arange(len(groups))))) @ X


def squared_lengths(X: sp.csr_matrix) -> Floats:
    """Of each row."""
    squares: Floats = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return squares


def divided(X: sp.csr_matrix, by: NDArray[Any]) -> sp.csr_matrix:
    """Each row divided by a number of its own; a row whose number is 0 stays as it is."""
    return sp.csr_matrix(sp.diags_array(1.0 / np.where(by > 0, by, 1.0)) @ X)


class RemainingRows:
    """What every space keeps: which rows remain, and how far each is from the row compared with last.

    Rows are held in an order of their own: `_rows` has the number of each, `_position` the other way round.
    """

    _alive: NDArray[np.bool_]
    _distances: Floats

    def __init__(self, n_rows: int) -> None:
        self.remaining = n_rows
        self._rows = np.arange(n_rows, dtype=np.int64)
        self._position = self._rows.copy()
        self._hold_rows()

    def farthest_from(self, row: int) -> int:
        self._compare_with(row)
        return int(self._rows[farthest(self._distances, self._alive)])

    def take(self, row: int, k: int) -> Rows:
        self._compare_with(row)
        return self._remove(nearest(self._distances, self._alive, self._position[row], k))

    def take_rest(self) -> Rows:
        return self._remove(np.flatnonzero(self._alive))

    def _compare_with(self, row: int) -> None:
        """Fill `_distances`, unless `row` is the one compared with last."""
        raise NotImplementedError

    def _remove(self, positions: Rows) -> Rows:
        self._alive[positions] = False
        self.remaining -= len(positions)
        return self._rows[positions]

    def _hold_rows(self) -> None:
        self._alive = np.ones(len(self._rows), dtype=np.bool_)
        self._distances = np.zeros(len(self._rows))
        self._compared_with = -1

    def _compacted(self) -> NDArray[np.bool_] | None:
        """Forget the rows taken, once they are many. Returns those that were still there; None: nothing was done."""
        if self.remaining >= COMPACT_BELOW * len(self._rows):
            return None
        remained = self._alive
        self._rows = self._rows[remained]
        self._position[self._rows] = np.arange(len(self._rows))
        self._hold_rows()
        return remained


class EuclideanSpace(RemainingRows):
    """Dense rows, searched exactly by scanning.

    The centre moves little when records leave. Distances to it are computed for all rows once in a while; in between,
    only rows that can still be the farthest are looked at (see `farthest_from_moved`).
    """

    number = EUCLIDEAN  # by which kernels know it

    def __init__(self, X: Any) -> None:
        self._X = self.rows(X)
        super().__init__(len(self._X))
        self._sum = self._X.sum(axis=0)
        self._measure_from_centre()

    @staticmethod
    def rows(X: Any) -> Floats:
        """The rows, sparse or dense, as this space holds them."""
        return np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)

    @staticmethod
    def centres(X: sp.csr_matrix, groups: Rows) -> sp.csr_matrix:
        """The mean of each group."""
        return divided(group_sums(X, groups), np.bincount(groups))

    @staticmethod
    def between(first: Floats, second: Floats) -> Floats:
        """The direction from one centre, given as the mean of its rows, to another."""
        return first - second

    @staticmethod
    def errors(X: sp.csr_matrix, groups: Rows) -> Floats:
        """The error (SSE) of each group."""
        squares = squared_lengths(group_sums(X, groups))
        errors: Floats = np.bincount(groups, weights=squared_lengths(X)) - squares / np.bincount(groups)
        return errors

    def farthest_from_centre(self) -> int:
        if self._looked_at > LOOK_AGAIN * self.remaining:
            self._measure_from_centre()
        position, looked_at = kernel.farthest_from_moved(
            self._X, self._alive, self._order, self._from_centre, self._centre_then, self._sum / self.remaining
        )
        self._looked_at += looked_at
        return int(self._rows[position])

    def _compare_with(self, row: int) -> None:
        if self._compared_with != row:
            kernel.squared_distances(self._X, self._X[self._position[row]], self._distances)
            self._compared_with = row

    def _remove(self, positions: Rows) -> Rows:
        self._sum -= self._X[positions].sum(axis=0)
        return super()._remove(positions)

    def _measure_from_centre(self) -> None:
        remained = self._compacted()
        if remained is not None:
            self._X = self._X[remained]
        self._centre_then = self._sum / self.remaining
        squared = np.empty(len(self._X))
        kernel.squared_distances(self._X, self._centre_then, squared)
        self._from_centre = np.sqrt(squared)
        self._order = np.argsort(-self._from_centre, kind="stable")
        self._looked_at = 0


class SphericalSpace(RemainingRows):
    """Sparse unit rows, searched exactly through inverted lists.

    The centre moves little when records leave. Products with it are computed for all rows once in a while; in
    between, only rows whose product can still be the lowest are looked at (see `farthest_from_moved_sum`).
    """

    number = SPHERE  # by which kernels know it

    def __init__(self, X: Any) -> None:
        super().__init__(X.shape[0])
        self._sum = np.asarray(X.sum(axis=0), dtype=np.float64).ravel()
        self._hold(X)
        self._measure_from_centre()

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
    def between(first: Floats, second: Floats) -> Floats:
        """The direction from one centre, given as the mean of its rows, to another."""
        first, second = (mean / (float(np.linalg.norm(mean)) or 1.0) for mean in (first, second))
        return first - second

    @staticmethod
    def errors(X: sp.csr_matrix, groups: Rows) -> Floats:
        """The error of each group: the distance of its unit rows to its direction, summed."""
        return np.subtract(np.bincount(groups), np.sqrt(squared_lengths(group_sums(X, groups))), dtype=np.float64)

    def farthest_from_centre(self) -> int:
        if self._looked_at > LOOK_AGAIN * self.remaining:
            self._measure_from_centre()
        position, looked_at = spherical_kernel.farthest_from_moved_sum(
            self._csr, self._alive, self._order, self._dots, self._sum_then, self._sum
        )
        self._looked_at += looked_at
        return int(self._rows[position])

    def take(self, row: int, k: int) -> Rows:
        given = self._csr, self._lists, self._alive, self._distances, self._sum
        positions = spherical_kernel.take_group(*given, self._position[row], k)
        self._compared_with = row
        return self._remove(positions)

    def _compare_with(self, row: int) -> None:
        if self._compared_with != row:
            indptr, indices, data = self._csr
            part = slice(indptr[self._position[row]], indptr[self._position[row] + 1])
            spherical_kernel.distances_to(self._lists, indices[part], data[part], self._distances)
            self._compared_with = row

    def _hold(self, X: sp.csr_matrix) -> None:
        self._X = X
        self._csr = spherical_kernel.csr(X)
        self._lists = spherical_kernel.invert(self._csr, X.shape[1])

    def _measure_from_centre(self) -> None:
        remained = self._compacted()
        if remained is not None:
            self._hold(self._X[remained])
        self._sum_then = self._sum.copy()
        self._dots = self._X @ self._sum
        self._order = np.argsort(self._dots, kind="stable")
        self._looked_at = 0
