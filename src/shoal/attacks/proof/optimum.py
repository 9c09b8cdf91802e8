"""The best parameters known and what none can exceed; for weights on a simplex, found by halving it into cells.

In a cell of the simplex a record is lost when one rival is not farther by the margin at any corner. What is not lost
bounds what any weights of the cell find; cells whose bound is no better than what is known are closed, others are
halved. First a wide slack is allowed, then less and less, so that there is a bound to report at any time.

For few attributes this is often many times faster than a solver of mixed-integer programs, where the relaxation of a
record that is half found says little. With many ties it is slower: cells across a tie are halved down to the margin.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.attacks.learned.linking import blocks
from shoal.attacks.learned.records import Records
from shoal.attacks.proof.families import Family, Simplex
from shoal.kernels import Floats, Ints
from shoal.kernels.linking.simplex_cells import Cells, needed, search

MARGIN = 1e-6  # by which a record must be nearer than its rivals, where parameters sum to 1
COUNTED = MARGIN / 2  # by which it counts as found: rounding must not decide
MOST_PARTS = 10_000  # of a record
ROUNDING = 1e-6  # of what is found or lost
LOST = 0.49 * MARGIN  # what is not above is lost for certain
MOST_ATTRIBUTES = 8  # beyond, cells are too many
MOST_NUMBERS = 20_000_000  # records times records times attributes; beyond, rows are
NARROWER = 4.0  # the slack of one pass over that of the next
MOST_CELLS = 20_000  # that a search goes through before it reports


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


def suits(rivals: Rivals) -> bool:
    """Whether there is a simplex to halve, and few enough of everything."""
    family = rivals.family
    numbers = len(rivals.records) ** 2 * family.n
    return isinstance(family, Simplex) and family.n <= MOST_ATTRIBUTES and numbers <= MOST_NUMBERS


def learn_by_cells(rivals: Rivals, starts: list[Floats], limits: Limits) -> Optimum:
    """Search until proved or at the limits; nodes are cells. The family of the rivals is a simplex."""
    began, family = time.monotonic(), rivals.family
    assert isinstance(family, Simplex)
    best, found = rivals.best_of([family.plain(), *starts])
    bound, enough = rivals.everyone, rivals.tolerated(limits.gap)
    left = math.inf if limits.nodes is None else limits.nodes
    n_rows, passes, slack = 0, 0, max((bound - found) / NARROWER, enough * 0.99)
    whole: Cells | None = None

    def may_go_on() -> bool:
        return left > 0 and time.monotonic() - began < limits.seconds

    while bound - found > enough and may_go_on():
        whole = whole or _whole(rivals, family)
        n_rows, passes = len(whole.owner), passes + 1
        cells, closed = whole, 0.0
        while len(cells.losses) and may_go_on():
            value, weights, highest, looked, cells = search(
                cells, rivals.share, LOST, found, slack, int(min(left, MOST_CELLS))
            )
            left -= looked
            closed = max(closed, highest)
            if value > found and (counted := rivals.found(weights)) > found:
                best, found = weights, counted
        bound = min(bound, max([closed, *(rivals.everyone - cells.losses).tolist()]))
        if slack <= enough * 0.99 and not len(cells.losses):
            break  # what is left differs by less than the margin
        slack = max(slack / NARROWER, enough * 0.99)
    bound = max(found, rivals.at_most(bound))
    return Optimum(best, found, bound, passes, n_rows, time.monotonic() - began)


def _whole(rivals: Rivals, family: Simplex) -> Cells:
    """All weights, and of each record the rivals that may ever be the nearest."""
    corners = family.corners()
    owners, rows, lost = [np.empty(0, dtype=np.int32)], [np.empty((family.n, 0))], 0.0
    for whose, gain in rivals.rows():
        owner, at = whose.astype(np.int32), np.ascontiguousarray(corners @ gain.T)
        end, everywhere, _ = needed(owner, at, 0, len(owner), LOST, rivals.share, True)
        lost += everywhere
        owners.append(owner[:end].copy())
        rows.append(at[:, :end].copy())
    at = np.concatenate(rows, axis=1)
    ends = np.array([0, at.shape[1]])
    return Cells(np.concatenate(owners), at, ends, corners[None], np.array([lost]), np.zeros(1, dtype=np.int64))
