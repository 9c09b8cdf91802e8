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
    from shoal.sanitizer.review.items import Item
    from shoal.sanitizer.review.reviewing import Order, Review

__all__ = ["review"]

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
    reviewer: Annotated[str | None, typer.Option(help="Who decides.  [default: your name on this machine]")] = None,
    adjudicate: Annotated[
        bool, typer.Option("--adjudicate", help="Settle what reviewers decided differently.")
    ] = False,
    decisions: Annotated[
        Path | None,
        typer.Option(help="JSONL of decisions to write into the log, all or none.", **options.path("<file>")),
    ] = None,
    undo: Annotated[
        list[int] | None,
        typer.Option(help="Number of a decision to take back; as often as needed.", **options.whole(0)),
    ] = None,
    redo: Annotated[bool, typer.Option("--redo", help="Bring back what you undid last.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List what is open for you, and decide nothing.")] = False,
    differences: Annotated[
        bool, typer.Option("--differences", help="List what reviewers decided differently.")
    ] = False,
    history: Annotated[bool, typer.Option("--history", help="List who decided what, and when.")] = False,
    as_json: AsJson = False,
) -> None:
    """Accept or reject what was proposed: the least sure first, equal ones at once, with undo.

    Each decision is a line of decisions.jsonl in the work folder: who, when, what, and why if you say so. Two
    people can review at the same time.
    """
    from shoal.cli.sanitizer.session import Session
    from shoal.sanitizer.review.reviewing import Review
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
    from shoal.io.files import is_folder, reading

    with reading(path):
        if is_folder(path) or path.stat().st_size > LARGEST:
            raise InputError(f"{path} is a folder, or larger than {LARGEST:,} bytes; give a file of decisions")
        lines = path.read_bytes().decode("utf-8").splitlines()
    return [_order(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()]


def _order(path: Path, number: int, line: str) -> Order:
    from shoal.sanitizer.review.reviewing import Order

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
        write(json.dumps({"decisions": [one.number for one in made], "open": waiting}, indent=2))
        return
    write(f"decisions    {len(made):,} written")
    write(f"open         {waiting:,} for {printable(review.reviewer)}")


def _list_open(review: Review, as_json: bool) -> None:
    groups = review.queue()
    if as_json:
        write(json.dumps([[_as_data(item) for item in group.items] for group in groups], indent=2, ensure_ascii=False))
        return
    for group in groups:
        for item in group.items:
            write(_line(item))
    say(f"{sum(len(group.items) for group in groups):,} items in {len(groups):,} groups are open")
    done = review.progress()
    decided = f"{done.masked:,} masked, {done.left:,} left as they are"
    say(f"of all {done.items:,}: {decided}, {done.pending:,} pending, {done.disputed:,} disputed")


def _list_differences(review: Review, as_json: bool) -> None:
    found = review.differences()
    if as_json:
        shown = [
            _as_data(one.item)
            | {"decisions": [{"reviewer": d.reviewer, "action": d.action, "span": d.span} for d in one.decisions]}
            for one in found
        ]
        write(json.dumps(shown, indent=2, ensure_ascii=False))
        return
    for one in found:
        write(_line(one.item) + "  " + printable("; ".join(f"{d.reviewer}: {d.action}" for d in one.decisions)))
    say(f"{len(found):,} items were decided differently")


def _list_history(review: Review, as_json: bool) -> None:
    lines = review.history()
    if as_json:
        write(json.dumps([asdict(line.decision) | {"holds": line.holds} for line in lines], indent=2))
        return
    for line in lines:
        one = line.decision
        span = f" {one.span[0]}-{one.span[1]}" if one.span else ""
        of = f" {one.of}" if one.of is not None else ""
        what = (
            f"{one.number:<5} {one.at[:19]}  {one.reviewer:<12} {one.document:<6} {one.item:<10} {one.action}{span}{of}"
        )
        marks = ("" if line.holds else "  (taken back)") + ("  (adjudicated)" if one.adjudicates else "")
        write(printable(what + marks + (f"  {one.reason}" if one.reason else "")))
    say(f"{len(lines):,} decisions, {sum(line.holds for line in lines):,} hold")


def _as_data(item: Item) -> dict[str, Any]:
    spans = [[mention.start, mention.end] for mention in item.mentions]
    named = {"document": item.document, "item": item.id, "kind": item.kind, "name": item.name}
    return {**named, "spans": spans, "probability": item.probability}


def _line(item: Item) -> str:
    places = f"{item.mentions[0].start}-{item.mentions[0].end}" + (", …" if len(item.mentions) > 1 else "")
    name = printable(" ".join(item.name.split())[:60])
    return f"{item.document:<6} {item.id:<10} {item.kind:<12} {item.probability:.2f}  {places:<16} {name}"
