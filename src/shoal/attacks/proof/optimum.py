"""The parameters that find the most records, by a mixed-integer program that is written down as far as it matters.

    minimise sum w_i z_i   subject to   D(a_i, b_j) - D(a_i, b_i) + M_ij z_i >= margin / 2,   z_i 0 or 1

Source: Abril, Navarro-Arribas and Torra, "Improving record linkage with supervised learning" (2012). M_ij is how much
nearer the rival can be at most. Of each record the nearest rivals come first; others are added where a solution breaks
their rows. Until none does, what the solver shows as lost is lost by all parameters. What is found is counted from the
distances themselves.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.learned.linking import blocks
from shoal.attacks.learned.records import Records
from shoal.attacks.proof.families import Family
from shoal.errors import MissingExtra
from shoal.kernels import Floats, Ints

MARGIN = 1e-6  # by which a record must be nearer than its rivals, where parameters sum to 1
COUNTED = MARGIN / 2  # by which it counts as found: rounding must not decide
ASKED = 1.02 * COUNTED  # of the solver, so that its solutions count
TOLERANCE = 1e-9  # of the solver, far below the margin: else rows that it calls satisfied are not
NEGATIVE = -1e-8  # of a distance; rounding may make a zero a little less
FIRST, ADDED = 3, 2  # rivals of a record that are written down at first, and whenever a solution breaks their rows
MOST_PARTS = 10_000  # of a record
ROUNDING = 1e-6  # of what is found or lost


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
    rows: int  # rivals that were written down
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

    def nearer(self, parameters: Floats) -> NDArray[np.bool_]:
        """Which records are nearer to their own than to any rival by the margin, rounding aside."""
        nearer = np.empty(len(self.records), dtype=np.bool_)
        for rows, to_all in self.distances(parameters):
            equal = self.same[rows][:, None] == self.same[None, :]
            own = to_all[np.arange(len(rows)), rows]
            nearer[rows] = np.all(equal | (to_all - own[:, None] >= COUNTED), axis=1)
        return nearer

    def found(self, parameters: Floats) -> float:
        """What is found by the margin."""
        return float(self.share[self.nearer(parameters)].sum())

    def tolerated(self, gap: float) -> float:
        """By how much a bound may exceed what is found when the search may end."""
        return max(gap, self.step - ROUNDING, 1e-7)


def learn(rivals: Rivals, starts: list[Floats], limits: Limits) -> Optimum:
    """From parameters to begin with, such as a heuristic's, to the best ones and a bound; to a proof or the limits."""
    began, family = time.monotonic(), rivals.family
    best, found = rivals.best_of([family.plain(), *starts])
    bound, enough = rivals.everyone, rivals.tolerated(limits.gap)
    left = math.inf if limits.nodes is None else limits.nodes
    program, rounds = None, 0
    while bound - found > enough and left > 0 and (elapsed := time.monotonic() - began) < limits.seconds:
        if program is None:
            program = _Program(rivals, enough)
            for parameters in (best, family.plain()):
                program.add(_nearest(rivals, parameters, np.zeros(len(rivals.share)), FIRST, math.inf))
        rounds += 1
        program.start_from(best)
        solution, lost, nodes = program.solve(limits.seconds - elapsed, left)
        left -= nodes
        bound = min(bound, rivals.everyone - lost)
        if solution is None:
            break
        parameters, lost_part = solution
        broken = _nearest(rivals, parameters, lost_part, ADDED, ASKED - TOLERANCE)
        negative = _negative(rivals, parameters) if family.non_negative else np.empty((0, family.size))
        if not len(negative) and (value := rivals.found(parameters)) > found:
            best, found = parameters, value
        if not program.add(broken) + program.add_always(negative):
            break  # what is left differs by less than the margin
    bound = max(found, rivals.at_most(bound))
    return Optimum(best, found, bound, rounds, 0 if program is None else len(program), time.monotonic() - began)


def _nearest(rivals: Rivals, parameters: Floats, lost: Floats, count: int, below: float) -> tuple[Ints, Floats]:
    """Of each record that is not lost the nearest rivals, so many, if they are not farther than the own by `below`."""
    owners, rows = [], []
    for owner, gain in rivals.rows():
        value = gain @ parameters
        order = np.lexsort((value, owner))
        owner, value = owner[order], value[order]
        rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
        kept = (rank < count) & (value < below) & (lost[owner] < 0.5)
        owners.append(owner[kept])
        rows.append(gain[order[kept]])
    return np.concatenate(owners), np.concatenate(rows)


def _negative(rivals: Rivals, parameters: Floats) -> Floats:
    """Of each record the pair whose distance is the lowest, if that is negative."""
    rows = []
    for block in blocks(rivals.records, rivals.family.size):
        features = rivals.family.features(rivals.records.differences(block))
        to_all = features @ parameters
        below = np.flatnonzero(to_all.min(axis=1) < NEGATIVE)
        rows.append(features[below, to_all[below].argmin(axis=1)])
    return np.concatenate(rows)


def load_solver() -> Any:
    """HiGHS, which the extra brings."""
    try:
        import highspy
    except ImportError:
        raise MissingExtra("proof", "proving how many records can be found") from None
    return highspy


class _Program:
    """The program in HiGHS: the parameters, and after them which records are lost."""

    def __init__(self, rivals: Rivals, enough: float) -> None:
        self._rivals, self._family = rivals, rivals.family
        self._highs = load_solver()
        self._solver = solver = self._highs.Highs()
        options = {"output_flag": False, "mip_rel_gap": 0.0, "mip_abs_gap": 0.99 * enough, "random_seed": 0}
        for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance", "mip_feasibility_tolerance"):
            options[name] = TOLERANCE
        for name, value in options.items():
            solver.setOptionValue(name, value)
        family, n = rivals.family, len(rivals.share)
        self._parameters = np.arange(family.size, dtype=np.int32)
        lost = np.arange(family.size, family.size + n, dtype=np.int32)
        lower, upper = np.full(family.size, family.lower), np.full(family.size, family.upper)
        solver.addVars(family.size + n, np.r_[lower, np.zeros(n)], np.r_[upper, np.ones(n)])
        solver.changeColsIntegrality(n, lost, np.full(n, self._highs.HighsVarType.kInteger))
        solver.changeColsCost(n, lost, rivals.share)
        if family.sums_to_one:
            solver.addRow(1.0, 1.0, family.size, self._parameters, np.ones(family.size))
        self.add_always(family.rows())
        self._known: set[tuple[int, bytes]] = set()

    def __len__(self) -> int:
        return len(self._known)

    def add(self, of_rivals: tuple[Ints, Floats]) -> int:
        """Write down rivals, each with its record; how many are new."""
        before, size = len(self._known), self._family.size
        for record, row in zip(of_rivals[0].tolist(), of_rivals[1], strict=True):
            key = (record, row.tobytes())
            if key in self._known:
                continue
            self._known.add(key)
            # Of a sum to 1, monotone over sets, what one attribute alone makes; else all entries at their largest.
            nearer = (-row[: self._family.n]).max() if self._family.sums_to_one else np.abs(row).sum()
            columns, values = np.r_[self._parameters, np.int32(size + record)], np.r_[row, max(nearer, 0.0) + ASKED]
            self._solver.addRow(ASKED, math.inf, size + 1, columns, values)
        return len(self._known) - before

    def add_always(self, rows: Floats) -> int:
        """Rows that must not be negative, whoever is found."""
        for row in rows:
            self._solver.addRow(0.0, math.inf, len(row), self._parameters, row)
        return len(rows)

    def start_from(self, parameters: Floats) -> None:
        """Begin with a solution that is known."""
        solution = self._highs.HighsSolution()
        solution.col_value = [*parameters.tolist(), *(1.0 - self._rivals.nearer(parameters)).tolist()]
        self._solver.setSolution(solution)

    def solve(self, seconds: float, nodes: float) -> tuple[tuple[Floats, Floats] | None, float, int]:
        """Parameters and which records they lose, None if there are none yet; what is lost at least; nodes used."""
        solver, family = self._solver, self._family
        solver.setOptionValue("time_limit", solver.getRunTime() + seconds if math.isfinite(seconds) else math.inf)
        if math.isfinite(nodes):
            solver.setOptionValue("mip_max_nodes", int(nodes))
        solver.run()
        info, values = solver.getInfo(), np.array(solver.getSolution().col_value)
        lost = max(info.mip_dual_bound, 0.0) if math.isfinite(info.mip_dual_bound) else 0.0
        nodes_used = max(int(info.mip_node_count), 1)
        if info.primal_solution_status != 2:  # no feasible one
            return None, lost, nodes_used
        parameters = np.clip(values[: family.size], family.lower, family.upper)
        if family.sums_to_one:
            parameters /= parameters.sum()
        return (parameters, values[family.size :]), lost, nodes_used
