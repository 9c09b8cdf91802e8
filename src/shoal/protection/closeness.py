"""t-closeness: how far a group's values of a confidential column are from those of all records.

Source: Li, Li and Venkatasubramanian (2007). The distance is the earth mover's: what share of the group must change its
value, and for numbers over how many ranks, as a share of all. Missing values are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.protection.groups import meanings, value_codes
from shoal.results.claims import Closeness

__all__ = ["closeness"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def closeness(groups: Ints, confidential: Mapping[str, NDArray[Any]]) -> tuple[Closeness, ...]:
    """The largest distance of any group, for each confidential column."""
    return tuple(_of_column(column, groups, values) for column, values in confidential.items())


def _of_column(column: str, groups: Ints, values: NDArray[Any]) -> Closeness:
    codes, by_size = value_codes(values), _by_size(values)
    told = codes >= 0
    if by_size is not None:
        codes = by_size
    codes, members = codes[told], np.unique(groups[told], return_inverse=True)[1]
    if len(codes) == 0 or codes.max() == 0:
        return Closeness(column, 0.0, by_size is not None)
    overall = np.bincount(codes) / len(codes)
    # One entry for every value that a group has: never groups times values, which may be millions each.
    pairs, counts = np.unique(members * len(overall) + codes, return_counts=True)
    group, value = pairs // len(overall), pairs % len(overall)
    share = counts / np.bincount(members)[group]
    distances = _unordered if by_size is None else _ordered
    return Closeness(column, round(float(distances(group, value, share, overall).max()), 4), by_size is not None)


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


def _by_size(values: NDArray[Any]) -> Ints | None:
    """Each value's place among the numbers, exactly; -1 for a missing one, and None if some value is no number."""
    told = meanings(values)
    try:
        numbers = sorted({value for value in told if value is not None}, key=Decimal)
    except InvalidOperation:
        return None
    place: dict[str | None, int] = {value: number for number, value in enumerate(numbers)} | {None: -1}
    return np.array([place[value] for value in told], dtype=np.int64)
