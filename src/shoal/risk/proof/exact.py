"""The parameters that re-identify the most records, by mixed-integer programming, with a proof or a bound.

    minimise sum w_i K_i   subject to   D(a_i, b_j) - D(a_i, b_i) + M_ij K_i >= margin / 2,   K_i binary

for every record i and every rival j that is not equal to b_i; w_i = 1 / |records equal to b_i|. Of these n (n - 1) rows
only the nearest rivals are written at first; rows that a solution breaks are added, and the solver goes on from the
best solution known, until none is broken. Every round's bound holds for the whole problem, which has more rows.

The solver's tolerances lie a thousand times below the margin: else rows that it calls satisfied are not. What is found
is always counted from the distances themselves.

Source: Abril, Navarro-Arribas and Torra, "Improving record linkage with supervised learning" (2012).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray

from shoal.risk.learned.linking import margins
from shoal.risk.proof.families import Family
from shoal.risk.proof.optimum import ASKED, COUNTED, Limits, Optimum, Rivals

__all__ = ["learn_exactly"]

Floats = NDArray[np.float64]

TOLERANCE = 1e-9
FIRST_RIVALS = 3
MORE_RIVALS = 5  # of each record, in a round
INFINITY = highspy.kHighsInf


def learn_exactly(rivals: Rivals, starts: list[Floats], limits: Limits, lazy: bool = True) -> Optimum:
    """Search until proved or at the limits; what is found is at least as much as with any of the starts.

    With `lazy` false all rows are written at once, which is only good to compare with.
    """
    began, family, share = time.monotonic(), rivals.family, rivals.share
    model = _Model(family, share)
    best, found = rivals.best_of([family.plain(), *starts])
    for start in (family.plain(), best) if lazy else (best,):
        model.add(rivals, rivals.least_margins(start, FIRST_RIVALS if lazy else len(share))[1])
    bound, rounds, left, enough = rivals.everyone, 0, limits.nodes, rivals.tolerated(limits.gap)
    while bound - found >= enough:
        remaining = limits.seconds - (time.monotonic() - began)
        if remaining <= 0 or (left is not None and left <= 0):
            break
        rounds += 1
        missed = rivals.least_margins(best)[0] < COUNTED
        solved, used = model.solve(best, missed, remaining, left, max(enough * 0.99, 1e-7))
        left = None if left is None else left - used
        bound = min(bound, rivals.everyone - solved.lost)
        if solved.parameters is None:
            break
        broken = model.mend(family.broken(solved.parameters))
        broken += model.mend(_negative(rivals, solved.parameters)) if family.non_negative else 0
        least, nearest = rivals.least_margins(solved.parameters, MORE_RIVALS, below=(ASKED + COUNTED) / 2)
        value = float(share[least >= COUNTED].sum())
        if value > found and not broken:
            best, found = solved.parameters, value
        added = model.add(rivals, nearest)
        if not added and not broken and solved.finished:
            break
    bound = max(found, rivals.at_most(bound))
    return Optimum(best, found, bound, rounds, model.n_rows, time.monotonic() - began)


def _rows_of(rivals: Rivals, pairs: list[tuple[int, int]]) -> tuple[Floats, Floats]:
    """Coefficients of the parameters and of K for the rows of these pairs."""
    i, j = np.array(pairs).T
    own, rival = (rivals.records.pairs(i, others[:, None])[:, 0] for others in (i, j))
    gain = rivals.family.features(rival) - rivals.family.features(own)
    return gain, np.maximum(rivals.family.most(own, rival), 0.0) + ASKED


def _negative(rivals: Rivals, parameters: Floats) -> Floats:
    """The features of the pairs whose distance is most negative."""
    found = [np.empty((0, rivals.family.size))]
    for rows, _, to_all in margins(rivals.records, rivals.family, parameters):
        # Ten times what the solver lets pass: a row that is written already must not be asked for again.
        i, j = np.nonzero(to_all < -10 * TOLERANCE)
        worst = np.argsort(to_all[i, j], kind="stable")[:MORE_RIVALS]
        pairs = rivals.records.pairs(rows[i[worst]], j[worst][:, None])[:, 0]
        found.append(rivals.family.features(pairs))
    return np.concatenate(found)


@dataclass(frozen=True)
class _Solved:
    parameters: Floats | None
    lost: float  # at least so much weight is not found
    finished: bool


class _Model:
    """The program in HiGHS: parameters first, then a binary for each record."""

    def __init__(self, family: Family, share: Floats) -> None:
        self._size, n = family.size, len(share)
        self._rows: set[tuple[int, int]] = set()
        self._solver = solver = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in {
            "output_flag": False,
            "primal_feasibility_tolerance": TOLERANCE,
            "dual_feasibility_tolerance": TOLERANCE,
            "mip_feasibility_tolerance": TOLERANCE,
            "mip_rel_gap": 0.0,
            "mip_detect_symmetry": False,
            "random_seed": 0,
        }.items():
            solver.setOptionValue(name, value)
        lower = np.r_[np.full(self._size, family.lower), np.zeros(n)]
        upper = np.r_[np.full(self._size, family.upper), np.ones(n)]
        solver.addVars(len(lower), lower, upper)
        binaries = np.arange(self._size, self._size + n, dtype=np.int32)
        solver.changeColsIntegrality(n, binaries, np.full(n, highspy.HighsVarType.kInteger))
        solver.changeColsCost(n, binaries, share)
        self._places = np.arange(self._size, dtype=np.int32)
        if family.sums_to_one:
            solver.addRow(1.0, 1.0, self._size, self._places, np.ones(self._size))
        self.mend(family.rows())

    @property
    def n_rows(self) -> int:
        return len(self._rows)

    def add(self, rivals: Rivals, wanted: list[tuple[int, int]]) -> int:
        """Write rows that are not written yet; how many were not."""
        new = sorted(set(wanted) - self._rows)
        if not new:
            return 0
        self._rows |= set(new)
        gain, most = _rows_of(rivals, new)
        binary = np.array([self._size + i for i, _ in new], dtype=np.int32)
        index = np.column_stack([np.tile(self._places, (len(new), 1)), binary]).astype(np.int32)
        self._add_rows(ASKED, index, np.column_stack([gain, most]))
        return len(new)

    def mend(self, rows: Floats) -> int:
        """Write rows of the parameters that must not be negative; how many."""
        if len(rows):
            self._add_rows(0.0, np.tile(self._places, (len(rows), 1)), rows)
        return len(rows)

    def _add_rows(self, lower: float, index: NDArray[np.int32], values: Floats) -> None:
        n, width = values.shape
        starts = np.arange(0, n * width, width, dtype=np.int32)
        self._solver.addRows(
            n, np.full(n, lower), np.full(n, INFINITY), n * width, starts, index.ravel(), values.ravel()
        )

    def solve(
        self, start: Floats, missed: NDArray[np.bool_], seconds: float, nodes: int | None, gap: float
    ) -> tuple[_Solved, int]:
        """Solve what is written, from a solution; also how many nodes that took."""
        solver = self._solver
        known = highspy.HighsSolution()
        known.col_value = [*start.tolist(), *missed.astype(float).tolist()]
        solver.setSolution(known)
        solver.setOptionValue("mip_abs_gap", gap)
        solver.setOptionValue("time_limit", solver.getRunTime() + seconds if math.isfinite(seconds) else INFINITY)
        if nodes is not None:
            solver.setOptionValue("mip_max_nodes", nodes)
        solver.run()
        info, status = solver.getInfo(), solver.getModelStatus()
        values = np.array(solver.getSolution().col_value)
        usable = len(values) > 0 and info.primal_solution_status == 2
        lost = info.mip_dual_bound if math.isfinite(info.mip_dual_bound) else 0.0
        parameters = values[: self._size] if usable else None
        return (
            _Solved(parameters, max(lost, 0.0), status == highspy.HighsModelStatus.kOptimal),
            max(int(info.mip_node_count), 1),
        )
