"""The best parameters known and what none can exceed; of each record its rivals, and what it counts when found."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.attacks.learned.linking import blocks
from shoal.attacks.learned.records import Records
from shoal.attacks.proof.families import Family
from shoal.kernels import Floats, Ints

MARGIN = 1e-6  # by which a record must be nearer than its rivals, where parameters sum to 1
COUNTED = MARGIN / 2  # by which it counts as found: rounding must not decide
MOST_PARTS = 10_000  # of a record
ROUNDING = 1e-6  # of what is found or lost
LOST = 0.49 * MARGIN  # what is not above is lost for certain


@dataclass(frozen=True)
class Limits:
    """When a search may end before its proof: time or nodes are used up, or the bound is near enough."""

    seconds: float = math.inf
    nodes: int | None = None  # unlike time, no matter how fast the machine is
    gap: float = 0.0  # records


@dataclass(frozen=True)
class Optimum:
    """The best parameters known, and what none can do better."""

    parameters: Floats
    found: float  # records nearer to their own than to any other by the margin, equal ones shared
    bound: float  # no parameters of the family find more
    rounds: int
    rows: int  # rivals or sets of records that the last search wrote down
    seconds: float

    @property
    def proved(self) -> bool:
        """Whether nothing better exists."""
        return self.within(0.0)

    def within(self, gap: float) -> bool:
        """Whether nothing exists that is better by more than the gap, in records."""
        return self.bound - self.found < gap + 1e-6


class Rivals:
    """Of each record the masked ones that are not equal to its own, and what it counts when it is found.

    `share` is what each record counts; by default 1 over the number of records that equal it.
    """

    def __init__(self, records: Records, family: Family, share: Floats | None = None) -> None:
        self.records, self.family = records, family
        self.same = records.crowds.of_record
        self.share = 1.0 / np.bincount(self.same)[self.same] if share is None else share

    @property
    def everyone(self) -> float:
        return float(self.share.sum())

    @cached_property
    def step(self) -> float:
        """What is found is a multiple of this: a sixth where pairs and threes of records are equal; 0 if of nothing."""
        sizes = np.unique(np.rint(1.0 / np.maximum(self.share[self.share > 0], 1.0 / MOST_PARTS)))
        parts = math.lcm(*(int(size) for size in sizes))
        if not 0 < parts <= MOST_PARTS:
            return 0.0
        counted = parts * self.share
        return 1.0 / parts if np.abs(counted - np.rint(counted)).max(initial=0.0) < 1e-9 else 0.0

    def at_most(self, bound: float) -> float:
        """The most that can be found below a bound, rounding aside."""
        return math.floor((bound + ROUNDING) / self.step) * self.step if self.step else bound

    def rows(self) -> Iterator[tuple[Ints, Floats]]:
        """Records and their rivals in blocks: whose, and by how much the features of the rival exceed the own."""
        for block in blocks(self.records, 2 * self.family.size):
            features = self.family.features(self.records.differences(block))
            own = features[np.arange(len(block)), block]
            i, j = np.nonzero(self.same[block][:, None] != self.same[None, :])
            yield block[i], features[i, j] - own[i]

    def distances(self, parameters: Floats) -> Iterator[tuple[Ints, Floats]]:
        """Blocks of records, and their distances to all masked ones, (rows, n)."""
        for rows in blocks(self.records, max(self.family.size, self.family.n)):
            yield rows, self.family.features(self.records.differences(rows)) @ parameters

    def best_of(self, tried: list[Floats]) -> tuple[Floats, float]:
        """The first of the parameters that find the most, and how much."""
        values = [self.found(parameters) for parameters in tried]
        best = int(np.argmax(values))
        return tried[best], values[best]

    def found(self, parameters: Floats) -> float:
        """What is found by the margin, rounding aside."""
        nearer = np.empty(len(self.records), dtype=np.bool_)  # than any rival
        for rows, to_all in self.distances(parameters):
            equal = self.same[rows][:, None] == self.same[None, :]
            own = to_all[np.arange(len(rows)), rows]
            nearer[rows] = np.all(equal | (to_all - own[:, None] >= COUNTED), axis=1)
        return float(self.share[nearer].sum())

    def tolerated(self, gap: float) -> float:
        """By how much a bound may exceed what is found when the search may end."""
        return max(gap, self.step - ROUNDING, 1e-7)
