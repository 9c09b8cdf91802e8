"""The folder of an exploration: outcomes kept as they come, so that it goes on after an interruption, and its results.

Every file is written aside and renamed: it is whole, or as it was. The folder is its owner's alone.
"""

from __future__ import annotations

import csv
import io
import json
import os
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from shoal.data.files import shown
from shoal.data.private_files import PRIVATE_FILE, PRIVATE_FOLDER
from shoal.errors import InputError
from shoal.release.folders import close_to_others
from shoal.request.plan import plan_text
from shoal.request.request import Request
from shoal.results.exploration import Exploration, Outcome, Trial

RUNS, RESULTS, REPORT, PLAN = "runs.json", "results.csv", "report.html", "plan.toml"
HARDENING = "hardening.csv"
FILES = {RUNS, RESULTS, REPORT, PLAN, HARDENING}
ASIDE = ".part"


class ExplorationFolder:
    """`done` has the outcomes by the names of their trials."""

    def __init__(self, folder: Path, fingerprint: str, force: bool) -> None:
        self.done: dict[str, Outcome] = {}
        self._fingerprint = fingerprint
        self._folder = folder
        runs = folder / RUNS
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
            others = set(os.listdir(folder)) - FILES - {name + ASIDE for name in FILES}
            known = json.loads(runs.read_text(encoding="utf-8")) if runs.is_file() else None
            if known is not None and known["fingerprint"] == fingerprint:
                self.done = {name: outcome_of(run) for name, run in known["runs"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
            reason = getattr(problem, "strerror", None) or "its runs cannot be read"
            raise InputError(f"{shown(folder)} cannot be used ({reason}); choose another folder") from None
        if others:
            raise InputError(f"{shown(folder)} holds other files; choose an empty folder, or that of an exploration")
        if known is not None and known.get("fingerprint") != fingerprint and not force:
            raise InputError(
                f"{shown(folder)} has results of another table or other settings; "
                "choose another folder, or {option} to drop them",
                "force",
            )
        try:
            close_to_others(folder)  # it may have been there, open to others
        except OSError:
            raise InputError(f"{shown(folder)} is not yours to close to others; choose another folder") from None

    def add(self, outcome: Outcome) -> None:
        """Keep it at once."""
        self.done[outcome.trial.name] = outcome
        content = {"fingerprint": self._fingerprint, "runs": {name: asdict(run) for name, run in self.done.items()}}
        self._write(RUNS, json.dumps(content, indent=1))

    def write_results(self, exploration: Exploration, page: str) -> None:
        """The table of all outcomes, and the page."""
        self._write(RESULTS, _table(exploration, exploration.outcomes))
        if exploration.hardened:
            self._write(HARDENING, _table(exploration, exploration.hardened))
        self._write(REPORT, page)

    def write_plan(self, request: Request) -> Path:
        """What makes the recommended release, as a plan that `shoal protect` carries out."""
        self._write(PLAN, plan_text(request, self._folder, {}))
        return self._folder / PLAN

    def _write(self, name: str, text: str) -> None:
        aside = self._folder / (name + ASIDE)
        try:
            aside.write_text(text, encoding="utf-8", newline="\n")
            aside.chmod(PRIVATE_FILE)
            os.replace(aside, self._folder / name)
        except OSError as problem:
            raise InputError(f"{shown(aside)} cannot be written ({problem.strerror}); make room for it") from None
        finally:
            with suppress(OSError):
                aside.unlink(missing_ok=True)


def outcome_of(data: dict[str, Any]) -> Outcome:
    """From the JSON of an exploration."""
    known = {name: value for name, value in data.items() if name in Outcome.__dataclass_fields__}
    return Outcome(**(known | {"trial": Trial(**data["trial"])}))


def _table(exploration: Exploration, outcomes: tuple[Outcome, ...]) -> str:
    figures = list(dict.fromkeys(name for outcome in outcomes for name in outcome.figures))
    on_front = {outcome.trial.name for outcome in exploration.front}
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["method", "score", "loss", "risk", "smallest group", "crowd", "on the front", "seconds", *figures])
    for outcome in outcomes:
        row = [round(value, 4) for value in (outcome.score, outcome.loss, outcome.risk)]
        more = [round(outcome.figures[name], 4) if name in outcome.figures else "" for name in figures]
        alike = [outcome.smallest_group, outcome.promises_crowd, outcome.trial.name in on_front, outcome.seconds]
        lines.writerow([outcome.trial.name, *row, *alike, *more])
    return text.getvalue()
