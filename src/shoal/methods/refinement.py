"""Refinement: from any partition to a better one. Regions of near groups are searched side by side.

Each region has a random stream and an amount of work of its own, so neither the number of threads nor the machine's
speed shows in the result. Rows in Euclidean space or on the sphere are searched by destroy and repair (see
kernels/grouping/refinement.py), labels and numbers by moves and swaps (kernels/grouping/label_refinement.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import pairwise
from threading import Event, Lock
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from shoal import progress
from shoal.errors import SearchStopped
from shoal.kernels.grouping import label_refinement, refinement
from shoal.kernels.grouping.group_errors import Items, Problem, group_errors
from shoal.kernels.grouping.labels import represent
from shoal.kernels.grouping.refinement import Cooling
from shoal.kernels.threads import side_by_side
from shoal.methods.mdav import EuclideanSpace, SphericalSpace, numbered_by_first_row

Groups = NDArray[np.int64]
Floats = NDArray[np.float64]

CORES = 2  # a second of the budget is a second on this many cores
HOT, WARM = 0.1, 0.01  # temperatures to start from, as shares of the error of the groups at hand

# Rows in Euclidean space or on the sphere.
COLD = 0.001  # temperature in the end
REGION_ROWS = 400  # a region, searched by one core, has at least this many rows
FREED_ROWS, FREED_GROUPS = 80, 8  # about how many are divided anew at a time
CYCLE = 0.1  # seconds for a region to cool down, at least; longer when there is time for more than ROUNDS
ROUNDS, ROUNDS_OF_SMALL_GROUPS, SMALL = 40, 16, 5  # groups of fewer than 5 have more ways to go, and cool longer
BY_SPREAD = 0.25  # share of the cuts between regions

# Labels, or labels and numbers.
COLD_LABELS = 0.0003
REGION_ITEMS = 1000
CYCLE_OF_LABELS = 0.5
_all_cores = Lock()  # a search takes all cores, and memory for each: one at a time

AT_A_TIME = 4096  # groups that are measured at once: each takes a few kilobytes


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
    n_rows = X.shape[0]
    random = _random_stream(random_state)
    X = sp.csr_matrix(X, dtype=np.float64)
    rows = refinement.Rows(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, X.shape[1])
    groups = numbered_by_first_row(without_large_groups(groups, k))
    n_regions = _number_of_regions(n_rows, max(REGION_ROWS, 4 * k))
    work = _work(time_budget, n_rows, n_regions)
    n_rounds = int(
        np.clip(round(work / (CYCLE * 1e9 * n_regions)), 4, ROUNDS if k >= SMALL else ROUNDS_OF_SMALL_GROUPS)
    )
    if n_rows < 2 * k or space.errors(X, groups).sum() <= 1e-12 * n_rows:
        n_rounds = 0  # there is one group, or nothing to gain

    def search_region(inside: Groups, own_groups: Groups, cooling: Cooling) -> None:
        if len(inside) > refinement.LARGEST_REGION:
            return  # its products would take too much memory
        gram = np.empty((len(inside), len(inside)))
        left = cooling.work - refinement.PRODUCT * refinement.products(rows, inside, gram)
        most_freed = int(np.clip(FREED_ROWS // k, 2, FREED_GROUPS))
        refinement.anneal(gram, own_groups, k, space.number, most_freed, cooling._replace(work=left))

    def search_all(groups: Groups) -> Groups:
        return _search_regions(
            groups, _split(X, groups, n_regions, random), search_region, work / n_rounds, COLD, random
        )

    with _all_cores:
        return _searched(groups, search_all, n_rounds, stop)


def regrouped(problem: Problem, groups: Groups, k: int, time_budget: float | None, random_state: Any) -> Groups:
    """Groups of at least k records with no more error than those given, numbered by first item.

    For labels, or labels and numbers. The budget is as in `refined`; Ctrl-C ends the search early.
    """
    n_items = len(groups)
    n_records = int(problem.items.counts.sum())
    random = _random_stream(random_state)
    groups = numbered_by_first_row(groups)
    before = float(errors_of_groups(problem, groups).sum())
    if n_items < 2 or before <= 0.0 or n_records < 2 * k:
        return groups  # nothing to gain, or room for one group only
    n_regions = _number_of_regions(n_items, max(REGION_ITEMS, 4 * k))
    seconds = usual_seconds_of_labels(n_items) if time_budget is None else float(time_budget)
    work = _work(seconds, n_records, n_regions)
    n_rounds = max(4, round(work / (CYCLE_OF_LABELS * 1e9 * n_regions)))
    # Each round looks for neighbours first: that may take half of the work, not all.
    n_cells = problem.items.codes.shape[1] + problem.items.numbers.shape[1]
    neighbours = label_refinement.PAIR * n_cells * n_items * n_items / n_regions
    n_rounds = max(1, min(n_rounds, int(0.5 * work / neighbours)))

    def search_region(inside: Groups, own_groups: Groups, cooling: Cooling) -> None:
        items = problem.items
        own = Items(items.counts[inside], items.codes[inside], items.numbers[inside])
        label_refinement.anneal(problem._replace(items=own), own_groups, k, cooling)

    def search_all(groups: Groups) -> Groups:
        region_of_group = _split_labels(problem, groups, n_regions, random)
        return _search_regions(groups, region_of_group, search_region, work / n_rounds, COLD_LABELS, random)

    searched = _searched(groups, search_all, n_rounds, None)
    return searched if float(errors_of_groups(problem, searched).sum()) < before else groups


def errors_of_groups(problem: Problem, groups: Groups) -> Floats:
    """The error of each group about its centre."""
    items, n_groups = problem.items, int(groups.max()) + 1
    order = np.argsort(groups, kind="stable")
    ends = np.searchsorted(groups[order], np.arange(0, n_groups + AT_A_TIME, AT_A_TIME))
    errors = [np.empty(0)]
    for number, (start, end) in enumerate(pairwise(ends.tolist())):
        some, first = order[start:end], number * AT_A_TIME
        part = problem._replace(items=Items(items.counts[some], items.codes[some], items.numbers[some]))
        errors.append(group_errors(part, groups[some] - first, min(AT_A_TIME, n_groups - first)))
    return np.concatenate(errors)


def usual_seconds(n_rows: int) -> float:
    """How long the search takes unless a budget is given: a second for a thousand rows, at most ten."""
    return float(np.clip(n_rows / 1000, 0.05, 10.0))


def usual_seconds_of_labels(n_items: int) -> float:
    """The same for labels: a second for a thousand items, beyond the first thousand 40 microseconds for each."""
    return float(np.clip(n_items / 1000, 0.05, 1.0 + 4e-5 * n_items))


def warn_of_interruption() -> None:
    """Warn that the search ended before its budget was used."""
    warnings.warn("the search was interrupted: the best groups so far are kept", SearchStopped, stacklevel=3)


def without_large_groups(groups: Groups, k: int) -> Groups:
    """Groups of 2k rows or more cut into groups of k and a last one of k to 2k - 1, which never raises the error."""
    size = np.bincount(groups)
    order = np.argsort(groups, kind="stable")
    number_in_group = np.empty_like(order)
    number_in_group[order] = np.arange(len(groups)) - np.repeat(np.cumsum(size) - size, size)
    piece = np.minimum(number_in_group // k, np.maximum(size // k - 1, 0)[groups])
    return groups * len(groups) + piece


def _searched(groups: Groups, search_all: Callable[[Groups], Groups], n_rounds: int, stop: Event | None) -> Groups:
    """The groups after `n_rounds` rounds, or fewer if Ctrl-C or `stop` ends the search."""
    try:
        for done in range(n_rounds):
            if stop is not None and stop.is_set():
                return groups
            progress.step("refining", done, n_rounds)
            groups = search_all(groups)
        progress.step("refining", n_rounds, n_rounds)
    except KeyboardInterrupt:
        if stop is not None:
            stop.set()
        warn_of_interruption()
    return groups


def _work(time_budget: float | None, n_rows: int, n_regions: int) -> float:
    """The budget in nanoseconds of one core."""
    seconds = usual_seconds(n_rows) if time_budget is None else float(time_budget)
    return seconds * 1e9 * min(CORES, n_regions)


def _random_stream(random_state: Any) -> np.random.Generator:
    """The random numbers of a whole search; None is 0."""
    return np.random.default_rng(check_random_state(0 if random_state is None else random_state).randint(2**31))


def _number_of_regions(n_rows: int, least: int) -> int:
    """The largest power of two that leaves every region at least `least` rows."""
    n_regions = 1
    while n_rows >= 2 * n_regions * least:
        n_regions *= 2
    return n_regions


def _search_regions(
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
    searched = np.empty_like(groups)
    searched[order] = region_of_row[order] * len(groups) + inside
    return numbered_by_first_row(searched)


def _number_in_region(region_of_group: Groups) -> Groups:
    """Each group's number among those of its region."""
    order = np.argsort(region_of_group, kind="stable")
    n_groups = np.bincount(region_of_group)
    number = np.empty_like(order)
    number[order] = np.arange(len(order)) - np.repeat(np.cumsum(n_groups) - n_groups, n_groups)
    return number


def _split(X: sp.csr_matrix, groups: Groups, n_regions: int, random: np.random.Generator) -> Groups:
    """The region of each group: halved at the median again and again.

    Along the difference of two groups' means, so that near groups stay together; now and then by how spread out the
    groups are, so that far-out records, whose company is the hardest to choose, meet.
    """
    n_rows, n_groups = len(groups), int(groups.max()) + 1
    if n_regions == 1:
        return np.zeros(n_groups, dtype=np.int64)
    average = sp.csr_matrix((1.0 / np.bincount(groups)[groups], (groups, np.arange(n_rows))))
    mean = average @ X
    spread = _row_sums(average @ X.multiply(X)) - _row_sums(mean.multiply(mean))

    def cut(part: Groups) -> tuple[Groups, int]:
        first, second = random.choice(part, 2)
        along = _row_sums(mean[part] @ (mean[[first]] - mean[[second]]).T)
        if random.random() < BY_SPREAD:
            along = spread[part]
        return part[np.argsort(along, kind="stable")], len(part) // 2

    return _halved(n_groups, n_regions, cut)


def _split_labels(problem: Problem, groups: Groups, n_regions: int, random: np.random.Generator) -> Groups:
    """The region of each group: halved again and again between two random items, near groups together."""
    items, apart = problem.items, problem.apart
    n_groups = int(groups.max()) + 1
    if n_regions == 1:
        return np.zeros(n_groups, dtype=np.int64)
    order = np.argsort(groups, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(groups))])
    centres = represent(problem.table, items.codes, items.counts, groups)
    means = np.add.reduceat(items.numbers[order], indptr[:-1], axis=0) / np.diff(indptr)[:, None]

    def distances(chosen: Groups, item: int) -> Floats:
        total: Floats = np.sum((means[chosen] - items.numbers[item]) ** 2, axis=1)
        for attribute in range(centres.shape[1]):
            total += apart[attribute, centres[chosen, attribute], items.codes[item, attribute]]
        return total

    def cut(part: Groups) -> tuple[Groups, int]:
        members = [order[random.integers(indptr[group], indptr[group + 1])] for group in random.choice(part, 2)]
        first, second = int(members[0]), int(members[1])
        ranked = part[np.argsort(distances(part, first) - distances(part, second), kind="stable")]
        sizes = np.cumsum(np.diff(indptr)[ranked])
        return ranked, int(np.clip(np.searchsorted(sizes, sizes[-1] / 2), 1, len(part) - 1))

    return _halved(n_groups, n_regions, cut)


def _halved(n_groups: int, n_parts: int, cut: Callable[[Groups], tuple[Groups, int]]) -> Groups:
    """The part of each group: halved again and again. `cut` gives the groups of a part in order, and where to cut."""
    parts = [np.arange(n_groups)]
    while len(parts) < n_parts:
        ordered = [cut(part) for part in parts]
        parts = [np.sort(half) for order, middle in ordered for half in (order[:middle], order[middle:])]
    part_of_group = np.empty(n_groups, dtype=np.int64)
    for number, part in enumerate(parts):
        part_of_group[part] = number
    return part_of_group


def _row_sums(matrix: sp.csr_matrix) -> Floats:
    return np.asarray(matrix.sum(axis=1)).ravel()
