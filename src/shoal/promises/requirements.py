"""What a promise asks of some rows, so that they may stand alone as a group. Each promise is a file of this folder.

Each requirement that two groups meet is met by both together, and so by what is joined of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ROUNDING = 1e-9  # what sums of shares may differ by

# Confidential values are codes 0, 1, ...; -1 is a missing value, which counts for nothing.


@dataclass(frozen=True)
class ConfidentialColumn:
    """The values of a confidential column: a code for each row, and how many of all records have each value."""

    codes: Ints  # -1 is a missing value
    overall: Ints  # by code
    ordered: bool  # values are numbers, and codes their ranks


class Requirement(Protocol):
    """What some rows must have to stand alone."""

    def met(self, rows: Ints) -> bool:
        """Whether these rows have it."""

    def reveals_values(self, rows: Ints, parts: list[Ints]) -> bool:
        """Whether it shows which value all of a part had, if rows stay whole since one of two parts had too little."""

    def min_part_size(self, rows: Ints) -> Callable[[Ints], int]:
        """How many of some of these rows a part must be able to hold, lest a division that fails reveal its values."""


class CrowdRequirement:
    """A requirement that asks nothing of confidential values, so that nothing tells them."""

    def reveals_values(self, rows: Ints, parts: list[Ints]) -> bool:
        return False

    def min_part_size(self, rows: Ints) -> Callable[[Ints], int]:
        return lambda some: 0


class ShareRequirement:
    """A requirement of how frequent values are. It fails in many ways, unless there are two values and few rows."""

    codes: Ints

    def enough(self, counts: Ints) -> bool:
        """Whether values that are as frequent as this are as they should be."""
        raise NotImplementedError

    def met(self, rows: Ints) -> bool:
        return self.enough(np.bincount(self.codes[rows] + 1)[1:])

    def reveals_values(self, rows: Ints, parts: list[Ints]) -> bool:
        """Of two values: whether one part has only one of them in every way to share them out in which a part fails."""
        counts, sizes = np.bincount(self.codes[rows] + 1)[1:], [len(part) for part in parts]
        there = np.flatnonzero(counts)
        if len(there) != 2 or int(counts.sum()) < len(rows):
            return False
        ways: list[set[bool | None]] = [set(), set()]  # of each part: all, none or (None) some have the second value
        first, second = there.tolist()
        for here in range(max(0, int(counts[second]) - sizes[1]), min(sizes[0], int(counts[second])) + 1):
            shared = here, int(counts[second]) - here
            counts_of_parts = [np.zeros(len(counts), dtype=np.int64) for _ in sizes]
            for part, size, has in zip(counts_of_parts, sizes, shared, strict=True):
                part[first], part[second] = size - has, has
            if all(map(self.enough, counts_of_parts)):
                continue
            for way, size, has in zip(ways, sizes, shared, strict=True):
                way.add(None if 0 < has < size else has == size)
            if all(None in way or len(way) == 2 for way in ways):
                return False
        return any(way in ({True}, {False}) for way in ways)

    def min_part_size(self, rows: Ints) -> Callable[[Ints], int]:
        return lambda some: 0
