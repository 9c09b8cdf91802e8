"""MDAV: maximum distance to average vector, the one loop over any space.

A space holds the records that remain and knows four things: the record farthest from their centre, the one farthest
from a record, the nearest to a record, and how to remove records.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shoal import progress

Rows = NDArray[np.int64]


class Space(Protocol):
    """Records that can be compared and taken away. Ties always go to the lower row."""

    remaining: int

    def farthest_from_centre(self) -> int:
        """The remaining row farthest from the average of those remaining."""

    def farthest_from(self, row: int) -> int:
        """The remaining row farthest from `row`, which may have been taken."""

    def take(self, row: int, k: int) -> Rows:
        """Remove and return `row` with the k - 1 remaining rows nearest to it."""

    def take_rest(self) -> Rows:
        """Remove and return all that remains."""


def mdav(space: Space, k: int) -> Rows:
    """Partition a space into groups of k (the last: k to 2k - 1). Returns the group of each row."""
    n_rows = space.remaining
    groups: list[Rows] = []
    while space.remaining >= 3 * k:
        r = space.farthest_from_centre()
        groups.append(space.take(r, k))
        s = space.farthest_from(r)
        groups.append(space.take(s, k))
        progress.step("grouping", n_rows - space.remaining, n_rows)
    if space.remaining >= 2 * k:
        groups.append(space.take(space.farthest_from_centre(), k))
    groups.append(space.take_rest())
    progress.step("grouping", n_rows, n_rows)

    group_of_row = np.empty(n_rows, dtype=np.int64)
    for group, rows in enumerate(groups):
        group_of_row[rows] = group
    return group_of_row


def numbered_by_first_row(groups: Rows) -> Rows:
    """The same groups, numbered in the order in which rows meet them."""
    _, first, numbers = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first, kind="stable"), kind="stable")[numbers].astype(np.int64)
