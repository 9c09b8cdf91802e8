"""What an exploration has tried so far, and a curve over k before one begins."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from shoal.assessment.exploration.folder import RUNS, outcome_of
from shoal.errors import InputError
from shoal.request.method_options import SKETCHES
from shoal.request.request import Request
from shoal.results.exploration import MEASURES, Measures, Outcome, Trial, pareto_front
from shoal.web.planning.jobs import EXPLORATION

ENGLISH = "english"


def tried(folder: Path) -> list[Outcome]:
    """The outcomes so far, also while others are under way."""
    try:
        runs = json.loads((folder / EXPLORATION / RUNS).read_bytes())["runs"]
    except (OSError, ValueError, KeyError):
        return []
    return [outcome_of(run) for run in runs.values()]


def trial_plan(plan: Request, trial: Trial, kind: str) -> Request:
    """The plan of the release that a trial stands for; made aside, where what it needs is loaded."""
    from shoal.assessment.exploration.tables import trial_request

    return trial_request(plan, trial, kind)


def measures_of(outcomes: Sequence[Outcome]) -> Measures:
    """What loss and risk are: documents are sketched, too."""
    sketched = any(outcome.trial.method in SKETCHES for outcome in outcomes)
    return MEASURES["documents" if sketched else "numbers"]


def as_points(outcomes: Sequence[Outcome], recommended: str | None) -> Iterator[dict[str, Any]]:
    """For the map."""
    front = {outcome.trial.name for outcome in pareto_front(outcomes)}
    for outcome in sorted(outcomes, key=lambda outcome: (outcome.score, outcome.trial.name)):
        yield {
            "name": outcome.trial.name,
            "loss": outcome.loss,
            "risk": outcome.risk,
            "score": outcome.score,
            "alike": outcome.smallest_group,
            "crowd": outcome.trial.promises_crowd,
            "front": outcome.trial.name in front,
            "recommended": outcome.trial.name == recommended,
            "figures": dict(outcome.figures),
        }


def estimate(plan: Request, n_rows: int) -> dict[str, Any]:
    """The points of the curve, what its two lines are, and how many records it was computed on.

    It is estimated aside, where what it needs is loaded. `n_rows` are the records of the whole file.
    """
    from shoal.assessment.exploration.curve import curve_over_k

    if plan.words.language not in (None, ENGLISH):
        raise InputError("loss and risk are estimated for English texts only; Protect does without")
    found = curve_over_k(plan)
    return {
        "points": [{"k": point.k, "loss": point.loss, "risk": point.risk} for point in found.points],
        "sample": found.sample,
        "records": found.records,
        "withheld": n_rows - found.records if plan.columns.missing == "withhold" else 0,
        "loss": found.measures.loss_in_words,
        "risk": found.measures.risk_in_words,
    }
