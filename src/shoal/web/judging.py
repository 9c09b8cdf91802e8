"""What a page shows of versions that are judged: a pair side by side, the trials of an exploration, a curve over k."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.assessment.exploration.folder import RUNS, outcome_of
from shoal.errors import InputError
from shoal.request.judging_options import AssessOptions
from shoal.request.method_options import SKETCHES
from shoal.request.request import Request, options_of_command
from shoal.results.exploration import MEASURES, Measures, Outcome, Trial, pareto_front
from shoal.web.commands import EXPLORATION
from shoal.web.wording import message_of

FIRST = 6  # rows that are shown


@dataclass(frozen=True)
class Comparing:
    """What was chosen: how rows belong together, and what else to look at."""

    key: str = ""
    aligned: bool = False
    target: str = ""
    differencing: int | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Those that are given, by name."""
        return {name: value for name, value in vars(self).items() if value}


@dataclass(frozen=True)
class SideBySide:
    """The first rows of both, and how they were put side by side; or why they could not be."""

    how: str = ""
    problem: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[tuple[str, str], ...], ...] = ()  # of each row, the cells before and after
    left_out: tuple[str, ...] = ()
    tables: bool = True  # else documents, whose rows are put side by side by their names


def side_by_side(original: Path, protected: Path, private: Path | None, comparing: Comparing) -> SideBySide:
    """A look at the pair, before it is judged. It is taken aside, where what it needs is loaded."""
    from shoal.assessment.aligned import align_tables

    if _is_documents(protected):
        how = "by the private mapping" if private is not None else "by their names, or by their place"
        return SideBySide(how=how, tables=False)
    try:
        asked = AssessOptions(private=private, aligned=comparing.aligned, key=comparing.key or None)
        aligned = align_tables(original, protected, asked)
    except InputError as problem:
        return SideBySide(problem=message_of(problem))
    columns = (*aligned.numbers, *aligned.labels)
    cells = [
        [aligned.before[name].slice(0, FIRST).to_pylist(), aligned.after[name].slice(0, FIRST).to_pylist()]
        for name in columns
    ]
    rows = tuple(
        tuple((_shown(before[row]), _shown(after[row])) for before, after in cells)
        for row in range(min(FIRST, len(aligned.before)))
    )
    return SideBySide(aligned.how, "", columns, rows, aligned.left_out)


def of_plan(plan: Request | None, command: str = "assess") -> dict[str, Any]:
    """What the plan of the original says to a judgement: how it is read, whose the records are, and their weights."""
    if plan is None:
        return {}
    said = {*vars(plan.reading), "person", "weight", "household"} & options_of_command(command).keys()
    return {name: value for name, value in plan.given.items() if name in said}


def _is_documents(protected: Path) -> bool:
    """Whether a release holds vectors, sketches or texts."""
    from shoal.release.load import kind_of_release

    if protected.is_dir():
        return kind_of_release(protected) != "table"
    return protected.suffix in (".npz", ".jsonl")


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 60 else text[:60] + "…"


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
            "k": outcome.trial.k,
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
