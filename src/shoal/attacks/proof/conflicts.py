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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attacks.learned.linking import blocks
from shoal.attacks.proof.optimum import LOST, Limits, Optimum, Rivals
from shoal.errors import MissingExtra
from shoal.kernels import Floats, Ints
from shoal.kernels.linking.cones import Cones, add_others, climb, found_at
from shoal.kernels.linking.conflicts import point_inside, tight_set

MOST_NUMBERS = 12_000_000  # records times rivals times parameters; of more rivals, the nearest
FIRST_NEAR, MOST_NEAR = 6, 200  # rows of a record that are looked at before others
ROUNDING = 1e-12  # what differs by less, whatever the parameters, does not differ
NEGATIVE = -1e-8  # of a distance; rounding may make a zero a little less
CHAINS, LINES = 4, 200
STEPS = (0.001, 0.003, 0.01, 0.03, 0.1)  # away from the best, of its length, before it climbs again
WORSE = 0.6  # records that a chain gives up in one of e tries
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


class Conditions:
    """The rows of all records, each attribute on a scale of its own, each row of length 1.

    A point is a vector on these scales, of any length; where it is allowed, it has parameters of the family.
    """

    def __init__(self, rivals: Rivals) -> None:
        self.rivals = rivals
        self.family = family = rivals.family
        owner, rows = _rows(rivals)
        n, reach = len(rivals.records), np.full(family.size, max(abs(family.lower), abs(family.upper)))
        hopeless = np.abs(rows) @ reach < LOST  # no parameters make such a row large enough
        self.never = np.isin(np.arange(n), owner[hopeless])  # the records that are never found
        keep = ~hopeless & ~np.r_[self.never, False][owner]
        self.owner, rows = owner[keep], rows[keep]
        rows[:, np.abs(rows).max(axis=0, initial=0.0) * reach < ROUNDING] = 0.0
        self._scale = np.sqrt(np.mean(rows * rows, axis=0)) if len(rows) else np.ones(family.size)
        self._scale[self._scale == 0] = 1.0
        rows /= self._scale
        length = np.linalg.norm(rows, axis=1)
        rows /= length[:, None]
        starts = np.searchsorted(self.owner, np.arange(n + 2))
        n_always = len(family.rows())  # all are looked at
        near = np.zeros((n + 1, max(MOST_NEAR, n_always)), dtype=np.int64)
        n_near = np.zeros(n + 1, dtype=np.int64)
        for record in range(n + 1):
            lengths = length[starts[record] : starts[record + 1]]
            first = np.argsort(lengths, kind="stable")[: FIRST_NEAR if record < n else max(FIRST_NEAR, n_always)]
            near[record, : len(first)], n_near[record] = starts[record] + first, len(first)
        weight = np.where(self.owner < n, 1.0 / length, 0.0)
        self.cones = Cones(rows, weight, starts, reach * self._scale, near, n_near)

    @property
    def nobody(self) -> Ints:
        """Who owns the rows that hold for all parameters; empty when there are none."""
        n = len(self.rivals.records)
        return np.arange(n, n + 1) if self.cones.n_near[n] else np.arange(0)

    def copy(self) -> Cones:
        """To add rows to those looked at first, side by side with others."""
        return self.cones._replace(near=self.cones.near.copy(), n_near=self.cones.n_near.copy())

    def remember(self, cones: Cones) -> None:
        """Look first at the rows that were needed, from now on."""
        mine = self.cones
        for record in np.flatnonzero(cones.n_near > mine.n_near).tolist():
            many, needed = mine.n_near[record], cones.near[record, : cones.n_near[record]]
            new = np.setdiff1d(needed, mine.near[record, :many])[: mine.near.shape[1] - many]
            mine.near[record, many : many + len(new)] = new
            mine.n_near[record] += len(new)

    def point(self, parameters: Floats) -> Floats:
        """Where parameters are."""
        return parameters * self._scale

    def parameters(self, point: Floats) -> Floats | None:
        """The parameters of a point, None when they are not allowed."""
        family, parameters = self.family, point / self._scale
        size = parameters.sum() if family.sums_to_one else np.abs(parameters).max()
        if not size > 0:
            return None
        parameters /= size
        if parameters.min() < family.lower or parameters.max() > family.upper:
            return None
        if np.any(family.rows() @ parameters < 0.0) or not family.allows(parameters):
            return None
        if family.non_negative and any(to_all.min() < NEGATIVE for _, to_all in self.rivals.distances(parameters)):
            return None
        return parameters


def _rows(rivals: Rivals) -> tuple[Ints, Floats]:
    """Of each record what must be positive where it is found, and last, nobody's, what holds for all parameters."""
    family, records = rivals.family, rivals.records
    most = MOST_NUMBERS // (len(records) * family.size)
    parts = []
    for owner, rows in rivals.rows():
        if most < len(records):  # what is left out asks for nothing: what is in conflict still is
            nearest_first = np.lexsort((rows @ family.plain(), owner))
            nearest = np.sort(nearest_first[np.arange(len(owner)) - np.searchsorted(owner, owner) < most])
            owner, rows = owner[nearest], rows[nearest]
        parts.append((owner, rows))
    always = [family.rows()]
    if family.non_negative:
        always += [family.features(records.differences(block)) for block in blocks(records, family.size)]
    rows = np.concatenate([rows.reshape(-1, family.size) for rows in always])
    parts.append((np.full(len(rows), len(records)), rows))
    return np.concatenate([owner for owner, _ in parts]), np.concatenate([rows for _, rows in parts])


class Climbers:
    """Several chains that begin at the same parameters and go on from where each of them is."""

    def __init__(self, conditions: Conditions, start: Floats) -> None:
        self._conditions = conditions
        self._chains = [_Chain(conditions, start, number) for number in range(CHAINS)]

    def climb(self, tries: int, pool: ThreadPoolExecutor, until: float = math.inf) -> Floats | None:
        """The best parameters that any has seen, None when they are not allowed; no try begins after `until`."""
        for cones in list(pool.map(lambda chain: chain.climb(tries, until), self._chains)):
            self._conditions.remember(cones)
        return self._conditions.parameters(max(self._chains, key=lambda chain: chain.best).where)


class _Chain:
    def __init__(self, conditions: Conditions, start: Floats, number: int) -> None:
        self._conditions, self._rng = conditions, np.random.default_rng(number)
        self._place = self.where = conditions.point(start)
        self._value = self.best = -1.0

    def climb(self, tries: int, until: float = math.inf) -> Cones:
        """Climb from near by; it goes on from there unless that is worse by too much. The rows that it looked at."""
        rng, cones, share = self._rng, self._conditions.copy(), self._conditions.rivals.share
        for _ in range(tries):
            if time.monotonic() > until:
                break
            away = rng.normal(size=len(self._place)) * rng.choice(STEPS) if self.best >= 0 else 0.0
            tried = self._place / np.linalg.norm(self._place) + away
            value = _top(cones, share, tried, rng)
            if value >= self._value or rng.random() < np.exp((value - self._value) / WORSE):
                self._place, self._value = tried, value
            if value > self.best:
                self.where, self.best = tried, value
        return cones


def _top(cones: Cones, share: Floats, point: Floats, rng: np.random.Generator) -> float:
    """Climb in place, until no row that was left out matters; what is found there."""
    while True:
        value = climb(cones, share, point, _directions(rng, len(point)))
        if not add_others(cones, found_at(cones, point), point, 0.0):
            return value


def _directions(rng: np.random.Generator, d: int) -> Floats:
    """Of all kinds: all parameters at once, a few, one."""
    directions = rng.normal(size=(LINES, d))
    directions[1::3] *= rng.random((len(directions[1::3]), d)) < 0.3
    directions[2::3] = np.eye(d)[rng.integers(d, size=len(directions[2::3]))]
    return directions


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
                break  # what is left differs by less than the margin
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
        possible = np.flatnonzero(~self._conditions.never)
        ranks = [1 + number % self._most_rank if every_rank else self._rank for number in range(len(NOISE))]
        costs = [lost[possible] + noise * self._rng.random(len(possible)) for noise in NOISE]
        orders = [possible[np.argsort(cost, kind="stable")] for cost in costs]
        sets, budget = [], int(min(BUDGET, seconds * A_SECOND * (os.cpu_count() or 1) / len(NOISE)))
        for rank, (members, cones) in zip(
            ranks, list(pool.map(partial(self._one, budget), ranks, orders)), strict=True
        ):
            self._conditions.remember(cones)
            if len(members):
                sets.append((rank, members))
            else:  # so many are not lost, or it takes too long to see
                self._most_rank = max(1, min(self._most_rank, rank - 1))
        self._rounds += 1
        if self._rank < self._most_rank and self._rounds >= ROUNDS_OF_A_RANK:
            self._rank, self._rounds = self._rank + 1, 0
        self._rank = min(self._rank, self._most_rank)
        return sets

    def _one(self, budget: int, rank: int, order: Ints) -> tuple[Ints, Cones]:
        cones = self._conditions.copy()
        return tight_set(rank, order, AT_FIRST * rank, cones, self._conditions.owner, LOST, budget), cones

    def finding(self, kept: Ints) -> Floats | None:
        """Parameters that find these records, None when there are none or none are at hand."""
        inside, point = point_inside(np.r_[kept, self._conditions.nobody], self._conditions.cones, LOST)
        return self._conditions.parameters(point) if inside else None


def load_solver() -> Any:
    """HiGHS, which the extra brings."""
    try:
        import highspy
    except ImportError:
        raise MissingExtra("proof", "proving how many records can be found") from None
    return highspy


class _Cover:
    """The program in HiGHS: which records are lost, and for each set how many are at least."""

    def __init__(self, share: Floats, never: NDArray[np.bool_]) -> None:
        n = len(share)
        self._highs = load_solver()
        self._solver = solver = self._highs.Highs()
        for name, value in {"output_flag": False, "mip_rel_gap": 0.0, "random_seed": 0}.items():
            solver.setOptionValue(name, value)
        self._every = np.arange(n, dtype=np.int32)
        solver.addVars(n, never.astype(np.float64), np.ones(n))
        solver.changeColsCost(n, self._every, share)
        solver.addRow(0.0, math.inf, n, self._every, share)  # so that less than something can be asked for
        self._known: set[tuple[int, bytes]] = set()

    def __len__(self) -> int:
        return len(self._known)

    def add(self, sets: list[tuple[int, Ints]], lost: Floats) -> int:
        """Write the sets of which too little is lost; how many."""
        many = 0
        for rank, members in sets:
            key = (rank, np.sort(members).tobytes())
            if key in self._known or lost[members].sum() > rank - VIOLATED:
                continue
            self._known.add(key)
            self._solver.addRow(float(rank), math.inf, len(members), members.astype(np.int32), np.ones(len(members)))
            many += 1
        return many

    def relaxed(self) -> tuple[Floats, float]:
        """The least that is lost when records may be lost in part, and the parts."""
        solver, n = self._solver, len(self._every)
        solver.changeColsIntegrality(n, self._every, np.full(n, self._highs.HighsVarType.kContinuous))
        solver.setOptionValue("time_limit", math.inf)
        solver.run()
        solved = solver.getModelStatus() == self._highs.HighsModelStatus.kOptimal
        lost = solver.getInfo().objective_function_value - SLACK if solved else 0.0
        return np.array(solver.getSolution().col_value), lost

    def whole(self, less_than: float, seconds: float, nodes: int | None) -> tuple[Floats | None, float, int]:
        """A solution in whole numbers that loses less, or None; what is lost at least; nodes used."""
        solver, n = self._solver, len(self._every)
        solver.changeColsIntegrality(n, self._every, np.full(n, self._highs.HighsVarType.kInteger))
        solver.changeRowBounds(0, 0.0, less_than)
        solver.setOptionValue("time_limit", solver.getRunTime() + seconds if math.isfinite(seconds) else math.inf)
        if nodes is not None:
            solver.setOptionValue("mip_max_nodes", nodes)
        solver.run()
        info, status = solver.getInfo(), solver.getModelStatus()
        values = np.array(solver.getSolution().col_value)
        solution = values if len(values) and info.primal_solution_status == 2 else None
        lost = less_than - SLACK if status == self._highs.HighsModelStatus.kInfeasible else info.mip_dual_bound - SLACK
        solver.changeRowBounds(0, 0.0, math.inf)
        return solution, min(max(lost, 0.0), less_than), max(int(info.mip_node_count), 1)
