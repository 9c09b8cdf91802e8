"""Refinement of groups of labels, or of labels and numbers: regions of near groups are searched side by side.

See kernels/grouping/label_search.py for the search, and refine/partitions.py for its sibling in Euclidean space.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal import progress
from shoal.kernels.grouping import label_search as kernel
from shoal.kernels.grouping.concepts import represent
from shoal.kernels.grouping.group_errors import Items, Problem, group_errors
from shoal.kernels.grouping.partition_search import Cooling
from shoal.microaggregation.refine import regions

__all__ = ["errors_of_groups", "regrouped"]

Groups = NDArray[np.int64]
Floats = NDArray[np.float64]

COLD = 0.0003  # temperature in the end, as a share of the error of the groups at hand
REGION_ITEMS = 1000  # a region, searched by one core, has at least half as many
CYCLE = 0.5  # seconds for a region to cool down


def errors_of_groups(problem: Problem, groups: Groups) -> Floats:
    """The error of each group about its centre."""
    errors: Floats = group_errors(problem, groups, int(groups.max()) + 1)
    return errors


def regrouped(problem: Problem, groups: Groups, k: int, time_budget: float | None, random_state: Any) -> Groups:
    """Groups of at least k records with no more error than those given, numbered by first item.

    The budget is an amount of work that takes about `time_budget` seconds on two cores: results depend on it, not on
    the machine. Ctrl-C ends the search early.
    """
    regions.check_time_budget(time_budget)
    n_items = len(groups)
    n_records = int(problem.items.counts.sum())
    seconds = regions.usual_seconds(n_records) if time_budget is None else float(time_budget)
    random = regions.random_stream(random_state)
    groups = regions.numbered_by_first_row(groups)
    before = float(errors_of_groups(problem, groups).sum())
    if n_items < 2 or before <= 0.0 or n_records < 2 * k:
        return groups  # nothing to gain, or room for one group only
    n_regions = regions.number_of_regions(n_items, max(REGION_ITEMS, 4 * k))
    work = seconds * 1e9 * min(regions.CORES, n_regions)
    n_rounds = max(4, round(work / (CYCLE * 1e9 * n_regions)))
    found = groups

    def search_region(inside: Groups, own_groups: Groups, cooling: Cooling) -> None:
        items = problem.items
        own = Items(items.counts[inside], items.codes[inside], items.numbers[inside])
        kernel.anneal(problem._replace(items=own), own_groups, k, cooling)

    try:
        for done in range(n_rounds):
            progress.step("refining", done, n_rounds)
            region_of_group = _regions(problem, found, n_regions, random)
            found = regions.search_regions(found, region_of_group, search_region, work / n_rounds, COLD, random)
        progress.step("refining", n_rounds, n_rounds)
    except KeyboardInterrupt:
        regions.warn_of_interruption()
    return found if float(errors_of_groups(problem, found).sum()) < before else groups


def _regions(problem: Problem, groups: Groups, n_regions: int, random: np.random.Generator) -> Groups:
    """The region of each group: halved again and again between two random items, near groups together."""
    items, apart = problem.items, problem.apart
    n_groups = int(groups.max()) + 1
    if n_regions == 1:
        return np.zeros(n_groups, dtype=np.int64)
    order = np.argsort(groups, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(groups))])
    centres = represent(problem.table, items.codes, items.counts, groups)
    means = np.add.reduceat(items.numbers[order], indptr[:-1], axis=0) / np.diff(indptr)[:, None]

    def distances(some: Groups, item: int) -> Floats:
        total: Floats = np.sum((means[some] - items.numbers[item]) ** 2, axis=1)
        for attribute in range(centres.shape[1]):
            total += apart[attribute, centres[some, attribute], items.codes[item, attribute]]
        return total

    def cut(part: Groups) -> tuple[Groups, int]:
        one, two = random.choice(order[np.isin(groups[order], part)], 2)
        ranked = part[np.argsort(distances(part, one) - distances(part, two), kind="stable")]
        sizes = np.cumsum(np.diff(indptr)[ranked])
        return ranked, int(np.clip(np.searchsorted(sizes, sizes[-1] / 2), 1, len(part) - 1))

    return regions.halved(n_groups, n_regions, cut)
