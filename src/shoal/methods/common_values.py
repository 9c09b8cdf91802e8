"""Groups of at least k rows for common values: every cell becomes the smallest band, set or ancestor of its group.

    widening_groups(numbers, codes, k, widening, *, strata, refine, time_budget, random_state) -> (n,) group of each row
    bands(numbers, groups) -> (g, a) lowest, (g, a) highest, (g, a) whether the group misses some
    value_sets(codes, groups) -> (indptr, values): the different values of group g are values[indptr[g]:indptr[g + 1]]
    common_ancestors(codes, groups, parent) -> (g,) lowest node at or above all values of the group

The loss of a cell (NCP) is between 0 and the importance of its column: of a number width of the band / range of the
column; of a value without structure u / all values if the group has u > 1 different ones, else 0; of a value of a
hierarchy leaves below the lowest common ancestor / all leaves, 0 if all are equal. A missing value (NaN, code -1) is a
value of its own: a group of missing ones only loses nothing, and one that has both loses the whole column.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from shoal import progress
from shoal.kernels.grouping import gathering
from shoal.kernels.grouping import widening as kernel
from shoal.kernels.grouping import widening_search as search
from shoal.kernels.grouping.refinement import Cooling
from shoal.kernels.threads import side_by_side
from shoal.methods.mdav import numbered_by_first_row
from shoal.methods.refinement import warn_of_interruption, without_large_groups

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Tree = tuple[Ints, Ints]  # parent of each node (-1: none), leaves below it (1 for a leaf)

STARTED = 250_000  # rows that are grouped together at most, and
SEARCHED = 1600  # groups that are searched together: more would take longer and gain little
LARGEST = 50_000  # rows of these
ROUNDS = 3  # of the search, each in other regions
HOT, COLD = 0.05, 0.005  # temperatures, as shares of what a row loses on average before the search
STEP = 2e-7  # seconds, about
STEPS_PER_ROW = 175  # unless a budget is given: twice as many gain 1.5 %
MOST_SETS = 1024  # of columns left blank together that are tried: all of ten columns
ONE = 1 << 40  # what a cell of importance 1 loses at most: losses are counted in whole numbers
FAR = 1 << 60  # where missing numbers are


@dataclass(frozen=True)
class Widening:
    """What makes the loss of a cell comparable across columns."""

    ranges: Floats  # (a,) range of each column of numbers
    sizes: Ints  # (b,) how many values each column of codes has
    trees: Sequence[Tree | None]  # (b,) the hierarchy of each column of codes; codes are nodes of it
    importance: Floats  # (a + b,)


def widening_of(
    numbers: Floats, codes: Ints, trees: Sequence[Tree | None] | None = None, importance: Floats | None = None
) -> Widening:
    """Ranges and numbers of values as they are in the table."""
    present = np.where(np.isfinite(numbers), numbers, np.nan)
    filled = np.isfinite(numbers).any(axis=0)
    ranges = np.zeros(numbers.shape[1])
    ranges[filled] = np.nanmax(present[:, filled], axis=0) - np.nanmin(present[:, filled], axis=0)
    sizes = np.array([len(np.unique(column[column >= 0])) for column in codes.T], dtype=np.int64)
    n_columns = numbers.shape[1] + codes.shape[1]
    return Widening(
        ranges,
        sizes,
        [None] * codes.shape[1] if trees is None else trees,
        np.ones(n_columns) if importance is None else importance,
    )


def widening_groups(
    numbers: Floats,
    codes: Ints,
    k: int,
    widening: Widening,
    *,
    strata: Ints | None = None,
    refine: bool = True,
    time_budget: float | None = None,
    random_state: Any = None,
) -> Ints:
    """Groups of k to 2k - 1 rows that lose little, numbered by first row; they never cross strata.

    Where every column is blanked (its size is 1), they are made for few blanks, and a few may be larger. Every stratum
    must have at least k rows. The budget is an amount of work that takes about so many seconds of one
    core; None is 35 milliseconds per thousand rows.
    """
    n = len(numbers)
    random = np.random.default_rng(check_random_state(0 if random_state is None else random_state).randint(2**31))
    columns = columns_of(numbers, codes, widening)
    stratum = np.zeros(n, dtype=np.int64) if strata is None else np.unique(strata, return_inverse=True)[1]
    if (columns.kinds[:, kernel.KIND] == kernel.SET).all() and (widening.sizes == 1).all():
        return numbered_by_first_row(_few_blanks(columns, stratum, k))
    groups = _equal_rows(columns, stratum, k)
    pooled = np.flatnonzero(groups < 0)
    part = _Part(_chosen(columns, pooled), stratum[pooled], k, random)
    own = part.started()
    if refine:
        own = part.searched(own, n * STEPS_PER_ROW if time_budget is None else float(time_budget) / STEP)
    groups[pooled] = own + groups.max() + 1
    return numbered_by_first_row(groups)


def columns_of(numbers: Floats, codes: Ints, widening: Widening) -> kernel.Columns:
    """The table as the kernels take it: scaled by range and importance, all values and nodes numbered together."""
    n_numbers, n_codes = numbers.shape[1], codes.shape[1]
    whole = np.round(widening.importance * ONE).astype(np.int64)
    cells = np.empty((len(numbers), n_numbers + n_codes), dtype=np.int64)
    kinds = np.zeros((n_numbers + n_codes, 4), dtype=np.int64)
    kinds[:, kernel.WHOLE] = whole
    for column in range(n_numbers):
        there = np.isfinite(numbers[:, column])
        low, width = numbers[there, column].min(initial=np.inf), widening.ranges[column]
        shares = (numbers[there, column] - low) / width if width > 0 else np.zeros(there.sum())
        cells[there, column] = np.round(shares * whole[column])
        cells[~there, column] = FAR
    nodes = [np.empty((0, 2), dtype=np.int64)]
    offset = 0
    for column, tree in enumerate(widening.trees):
        if tree is None:
            own, node_of_code = _flat(int(widening.sizes[column]), codes[:, column])
        else:
            own, node_of_code = _numbered_from_root(*tree)
        place = n_numbers + column
        cells[:, place] = node_of_code[codes[:, column]] + offset  # code -1 is the last one
        kinds[place, kernel.KIND] = kernel.SET if tree is None else kernel.TREE
        kinds[place, kernel.UNIT] = whole[place] // own[:, kernel.WEIGHT].max()
        kinds[place, kernel.ROOT] = offset
        nodes.append(np.column_stack([np.where(own[:, 0] >= 0, own[:, 0] + offset, -1), own[:, 1]]))
        offset += len(own)
    return kernel.Columns(cells, kinds, np.concatenate(nodes))


def _flat(size: int, codes: Ints) -> tuple[Ints, Ints]:
    """Values without structure as nodes without parents; the last is the missing one, which weighs as much as all."""
    n_codes = int(codes.max(initial=-1)) + 1
    nodes = np.column_stack([np.full(n_codes + 1, -1), np.ones(n_codes + 1, dtype=np.int64)])
    nodes[-1, kernel.WEIGHT] = max(size, 1)
    return nodes, np.arange(n_codes + 1)


def _numbered_from_root(parent: Ints, leaves: Ints) -> tuple[Ints, Ints]:
    """A hierarchy in which whatever is below a node comes right after it, and the node of each code.

    Each node of the hierarchy gets a leaf of its own for the rows whose value it is, so that equal values share a leaf.
    The root, node 0, is above all: a missing value, the last code, is a leaf right below it.
    """
    n = len(parent)
    parent = np.where(parent == np.arange(n), -1, parent)
    below: list[list[int]] = [[] for _ in range(n + 1)]  # the last has those at the top
    for node, above in enumerate(parent.tolist()):
        below[above].append(node)
    waiting, order = below[n][::-1], []
    while waiting:
        order.append(waiting.pop())
        waiting += below[order[-1]][::-1]
    number = np.empty(n + 1, dtype=np.int64)
    number[order], number[-1] = np.arange(1, 2 * n, 2), 0
    all_leaves = int(leaves[parent < 0].sum())
    nodes = np.empty((2 * n + 2, 2), dtype=np.int64)
    nodes[0], nodes[-1] = (-1, all_leaves), (0, all_leaves)
    nodes[number[:-1]] = np.column_stack([number[parent], leaves])
    nodes[number[:-1] + 1] = np.column_stack([number[:-1], leaves])
    return nodes, np.append(number[:-1] + 1, 2 * n + 1)


def _equal_rows(columns: kernel.Columns, stratum: Ints, k: int) -> Ints:
    """Groups of k equal rows where there are at least 2k; k to 2k - 1 of them, and all others, stay in group -1."""
    keys = (*columns.cells.T, stratum)
    order = np.lexsort(keys)
    new = np.zeros(len(stratum), dtype=np.bool_)
    for key in keys:
        new[1:] |= key[order][1:] != key[order][:-1]
    tuple_of_row = np.cumsum(new)
    counts = np.bincount(tuple_of_row)
    number_in_tuple = np.arange(len(stratum)) - np.repeat(np.cumsum(counts) - counts, counts)
    n_groups = np.maximum(counts // k - 1, 0)
    first = np.cumsum(n_groups) - n_groups
    piece = number_in_tuple // k
    groups = np.empty(len(stratum), dtype=np.int64)
    groups[order] = np.where(piece < n_groups[tuple_of_row], first[tuple_of_row] + piece, -1)
    return groups


def _few_blanks(columns: kernel.Columns, stratum: Ints, k: int) -> Ints:
    """Groups of rows that are alike but for a few columns: the sets of columns that lose least are left out first.

    Of two sets that lose the same, that with more values: it brings more rows together. A search that moves rows
    between these groups hardly finds better ones.
    """
    n_columns, importance = len(columns.kinds), columns.kinds[:, kernel.WHOLE]
    n_values = np.array([len(np.unique(cells)) for cells in columns.cells.T])
    by_size = (itertools.combinations(range(n_columns), size) for size in range(n_columns + 1))
    left_out = list(itertools.islice(itertools.chain.from_iterable(by_size), MOST_SETS))
    groups, n_groups = np.full(len(stratum), -1), 0
    for blanked in sorted(left_out, key=lambda some: (importance[list(some)].sum(), -n_values[list(some)].prod())):
        waiting = np.flatnonzero(groups < 0)
        key = stratum[waiting]
        for cells in np.delete(columns.cells[waiting], blanked, axis=1).T:
            key = np.unique(key * (int(cells.max(initial=0)) + 1) + cells, return_inverse=True)[1]
        crowded = (np.bincount(key) >= k)[key]
        groups[waiting[crowded]] = n_groups + np.unique(key[crowded], return_inverse=True)[1]
        n_groups = int(groups.max()) + 1
    waiting = np.flatnonzero(groups < 0)
    waiting = waiting[np.argsort(stratum[waiting], kind="stable")]
    own, _ = gathering.gather(_chosen(columns, waiting), stratum[waiting], k)
    groups[waiting] = np.where(own >= 0, own + n_groups, -1)
    grouped = groups >= 0
    groups[grouped] = numbered_by_first_row(without_large_groups(groups[grouped], k))
    # Fewer than k of each stratum wait, and groups have fewer than 2k rows: there is room.
    gathering.place_rest(columns, stratum, groups, int(groups.max()) + 1, 3 * k - 1)
    return groups


def _chosen(columns: kernel.Columns, rows: Ints) -> kernel.Columns:
    """Some of the rows, with only the nodes at or above their values."""
    cells, kinds, nodes = columns
    labels = kinds[:, kernel.KIND] != kernel.NUMBER
    used = np.zeros(len(nodes), dtype=np.bool_)
    climbing = np.append(np.unique(cells[rows][:, labels]), kinds[kinds[:, kernel.KIND] == kernel.TREE, kernel.ROOT])
    while len(climbing):
        used[climbing] = True
        climbing = np.unique(nodes[climbing, kernel.PARENT])
        climbing = climbing[climbing >= 0]
    number = np.append(np.cumsum(used) - 1, -1)  # the last is for no parent
    cells, kinds = cells[rows], kinds.copy()
    cells[:, labels] = number[cells[:, labels]]
    kinds[labels, kernel.ROOT] = number[kinds[labels, kernel.ROOT]]
    parent, weight = nodes[used].T
    return kernel.Columns(cells, kinds, np.column_stack([number[parent], weight]))


class _Part:
    """Rows to group, in regions of some thousand that are searched side by side."""

    def __init__(self, columns: kernel.Columns, stratum: Ints, k: int, random: np.random.Generator) -> None:
        self.columns = columns
        self.stratum = stratum
        self.k = k
        self.random = random

    def started(self) -> Ints:
        """Groups by the k-member rule in each region."""

        def start(rows: Ints) -> Ints:
            columns, stratum = _chosen(self.columns, rows), self.stratum[rows]
            group_of, n_groups = gathering.gather(columns, stratum, self.k)
            gathering.place_rest(columns, stratum, group_of, n_groups, 2 * self.k - 1)
            return group_of

        regions = self._regions(np.arange(len(self.stratum)), STARTED)
        groups, first = np.empty(len(self.stratum), dtype=np.int64), 0
        for rows, own in zip(regions, side_by_side(start, [(rows,) for rows in regions]), strict=True):
            groups[rows] = own + first
            first += int(own.max()) + 1
        return groups

    def searched(self, groups: Ints, steps: float) -> Ints:
        """Cheaper groups: in every round other regions, and a lower temperature."""
        columns = _chosen(self.columns, np.arange(len(groups)))
        before = float(costs_of(columns, groups).sum())
        if before <= 0.0:
            return groups
        scale = ONE * before / len(groups)
        levels = scale * HOT * (COLD / HOT) ** (np.arange(ROUNDS + 1) / ROUNDS)
        searched = groups
        try:
            for done in range(ROUNDS):
                progress.step("refining", done, ROUNDS)
                searched = self._round(searched, steps / ROUNDS, float(levels[done]), float(levels[done + 1]))
            progress.step("refining", ROUNDS, ROUNDS)
        except KeyboardInterrupt:
            warn_of_interruption()
        return searched if float(costs_of(columns, searched).sum()) < before else groups

    def _round(self, groups: Ints, steps: float, warm: float, cold: float) -> Ints:
        parts = []
        seeds = self.random.integers(1, 2**62, size=len(groups))
        for number, rows in enumerate(self._regions(groups, min(SEARCHED * self.k, LARGEST))):
            own_groups, own = np.unique(groups[rows], return_inverse=True)
            work = Cooling(steps * len(rows) / len(groups), warm, cold, int(seeds[number]))
            parts.append((rows, own_groups, own.astype(np.int64), work))

        def search_region(rows: Ints, own_groups: Ints, own: Ints, cooling: Cooling) -> None:
            search.anneal(_chosen(self.columns, rows), self.stratum[rows], own, self.k, len(own_groups), cooling)
            groups[rows] = own_groups[own]

        groups = groups.copy()
        side_by_side(search_region, parts)
        return groups

    def _regions(self, item_of_row: Ints, most: int) -> list[Ints]:
        """The rows of each region: whole items, near each other; small strata side by side, large ones cut."""
        order = np.lexsort((item_of_row, self.stratum))
        items = item_of_row[order]
        starts = np.flatnonzero(np.append(True, items[1:] != items[:-1]))
        sizes = np.diff(np.append(starts, len(order)))
        first = order[starts]  # row of each item
        keys = self.columns.cells[first]
        begin = np.unique(self.stratum[first], return_index=True)[1]
        parts: list[Ints] = []
        waiting: list[Ints] = []
        for some in np.split(np.arange(len(first)), begin[1:]):
            if sizes[some].sum() > most:
                parts += self._cut(some, keys, sizes, most)
                continue
            if sizes[some].sum() + sum(int(sizes[other].sum()) for other in waiting) > most:
                parts.append(np.concatenate(waiting))
                waiting = []
            waiting.append(some)
        if waiting:
            parts.append(np.concatenate(waiting))
        region_of_item = np.empty(len(first), dtype=np.int64)
        for number, some in enumerate(parts):
            region_of_item[some] = number
        region_of_row = np.empty(len(order), dtype=np.int64)
        region_of_row[order] = np.repeat(region_of_item, sizes)
        by_region = np.lexsort((self.stratum, region_of_row))
        return np.split(by_region, np.flatnonzero(np.diff(region_of_row[by_region])) + 1)

    def _cut(self, some: Ints, keys: Ints, sizes: Ints, most: int) -> list[Ints]:
        """Halves of halves, each of at most `most` rows."""
        if sizes[some].sum() <= most or len(some) < 2:
            return [some]
        columns = self.random.permutation(keys.shape[1])
        column = next((column for column in columns if np.ptp(keys[some, column]) > 0), 0)
        ranked = some[np.argsort(keys[some, column], kind="stable")]
        rows = np.cumsum(sizes[ranked])
        middle = int(np.clip(np.searchsorted(rows, rows[-1] / 2), 1, len(ranked) - 1))
        halves = np.sort(ranked[:middle]), np.sort(ranked[middle:])
        return [part for half in halves for part in self._cut(half, keys, sizes, most)]


def costs_of(columns: kernel.Columns, groups: Ints) -> Floats:
    """(g,) what each group costs: its size times the loss of a row, the sum over its cells."""
    order = np.argsort(groups, kind="stable")
    counts = np.bincount(groups)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    costs: Floats = kernel.costs(columns, order, indptr) / ONE
    return costs


def bands(numbers: Floats, groups: Ints) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Lowest and highest number of each group and column (NaN if all are missing), and whether some are missing."""
    order = np.argsort(groups, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(groups))[:-1]])
    ordered = numbers[order]
    low = np.minimum.reduceat(np.where(np.isnan(ordered), np.inf, ordered), starts)
    high = np.maximum.reduceat(np.where(np.isnan(ordered), -np.inf, ordered), starts)
    empty = low > high
    low[empty], high[empty] = np.nan, np.nan
    return low, high, np.logical_or.reduceat(np.isnan(ordered), starts)


def value_sets(codes: Ints, groups: Ints) -> tuple[Ints, Ints]:
    """The different codes of each group, rising, -1 among them: values[indptr[g] : indptr[g + 1]]."""
    base = int(codes.max(initial=0)) + 2
    pairs = np.unique(groups * base + codes + 1)
    owner, values = pairs // base, pairs % base - 1
    return np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=int(groups.max()) + 1))]), values


def common_ancestors(codes: Ints, groups: Ints, parent: Ints) -> Ints:
    """(g,) the lowest node at or above all codes of the group; -1 if there is none, or if only some are missing."""
    indptr, values = value_sets(codes, groups)
    nodes: Ints = kernel.common_ancestors(indptr, values, np.where(parent == np.arange(len(parent)), -1, parent))
    return nodes
