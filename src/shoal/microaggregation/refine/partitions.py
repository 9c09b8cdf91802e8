"""Refinement: from any partition to a better one, by destroy and repair (see kernels/grouping/partition_search.py)."""

from __future__ import annotations

from threading import Event
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal import progress
from shoal.kernels.grouping import partition_search as search
from shoal.microaggregation.refine import regions
from shoal.microaggregation.spaces.euclidean import EuclideanSpace
from shoal.microaggregation.spaces.spherical import SphericalSpace

__all__ = ["refined"]

Groups = NDArray[np.int64]

COLD = 0.001  # temperature in the end, as a share of the error of the groups at hand
REGION_ROWS = 400  # a region, searched by one core, has at least so many rows
FREED_ROWS, FREED_GROUPS = 80, 8  # about how many are divided anew at a time
CYCLE = 0.1  # seconds for a region to cool down, at least; longer when there is time for more than so many rounds
ROUNDS, ROUNDS_OF_SMALL_GROUPS, SMALL = 40, 16, 5  # groups of fewer than 5 have more ways to go, and cool longer
BY_SPREAD = 0.25  # share of the cuts between regions


def refined(
    X: Any,
    groups: Groups,
    k: int,
    space: type[EuclideanSpace] | type[SphericalSpace],
    time_budget: float | None = None,
    random_state: Any = None,
    stop: Event | None = None,
) -> Groups:
    """Groups of k to 2k - 1 rows with no more error than those given, numbered by first row.

    `X` is a dense or CSR matrix, on the sphere of unit rows. The budget is an amount of work that takes about
    `time_budget` seconds on two cores: results depend on it, not on the machine. Ctrl-C ends the search early.
    So does `stop`, once it is set; Ctrl-C sets it, so that other searches that have it end as well.
    """
    regions.check_time_budget(time_budget)
    n_rows = X.shape[0]
    seconds = regions.usual_seconds(n_rows) if time_budget is None else float(time_budget)
    random = regions.random_stream(random_state)
    X = sp.csr_matrix(X, dtype=np.float64)
    rows = search.Rows(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, X.shape[1])
    groups = regions.numbered_by_first_row(without_large_groups(groups, k))
    n_regions = regions.number_of_regions(n_rows, max(REGION_ROWS, 4 * k))
    work = seconds * 1e9 * min(regions.CORES, n_regions)
    n_rounds = int(
        np.clip(round(work / (CYCLE * 1e9 * n_regions)), 4, ROUNDS if k >= SMALL else ROUNDS_OF_SMALL_GROUPS)
    )
    if n_rows < 2 * k or space.errors(X, groups).sum() <= 1e-12 * n_rows:
        n_rounds = 0  # there is one group, or nothing to gain

    def search_region(inside: Groups, own_groups: Groups, cooling: search.Cooling) -> None:
        if len(inside) > search.LARGEST_REGION:
            search.descend(rows, inside, own_groups, k, space.number, cooling.work, cooling.seed)
            return
        gram = np.empty((len(inside), len(inside)))
        left = cooling.work - search.PRODUCT * search.products(rows, inside, gram)
        most_freed = int(np.clip(FREED_ROWS // k, 2, FREED_GROUPS))
        search.anneal(gram, own_groups, k, space.number, most_freed, cooling._replace(work=left))

    try:
        for done in range(n_rounds):
            if stop is not None and stop.is_set():
                return groups
            progress.step("refining", done, n_rounds)
            region_of_group = split(X, groups, n_regions, random)
            groups = regions.search_regions(groups, region_of_group, search_region, work / n_rounds, COLD, random)
        progress.step("refining", n_rounds, n_rounds)
    except KeyboardInterrupt:
        if stop is not None:
            stop.set()
        regions.warn_of_interruption()
    return groups


def without_large_groups(groups: Groups, k: int) -> Groups:
    """Groups of 2k rows or more cut into groups of k and a last one of k to 2k - 1, which never raises the error."""
    size = np.bincount(groups)
    order = np.argsort(groups, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(groups)) - np.repeat(np.cumsum(size) - size, size)
    piece = np.minimum(place // k, np.maximum(size // k - 1, 0)[groups])
    return groups * len(groups) + piece


def split(X: sp.csr_matrix, groups: Groups, n_parts: int, random: np.random.Generator) -> Groups:
    """The part of each group: halved at the median again and again.

    Along the difference of two groups' means, so that near groups stay together; now and then by how spread out the
    groups are, so that far-out records, whose company is the hardest to choose, meet.
    """
    n_rows, n_groups = len(groups), int(groups.max()) + 1
    average = sp.csr_matrix((1.0 / np.bincount(groups)[groups], (groups, np.arange(n_rows))))
    mean = average @ X
    spread = _row_sums(average @ X.multiply(X)) - _row_sums(mean.multiply(mean))

    def cut(part: Groups) -> tuple[Groups, int]:
        one, two = random.choice(part, 2)
        along = _row_sums(mean[part] @ (mean[[one]] - mean[[two]]).T)
        if random.random() < BY_SPREAD:
            along = spread[part]
        return part[np.argsort(along, kind="stable")], len(part) // 2

    return regions.halved(n_groups, n_parts, cut)


def _row_sums(matrix: sp.csr_matrix) -> NDArray[np.float64]:
    return np.asarray(matrix.sum(axis=1)).ravel()
