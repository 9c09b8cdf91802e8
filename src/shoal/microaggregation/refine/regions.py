"""Regions of near groups, searched side by side: each with a random stream and an amount of work of its own."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from shoal.errors import InputError, SearchStopped
from shoal.kernels.grouping.partition_search import Cooling
from shoal.kernels.threads import side_by_side

__all__ = [
    "CORES",
    "check_time_budget",
    "halved",
    "number_of_regions",
    "numbered_by_first_row",
    "random_stream",
    "search_regions",
    "usual_seconds",
    "warn_of_interruption",
]

Groups = NDArray[np.int64]

HOT, WARM = 0.1, 0.01  # temperatures to start from, as shares of the error of the groups at hand
CORES = 2  # a second of the budget is a second on so many cores


def check_time_budget(time_budget: object) -> None:
    """None or a positive number."""
    if time_budget is None:
        return
    number = isinstance(time_budget, int | float | np.number) and not isinstance(time_budget, bool)
    if not number or not 0 < float(time_budget) < np.inf:  # type: ignore[arg-type]
        raise InputError(f"time_budget={time_budget!r} must be a number of seconds above 0, or None for a few seconds")


def usual_seconds(n_rows: int) -> float:
    """How long the search takes unless a budget is given: a second for a thousand rows, at most ten."""
    return float(np.clip(n_rows / 1000, 0.05, 10.0))


def random_stream(random_state: Any) -> np.random.Generator:
    """The random numbers of a whole search; None is 0."""
    return np.random.default_rng(check_random_state(0 if random_state is None else random_state).randint(2**31))


def warn_of_interruption() -> None:
    """Say that less was searched than was asked for."""
    warnings.warn("the search was interrupted: the best groups so far are kept", SearchStopped, stacklevel=3)


def number_of_regions(n_rows: int, least: int) -> int:
    """A power of two: as many regions as have at least so many rows each."""
    n_regions = 1
    while n_rows >= 2 * n_regions * least:
        n_regions *= 2
    return n_regions


def halved(n_groups: int, n_parts: int, cut: Callable[[Groups], tuple[Groups, int]]) -> Groups:
    """The part of each group: halved again and again. `cut` gives the groups of a part in order, and where to cut."""
    parts = [np.arange(n_groups)]
    while len(parts) < n_parts:
        ordered = [cut(part) for part in parts]
        parts = [np.sort(half) for order, place in ordered for half in (order[:place], order[place:])]
    part_of_group = np.empty(n_groups, dtype=np.int64)
    for number, part in enumerate(parts):
        part_of_group[part] = number
    return part_of_group


def search_regions(
    groups: Groups,
    region_of_group: Groups,
    search: Callable[[Groups, Groups, Cooling], None],
    work: float,
    cold: float,
    random: np.random.Generator,
) -> Groups:
    """The groups after a search of every region, numbered by first row.

    `search` has a region's rows and their groups, numbered from 0 in the region, and changes these. The work is shared
    by the number of rows; each region starts from a temperature of its own and ends `cold`.
    """
    region_of_row = region_of_group[groups]
    sizes = np.bincount(region_of_row)
    order = np.argsort(region_of_row, kind="stable")
    inside = _number_in_region(region_of_group)[groups[order]]
    warm = WARM * (HOT / WARM) ** random.random(len(sizes))
    seeds = random.integers(1, 2**62, size=len(sizes))
    parts, end = [], 0
    for region, size in enumerate(sizes.tolist()):
        cooling = Cooling(work * size / len(groups), float(warm[region]), cold, int(seeds[region]))
        rows = slice(end, end + size)
        parts.append((order[rows], inside[rows], cooling))
        end += size
    side_by_side(search, parts)
    found = np.empty_like(groups)
    found[order] = region_of_row[order] * len(groups) + inside
    return numbered_by_first_row(found)


def _number_in_region(region_of_group: Groups) -> Groups:
    """Each group's number among those of its region."""
    order = np.argsort(region_of_group, kind="stable")
    n_groups = np.bincount(region_of_group)
    number = np.empty_like(order)
    number[order] = np.arange(len(order)) - np.repeat(np.cumsum(n_groups) - n_groups, n_groups)
    return number


def numbered_by_first_row(groups: Groups) -> Groups:
    """The same groups, numbered in the order in which rows meet them."""
    _, first, numbers = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first, kind="stable"), kind="stable")[numbers].astype(np.int64)
