"""Hardening: strengthen what leaks most, attack again, until a trained attacker finds few enough.

Every step coarsens the column that the attacker of the worst case relies on most, twice as much as before, and trains
them anew. What a step gave is kept, so that an interrupted hardening goes on. Crowds large enough to keep the limit
for certain are tried as well: whichever loses least is recommended.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from shoal import progress
from shoal.assessment.exploration.folder import ExplorationFolder
from shoal.assessment.exploration.tables import ExploredTable, MaskedTable
from shoal.assessment.exploration.trials import Limits
from shoal.attacks.learned.leakage import attack_all
from shoal.attacks.learned.records import side_by_side
from shoal.results.exploration import LEARNED, Outcome, Trial

SHARE_OF = "tells: "  # the share of a column in it, by its name
EUCLIDEAN = "linked, Euclidean"
SAMPLE = 600  # records that the attacker learns from
MOST_TRIED = 20_000  # records that the attacker is tried on
BASES = 4  # protections that are hardened
FARTHER = 1.2  # how much more than the best may be lost on the way
FIRST_CLASSES, FEWEST_CLASSES = 50, 2  # into which a column is cut at first, and at last


def hardened(
    outcomes: Sequence[Outcome], explored: ExploredTable, runs: ExplorationFolder, limits: Limits
) -> tuple[Outcome | None, list[Outcome]]:
    """What keeps the limits at the least loss, if anything does, and the outcomes that led to it, step by step."""
    assert limits.max_risk is not None
    best: Outcome | None = None
    paths: list[list[Outcome]] = []
    allowed = [one for one in outcomes if limits.crowd_kept_by(one) and EUCLIDEAN in one.figures]  # averages
    crowds = _crowds(allowed, explored, runs, limits.max_risk, limits.min_k)
    for base in [*crowds, *_bases(allowed, limits.max_risk)]:
        most = np.inf if best is None else best.loss
        path = list(_path(base, explored, runs, limits.max_risk, most))
        last, paths = path[-1], [*paths, path]
        kept = last.figures[LEARNED] <= limits.max_risk and (limits.max_loss is None or last.loss <= limits.max_loss)
        if kept and last.loss < most:
            best = last
    if best is not None:
        return best, next(path for path in paths if path[-1] is best)
    return None, min(paths, key=lambda path: path[-1].figures[LEARNED], default=[])


def _crowds(
    outcomes: Sequence[Outcome], explored: ExploredTable, runs: ExplorationFolder, max_risk: float, min_k: int | None
) -> list[Outcome]:
    """Crowds so large that nobody, whatever they learned, finds more records than the limit."""
    k = max(math.ceil(100.0 / max_risk), min_k or 2, 2)
    trial = Trial("mdav", k=k)
    outcome = runs.done.get(trial.name) or explored.try_out(trial)
    if outcome is None:
        return []
    if trial.name not in runs.done:
        runs.add(outcome)
    large = [outcome for outcome in outcomes if outcome.smallest_group >= k]
    return [min([runs.done[trial.name], *large], key=lambda outcome: (outcome.loss, outcome.trial.name))]


def _bases(allowed: Sequence[Outcome], max_risk: float) -> list[Outcome]:
    """What to begin with: the least loss at which plain linkage finds few enough, and a few at which it nearly does."""
    safe = [outcome for outcome in allowed if _linked(outcome) <= max_risk]
    first = min(safe, key=lambda outcome: (outcome.loss, outcome.trial.name), default=None)
    # Of those that are not safe, what loses less than any that is found less often.
    front: list[Outcome] = [] if first is None else [first]
    for outcome in sorted(allowed, key=lambda outcome: (_linked(outcome), outcome.loss, outcome.trial.name)):
        if _linked(outcome) > max_risk and (not front or outcome.loss < front[-1].loss) and len(front) < BASES:
            front.append(outcome)
    return front


def _path(
    base: Outcome, explored: ExploredTable, runs: ExplorationFolder, max_risk: float, most: float
) -> Iterator[Outcome]:
    """Outcomes from the base on, until the limit is kept, more is lost than `most`, or nothing is left to coarsen."""
    work = explored.masked_by(base.trial)
    outcome = _attacked(base, explored, work)
    yield outcome
    step = 0
    while outcome.figures[LEARNED] > max_risk and outcome.loss < FARTHER * most:  # it may fall again
        progress.step(f"hardening {base.trial.name}", step)
        trial = _stronger(outcome, len(explored))
        if trial is None:
            return
        if trial.name not in runs.done:
            stronger = explored.judged(trial, work, work.published(trial.coarsen))
            runs.add(_attacked(stronger, explored, work))
        outcome, step = runs.done[trial.name], step + 1
        yield outcome


def _linked(outcome: Outcome) -> float:
    return max(outcome.figures[EUCLIDEAN], outcome.figures["linked, Mahalanobis"])


def _attacked(outcome: Outcome, explored: ExploredTable, work: MaskedTable) -> Outcome:
    """The outcome with what an attacker trained on all links finds, and by which columns."""
    columns = explored.released_columns(work, work.published(outcome.trial.coarsen))
    before, after = (
        pa.table({name: pa.array(getattr(column, side)) for name, column in columns.items()})
        for side in ("before", "after")
    )
    everyone = side_by_side(before, after)
    worst, rate = attack_all(everyone, SAMPLE, 0, MOST_TRIED)
    shares = worst.attribute_shares
    figures = {LEARNED: 100.0 * rate.rate}
    figures |= {SHARE_OF + name: float(share) for name, share in zip(everyone.names, shares, strict=True)}
    return replace(outcome, figures={**outcome.figures, **figures})


def _stronger(outcome: Outcome, n_rows: int) -> Trial | None:
    """The most telling column that can still be coarser, twice as coarse; None when there is none."""
    trial, so_far = outcome.trial, dict(outcome.trial.coarsen)
    for column in _by_share(outcome):
        least = so_far.get(column, 0)
        if least >= n_rows // FEWEST_CLASSES:
            continue
        # Fewer than the records that are alike already would change nothing.
        first = max(int(np.ceil(n_rows / FIRST_CLASSES)), 2 * outcome.smallest_group, 2)
        so_far[column] = min(max(2 * least, first), n_rows // FEWEST_CLASSES)
        return replace(trial, coarsen=tuple(sorted(so_far.items())))
    return None


def _by_share(outcome: Outcome) -> Iterator[str]:
    shares = {
        name.removeprefix(SHARE_OF): share for name, share in outcome.figures.items() if name.startswith(SHARE_OF)
    }
    yield from sorted(shares, key=lambda name: (-shares[name], name))
