"""Refinement: from any partition to a better one, by destroy and repair (see shoal.kernels.search)."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from shoal import progress
from shoal.errors import InputError
from shoal.kernels import search
from shoal.kernels.neighbours import nearest_rows
from shoal.kernels.spherical import invert

__all__ = ["check_time_budget", "refined"]

Groups = NDArray[np.int64]

WARM, COLD = 0.1, 0.001  # temperatures, as shares of the error of the groups at hand
NEIGHBOURS = 20
BLOCK_ROWS = 8192  # neighbours are looked for among so many rows, which bounds time and memory
REGION_ROWS = 200  # a region, searched by one core, has about so many rows
MOST_REGIONS = 64
FREED_ROWS, FREED_GROUPS = 80, 8
CORES = 2  # a second of the budget is a second on so many cores


def check_time_budget(time_budget: object) -> None:
    """None or a positive number."""
    if time_budget is None:
        return
    number = isinstance(time_budget, int | float | np.number) and not isinstance(time_budget, bool)
    if not number or not 0 < float(time_budget) < np.inf:  # type: ignore[arg-type]
        raise InputError(f"time_budget={time_budget!r} must be a number of seconds above 0, or None for a few seconds")


def refined(
    X: Any, groups: Groups, k: int, spherical: bool, time_budget: float | None = None, random_state: Any = None
) -> Groups:
    """A partition with groups of k to 2k - 1 rows and no more error than `groups`, numbered by first row.

    `X` is a dense or CSR matrix, on the sphere of unit rows. The budget is an amount of work that takes about
    `time_budget` seconds on two cores: results depend on it, not on the machine. Ctrl-C ends the search early.
    """
    check_time_budget(time_budget)
    n_rows = X.shape[0]
    seconds = float(np.clip(n_rows / 1000, 0.3, 10.0)) if time_budget is None else float(time_budget)
    random = np.random.default_rng(check_random_state(0 if random_state is None else random_state).randint(2**31))
    if n_rows < 2 * k:
        return numbered_by_first_row(groups)
    X = sp.csr_matrix(X, dtype=np.float64)
    rows = search.Rows(
        X.indptr.astype(np.int64),
        X.indices.astype(np.int32),
        X.data,
        np.asarray(X.multiply(X).sum(axis=1)).ravel(),
        X.shape[1],
    )
    neighbours = near_rows(X, random)
    n_regions = 1
    while n_regions < MOST_REGIONS and n_rows >= 2 * n_regions * max(REGION_ROWS, 4 * k):
        n_regions *= 2
    n_rounds = max(12, round(3 * seconds))
    work = seconds * 1e9 * min(CORES, n_regions) / n_rounds
    best, best_worth = groups, -np.inf
    try:
        for done in range(n_rounds + 1):
            partition, region_of_row, slot_end = arrange(X, groups, k, n_regions, random)
            worth = search.total_worth(rows, partition, spherical)
            if worth > best_worth:
                best, best_worth = groups, worth
            progress.step("refining", done, n_rounds)
            if done == n_rounds:
                break
            region_size = np.bincount(region_of_row)
            search.anneal_regions(
                rows,
                partition,
                neighbours,
                np.argsort(region_of_row, kind="stable"),
                np.cumsum(region_size),
                region_of_row,
                slot_end,
                k,
                spherical,
                int(np.clip(FREED_ROWS // k, 2, FREED_GROUPS)),
                work * region_size / n_rows,
                WARM * (COLD / WARM) ** (done / n_rounds),
                WARM * (COLD / WARM) ** ((done + 1) / n_rounds),
                random.integers(1, 2**62, size=len(region_size)),
            )
            groups = numbered_by_first_row(partition.group_of_row)
    except KeyboardInterrupt:
        warnings.warn("the search was interrupted: the best groups so far are kept", stacklevel=2)
    return numbered_by_first_row(best)


def arrange(
    X: sp.csr_matrix, groups: Groups, k: int, n_regions: int, random: np.random.Generator
) -> tuple[search.Partition, Groups, Groups]:
    """The groups in slots by region, the region of each row, and where each region's slots end."""
    region_of_group = split(X, groups, n_regions, random)
    region_of_row = region_of_group[groups]
    slot_end = np.cumsum(np.bincount(region_of_row) // k)
    n_before = np.bincount(region_of_group)
    order = np.argsort(region_of_group, kind="stable")
    slot = np.empty(len(order), dtype=np.int64)
    first_group, first_slot = np.cumsum(n_before) - n_before, np.r_[0, slot_end[:-1]]
    slot[order] = np.arange(len(order)) + np.repeat(first_slot - first_group, n_before)
    group_of_row = slot[groups]
    size = np.bincount(group_of_row, minlength=slot_end[-1])
    members = np.zeros((slot_end[-1], 2 * k - 1), dtype=np.int64)
    by_slot = np.argsort(group_of_row, kind="stable")
    place = np.arange(len(groups)) - np.repeat(np.cumsum(size) - size, size)
    members[group_of_row[by_slot], place] = by_slot
    return search.Partition(group_of_row, members, size), region_of_row, slot_end


def split(X: sp.csr_matrix, groups: Groups, n_parts: int, random: np.random.Generator) -> Groups:
    """The part of each group: halved at the median along the difference of two random rows, again and again."""
    n_rows, n_groups = len(groups), int(groups.max()) + 1
    mean = sp.csr_matrix((1.0 / np.bincount(groups)[groups], (groups, np.arange(n_rows)))) @ X
    parts = [np.arange(n_groups)]
    while len(parts) < n_parts:
        halves = []
        for part in parts:
            one, two = random.integers(n_rows, size=2)
            along = np.asarray((mean[part] @ (X[[one]] - X[[two]]).T).todense()).ravel()
            order = part[np.argsort(along, kind="stable")]
            halves += [np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])]
        parts = halves
    part_of_group = np.empty(n_groups, dtype=np.int64)
    for number, part in enumerate(parts):
        part_of_group[part] = number
    return part_of_group


def near_rows(X: sp.csr_matrix, random: np.random.Generator) -> NDArray[np.int64]:
    """Near rows of every row, (n, NEIGHBOURS): the nearest among its block of rows."""
    n_rows = X.shape[0]
    n_blocks = 1
    while n_rows > n_blocks * BLOCK_ROWS:
        n_blocks *= 2
    block_of_row = split(X, np.arange(n_rows), n_blocks, random)
    near = np.empty((n_rows, min(NEIGHBOURS, n_rows // n_blocks - 1)), dtype=np.int64)
    for block in range(n_blocks):
        inside = np.flatnonzero(block_of_row == block)
        part = X[inside]
        csr = part.indptr.astype(np.int64), part.indices.astype(np.int32), part.data
        lists = invert(*csr, X.shape[1])
        near[inside] = inside[nearest_rows(*csr, *lists, near.shape[1], 16 * (os.cpu_count() or 1))]
    return near


def numbered_by_first_row(groups: Groups) -> Groups:
    """The same groups, numbered in the order in which rows meet them."""
    _, first, numbers = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first, kind="stable"), kind="stable")[numbers].astype(np.int64)
