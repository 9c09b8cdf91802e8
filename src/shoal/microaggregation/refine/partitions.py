"""Refinement: from any partition to a better one, by destroy and repair (see kernels/grouping/partition_search.py)."""

from __future__ import annotations

import warnings
from threading import Event
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from shoal import progress
from shoal.errors import InputError, SearchStopped
from shoal.kernels.grouping import partition_search as search

__all__ = ["check_time_budget", "refined", "usual_seconds", "warn_of_interruption"]

Groups = NDArray[np.int64]

HOT, WARM, COLD = 0.1, 0.01, 0.001  # temperatures, as shares of the error of the groups at hand
REGION_ROWS = 400  # a region, searched by one core, has at least so many rows
FREED_ROWS, FREED_GROUPS = 80, 8  # about how many are divided anew at a time
CYCLE = 0.1  # seconds for a region to cool down, at least; longer when there is time for more than so many rounds
ROUNDS, ROUNDS_OF_SMALL_GROUPS, SMALL = 40, 16, 5  # groups of fewer than 5 have more ways to go, and cool longer
BY_SPREAD = 0.25  # share of the cuts between regions
CORES = 2  # a second of the budget is a second on so many cores


def check_time_budget(time_budget: object) -> None:
    """None or a positive number."""
    if time_budget is None:
        return
    number = isinstance(time_budget, int | float | np.number) and not isinstance(time_budget, bool)
    if not number or not 0 < float(time_budget) < np.inf:  # type: ignore[arg-type]
        raise InputError(f"time_budget={time_budget!r} must be a number of seconds above 0, or None for a few seconds")


def warn_of_interruption() -> None:
    """Say that less was searched than was asked for."""
    warnings.warn("the search was interrupted: the best groups so far are kept", SearchStopped, stacklevel=3)


def refined(
    X: Any,
    groups: Groups,
    k: int,
    spherical: bool,
    time_budget: float | None = None,
    random_state: Any = None,
    stop: Event | None = None,
) -> Groups:
    """Groups of k to 2k - 1 rows with no more error than those given, numbered by first row.

    `X` is a dense or CSR matrix, on the sphere of unit rows. The budget is an amount of work that takes about
    `time_budget` seconds on two cores: results depend on it, not on the machine. Ctrl-C ends the search early.
    So does `stop`, once it is set; Ctrl-C sets it, so that other searches that have it end as well.
    """
    check_time_budget(time_budget)
    n_rows = X.shape[0]
    seconds = usual_seconds(n_rows) if time_budget is None else float(time_budget)
    random = np.random.default_rng(check_random_state(0 if random_state is None else random_state).randint(2**31))
    X = sp.csr_matrix(X, dtype=np.float64)
    rows = search.Rows(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, X.shape[1])
    groups = numbered_by_first_row(without_large_groups(groups, k))
    n_regions = 1
    while n_rows >= 2 * n_regions * max(REGION_ROWS, 4 * k):
        n_regions *= 2
    work = seconds * 1e9 * min(CORES, n_regions)
    n_rounds = int(
        np.clip(round(work / (CYCLE * 1e9 * n_regions)), 4, ROUNDS if k >= SMALL else ROUNDS_OF_SMALL_GROUPS)
    )
    if n_rows < 2 * k or error(rows, groups, spherical) <= 1e-12 * n_rows:
        n_rounds = 0  # there is one group, or nothing to gain
    try:
        for done in range(n_rounds):
            if stop is not None and stop.is_set():
                return groups
            progress.step("refining", done, n_rounds)
            region_of_group = split(X, groups, n_regions, random)
            region_of_row = region_of_group[groups]
            region_size = np.bincount(region_of_row)
            order = np.argsort(region_of_row, kind="stable")
            inside = number_in_region(region_of_group)[groups[order]]
            search.anneal_regions(
                rows,
                order,
                np.cumsum(region_size),
                inside,
                k,
                spherical,
                int(np.clip(FREED_ROWS // k, 2, FREED_GROUPS)),
                work / n_rounds * region_size / n_rows,
                WARM * (HOT / WARM) ** random.random(n_regions),
                COLD,
                random.integers(1, 2**62, size=n_regions),
            )
            new_groups = np.empty_like(groups)
            new_groups[order] = region_of_row[order] * n_rows + inside
            groups = numbered_by_first_row(new_groups)
        progress.step("refining", n_rounds, n_rounds)
    except KeyboardInterrupt:
        if stop is not None:
            stop.set()
        warn_of_interruption()
    return groups


def usual_seconds(n_rows: int) -> float:
    """How long the search takes unless a budget is given: a second for a thousand rows, at most ten."""
    return float(np.clip(n_rows / 1000, 0.05, 10.0))


def without_large_groups(groups: Groups, k: int) -> Groups:
    """Groups of 2k rows or more cut into groups of k and a last one of k to 2k - 1, which never raises the error."""
    size = np.bincount(groups)
    order = np.argsort(groups, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(groups)) - np.repeat(np.cumsum(size) - size, size)
    piece = np.minimum(place // k, np.maximum(size // k - 1, 0)[groups])
    return groups * len(groups) + piece


def error(rows: search.Rows, groups: Groups, spherical: bool) -> float:
    """SSE of the groups."""
    order, ends = np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))
    return float(np.sum(rows.data**2)) - float(search.total_worth(rows, order, ends, spherical))


def number_in_region(region_of_group: Groups) -> Groups:
    """Each group's number among those of its region."""
    order = np.argsort(region_of_group, kind="stable")
    n_groups = np.bincount(region_of_group)
    number = np.empty_like(order)
    number[order] = np.arange(len(order)) - np.repeat(np.cumsum(n_groups) - n_groups, n_groups)
    return number


def split(X: sp.csr_matrix, groups: Groups, n_parts: int, random: np.random.Generator) -> Groups:
    """The part of each group: halved at the median again and again.

    Along the difference of two groups' means, so that near groups stay together; now and then by how spread out the
    groups are, so that far-out records, whose company is the hardest to choose, meet.
    """
    n_rows, n_groups = len(groups), int(groups.max()) + 1
    average = sp.csr_matrix((1.0 / np.bincount(groups)[groups], (groups, np.arange(n_rows))))
    mean = average @ X
    spread = _row_sums(average @ X.multiply(X)) - _row_sums(mean.multiply(mean))
    parts = [np.arange(n_groups)]
    while len(parts) < n_parts:
        halves = []
        for part in parts:
            one, two = random.choice(part, 2)
            along = _row_sums(mean[part] @ (mean[[one]] - mean[[two]]).T)
            if random.random() < BY_SPREAD:
                along = spread[part]
            order = part[np.argsort(along, kind="stable")]
            halves += [np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])]
        parts = halves
    part_of_group = np.empty(n_groups, dtype=np.int64)
    for number, part in enumerate(parts):
        part_of_group[part] = number
    return part_of_group


def _row_sums(matrix: sp.csr_matrix) -> NDArray[np.float64]:
    return np.asarray(matrix.sum(axis=1)).ravel()


def numbered_by_first_row(groups: Groups) -> Groups:
    """The same groups, numbered in the order in which rows meet them."""
    _, first, numbers = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first, kind="stable"), kind="stable")[numbers].astype(np.int64)
