"""t-closeness: how far a group's values of a confidential column are from those of all records.

Source: Li, Li and Venkatasubramanian (2007). The distance is the earth mover's: what share of the group must change its
value, and for numbers over how many ranks, as a share of all. Missing values are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.results.claims import Closeness

__all__ = ["by_size", "closeness"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def closeness(column: str, values: Mapping[Any, Mapping[str, int]]) -> Closeness:
    """The largest distance of any group; `values` has, by group, how many records have each value."""
    different = {value for counts in values.values() for value in counts}
    ordered = by_size(different)
    place = {value: number for number, value in enumerate(ordered or sorted(different))}
    if len(place) <= 1:
        return Closeness(column, 0.0, ordered is not None)
    # One entry for every value that a group has: never groups times values, which may be millions each.
    entries = [
        (group, place[value], count)
        for group, counts in enumerate(counts for counts in values.values() if counts)
        for value, count in counts.items()
    ]
    group, value, count = (np.array(side, dtype=np.int64) for side in zip(*sorted(entries), strict=True))
    overall = np.bincount(value, weights=count) / count.sum()
    share = count / np.bincount(group, weights=count)[group]
    distances = _unordered if ordered is None else _ordered
    return Closeness(column, round(float(distances(group, value, share, overall).max()), 4), ordered is not None)


def _unordered(group: Ints, value: Ints, share: Floats, overall: Floats) -> Floats:
    """1 - what the two distributions have in common."""
    common = np.bincount(group, weights=np.minimum(share, overall[value]))
    return np.subtract(1.0, common, dtype=np.float64)


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
