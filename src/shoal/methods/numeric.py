"""Microaggregation of numeric tables, coarsening of one column, and a lower bound on the error of any partition.

Sources: Domingo-Ferrer and Mateo-Sanz (2002) for MDAV; Hansen and Mukherjee (2003) for the exact optimum of one
attribute; the variants by ranking and projection follow the same literature (MicIR, MicZ, MicPCP, Mic2 ... Mic6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from sklearn.utils.validation import check_is_fitted

from shoal.data.frames import like
from shoal.errors import InputError
from shoal.kernels.grouping import euclidean as kernel
from shoal.kernels.grouping.euclidean import best_cut, nearest_point
from shoal.methods.blocks.grouping import Plan, block_count, group_rows
from shoal.methods.estimator import GroupsRows, check_k, check_time_budget, number_rows
from shoal.methods.mdav import EuclideanSpace
from shoal.results.utility import Loss

Floats = NDArray[np.float64]
Groups = NDArray[np.int64]

BOUND_ROUNDS = 300
MOST_PAIRS = 2_000_000  # pairs looked at, so that memory and time stay bounded; fewer make the bound weaker, not wrong


def scale_of(deviation: Floats, largest: Floats) -> Floats:
    """The standard deviation of each attribute; 1 for a constant one, which so stays 0.

    `largest` is the largest absolute value: a constant column's deviation may come out as rounding noise instead of 0.
    """
    constant = (deviation <= 1e-12 * largest) | (deviation == 0.0)
    return np.where(constant, 1.0, deviation)


def _sum_of_scores(Z: Floats) -> Floats:
    total: Floats = Z.sum(axis=1)
    return total


def _first_component(Z: Floats) -> Floats:
    axis = np.linalg.svd(Z, full_matrices=False)[2][0]
    # An axis has no sign of its own: make its largest entry positive, so that runs agree across machines.
    axis = axis * np.sign(axis[np.argmax(np.abs(axis))])
    projection: Floats = Z @ axis
    return projection


ALONG_A_LINE: dict[str, Callable[[Floats], Floats]] = {  # what the rows are sorted by, and cut at the least error
    "ranking": _sum_of_scores,  # one attribute at a time: its own order
    "z-scores": _sum_of_scores,
    "principal-component": _first_component,
}
METHODS = ("mdav", *ALONG_A_LINE)


class Microaggregation(GroupsRows):
    """Replace every row by the mean of a group of at least k rows.

    Attributes are standardised (a constant one stays 0), compared by Euclidean distance, and averaged on their own
    scale. Only one group of attributes, the default, makes rows k-anonymous: with several, each part of a row is
    shared by k rows, but not the whole.

    Parameters
    ----------
    k : int, at least 2
    method : {"mdav", "ranking", "z-scores", "principal-component"}
        "ranking" treats each attribute on its own, with the exact optimum; "z-scores" and "principal-component" sort
        the rows along the sum of the standardised attributes or the first principal component, and cut at the best
        places.
    attribute_groups : int, sequence of sequences of columns (numbers or names), or None
        Microaggregate these attributes apart from the others; an int means consecutive groups of that many.
    refine : bool
        For "mdav": search for a better partition from MDAV's; False is plain MDAV. The other methods cut a sorted
        sequence at its best places and have nothing to refine.
    time_budget : float or None
        About how many seconds the search may take, counted as work done, so that results repeat. None: a few seconds
        for a few thousand rows.
    random_state : int, RandomState or None
        Seeds the search; a seed gives the same groups on any machine and any number of threads. None is 0.
    blocks : int, False or None
        For "mdav", the largest number of rows in a block: nearby rows are grouped block by block; at least 3k. None:
        all at once up to 50,000 rows, in blocks beyond. False: always all at once, in time that grows with the square
        of the rows.

    Attributes
    ----------
    groups_ : (n,) array, the group of each row; (n, parts) with several groups of attributes.
    representatives_ : (g, d) array of means; a list of arrays with several groups of attributes.
    attribute_groups_ : list of arrays of column numbers.
    k_anonymous_ : bool, whether whole rows are shared by at least k.
    sse_, information_loss_ : float, on standardised data.
    lower_bound_, optimality_gap_ : float, when refined: no groups of at least k have less SSE than the bound, and
        `sse_` is at most this share above the optimum (nan when the bound is 0).
    loss_ : Loss

    Examples
    --------
    >>> from shoal import Microaggregation
    >>> people = [[23, 25000], [18, 10000], [58, 12000], [46, 30000], [18, 10000], [23, 14000]]
    >>> Microaggregation(k=2).fit_transform(people).tolist()[0]
    [34.5, 27500.0]
    """

    def __init__(
        self,
        k: int = 3,
        *,
        method: str = "mdav",
        attribute_groups: Any = None,
        refine: bool = True,
        time_budget: float | None = None,
        random_state: int | None = None,
        blocks: int | bool | None = None,
    ) -> None:
        super().__init__(k, refine, time_budget, random_state)
        self.method = method
        self.attribute_groups = attribute_groups
        self.blocks = blocks

    def fit(self, X: Any, y: Any = None) -> Microaggregation:
        """Group the rows."""
        values = number_rows(self, X, reset=True)
        k = check_k(self.k, len(values))
        self.attribute_groups_ = self.columns_apart(values.shape[1])
        self.mean_ = values.mean(axis=0)
        self.scale_ = scale_of(values.std(axis=0), np.abs(values).max(axis=0, initial=0.0))
        Z = (values - self.mean_) / self.scale_

        stop = Event()  # Ctrl-C ends the search for all groups of attributes
        parts = [self._partition(np.ascontiguousarray(Z[:, columns]), k, stop) for columns in self.attribute_groups_]
        means = [
            group_means(values[:, columns], groups)
            for columns, groups in zip(self.attribute_groups_, parts, strict=True)
        ]
        self.k_anonymous_ = len(parts) == 1
        self.groups_ = parts[0] if self.k_anonymous_ else np.column_stack(parts)
        self.representatives_ = means[0] if self.k_anonymous_ else means
        masked = (self._represent(parts) - self.mean_) / self.scale_
        self._store_loss(table_loss(Z, masked))
        if self.refine and self.method == "mdav":
            self.lower_bound_ = sum(lower_bound(Z[:, columns], k) for columns in self.attribute_groups_)
            self.optimality_gap_ = self.sse_ / self.lower_bound_ - 1.0 if self.lower_bound_ > 0 else np.nan
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Group the rows and return each row's representative."""
        self.fit(X)
        return like(self._represent(list(self.groups_.reshape(len(self.groups_), -1).T)), X, self)

    def transform(self, X: Any) -> Any:
        """Give each row, new or old, the nearest existing representative."""
        check_is_fitted(self, "representatives_")
        values = number_rows(self, X, reset=False)
        nearest = []
        for columns, means in zip(self.attribute_groups_, self._means_of_parts(), strict=True):
            centre, scale = self.mean_[columns], self.scale_[columns]
            no_labels = np.empty((len(values), 0), np.int64), np.empty((0, 1, 1))
            numbers, points = (np.ascontiguousarray((part - centre) / scale) for part in (values[:, columns], means))
            nearest.append(nearest_point(numbers, *no_labels, points, np.empty((len(means), 0), np.int64)))
        return like(self._represent(nearest), X, self)

    def partition(self, values: Floats) -> tuple[Groups, float]:
        """The group of each row by all columns at once, and the least SSE of any groups; 0 if that is not known."""
        Z = (values - values.mean(axis=0)) / scale_of(values.std(axis=0), np.abs(values).max(axis=0, initial=0.0))
        groups = self._partition(np.ascontiguousarray(Z), self.k, Event())
        return groups, lower_bound(Z, self.k) if self.refine and self.method == "mdav" else 0.0

    def _partition(self, Z: Floats, k: int, stop: Event) -> Groups:
        if self.method in ALONG_A_LINE:
            order = np.argsort(ALONG_A_LINE[self.method](Z), kind="stable")
            groups = np.empty(len(Z), dtype=np.int64)
            groups[order] = best_cut(np.ascontiguousarray(Z[order]), k)
            return groups
        check_time_budget(self.time_budget)
        most = -(-len(Z) // block_count(self.blocks, len(Z), k))
        return group_rows(Z, Plan(k, most, EuclideanSpace, self.refine, self.time_budget, self.random_state, stop))

    def columns_apart(self, n_columns: int) -> list[NDArray[np.int64]]:
        """The groups of attributes as column numbers, checked to cover every column once."""
        if self.method not in METHODS:
            raise InputError(f"method={self.method!r} is not known; use one of: {', '.join(METHODS)}")
        if self.method != "mdav" and self.blocks:
            raise InputError(f"blocks={self.blocks} is for method='mdav'; leave it out for {self.method!r}")
        if self.method == "ranking":
            if self.attribute_groups not in (None, 1):
                raise InputError("method='ranking' treats every attribute on its own; leave attribute_groups out")
            return [np.array([column]) for column in range(n_columns)]
        if self.attribute_groups is None:
            return [np.arange(n_columns)]
        if isinstance(self.attribute_groups, int | np.integer):
            if self.attribute_groups < 1:
                raise InputError(f"attribute_groups={self.attribute_groups} must be at least 1 attribute a group")
            cuts = range(self.attribute_groups, n_columns, self.attribute_groups)
            return np.split(np.arange(n_columns), list(cuts))
        numbered = [np.array([self._column(name) for name in group]) for group in _groups(self.attribute_groups)]
        if sorted(column for group in numbered for column in group.tolist()) != list(range(n_columns)):
            raise InputError(f"attribute_groups must name each of the {n_columns} attributes exactly once")
        return numbered

    def _column(self, name: Any) -> int:
        if isinstance(name, int | np.integer):
            return int(name)
        names = list(getattr(self, "feature_names_in_", []))
        if name not in names:
            raise InputError(f"attribute_groups names {name!r}, which is not a column")
        return names.index(name)

    def _means_of_parts(self) -> list[Floats]:
        means: Any = self.representatives_
        return [means] if self.k_anonymous_ else list(means)

    def _represent(self, parts: Sequence[Groups]) -> Floats:
        """Each row with every part of it replaced by its group's mean."""
        masked = np.empty((len(parts[0]), self.n_features_in_))
        for columns, means, groups in zip(self.attribute_groups_, self._means_of_parts(), parts, strict=True):
            masked[:, columns] = means[groups]
        return masked


def _groups(attribute_groups: Any) -> list[Sequence[Any]]:
    groups = list(attribute_groups) if isinstance(attribute_groups, Iterable) else []
    if not groups or any(isinstance(group, str) or not isinstance(group, Sequence) or not group for group in groups):
        raise InputError(f"attribute_groups={attribute_groups!r} must be a number or a list of lists of columns")
    return groups


def group_means(values: Floats, groups: Groups) -> Floats:
    """Mean of each group, (g, d)."""
    sizes = np.bincount(groups)
    sums = np.column_stack([np.bincount(groups, weights=column) for column in values.T])
    means: Floats = sums / sizes[:, None]
    return means


def table_loss(Z: Floats, masked: Floats) -> Loss:
    """SSE: squared distance of standardised rows to their masked versions. SSA: of these to the mean of all."""
    return Loss(sse=float(np.sum((Z - masked) ** 2)), ssa=float(np.sum((masked - Z.mean(axis=0)) ** 2)))


def lower_bound(X: Floats, k: int) -> float:
    """No partition of the rows of X into groups of at least k has a smaller SSE.

    A group G of size s has SSE(G) = Σ over its pairs of |x - y|² / s. Give each pair the weight w = k / s, so that
    SSE(G) = Σ w c with c = |x - y|² / k. As s >= k, weights are at most 1, and a row's weights sum to
    k (s - 1) / s >= k - 1. The least Σ w c over all weights from 0 to 1 that sum to at least k - 1 at every row is
    thus a lower bound, and so, by duality, is for any prices u >= 0 of the rows

        (k - 1) Σ u_i - Σ over pairs of max(0, u_i + u_j - c_ij).

    With u_i half the c of the (k-1)-th neighbour it is at least the sum of every row's k - 1 least c / 2, the trivial
    bound. Prices are raised where a row lacks weight and lowered where it has too much. Half the c of a row's last
    neighbour looked at is the most it may ask: then pairs not looked at add nothing, and the bound stays valid.
    """
    n_rows = len(X)
    if n_rows < 2:
        return 0.0
    n_near = min(n_rows - 1, 4 * k, max(MOST_PAIRS // n_rows, 1))
    distance, near = cKDTree(X).query(X, n_near + 1, workers=-1)
    others = near != np.arange(n_rows)[:, None]
    others[others.all(axis=1), -1] = False  # of many equal rows the nearest may leave out the row itself
    cost = distance[others].reshape(n_rows, n_near) ** 2 / k
    row = np.repeat(np.arange(n_rows), n_near)
    neighbour = near[others]
    # A pair that is found from both ends counts once.
    _, once = np.unique(np.minimum(row, neighbour) * n_rows + np.maximum(row, neighbour), return_index=True)
    row, neighbour, pair_cost = row[once], neighbour[once], cost.ravel()[once]

    ceiling = cost[:, -1] / 2.0 if n_near < n_rows - 1 else np.full(n_rows, np.inf)
    price = cost[:, min(k - 1, n_near) - 1] / 2.0
    scale = price.copy()
    best = 0.0
    for step in 0.5 * 0.98 ** np.arange(BOUND_ROUNDS):
        surplus = price[row] + price[neighbour] - pair_cost
        used = surplus > 0.0
        best = max(best, (k - 1) * price.sum() - surplus[used].sum())
        degree = np.bincount(row[used], minlength=n_rows) + np.bincount(neighbour[used], minlength=n_rows)
        price = np.clip(price + step * scale * ((k - 1) - degree) / k, 0.0, ceiling)
    return float(best) * (1.0 - 1e-9)  # rounding must not make it too high


Ints = NDArray[np.int64]

LARGEST = 1e300  # differences of larger numbers may overflow


def coarsened(values: Any, k: int) -> Floats:
    """Each value replaced by the mean of its class of at least k, the classes cut at the least squared error.

    A class is a run of the sorted values and has all that are equal: rows that were alike stay alike. The order of the
    values has no bearing on what each becomes.

    Parameters
    ----------
    values : (n,) numbers
    k : int, at least 2 and at most n

    Examples
    --------
    >>> from shoal.methods.numeric import coarsened
    >>> coarsened([1, 2, 9, 9, 9, 30, 40], k=2).tolist()
    [1.5, 1.5, 9.0, 9.0, 9.0, 35.0, 35.0]
    """
    numbers = _numbers(values)
    k = check_k(k, len(numbers))
    distinct, value_of_row, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    # To at most 1 by a power of two: squares neither overflow nor vanish.
    unit = np.ldexp(distinct, -np.frexp(np.abs(distinct).max())[1])
    edges = _edges(kernel.best_last_classes(unit, counts, k))
    class_of_value = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    sizes = np.bincount(class_of_value, weights=counts)
    lowest, highest = distinct[edges[:-1]], distinct[edges[1:] - 1]
    # Counted from the lowest value of the class: a value alone stays as it is, and the means rise with the classes.
    above = (distinct - lowest[class_of_value]) * (counts / sizes[class_of_value])
    means = np.minimum(lowest + np.bincount(class_of_value, weights=above), highest)
    coarse: Floats = means[class_of_value][value_of_row]
    return coarse


def _numbers(values: Any) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("only numbers can be coarsened, and some values are none; correct or drop them") from None
    if numbers.ndim != 1:
        raise InputError(f"values of shape {numbers.shape} are not one column; coarsen each column on its own")
    bad = np.flatnonzero(~(np.abs(numbers) < LARGEST))
    if len(bad):
        raise InputError(
            f"values that are missing, infinite or beyond {LARGEST:g}: {len(bad)} (first in row {bad[0] + 1}); "
            "fill them, rescale the column or drop the rows"
        )
    return numbers


def _edges(start_of_last: Ints) -> Ints:
    """From the start of each last class back to the first value: [0, ..., number of values]."""
    edges = [len(start_of_last)]
    while edges[-1] > 0:
        edges.append(int(start_of_last[edges[-1] - 1]))
    return np.array(edges[::-1])
