"""The most that a family of distances finds, by one mixed-integer program with a row for every record and rival.

    minimise sum w_i K_i   subject to   D(a_i, b_j) - D(a_i, b_i) + M_ij K_i >= margin / 2,   K_i binary

Source: Abril, Navarro-Arribas and Torra, "Improving record linkage with supervised learning" (2012). M_ij is how much
nearer the rival can be at most. The solver's tolerances lie a thousand times below the margin: else rows that it calls
satisfied are not. What is found is counted from the distances themselves.
"""

from __future__ import annotations

import time

import highspy
import numpy as np

from shoal.attacks.proof.optimum import COUNTED, Optimum, Rivals

ASKED = 1.02 * COUNTED  # so that solutions count
TOLERANCE = 1e-9


def full_program(rivals: Rivals, seconds: float = 60.0) -> Optimum:
    began, family, share = time.monotonic(), rivals.family, rivals.share
    size, n = family.size, len(share)
    solver = highspy.Highs()
    for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance", "mip_feasibility_tolerance"):
        solver.setOptionValue(name, TOLERANCE)
    for name, value in {"output_flag": False, "mip_rel_gap": 0.0, "random_seed": 0, "time_limit": seconds}.items():
        solver.setOptionValue(name, value)
    solver.setOptionValue("mip_abs_gap", max(0.99 * rivals.tolerated(0.0), 1e-7))
    lower = np.r_[np.full(size, family.lower), np.zeros(n)]
    upper = np.r_[np.full(size, family.upper), np.ones(n)]
    solver.addVars(size + n, lower, upper)
    lost = np.arange(size, size + n, dtype=np.int32)
    solver.changeColsIntegrality(n, lost, np.full(n, highspy.HighsVarType.kInteger))
    solver.changeColsCost(n, lost, share)
    parameters = np.arange(size, dtype=np.int32)
    if family.sums_to_one:
        solver.addRow(1.0, 1.0, size, parameters, np.ones(size))
    never_negative = [family.rows()]
    if family.non_negative:
        never_negative.append(family.features(rivals.records.differences(np.arange(n))).reshape(-1, size))
    for row in np.concatenate(never_negative):
        solver.addRow(0.0, highspy.kHighsInf, size, parameters, row)
    n_rows = 0
    for owner, gain in rivals.rows():
        # Of a sum to 1, monotone over sets, as much as one attribute alone makes; else all entries at their largest.
        most = (-gain[:, : family.n]).max(axis=1) if family.sums_to_one else np.abs(gain).sum(axis=1)
        for record, row, nearer in zip(owner.tolist(), gain, np.maximum(most, 0.0) + ASKED, strict=True):
            places, values = np.r_[parameters, np.int32(size + record)], np.r_[row, nearer]
            solver.addRow(ASKED, highspy.kHighsInf, size + 1, places, values)
            n_rows += 1
    solver.run()
    best = np.array(solver.getSolution().col_value)[:size]
    found = rivals.found(best)
    bound = max(found, rivals.at_most(rivals.everyone - max(solver.getInfo().mip_dual_bound, 0.0)))
    return Optimum(best, found, bound, 1, n_rows, time.monotonic() - began)
