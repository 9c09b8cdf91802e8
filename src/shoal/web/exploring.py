"""What an exploration has tried so far, and the commands that explore and that protect as a trial did."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.assessment.exploration.folder import RUNS, outcome_of
from shoal.results.exploration import Outcome, pareto_front
from shoal.web.commands import options
from shoal.web.jobs import Command
from shoal.web.protecting.reading import Reading, opened_in_python

OUT = "exploration"


def explore_command(
    source: str, words: Sequence[str], python: str, reading: Reading, limits: Mapping[str, float | None]
) -> Command:
    """`words` and `python` say which columns have which role, `limits` what is recommended."""
    given = options({f"--{name.replace('_', '-')}": value for name, value in limits.items()})
    calls = "".join(f", {name}={value!r}" for name, value in limits.items() if value is not None)
    opened = opened_in_python(source, reading)
    called = f"from shoal import {_names(opened, python)}explore\n\nexplore({opened}, {OUT!r}, {python}{calls})"
    return Command(("explore", source, "-o", OUT, *words, *given), called)


def as_trial_command(source: str, words: Sequence[str], python: str, reading: Reading, outcome: Outcome) -> Command:
    """The release that a trial would be."""
    opened = opened_in_python(source, reading)
    trial = {name: value for name, value in vars(outcome.trial).items() if value not in (None, ())}
    trial |= {"coarsen": dict(outcome.trial.coarsen)} if outcome.trial.coarsen else {}
    chosen = "".join(f", {name}={value!r}" for name, value in trial.items())
    python = f", {python}" if python else ""
    called = f'from shoal import {_names(opened, python)}protect\n\nprotect({opened}, out="release"{python}{chosen})'
    return Command(("protect", source, "-o", "release", *words, *shlex.split(outcome.trial.options)), called)


def _names(opened: str, python: str) -> str:
    """What has to be imported for these arguments."""
    needed = ("Hierarchy", "Roles", "TableFile")
    return "".join(f"{name}, " for name in needed if re.search(rf"\b{name}\(|\b{name}\.", f"{opened}, {python}"))


def tried(folder: Path) -> list[Outcome]:
    """The outcomes so far, also while others are under way."""
    try:
        runs = json.loads((folder / OUT / RUNS).read_bytes())["runs"]
    except (OSError, ValueError, KeyError):
        return []
    return [outcome_of(run) for run in runs.values()]


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
