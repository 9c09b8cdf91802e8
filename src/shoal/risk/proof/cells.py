"""The weights that re-identify the most records, by halving the simplex of all weights, with a proof or a bound.

In a cell of the simplex a record is lost when one rival is not farther by the margin at any corner. What is not lost
bounds what any weights of the cell find; cells whose bound is no better than what is known are closed, others are
halved. First a wide slack is allowed, then less and less, so that there is a bound to report at any time.

For few attributes this is often many times faster than a solver of mixed-integer programs, where the relaxation of a
record that is half found says little. With many ties it is slower: cells across a tie are halved down to the margin.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.linking.simplex_cells import needed, search
from shoal.risk.proof.families import Simplex
from shoal.risk.proof.optimum import LOST, Limits, Optimum, Rivals

__all__ = ["learn_by_cells", "suits"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

MOST_ATTRIBUTES = 8  # beyond, cells are too many
MOST_NUMBERS = 20_000_000  # records times records times attributes; beyond, rows are
NARROWER = 4.0  # the slack of one pass over that of the next
AT_A_TIME = 16  # cells that are searched side by side
WORK, LEAST_WORK, MOST_WORK = 4_000_000, 30, 20_000  # rows, and cells, that a search goes through before it reports


@dataclass(frozen=True)
class _Cell:
    owner: Ints  # the record of each row
    at: Floats  # rows at each corner, (corners, rows)
    corners: Floats
    lost: float
    bound: float


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
    whole: _Cell | None = None
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        while bound - found > enough and left > 0 and time.monotonic() - began < limits.seconds:
            whole = whole or _whole(rivals, family)
            n_rows, passes = whole.at.shape[1], passes + 1
            still_open, closed = [whole], 0.0
            while still_open and left > 0 and time.monotonic() - began < limits.seconds:
                some, still_open = still_open[-AT_A_TIME:], still_open[:-AT_A_TIME]
                budgets = [_budget(cell, left / len(some)) for cell in some]
                search_one = partial(_searched, rivals=rivals, known=found, slack=slack)
                for result in pool.map(search_one, some, budgets):
                    left -= result.looked
                    closed = max(closed, result.closed)
                    still_open += result.left_open
                    if result.found > found and (value := rivals.found(result.weights)) > found:
                        best, found = result.weights, value
            bound = min(bound, max([closed, *(cell.bound for cell in still_open)]))
            if slack <= enough * 0.99 and not still_open:
                break  # what is left cannot be told apart by the margin
            slack = max(slack / NARROWER, enough * 0.99)
    bound = max(found, rivals.at_most(bound))
    return Optimum(best, found, bound, passes, n_rows, time.monotonic() - began)


def _budget(cell: _Cell, most: float) -> int:
    """Cells to go through before reporting: fewer where rows are many."""
    return max(1, int(min(most, max(LEAST_WORK, min(MOST_WORK, WORK // max(1, cell.at.shape[1]))))))


def _whole(rivals: Rivals, family: Simplex) -> _Cell:
    """All weights, and of each record the rivals that may ever be the nearest."""
    corners = family.corners()
    owners, rows, lost = [np.empty(0, dtype=np.int32)], [np.empty((family.n, 0))], 0.0
    for whose, gain in rivals.rows():
        owner, at = whose.astype(np.int32), np.ascontiguousarray(corners @ gain.T)
        end, everywhere, _ = needed(owner, at, 0, len(owner), LOST, rivals.share, True)
        lost += everywhere
        owners.append(owner[:end].copy())
        rows.append(at[:, :end].copy())
    return _Cell(np.concatenate(owners), np.concatenate(rows, axis=1), corners, lost, rivals.everyone - lost)


@dataclass(frozen=True)
class _Searched:
    found: float
    weights: Floats
    closed: float
    looked: int
    left_open: list[_Cell]


def _searched(cell: _Cell, budget: int, *, rivals: Rivals, known: float, slack: float) -> _Searched:
    found, weights, closed, looked, n_open, ends, places, losses, owners, values = search(
        cell.owner, cell.at, cell.corners, cell.lost, rivals.share, LOST, known, slack, budget
    )

    def left_open() -> Iterator[_Cell]:
        for one in range(n_open):
            rows, lost = slice(ends[one], ends[one + 1]), float(losses[one])
            at = np.ascontiguousarray(values[:, rows])
            yield _Cell(owners[rows].copy(), at, places[one].copy(), lost, rivals.everyone - lost)

    return _Searched(found, weights, closed, looked, list(left_open()))
