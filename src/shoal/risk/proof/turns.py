"""The most that a family of distances finds, by whichever search shows it first."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.risk.proof.cells import learn_by_cells, suits
from shoal.risk.proof.conditions import has_room
from shoal.risk.proof.conflicts import learn_by_conflicts
from shoal.risk.proof.exact import learn_exactly
from shoal.risk.proof.optimum import Limits, Optimum, Rivals, Search

__all__ = ["learn_in_turns"]

Floats = NDArray[np.float64]

FEW_CELLS = 20_000  # what a table that is easy for cells needs


def learn_in_turns(rivals: Rivals, starts: list[Floats], limits: Limits) -> Optimum:
    """By several searches in turns: now one is faster, now the other."""
    began, best, tried = time.monotonic(), None, starts
    for search, part, most in _turns(rivals):
        left = limits.seconds - (time.monotonic() - began)
        seconds = min(left, limits.seconds * part) if part < 1 else left
        nodes = min((count for count in (limits.nodes, most) if count is not None), default=None)
        new = search(rivals, tried, Limits(seconds, nodes, limits.gap))
        if best is not None:
            bound = max(new.found, min(new.bound, best.bound))
            new = replace(new, bound=bound, rounds=new.rounds + best.rounds)
        new = replace(new, seconds=time.monotonic() - began)
        if new.within(limits.gap):
            return new
        best, tried = new, [*starts, new.parameters]
    assert best is not None
    return best


def _turns(rivals: Rivals) -> list[tuple[Search, float, int | None]]:
    """Whose turn it is, for which part of the time (the last has all that is left) and for how many nodes."""
    if suits(rivals):
        return [
            (learn_by_cells, 0.05, FEW_CELLS),
            (learn_by_conflicts, 0.1, None),
            (learn_by_cells, 0.65, None),
            (learn_exactly, 1.0, None),
        ]
    if has_room(rivals):
        return [(learn_by_conflicts, 0.85, None), (learn_exactly, 1.0, None)]
    return [(learn_exactly, 1.0, None)]
