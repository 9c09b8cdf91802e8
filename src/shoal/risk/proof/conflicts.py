"""The parameters that re-identify the most records, bounded by the records that cannot be found together.

    minimise sum w_i z_i   subject to   sum of z over T >= r for sets T of which r are lost,   z binary

Whatever the parameters, of records whose conditions contradict each other one is lost, and of larger sets two, three or
more. Such sets are looked for where the relaxed program loses too little, and made as small as they can be; what the
program loses with the sets known is lost by all parameters. In the end it is solved in whole numbers: the records that
it keeps are found by some parameters, which are the best then, or they are in conflict, too.

A program that switches records off by a constant has next to no bound before most of them are decided. This one has no
such constant; it is made for few parameters, such as the entries of a symmetric matrix.
"""

from __future__ import annotations

import math
import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import highspy
import numpy as np
from numpy.typing import NDArray

from shoal.kernels.linking.cones import Cones
from shoal.kernels.linking.conflicts import point_inside, tight_set
from shoal.risk.proof.climbing import Climbers
from shoal.risk.proof.conditions import Conditions
from shoal.risk.proof.optimum import LOST, Limits, Optimum, Rivals

__all__ = ["learn_by_conflicts"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_RANK = 5  # how many of a set are lost: more are slow to show
ROUNDS_OF_A_RANK = 2
NOISE = (0.001, 0.03, 0.1, 0.3, 0.1, 0.03, 0.3, 0.1)  # added to what is lost, one set of each in a round
AT_FIRST = 15  # records for each that is to be lost
BUDGET, A_SECOND = 1_000_000_000, 600_000_000  # work for one set, and what a core does in a second
VIOLATED = 1e-3
STALLED, HARDLY = 5, 0.2  # rounds, and the part of what is missing that they must gain to go on like that
MOST_TRIES = 20  # of a climb, from near by
LEAST_SECONDS = 20.0  # for the program in whole numbers
SLACK = 1e-7  # of what the solver says is lost: its tolerance


def learn_by_conflicts(rivals: Rivals, starts: list[Floats], limits: Limits) -> Optimum:
    """Search until proved or at the limits; a set that is looked for is a node, as are those of the program."""
    began, seconds, nodes = time.monotonic(), limits.seconds, limits.nodes
    best, found = rivals.best_of([rivals.family.plain(), *starts])
    bound, enough = rivals.everyone, rivals.tolerated(limits.gap) + 2 * SLACK
    left = math.inf if nodes is None else nodes
    if bound - found <= enough or seconds <= 0:
        return Optimum(best, found, max(found, rivals.at_most(bound)), 0, 0, time.monotonic() - began)
    conditions = Conditions(rivals)
    search, cover, climbers = _Sets(conditions), _Cover(rivals.share, conditions.never), Climbers(conditions, best)
    lost: list[float] = []
    rounds, tries = 0, 1
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        while bound - found > enough and left > 0 and (elapsed := time.monotonic() - began) < seconds:
            rounds += 1
            missing = rivals.everyone - found - enough + 2 * SLACK  # to be shown as lost
            fractions, value = cover.relaxed()
            lost.append(value)
            bound = min(bound, rivals.everyone - value)
            if bound - found <= enough:
                break
            better, whole = [], search.tried_all and _stalled(lost, missing)
            if whole:
                limit = seconds - elapsed
                if nodes is None:  # else the answer depends on them alone
                    limit = min(limit, max(LEAST_SECONDS, elapsed))
                solution, value, used = cover.whole(missing, limit, None if nodes is None else int(left))
                left -= used
                bound = min(bound, rivals.everyone - value)
                if solution is None:
                    continue
                fractions = solution
                better.append(search.finding(np.flatnonzero(solution < 0.5)))
                lost.clear()
            if search.tried_all or (nodes is None and elapsed > seconds / 2):  # sets of all ranks may take too long
                better.append(climbers.climb(tries, pool, began + seconds))
                tries = min(2 * tries, MOST_TRIES)
            before = found
            for parameters in better:
                if parameters is not None and (value := rivals.found(parameters)) > found:
                    best, found = parameters, value
            left -= len(NOISE)
            remaining = math.inf if nodes is not None else seconds - (time.monotonic() - began)
            if remaining <= 0:
                break
            added = cover.add(search.look(fractions, pool, remaining, every_rank=whole), fractions)
            if whole and not added and found == before:
                break  # what is left cannot be told apart
    bound = max(found, rivals.at_most(bound))
    return Optimum(best, found, bound, rounds, len(cover), time.monotonic() - began)


def _stalled(lost: list[float], missing: float) -> bool:
    """Whether the last rounds gained hardly anything of what is missing."""
    return len(lost) > STALLED and lost[-1] - lost[-1 - STALLED] < HARDLY * (missing - lost[-1])


class _Sets:
    """Looks for sets of records of which some are lost, whatever the parameters."""

    def __init__(self, conditions: Conditions) -> None:
        self._conditions = conditions
        self._rng = np.random.default_rng(0)
        self._rank, self._rounds, self._most_rank = 1, 0, MOST_RANK

    @property
    def tried_all(self) -> bool:
        """Whether sets of all ranks have been looked for."""
        return self._rank == self._most_rank and self._rounds >= ROUNDS_OF_A_RANK

    def look(
        self, lost: Floats, pool: ThreadPoolExecutor, seconds: float, *, every_rank: bool
    ) -> list[tuple[int, Ints]]:
        """Sets that lose much where these parts of the records are lost, one for each noise, and how many they lose."""
        some = np.flatnonzero(~self._conditions.never)
        ranks = [1 + place % self._most_rank if every_rank else self._rank for place in range(len(NOISE))]
        costs = [lost[some] + noise * self._rng.random(len(some)) for noise in NOISE]
        orders = [some[np.argsort(cost, kind="stable")] for cost in costs]
        found, budget = [], int(min(BUDGET, seconds * A_SECOND * (os.cpu_count() or 1) / len(NOISE)))
        for rank, (members, cones) in zip(
            ranks, list(pool.map(partial(self._one, budget), ranks, orders)), strict=True
        ):
            self._conditions.remember(cones)
            if len(members):
                found.append((rank, members))
            else:  # so many are not lost, or it takes too long to see
                self._most_rank = max(1, min(self._most_rank, rank - 1))
        self._rounds += 1
        if self._rank < self._most_rank and self._rounds >= ROUNDS_OF_A_RANK:
            self._rank, self._rounds = self._rank + 1, 0
        self._rank = min(self._rank, self._most_rank)
        return found

    def _one(self, budget: int, rank: int, order: Ints) -> tuple[Ints, Cones]:
        cones = self._conditions.copy()
        return tight_set(rank, order, AT_FIRST * rank, cones, self._conditions.owner, LOST, budget), cones

    def finding(self, kept: Ints) -> Floats | None:
        """Parameters that find these records, None when there are none or none are at hand."""
        inside, point = point_inside(np.r_[kept, self._conditions.nobody], self._conditions.cones, LOST)
        return self._conditions.parameters(point) if inside else None


class _Cover:
    """The program in HiGHS: which records are lost, and for each set how many are at least."""

    def __init__(self, share: Floats, never: NDArray[np.bool_]) -> None:
        n = len(share)
        self._solver = solver = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in {"output_flag": False, "mip_rel_gap": 0.0, "random_seed": 0}.items():
            solver.setOptionValue(name, value)
        self._every = np.arange(n, dtype=np.int32)
        solver.addVars(n, never.astype(np.float64), np.ones(n))
        solver.changeColsCost(n, self._every, share)
        solver.addRow(0.0, highspy.kHighsInf, n, self._every, share)  # so that less than something can be asked for
        self._known: set[tuple[int, bytes]] = set()

    def __len__(self) -> int:
        return len(self._known)

    def add(self, sets: list[tuple[int, Ints]], lost: Floats) -> int:
        """Write the sets of which too little is lost; how many."""
        many = 0
        for rank, some in sets:
            key = (rank, np.sort(some).tobytes())
            if key in self._known or lost[some].sum() > rank - VIOLATED:
                continue
            self._known.add(key)
            self._solver.addRow(float(rank), highspy.kHighsInf, len(some), some.astype(np.int32), np.ones(len(some)))
            many += 1
        return many

    def relaxed(self) -> tuple[Floats, float]:
        """The least that is lost when records may be lost in part, and the parts."""
        solver, n = self._solver, len(self._every)
        solver.changeColsIntegrality(n, self._every, np.full(n, highspy.HighsVarType.kContinuous))
        solver.setOptionValue("time_limit", highspy.kHighsInf)
        solver.run()
        solved = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        lost = solver.getInfo().objective_function_value - SLACK if solved else 0.0
        return np.array(solver.getSolution().col_value), lost

    def whole(self, less_than: float, seconds: float, nodes: int | None) -> tuple[Floats | None, float, int]:
        """A solution in whole numbers that loses less, or None; what is lost at least; nodes used."""
        solver, n = self._solver, len(self._every)
        solver.changeColsIntegrality(n, self._every, np.full(n, highspy.HighsVarType.kInteger))
        solver.changeRowBounds(0, 0.0, less_than)
        solver.setOptionValue(
            "time_limit", solver.getRunTime() + seconds if math.isfinite(seconds) else highspy.kHighsInf
        )
        if nodes is not None:
            solver.setOptionValue("mip_max_nodes", nodes)
        solver.run()
        info, status = solver.getInfo(), solver.getModelStatus()
        values = np.array(solver.getSolution().col_value)
        solution = values if len(values) and info.primal_solution_status == 2 else None
        lost = less_than - SLACK if status == highspy.HighsModelStatus.kInfeasible else info.mip_dual_bound - SLACK
        solver.changeRowBounds(0, 0.0, highspy.kHighsInf)
        return solution, min(max(lost, 0.0), less_than), max(int(info.mip_node_count), 1)
