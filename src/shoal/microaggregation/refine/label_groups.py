"""Refinement of groups of labels, or of labels and numbers: regions of near groups are searched side by side.

See kernels/grouping/label_search.py for the search, and refine/partitions.py for its sibling in Euclidean space.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from shoal import progress
from shoal.kernels.grouping import label_search as kernel
from shoal.kernels.grouping.concepts import Concepts, represent
from shoal.kernels.grouping.group_errors import Items, group_errors
from shoal.microaggregation.refine.partitions import (
    check_time_budget,
    number_in_region,
    numbered_by_first_row,
    warn_of_interruption,
)

__all__ = ["Problem", "regrouped"]

Groups = NDArray[np.int64]
Floats = NDArray[np.float64]

WARM, HOT, COLD = 0.01, 0.1, 0.0003  # temperatures, as shares of the error of the groups at hand
REGION_ITEMS = 1000  # a region, searched by one core, has at least half as many
CYCLE = 0.5  # seconds for a region to cool down
CORES = 2  # a second of the budget is a second on so many cores


@dataclass(frozen=True)
class Problem:
    """What is grouped, and what a group of it costs."""

    items: Items
    table: Concepts
    apart: Floats  # (m, c, v): what a value costs when a concept stands for it
    of_mean: bool  # the sum over the attributes is squared

    def errors(self, groups: Groups) -> Floats:
        """The error of each group about its centre."""
        found: Floats = group_errors(self.items, self.table, self.apart, self.of_mean, groups, int(groups.max()) + 1)
        return found


def regrouped(problem: Problem, groups: Groups, k: int, time_budget: float | None, random_state: Any) -> Groups:
    """Groups of at least k records with no more error than those given, numbered by first item.

    The budget is an amount of work that takes about `time_budget` seconds on two cores: results depend on it, not on
    the machine. Ctrl-C ends the search early.
    """
    check_time_budget(time_budget)
    n_items = len(groups)
    seconds = float(np.clip(n_items / 200, 0.05, 10.0)) if time_budget is None else float(time_budget)
    random = np.random.default_rng(check_random_state(0 if random_state is None else random_state).randint(2**31))
    groups = numbered_by_first_row(groups)
    before = float(problem.errors(groups).sum())
    if n_items < 2 or before <= 0.0 or int(problem.items.counts.sum()) < 2 * k:
        return groups  # nothing to gain, or room for one group only
    n_regions = 1
    while n_items >= 2 * n_regions * max(REGION_ITEMS, 4 * k):
        n_regions *= 2
    work = seconds * 1e9 * min(CORES, n_regions)
    n_rounds = max(4, round(work / (CYCLE * 1e9 * n_regions)))
    found = groups
    try:
        for done in range(n_rounds):
            progress.step("refining", done, n_rounds)
            found = _round(problem, found, k, n_regions, work / n_rounds, random)
        progress.step("refining", n_rounds, n_rounds)
    except KeyboardInterrupt:
        warn_of_interruption()
    return found if float(problem.errors(found).sum()) < before else groups


def _round(
    problem: Problem, groups: Groups, k: int, n_regions: int, work: float, random: np.random.Generator
) -> Groups:
    """Anneal every region once."""
    region_of_group = _regions(problem, groups, n_regions, random)
    region_of_item = region_of_group[groups]
    region_size = np.bincount(region_of_item)
    order = np.argsort(region_of_item, kind="stable")
    inside = number_in_region(region_of_group)[groups[order]]
    kernel.anneal_regions(
        problem.items,
        problem.table,
        problem.apart,
        problem.of_mean,
        order,
        np.cumsum(region_size),
        inside,
        k,
        work * region_size / len(groups),
        WARM * (HOT / WARM) ** random.random(n_regions),
        COLD,
        random.integers(1, 2**62, size=n_regions),
    )
    found = np.empty_like(groups)
    found[order] = region_of_item[order] * len(groups) + inside
    return numbered_by_first_row(found)


def _regions(problem: Problem, groups: Groups, n_regions: int, random: np.random.Generator) -> Groups:
    """The region of each group: halved again and again between two random items, near groups together."""
    items, apart = problem.items, problem.apart
    n_groups = int(groups.max()) + 1
    region = np.zeros(n_groups, dtype=np.int64)
    if n_regions == 1:
        return region
    order = np.argsort(groups, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(groups))])
    centres = represent(problem.table, items.codes[order], items.counts[order], indptr, False)
    means = np.add.reduceat(items.numbers[order], indptr[:-1], axis=0) / np.diff(indptr)[:, None]

    def distances(some: Groups, item: int) -> Floats:
        total: Floats = np.sum((means[some] - items.numbers[item]) ** 2, axis=1)
        for attribute in range(centres.shape[1]):
            total += apart[attribute, centres[some, attribute], items.codes[item, attribute]]
        return total

    n_items = np.diff(indptr)
    parts = [np.arange(n_groups)]
    while len(parts) < n_regions:
        halves = []
        for part in parts:
            one, two = random.choice(order[np.isin(groups[order], part)], 2)
            ranked = part[np.argsort(distances(part, one) - distances(part, two), kind="stable")]
            sizes = np.cumsum(n_items[ranked])
            cut = int(np.clip(np.searchsorted(sizes, sizes[-1] / 2), 1, len(part) - 1))
            halves += [np.sort(ranked[:cut]), np.sort(ranked[cut:])]
        parts = halves
    for number, part in enumerate(parts):
        region[part] = number
    return region
