"""t-closeness: how far a group's values of a confidential column are from those of all records.

Source: Li, Li and Venkatasubramanian (2007). The distance is the earth mover's: what share of the group must change its
value, and for numbers over how many ranks, as a share of all. Missing values are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation

import numpy as np

from shoal.promises.requirements import ROUNDING, ConfidentialColumn, Floats, Ints, Requirement, ShareRequirement
from shoal.request.options import GroupPromises
from shoal.results.claims import Closeness

OPTION = "t"  # that promises it
MOST_SIGNALS = 10  # values of a column of labels that are looked at when groups are balanced


class Close(ShareRequirement):
    """Values at most t from those of all records, by the earth mover's distance (t-closeness).

    `overall` has how many of all records have each value; `ordered`: codes are ranks of numbers, and moving a value
    over more ranks counts more. Rows without any value are as near as can be.
    """

    def __init__(self, codes: Ints, t: float, overall: Ints, ordered: bool) -> None:
        self.codes = codes
        self.t = t
        self.ordered = ordered
        self._shares = overall / max(int(overall.sum()), 1)
        self._below = np.cumsum(self._shares)

    def signals(self) -> Floats:
        """The values as numbers around 0, a column each: their ranks, or which of the frequent values it is."""
        known = self.codes >= 0
        if not known.any():
            return np.zeros((len(known), 1))
        frequent = np.argsort(-self._shares, kind="stable")[:MOST_SIGNALS]
        read = self.codes[:, None] if self.ordered else self.codes[:, None] == frequent
        signals: Floats = np.where(known[:, None], read - read[known].mean(axis=0), 0.0)
        return signals / max(float(signals.std()), ROUNDING)

    def enough(self, counts: Ints) -> bool:
        return self.distance(counts) <= self.t + ROUNDING

    def distance(self, counts: Ints) -> float:
        """Of these counts of values from those of all; the last ones may be left out."""
        total, n_values = int(counts.sum()), len(self._shares)
        if total == 0 or n_values == 1:
            return 0.0
        counts = np.concatenate([counts, np.zeros(n_values - len(counts), dtype=np.int64)])
        if self.ordered:
            return float(np.abs(np.cumsum(counts) / total - self._below).sum()) / (n_values - 1)
        return 1.0 - float(np.minimum(counts / total, self._shares).sum())


def requirement(promises: GroupPromises, column: ConfidentialColumn) -> Requirement:
    """What t asks of a column."""
    assert promises.t is not None
    return Close(column.codes, promises.t, column.overall, column.ordered)


def figures(column: str, values: Sequence[Mapping[str, int]]) -> Closeness:
    """The largest distance of any group; `values` has, for each group, how many records have each value."""
    different = {value for counts in values for value in counts}
    ordered = by_size(different)
    place = {value: number for number, value in enumerate(ordered or sorted(different))}
    if not place:
        return Closeness(column, 0.0, ordered is not None)
    # One entry for every value that a group has: never groups times values, which may be millions each.
    entries = [
        (group, place[value], count)
        for group, counts in enumerate(counts for counts in values if counts)
        for value, count in counts.items()
    ]
    group, value, count = (np.array(side, dtype=np.int64) for side in zip(*sorted(entries), strict=True))
    return Closeness(column, round(largest_distance(group, value, count, ordered is not None), 4), ordered is not None)


def largest_distance(group: Ints, value: Ints, count: Ints, ordered: bool) -> float:
    """The largest distance of any group; entries are sorted by group and value, and both are numbered from 0."""
    overall = np.bincount(value, weights=count) / count.sum()
    if len(overall) == 1:
        return 0.0
    share = count / np.bincount(group, weights=count)[group]
    if ordered:
        return float(_ordered(group, value, share, overall).max())
    in_common = np.bincount(group, weights=np.minimum(share, overall[value]))
    return float((1.0 - in_common).max())


def _ordered(group: Ints, value: Ints, share: Floats, overall: Floats) -> Floats:
    """Sum over the ranks of the difference of the two cumulative distributions, over the number of steps."""
    below = np.cumsum(overall)  # cumulative distribution of all
    area = np.concatenate(([0.0], np.cumsum(below)))
    first = np.concatenate(([True], group[1:] != group[:-1]))
    ends = np.flatnonzero(np.concatenate((first[1:], [True])))
    total = np.cumsum(share)
    height = total - np.concatenate(([0.0], total[ends[:-1]]))[group]  # of the group, from this value to its next
    stop = np.concatenate((value[1:], [0]))
    stop[ends] = len(overall)
    cross = np.clip(np.searchsorted(below, height), value, stop)
    between = height * (cross - value) - (area[cross] - area[value])
    between += (area[stop] - area[cross]) - height * (stop - cross)
    before = area[value[first]]  # below its first value the group has nothing
    distance: Floats = (np.bincount(group, weights=between) + before) / (len(overall) - 1)
    return distance


def by_size(values: Iterable[str]) -> list[str] | None:
    """The values as numbers, rising; None if one is no number."""
    try:
        return sorted(values, key=Decimal)
    except InvalidOperation:
        return None
