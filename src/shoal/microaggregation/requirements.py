"""What groups may be asked for: enough different values, values near those of all records, enough people.

Each requirement that two groups meet is met by both together, and so by what is joined of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Close", "Distinct", "Entropy", "OwnK", "People", "Recursive", "Requirement", "different_values", "ratio"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ROUNDING = 1e-9  # what sums of shares may differ by
MOST_SIGNALS = 10  # values of a column of labels that places are asked about

# Confidential values are codes 0, 1, ...; -1 is a missing value, which counts for nothing.


class Requirement(Protocol):
    """What some rows must have to stand alone."""

    def met(self, rows: Ints) -> bool:
        """Whether these rows have it."""

    def tells(self, rows: Ints, sizes: list[int]) -> bool:
        """Whether rows that are left whole, for one of two parts of these sizes had too little, tell which and what."""

    def room(self, rows: Ints) -> Callable[[Ints], int]:
        """How many of some of these rows a part must have room for, or a division that fails would tell its values."""


class _OfCrowds:
    """A requirement that asks nothing of confidential values, so that nothing tells them."""

    def tells(self, rows: Ints, sizes: list[int]) -> bool:
        return False

    def room(self, rows: Ints) -> Callable[[Ints], int]:
        return lambda some: 0


class _OfShares:
    """A requirement of how frequent values are. It fails in many ways, unless there are two values and few rows."""

    codes: Ints

    def enough(self, counts: Ints) -> bool:
        """Whether values that are as frequent as this are as they should be."""
        raise NotImplementedError

    def met(self, rows: Ints) -> bool:
        return self.enough(_counts(self.codes, rows))

    def tells(self, rows: Ints, sizes: list[int]) -> bool:
        """Of two values: whether one part has only one of them in every way to share them out in which a part fails."""
        counts = _counts(self.codes, rows)
        there = np.flatnonzero(counts)
        if len(there) != 2 or int(counts.sum()) < len(rows):
            return False
        ways: list[set[bool | None]] = [set(), set()]  # of each part: all, none or (None) some have the second value
        first, second = there.tolist()
        for here in range(max(0, int(counts[second]) - sizes[1]), min(sizes[0], int(counts[second])) + 1):
            shared = here, int(counts[second]) - here
            parts = [np.zeros(len(counts), dtype=np.int64) for _ in sizes]
            for part, size, has in zip(parts, sizes, shared, strict=True):
                part[first], part[second] = size - has, has
            if all(map(self.enough, parts)):
                continue
            for way, size, has in zip(ways, sizes, shared, strict=True):
                way.add(None if 0 < has < size else has == size)
            if all(None in way or len(way) == 2 for way in ways):
                return False
        return any(way in ({True}, {False}) for way in ways)

    def room(self, rows: Ints) -> Callable[[Ints], int]:
        return lambda some: 0


class Distinct:
    """At least so many different values (distinct l-diversity; p-sensitive k-anonymity)."""

    def __init__(self, codes: Ints, least: int) -> None:
        self.codes = codes
        self.least = least

    def met(self, rows: Ints) -> bool:
        return int(np.count_nonzero(_counts(self.codes, rows))) >= self.least

    def tells(self, rows: Ints, sizes: list[int]) -> bool:
        if self.least > 2:
            return False
        counts = np.bincount(self.codes[rows] + 1)  # a missing value may be what all of a part have
        return sum(int(np.count_nonzero(counts >= size)) for size in sizes) == 1

    def room(self, rows: Ints) -> Callable[[Ints], int]:
        counts = np.bincount(self.codes[rows] + 1)
        frequent = np.argsort(-counts, kind="stable")[: self.least - 1] - 1
        return lambda some: int(np.count_nonzero(~np.isin(self.codes[some], frequent)))


class Entropy(_OfShares):
    """As hard to guess as one of `l` values that are equally frequent (entropy l-diversity)."""

    def __init__(self, codes: Ints, l: float) -> None:
        self.codes = codes
        self.l = l

    def enough(self, counts: Ints) -> bool:
        return different_values(counts) >= self.l * (1.0 - ROUNDING)


class Recursive(_OfShares):
    """The most frequent value is below c times all from the l-th on (recursive (c, l)-diversity)."""

    def __init__(self, codes: Ints, c: float, l: int) -> None:
        self.codes = codes
        self.c = c
        self.l = l

    def enough(self, counts: Ints) -> bool:
        return ratio(counts, self.l) < self.c


class Close(_OfShares):
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


class People(_OfCrowds):
    """At least k different people."""

    def __init__(self, person: Ints, k: int) -> None:
        self.person = person
        self.k = k

    def met(self, rows: Ints) -> bool:
        return len(np.unique(self.person[rows])) >= self.k


class OwnK(_OfCrowds):
    """As many records, or people, as the one that asks for most."""

    def __init__(self, own_k: Ints, person: Ints | None = None) -> None:
        self.own_k = own_k
        self.person = person

    def met(self, rows: Ints) -> bool:
        crowd = len(rows) if self.person is None else len(np.unique(self.person[rows]))
        return crowd >= int(self.own_k[rows].max(initial=1))


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


def _counts(codes: Ints, rows: Ints) -> Ints:
    """How many of the rows have each value; values above the largest one are left out."""
    return np.bincount(codes[rows] + 1)[1:]
