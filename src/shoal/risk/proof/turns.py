"""The most that a family of distances finds: of a simplex of weights by a quick search, then by a thorough one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.risk.proof.cells import learn_by_cells, suits
from shoal.risk.proof.conflicts import learn_by_conflicts
from shoal.risk.proof.optimum import Limits, Optimum, Rivals

__all__ = ["learn_in_turns"]

Floats = NDArray[np.float64]

FEW_CELLS = 100_000  # what a table that is easy for cells needs
QUICK = 0.2  # of the time, at most


def learn_in_turns(rivals: Rivals, starts: list[Floats], limits: Limits) -> Optimum:
    """From parameters to begin with, such as a heuristic's, to the best ones and a bound."""
    if not suits(rivals):
        return learn_by_conflicts(rivals, starts, limits)
    few = FEW_CELLS if limits.nodes is None else min(FEW_CELLS, limits.nodes)
    quick = learn_by_cells(rivals, starts, replace(limits, seconds=QUICK * limits.seconds, nodes=few))
    if quick.within(limits.gap):
        return quick
    left = replace(limits, seconds=limits.seconds - quick.seconds)
    thorough = learn_by_conflicts(rivals, [*starts, quick.parameters], left)
    return replace(
        thorough,
        bound=max(thorough.found, min(thorough.bound, quick.bound)),
        rounds=quick.rounds + thorough.rounds,
        seconds=quick.seconds + thorough.seconds,
    )
