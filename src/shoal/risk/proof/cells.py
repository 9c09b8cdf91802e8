"""The weights that re-identify the most records, by halving the simplex of all weights, with a proof or a bound.

In a cell of the simplex a record is lost when one rival is not farther by the margin at any corner. What is not lost
bounds what any weights of the cell find; cells whose bound is no better than what is known are closed, others are
halved. First a wide slack is allowed, then less and less, so that there is a bound to report at any time.

For few attributes this is often many times faster than a solver of mixed-integer programs, where the relaxation of a
record that is half found says little. With many ties it is slower: cells across a tie are halved down to the margin.
"""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.linking.simplex_cells import Cells, needed, search
from shoal.risk.proof.families import Simplex
from shoal.risk.proof.optimum import LOST, Limits, Optimum, Rivals

__all__ = ["learn_by_cells", "suits"]

Floats = NDArray[np.float64]

MOST_ATTRIBUTES = 8  # beyond, cells are too many
MOST_NUMBERS = 20_000_000  # records times records times attributes; beyond, rows are
NARROWER = 4.0  # the slack of one pass over that of the next
MOST_CELLS = 20_000  # that a search goes through before it reports


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
            break  # what is left cannot be told apart by the margin
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
