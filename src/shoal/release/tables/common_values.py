"""What a group's values have in common: the band, the set or the concept that holds all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.data.kinds.number_forms import NumberForm
from shoal.methods.common_values import Tree, bands, common_ancestors, value_sets
from shoal.release.publishing.labels import MISSING
from shoal.release.tables.rows import ANY, BETWEEN, Floats, Ints, spelt
from shoal.request.options import AVERAGE, BLANK, GENERALISE
from shoal.terms.hierarchy import Hierarchy

BETWEEN_ENDS = " to "


@dataclass(frozen=True)
class Ordered:
    """A column with numbers behind its values: a group's values become a band."""

    values: pa.Array  # the different ones, without gaps
    numbers: Floats  # of each of them
    form: NumberForm
    merged: Callable[[int, int], str] | None = None  # of bands next to each other, the band they make

    def texts(self, places: Ints, groups: Ints) -> list[str | None]:
        """The band of each group."""
        low, high, misses = self.ends(places, groups)
        if self.merged is not None:
            ends = zip(np.nan_to_num(low).astype(int).tolist(), np.nan_to_num(high).astype(int).tolist(), strict=True)
            texts = [self.merged(*pair) for pair in ends]
        else:
            first, last = self._spelt(low), self._spelt(high)
            texts = [
                one if one == other else f"{one}{BETWEEN_ENDS}{other}" for one, other in zip(first, last, strict=True)
            ]
        return [_with_gap(text, band, gap) for text, band, gap in zip(texts, ~np.isnan(low), misses, strict=True)]

    def lost(self, places: Ints, group: Ints) -> Floats:
        """The share of the column's range that each row's band takes."""
        low, high, misses = self.ends(places, group)
        width = np.nan_to_num(high - low) / max(self.range, np.finfo(float).tiny)
        return np.where(misses & ~np.isnan(low), 1.0, width)[group]

    def usual_loss(self, counted: tuple[pa.Array, Ints]) -> float:
        """What a band of two records takes of the range, about."""
        counts = np.asarray(counted[1])[np.asarray(pc.index_in(self.values, value_set=counted[0]))]
        mean = np.average(self.numbers, weights=counts)
        deviation = float(np.sqrt(np.average((self.numbers - mean) ** 2, weights=counts)))
        return deviation / self.range if self.range > 0 else 0.0

    def ends(self, places: Ints, groups: Ints) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """The lowest and the highest number of each group, and whether it misses some."""
        low, high, misses = bands(np.where(places < 0, np.nan, self.numbers[places])[:, None], groups)
        return low[:, 0], high[:, 0], misses[:, 0]

    @property
    def range(self) -> float:
        """From the lowest to the highest value."""
        return float(np.ptp(self.numbers)) if len(self.numbers) else 0.0

    def _spelt(self, numbers: Floats) -> list[str]:
        written = self.form.written(np.nan_to_num(numbers, nan=float(self.numbers[0])), np.zeros(len(numbers), bool))
        return [spelt(value) for value in written.to_pylist()]


@dataclass(frozen=True)
class Named:
    """A column of categories: a group's values become a set of them, or with a hierarchy the concept above them."""

    values: pa.Array
    nodes: Ints  # of the hierarchy, of each value; without one, the value's place
    hierarchy: Hierarchy | None = None
    tree: Tree | None = None
    treatment: str = GENERALISE  # BLANK: no value in place of a set; AVERAGE: the most frequent one

    def texts(self, places: Ints, groups: Ints) -> list[str | None]:
        """The set, concept or most frequent value of each group."""
        if self.treatment == AVERAGE:
            return [None if place < 0 else spelt(self.values[place].as_py()) for place in self.modes(places, groups)]
        if self.treatment == BLANK:
            lowest, highest = extremes(places, groups)
            single = np.where(lowest == highest, lowest, -1).tolist()
            return [None if place < 0 else spelt(self.values[place].as_py()) for place in single]
        misses = np.bincount(groups, weights=places < 0) > 0
        if self.hierarchy is not None and self.tree is not None:
            texts = [self.hierarchy.label(int(node)) for node in self._above(places, groups)]
            known = np.bincount(groups, weights=places >= 0) > 0
            return [_with_gap(text, some, gap) for text, some, gap in zip(texts, known, misses, strict=True)]
        names = [spelt(value) for value in self.values.to_pylist()]
        indptr, members = value_sets(places, groups)
        sets = []
        for (start, end), gap in zip(pairwise(indptr.tolist()), misses.tolist(), strict=True):
            some = [names[place] for place in members[start:end].tolist() if place >= 0]
            text = ANY if 2 <= len(some) == len(names) else BETWEEN.join(sorted(some))
            sets.append(_with_gap(text, bool(some), gap))
        return sets

    def modes(self, places: Ints, groups: Ints) -> list[int]:
        """The most frequent value of each group; of equally frequent ones the first."""
        pairs, counts = np.unique(np.column_stack([groups, places]), axis=0, return_counts=True)
        order = np.lexsort((pairs[:, 1], -counts, pairs[:, 0]))
        first = np.unique(pairs[order, 0], return_index=True)[1]
        modes: list[int] = pairs[order[first], 1].tolist()
        return modes

    def lost(self, places: Ints, group: Ints) -> Floats:
        """The share of the column's values that each row's set or concept has; 0 for a single value."""
        if self.treatment == AVERAGE:
            changed: Floats = (np.array(self.modes(places, group))[group] != places).astype(np.float64)
            return changed
        misses = np.bincount(group, weights=places < 0) > 0
        indptr, _ = value_sets(places, group)
        sizes = np.diff(indptr) - np.bincount(group, weights=places < 0).astype(bool)
        share = np.where(sizes > 1, sizes / max(len(self.values), 1), 0.0)
        if self.tree is not None:
            share = np.where(sizes > 1, self.tree[1][self._above(places, group)] / self.tree[1].max(), 0.0)
        share = np.where(sizes > 1, 1.0, 0.0) if self.treatment == BLANK else share
        return np.where(misses & (sizes > 0), 1.0, share)[group]

    def usual_loss(self, counted: tuple[pa.Array, Ints]) -> float:
        """What a set of two records takes of the values, on average."""
        shares = np.asarray(counted[1]) / max(1, int(np.sum(counted[1])))
        differ = 1.0 - float(np.sum(shares**2))
        return differ if self.treatment == BLANK else 2.0 * differ / max(2, len(self.values))

    def _above(self, places: Ints, groups: Ints) -> Ints:
        """The lowest concept at or above all values of each group that are not missing."""
        assert self.tree is not None
        known = np.zeros(int(groups.max()) + 1, dtype=np.int64)
        np.maximum.at(known, groups, places)
        return common_ancestors(self.nodes[np.where(places < 0, known[groups], places)], groups, self.tree[0])


def tree_of(hierarchy: Hierarchy) -> Tree:
    """The hierarchy by its first parents, and the leaves below each node."""
    taxonomy = hierarchy.taxonomy
    parent = np.full(len(taxonomy), -1, dtype=np.int64)
    has_parent = np.diff(taxonomy.parent_indptr) > 0
    parent[has_parent] = taxonomy.parents[taxonomy.parent_indptr[:-1][has_parent]]
    leaves = np.zeros(len(taxonomy), dtype=np.int64)
    leaf = np.flatnonzero(~np.isin(np.arange(len(taxonomy)), parent))
    while len(leaf):
        np.add.at(leaves, leaf, 1)
        leaf = parent[leaf]
        leaf = leaf[leaf >= 0]
    return parent, leaves


def extremes(places: Ints, groups: Ints) -> tuple[Ints, Ints]:
    """The lowest and the highest place in each group."""
    n_groups = int(groups.max()) + 1
    lowest, highest = np.full(n_groups, np.iinfo(np.int64).max), np.full(n_groups, -1)
    np.minimum.at(lowest, groups, places)
    np.maximum.at(highest, groups, places)
    return lowest, highest


def _with_gap(text: str | None, known: Any, misses: Any) -> str | None:
    """A band, set or concept of a group in which values are missing; None if all are."""
    if not known:
        return None
    return f"{text}{BETWEEN}{MISSING}" if misses else text
