"""Hardening: strengthen what leaks most, attack again, until who learns finds few enough.

Every step coarsens the column that the attacker of the worst case relies on most, twice as much as before, and has him
learn anew. What a step gave is kept, so that an interrupted hardening goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from shoal import progress
from shoal.release.exploration_folder import ExplorationFolder
from shoal.release.trials import Outcome, Trial, coarser, judged, masked_by
from shoal.risk.learned.attackers import learn_worst_case
from shoal.risk.learned.records import side_by_side
from shoal.risk.rates import sample_rows

__all__ = ["LEARNED", "harden"]

LEARNED = "learned, worst case"  # the figure that hardening brings down, in per cent
TELLING = "tells: "  # the share of a column in it, by its name
SAMPLE = 600  # records that the attacker learns from and is tried on
FIRST_CLASSES, FEWEST_CLASSES = 50, 2  # a column is cut into about so many classes at first, and at last


def harden(base: Trial, quasi: pa.Table, refine: bool, runs: ExplorationFolder, max_risk: float) -> list[Outcome]:
    """The outcomes from the base on; the last one keeps the limit, or nothing is left to coarsen."""
    model, masked = masked_by(base, quasi, refine, {})
    outcome = _attacked(judged(base, quasi, model, masked), quasi, masked)
    path = [outcome]
    while path[-1].figures[LEARNED] > max_risk:
        progress.step("hardening", len(path))
        trial = _stronger(path[-1], quasi.num_rows)
        if trial is None:
            break
        if trial.name not in runs.done:
            stronger = coarser(masked, trial.coarsen)
            runs.add(_attacked(judged(trial, quasi, model, stronger), quasi, stronger))
        path.append(runs.done[trial.name])
    return path


def _attacked(outcome: Outcome, quasi: pa.Table, masked: pa.Table) -> Outcome:
    """The outcome with what who learns from all links finds, and by which columns."""
    rows = sample_rows(quasi.num_rows, SAMPLE, 0)
    some = [table.take(pa.array(rows)) for table in (quasi, masked)]
    records = side_by_side(*some)
    worst = learn_worst_case(records)
    shares = (worst.weights if worst.measure is None else worst.measure).attribute_shares()
    found = {LEARNED: 100.0 * float(worst.chances.mean())}
    found |= {TELLING + name: float(share) for name, share in zip(records.names, shares, strict=True)}
    return replace(outcome, figures={**outcome.figures, **found})


def _stronger(outcome: Outcome, n_rows: int) -> Trial | None:
    """The most telling column that can still be coarser, twice as coarse; None when there is none."""
    trial, so_far = outcome.trial, dict(outcome.trial.coarsen)
    for column in _by_what_they_tell(outcome):
        least = so_far.get(column, 0)
        if least >= n_rows // FEWEST_CLASSES:
            continue
        # Fewer than the records that are alike already would change nothing.
        first = max(int(np.ceil(n_rows / FIRST_CLASSES)), 2 * outcome.smallest_group, 2)
        so_far[column] = min(max(2 * least, first), n_rows // FEWEST_CLASSES)
        return replace(trial, coarsen=tuple(sorted(so_far.items())))
    return None


def _by_what_they_tell(outcome: Outcome) -> Iterator[str]:
    shares = {name.removeprefix(TELLING): share for name, share in outcome.figures.items() if name.startswith(TELLING)}
    yield from sorted(shares, key=lambda name: (-shares[name], name))
