"""A pair to be assessed: where its parts are, how its rows are put side by side, and the command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.request.judging_options import AssessOptions
from shoal.request.request import Request, options_of_command
from shoal.web.jobs import Command
from shoal.web.planning.jobs import option_words, python_of
from shoal.web.wording import message_of

OUT, BOARD = "assessment", "board"
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


def assess_command(original: str, protected: str, given: Mapping[str, Any]) -> Command:
    """Paths as the job sees them; `given` are options."""
    named = {"out": OUT, **given}
    words = ("assess", original, protected, *option_words("assess", named))
    return Command(words, python_of("assess", (original, protected), named))


def board_command(release: str, given: Mapping[str, Any]) -> Command:
    """The page for the disclosure board; paths as the job sees them."""
    named = {"out": BOARD, **given}
    return Command(("board", release, *option_words("board", named)), python_of("board", (release,), named))


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
