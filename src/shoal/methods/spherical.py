"""Spherical microaggregation: k-anonymous vectors for sparse, high-dimensional data.

Source: Abril, Navarro-Arribas and Torra, "Spherical microaggregation: anonymizing sparse vector spaces",
Computers & Security 49 (2015).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms
from sklearn.utils.sparsefuncs import inplace_row_scale
from sklearn.utils.validation import check_is_fitted

from shoal.data.frames import like
from shoal.kernels.grouping import spherical as kernel
from shoal.methods.blocks.grouping import Plan, block_count, group_rows
from shoal.methods.estimator import GroupsRows, check_k, check_time_budget, number_rows
from shoal.methods.mdav import SphericalSpace, group_sums
from shoal.results.utility import Loss
from shoal.terms.vector_space import at_unit_length

WITHHELD = -1  # the group of a row without direction


class SphericalMicroaggregation(GroupsRows):
    """Replace every row by a direction that at least k rows share.

    Rows are scaled to unit length; the distance is 1 - <a, b>. A group's representative is the sum of its rows, scaled
    to unit length. A row of zeros has no direction: it joins no group (`groups_` is -1) and stays zero.

    Parameters
    ----------
    k : int, at least 2
        Least number of rows in a group.
    refine : bool
        Search for a better partition from MDAV's; False is plain MDAV.
    time_budget : float or None
        About how many seconds the search may take, counted as work done, so that results repeat. None: a few seconds
        for a few thousand rows.
    random_state : int, RandomState or None
        Seeds the search; a seed gives the same groups on any machine and any number of threads. None is 0.
    blocks : int, False or None
        Largest number of rows in a block: nearby rows are grouped block by block; at least 3k. None: all at once up
        to 50,000 rows, in blocks beyond. False: always all at once, in time that grows with the square of the rows.

    Attributes
    ----------
    groups_ : (n,) array, the group of each row, -1 for rows of zeros.
    representatives_ : (g, d) sparse or dense, as X is.
    sse_, information_loss_ : float
    loss_ : Loss

    Examples
    --------
    >>> import numpy as np
    >>> from shoal import SphericalMicroaggregation
    >>> X = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [0.6, 0.8]])
    >>> SphericalMicroaggregation(k=2, refine=False).fit(X).groups_.tolist()
    [0, 0, 1, 1]
    """

    def __init__(
        self,
        k: int = 3,
        *,
        refine: bool = True,
        time_budget: float | None = None,
        random_state: int | None = None,
        blocks: int | bool | None = None,
    ) -> None:
        super().__init__(k, refine, time_budget, random_state)
        self.blocks = blocks

    def fit(self, X: Any, y: Any = None) -> SphericalMicroaggregation:
        """Group the rows."""
        unit, has_direction = self._unit_rows(X, reset=True)
        k = check_k(self.k, int(has_direction.sum()) if len(has_direction) else 0)
        directed = unit[has_direction]
        groups = self._partition(directed, k)
        representatives = spherical_representatives(directed, groups)
        self.groups_ = np.full(len(has_direction), WITHHELD)
        self.groups_[has_direction] = groups
        self.representatives_ = representatives if sp.issparse(X) else representatives.toarray()
        self._store_loss(spherical_loss(directed, groups, representatives))
        return self

    def partition(self, X: sp.csr_matrix) -> NDArray[np.int64]:
        """The group of each row; all of them must have a direction."""
        return self._partition(_rows_of_unit_length(X), self.k)

    def _partition(self, unit: sp.csr_matrix, k: int) -> NDArray[np.int64]:
        check_time_budget(self.time_budget)
        most = -(-unit.shape[0] // block_count(self.blocks, unit.shape[0], k))
        return group_rows(unit, Plan(k, most, SphericalSpace, self.refine, self.time_budget, self.random_state))

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Group the rows and return each row's representative."""
        return like(self.fit(X)._represent(self.groups_), X, self)

    def transform(self, X: Any) -> Any:
        """Give each row, new or old, the nearest existing representative."""
        check_is_fitted(self, "representatives_")
        unit, has_direction = self._unit_rows(X, reset=False)
        nearest = np.full(unit.shape[0], WITHHELD)
        nearest[has_direction] = most_similar(unit[has_direction], sp.csr_matrix(self.representatives_))
        return like(self._represent(nearest), X, self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _unit_rows(self, X: Any, reset: bool) -> tuple[sp.csr_matrix, NDArray[np.bool_]]:
        unit = _rows_of_unit_length(number_rows(self, X, reset=reset, sparse=True))
        has_direction = np.diff(unit.indptr) > 0
        if not has_direction.all():
            warnings.warn(
                f"{int((~has_direction).sum())} rows are all zeros: they have no direction, join no group (-1) and "
                "must be withheld from a release",
                stacklevel=3,
            )
        return unit, has_direction

    def _represent(self, groups: NDArray[np.int64]) -> sp.csr_matrix:
        """The representative of each row's group; zeros for a row without group."""
        in_group = groups != WITHHELD
        rows = np.flatnonzero(in_group)
        shape = (len(groups), self.representatives_.shape[0])
        choose = sp.csr_matrix((np.ones(len(rows)), (rows, groups[rows])), shape=shape)
        return choose @ sp.csr_matrix(self.representatives_)


def _rows_of_unit_length(X: Any) -> sp.csr_matrix:
    unit = sp.csr_matrix(X, copy=True)
    sizes = np.abs(unit.data)
    if len(sizes) and (sizes.max() > 1e100 or sizes.min() < 1e-100):
        # By the largest entry first: squares of such numbers leave the range of numbers.
        at_unit_length(unit, norm="max", copy=False)
    at_unit_length(unit, copy=False)
    unit.eliminate_zeros()
    unit.sort_indices()
    return unit


def spherical_representatives(X: sp.csr_matrix, groups: NDArray[np.int64]) -> sp.csr_matrix:
    """The direction of each group: the sum of its unit rows, scaled to unit length."""
    sums = group_sums(X, groups)
    length = row_norms(sums)
    # Rows that cancel out have no common direction; any serves as well, so the first member's is taken.
    cancelled = np.flatnonzero(length < 1e-12)
    if len(cancelled):
        first = np.unique(groups, return_index=True)[1][cancelled]
        shape = (len(length), X.shape[0])
        keep = sp.diags_array((length >= 1e-12).astype(np.float64))
        sums = keep @ sums + sp.csr_matrix((np.ones(len(first)), (cancelled, first)), shape=shape) @ X
        length[cancelled] = 1.0
    representatives = sp.csr_matrix(sums)
    inplace_row_scale(representatives, 1.0 / length)
    representatives.eliminate_zeros()
    representatives.sort_indices()
    return representatives


def spherical_loss(
    X: sp.csr_matrix,
    groups: NDArray[np.int64],
    representatives: sp.csr_matrix,
    centre: NDArray[np.float64] | None = None,
) -> Loss:
    """SSE: distance of the rows to their representatives. SSA: of these to `centre`, the direction of all rows."""
    sums = group_sums(X, groups)  # by groups: a representative for every row would be many times the size of X
    sse = float(X.shape[0] - sums.multiply(representatives).sum())
    if centre is None:
        total = np.asarray(X.sum(axis=0)).ravel()
        length = float(np.linalg.norm(total))
        centre = total / length if length > 0 else total
    sizes = np.bincount(groups, minlength=representatives.shape[0])
    ssa = float(np.sum(sizes * (1.0 - representatives @ centre)))
    return Loss(sse=max(sse, 0.0), ssa=max(ssa, 0.0))


def most_similar(X: sp.csr_matrix, representatives: sp.csr_matrix) -> NDArray[np.int64]:
    """For each unit row the nearest representative; ties to the lower one."""
    lists = kernel.invert(kernel.csr(representatives), X.shape[1])
    return kernel.nearest_listed(kernel.csr(X), lists, representatives.shape[0])
