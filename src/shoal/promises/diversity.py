"""l-diversity: how many confidential values a group has, or how hard they are to guess.

Source: Machanavajjhala et al. (2007); distinct l-diversity is also called p-sensitive k-anonymity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.data.files import shown
from shoal.errors import InputError
from shoal.promises.requirements import ROUNDING, ConfidentialColumn, Ints, Requirement, ShareRequirement
from shoal.request.options import DISTINCT, ENTROPY, GroupPromises
from shoal.results.claims import Diversity

OPTION = "l"  # that promises it


@dataclass(frozen=True, eq=False)
class Distinct:
    """At least so many different values (distinct l-diversity; p-sensitive k-anonymity)."""

    codes: Ints
    least: int

    def met(self, rows: Ints) -> bool:
        return int(np.count_nonzero(np.bincount(self.codes[rows] + 1)[1:])) >= self.least

    def reveals_values(self, rows: Ints, parts: list[Ints]) -> bool:
        if self.least > 2:
            return False
        counts = np.bincount(self.codes[rows] + 1)  # a missing value may be what all of a part have
        return sum(int(np.count_nonzero(counts >= size)) for size in map(len, parts)) == 1

    def min_part_size(self, rows: Ints) -> Callable[[Ints], int]:
        counts = np.bincount(self.codes[rows] + 1)
        frequent = np.argsort(-counts, kind="stable")[: self.least - 1] - 1
        return lambda some: int(np.count_nonzero(~np.isin(self.codes[some], frequent)))


@dataclass(frozen=True, eq=False)
class Entropy(ShareRequirement):
    """As hard to guess as one of `l` values that are equally frequent (entropy l-diversity)."""

    codes: Ints
    l: float

    def enough(self, counts: Ints) -> bool:
        return different_values(counts) >= self.l * (1.0 - ROUNDING)


@dataclass(frozen=True, eq=False)
class Recursive(ShareRequirement):
    """The most frequent value is below c times all from the l-th on (recursive (c, l)-diversity)."""

    codes: Ints
    c: float
    l: int

    def enough(self, counts: Ints) -> bool:
        return ratio(counts, self.l) < self.c


def different_values(counts: Ints) -> float:
    """How many equally frequent values are as hard to guess: e to the entropy; 0 where there is none."""
    shares = counts[counts > 0] / max(int(counts.sum()), 1)
    return math.exp(-float(np.sum(shares * np.log(shares)))) if len(shares) else 0.0


def ratio(counts: Ints, l: int) -> float:
    """The most frequent value by all from the l-th on; infinite where there are none."""
    if not len(counts):
        return math.inf
    falling = np.sort(counts)[::-1]
    rest = int(falling[l - 1 :].sum())
    return int(falling[0]) / rest if rest else math.inf


def requirement(promises: GroupPromises, column: ConfidentialColumn) -> Requirement:
    """What l asks of a column."""
    assert promises.l is not None
    if promises.diversity == DISTINCT:
        return Distinct(column.codes, int(promises.l))
    if promises.diversity == ENTROPY:
        return Entropy(column.codes, promises.l)
    assert promises.c is not None
    return Recursive(column.codes, promises.c, int(promises.l))


def reachable(promises: GroupPromises, values: Mapping[str, int]) -> bool:
    """Whether all records together, with these values of a column, have what is promised of them by l."""
    counts = np.fromiter(values.values(), np.int64, len(values))
    if promises.l is None or not len(counts):
        return promises.l is None
    codes = np.repeat(np.arange(len(counts)), counts)
    return requirement(promises, ConfidentialColumn(codes, counts, ordered=False)).met(np.arange(len(codes)))


def check_kept(promises: GroupPromises, column: str, values: Mapping[str, int]) -> None:
    """No grouping gives groups more than all records have together."""
    if reachable(promises, values):
        return
    counts, l, name = np.fromiter(values.values(), np.int64, len(values)), promises.l, shown(column)
    assert l is not None
    if promises.diversity == DISTINCT or len(counts) < l:
        needed = math.ceil(l)
        raise InputError(f"l={l} needs {needed} different values, column {name} has {len(counts)}; lower l")
    if promises.diversity == ENTROPY:
        most = math.floor(100 * different_values(counts)) / 100
        raise InputError(
            f"l={l} by entropy is more than column {name} has in all: it is as hard to guess as {most:g} equally "
            f"frequent values; lower l to {most:g} or less"
        )
    least = math.floor(100 * ratio(counts, int(l)) + 1) / 100
    raise InputError(
        f"c={promises.c} with l={l} is less than column {name} has in all: its most frequent value has {least:g} times "
        f"the records of those from the {int(l)}th on; raise c above that, or lower l"
    )


def figures(column: str, values: Sequence[Mapping[str, int]], promises: GroupPromises) -> Diversity:
    """How many values of a column groups have; `values` has, for each group, how many records have each value."""
    distinct = [len(counts) for counts in values]
    different = {value for counts in values for value in counts}
    found = Diversity(column, min(distinct), sum(count <= 1 for count in distinct), len(distinct), len(different))
    if promises.l is None or promises.diversity == DISTINCT:
        return found
    groups = [np.fromiter(counts.values(), np.int64, len(counts)) for counts in values]
    if promises.diversity == ENTROPY:
        return replace(found, equally_frequent=round(min(map(different_values, groups)), 4))
    return replace(found, ratio=round(max(ratio(counts, int(promises.l)) for counts in groups), 4))
