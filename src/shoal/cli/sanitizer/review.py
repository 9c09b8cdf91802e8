"""shoal review: decide what is masked, in the terminal or from a file."""

from __future__ import annotations

import getpass
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.app import AsJson, app
from shoal.cli.terminal import examples, printable, say, write
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.results.sanitizing import Decision
    from shoal.sanitizer.review.items import Item
    from shoal.sanitizer.review.reviewing import Review

__all__ = ["review"]

FIELDS = {"document", "item", "action", "kind", "span", "reason"}
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
    listed: Annotated[bool, typer.Option("--list", help="List what is open for you, and decide nothing.")] = False,
    differences: Annotated[
        bool, typer.Option("--differences", help="List what reviewers decided differently.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Accept or reject what was proposed: the least sure first, equal ones at once, with undo.

    Each decision is a line of decisions.jsonl in the work folder: who, when, what, and why if you say so. Two
    people can review at the same time.
    """
    from shoal.cli.sanitizer.session import Session
    from shoal.sanitizer.review.reviewing import Review
    from shoal.sanitizer.review.work import WorkFolder

    if sum(map(bool, (listed, differences, decisions, undo))) > 1:
        raise InputError("--list, --differences, --decisions and --undo exclude each other; give one of them")
    mine = Review(WorkFolder(work), reviewer or _own_name())
    if decisions is not None:
        made = _decide(mine, _read(decisions), adjudicate)
        _say_made(mine, made, as_json)
    elif undo:
        _say_made(mine, mine.undo(undo), as_json)
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


def _read(path: Path) -> list[dict[str, Any]]:
    """Lines with document, item and action; a line that adds has span and kind in place of an item."""
    from shoal.io.files import is_folder, reading

    with reading(path):
        if is_folder(path) or path.stat().st_size > LARGEST:
            raise InputError(f"{path} is a folder, or larger than {LARGEST:,} bytes; give a file of decisions")
        lines = [line for line in path.read_bytes().decode("utf-8").splitlines() if line.strip()]
    decisions = []
    for number, line in enumerate(lines, start=1):
        try:
            content = json.loads(line)
            if not set(content) <= FIELDS or not all(isinstance(content[name], str) for name in ("document", "action")):
                raise ValueError("fields")
            content["span"] = None if content.get("span") is None else tuple(map(int, content["span"]))
            if content["span"] is not None and len(content["span"]) != 2:
                raise ValueError("span")
        except (ValueError, TypeError, KeyError):
            raise InputError(
                f"{path}, line {number}: a decision has document, item and action, and may have span, kind and reason"
            ) from None
        decisions.append(content)
    return decisions


def _decide(review: Review, given: list[dict[str, Any]], adjudicate: bool) -> list[Decision]:
    """All are checked before the first is written."""
    made: list[Decision] = []
    steps: dict[tuple[Any, ...], list[tuple[str, str]]] = {}
    for one in given:
        if one["action"] != "add":
            step = one["action"], one["span"], str(one.get("reason", ""))
            steps.setdefault(step, []).append((one["document"], str(one.get("item", ""))))
    for (action, span, _), keys in steps.items():
        review.check(keys, action, span)
    added = [one for one in given if one["action"] == "add"]
    for one in added:
        review.check_added(one["document"], one["span"] or (0, 0), str(one.get("kind", "")))
    for (action, span, reason), keys in steps.items():
        made += review.decide(keys, action, span=span, reason=reason, adjudicates=adjudicate)
    for one in added:
        made += review.add(one["document"], one["span"], one["kind"], reason=str(one.get("reason", "")))
    return made


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


def _as_data(item: Item) -> dict[str, Any]:
    spans = [[mention.start, mention.end] for mention in item.mentions]
    named = {"document": item.document, "item": item.id, "kind": item.kind, "name": item.name}
    return {**named, "spans": spans, "probability": item.probability}


def _line(item: Item) -> str:
    places = f"{item.mentions[0].start}-{item.mentions[0].end}" + (", …" if len(item.mentions) > 1 else "")
    name = printable(" ".join(item.name.split())[:60])
    return f"{item.document:<6} {item.id:<10} {item.kind:<12} {item.probability:.2f}  {places:<16} {name}"
