"""shoal review: decide what is masked, in the terminal or from a file."""

from __future__ import annotations

import getpass
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.app import AsJson, app
from shoal.cli.terminal import examples, printable, say, write
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.sanitizer.review.review import Order, Review
    from shoal.sanitizer.review.work import Item

FIELDS = {"document", "item", "action", "kind", "reason"}
LARGEST = 100_000_000  # bytes of a file of decisions


@app.command(
    epilog=examples(
        "shoal review work/ --reviewer ana",
        "shoal review work/ --list --json",
        "shoal review work/ --reviewer ben --decisions decided.jsonl",
        "shoal review work/ --reviewer chair --adjudicate",
    )
)
def review(
    work: Annotated[Path, typer.Argument(help="Work folder of shoal sanitize.", **options.path("WORK"))],
    reviewer: Annotated[
        str | None, typer.Option(help="Name of the reviewer.  [default: your name on this machine]")
    ] = None,
    adjudicate: Annotated[bool, typer.Option("--adjudicate", help="Settle differences between reviewers.")] = False,
    decisions: Annotated[
        Path | None,
        typer.Option(help="JSONL file of decisions to add to the log, all or none.", **options.path("<file>")),
    ] = None,
    undo: Annotated[
        list[int] | None,
        typer.Option(help="Number of a decision to take back; can be repeated.", **options.whole(0)),
    ] = None,
    redo: Annotated[bool, typer.Option("--redo", help="Bring back what you undid last.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List what you still have to decide.")] = False,
    differences: Annotated[
        bool, typer.Option("--differences", help="List what reviewers decided differently.")
    ] = False,
    history: Annotated[bool, typer.Option("--history", help="List who decided what, and when.")] = False,
    as_json: AsJson = False,
) -> None:
    """Accept or reject proposals: the least certain first, equal ones together, with undo.

    Each decision is a line of decisions.jsonl in the work folder: who, when, what, and the
    reason if you give one. Two people can review at the same time.
    """
    from shoal.cli.sanitizer.session import Session
    from shoal.sanitizer.review.review import Review
    from shoal.sanitizer.review.work import WorkFolder

    if sum(map(bool, (listed, differences, history, decisions, undo, redo))) > 1:
        raise InputError(
            "--list, --differences, --history, --decisions, --undo and --redo exclude each other; give one of them"
        )
    mine = Review(WorkFolder(work), reviewer or _own_name())
    if decisions is not None:
        _say_made(mine, mine.decide_all(_read(decisions), adjudicates=adjudicate), as_json)
    elif undo:
        _say_made(mine, mine.undo(undo), as_json)
    elif redo:
        _say_made(mine, mine.redo(), as_json)
    elif history:
        _list_history(mine, as_json)
    elif differences:
        _list_differences(mine, as_json)
    elif listed:
        _list_open(mine, as_json)
    else:
        Session(mine, adjudicate).run()


def _own_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise InputError("your name on this machine is unknown; give one with --reviewer") from None


def _read(path: Path) -> list[Order]:
    """Lines with document, item and action; a line that adds has span and kind in place of an item."""
    from shoal.data.files import is_folder, reading

    with reading(path):
        if is_folder(path) or path.stat().st_size > LARGEST:
            raise InputError(f"{path} is a folder, or larger than {LARGEST:,} bytes; give a file of decisions")
        lines = path.read_bytes().decode("utf-8").splitlines()
    return [_order(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()]


def _order(path: Path, number: int, line: str) -> Order:
    from shoal.sanitizer.review.review import Order

    try:
        given = json.loads(line)
        span = given.pop("span", None)
        if span is not None:
            start, end = span
            span = int(start), int(end)
        if not set(given) <= FIELDS or not all(isinstance(value, str) for value in given.values()):
            raise ValueError("fields")
        return Order(**{"item": "", **given}, span=span)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InputError(
            f"{path}, line {number}: a decision has document, item and action, and may have span, kind and reason"
        ) from None


def _say_made(review: Review, made: Any, as_json: bool) -> None:
    waiting = len(review.queue())
    if as_json:
        write(json.dumps({"decisions": [decision.number for decision in made], "open": waiting}, indent=2))
        return
    write(f"decisions    {len(made):,} written")
    write(f"open         {waiting:,} for {printable(review.reviewer)}")


def _list_open(review: Review, as_json: bool) -> None:
    groups = review.queue()
    if as_json:
        write(json.dumps([[_as_data(item) for item in group] for group in groups], indent=2, ensure_ascii=False))
        return
    for group in groups:
        for item in group:
            write(_line(item))
    say(f"{sum(len(group) for group in groups):,} items in {len(groups):,} groups are open")
    done = review.progress()
    decided = f"{done.masked:,} masked, {done.left:,} left as they are"
    say(f"of all {done.items:,}: {decided}, {done.pending:,} pending, {done.disputed:,} disputed")


def _list_differences(review: Review, as_json: bool) -> None:
    differences = review.differences()
    if as_json:
        listed = [
            _as_data(item)
            | {"decisions": [{"reviewer": d.reviewer, "action": d.action, "span": d.span} for d in decisions]}
            for item, decisions in differences
        ]
        write(json.dumps(listed, indent=2, ensure_ascii=False))
        return
    for item, decisions in differences:
        answers = "; ".join(f"{decision.reviewer}: {decision.action}" for decision in decisions)
        write(f"{_line(item)}  {printable(answers)}")
    say(f"{len(differences):,} items were decided differently")


def _list_history(review: Review, as_json: bool) -> None:
    lines = review.history()
    if as_json:
        write(json.dumps([asdict(line.decision) | {"holds": line.holds} for line in lines], indent=2))
        return
    for line in lines:
        decision = line.decision
        who = f"{decision.number:<5} {decision.at[:19]}  {decision.reviewer:<12} {decision.document:<6}"
        span = f" {decision.span[0]}-{decision.span[1]}" if decision.span else ""
        of = f" {decision.of}" if decision.of is not None else ""
        marks = ("" if line.holds else "  (taken back)") + ("  (adjudicated)" if decision.adjudicates else "")
        reason = f"  {decision.reason}" if decision.reason else ""
        write(printable(f"{who} {decision.item:<10} {decision.action}{span}{of}{marks}{reason}"))
    say(f"{len(lines):,} decisions, {sum(line.holds for line in lines):,} hold")


def _as_data(item: Item) -> dict[str, Any]:
    spans = [[mention.start, mention.end] for mention in item.mentions]
    named = {"document": item.document, "item": item.id, "kind": item.kind, "name": item.name}
    return {**named, "spans": spans, "probability": item.probability}


def _line(item: Item) -> str:
    places = f"{item.mentions[0].start}-{item.mentions[0].end}" + (", …" if len(item.mentions) > 1 else "")
    name = printable(" ".join(item.name.split())[:60])
    return f"{item.document:<6} {item.id:<10} {item.kind:<12} {item.probability:.2f}  {places:<16} {name}"
