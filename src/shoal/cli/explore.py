"""shoal explore: many ways to protect a table or documents, and the one to take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.app import AsJson, command
from shoal.cli.options import Plan, takes_options
from shoal.cli.terminal import examples, printable, say, shown_progress, write, write_page
from shoal.request.judging_options import ExploreOptions
from shoal.request.option import options_of
from shoal.request.plan import request_of_texts
from shoal.request.request import checked_part, parsed_options
from shoal.results.exploration import LEARNED


@command(
    epilog=examples(
        "shoal explore people.csv -o exploration --quasi age,income --max-risk 20",
        "shoal explore people.csv -o exploration --quasi age,income --max-risk 5 --harden",
        "shoal explore people.csv -o exploration --quasi age,town --ontology town=towns.csv --max-loss 10",
        "shoal explore letters.jsonl -o exploration --max-risk 10",
    )
)
@takes_options("explore")
def explore(
    texts: dict[str, Any],
    source: Annotated[
        str | None, typer.Argument(metavar="[INPUT]", help="A table or documents, as for protect; or a plan.")
    ] = None,
    plan: Plan = None,
    as_json: AsJson = False,
) -> None:
    """Try many ways to protect a table or documents, judge each, and recommend one.

    Results are kept as they come: after an interruption the same command goes on. They are made from the original: keep
    them to yourself.
    """
    from shoal.assessment.exploration.explore import explore_request

    shared = dict(texts)
    own = {name: shared.pop(name) for name in texts if name in options_of(ExploreOptions)}
    asked = checked_part(ExploreOptions, parsed_options("explore", own))
    with shown_progress():
        found = explore_request(request_of_texts("explore", source, plan, shared), asked)
    if as_json:
        from shoal.results.assessment import as_data

        write(json.dumps(as_data(found), indent=2))
        return
    write(printable(f"report       {Path(asked.out) / 'report.html'}"))
    write_page("exploration.txt.jinja", e=found, learned=LEARNED)
    if found.recommended is None or found.command is None:
        what, also = (
            ("nothing that promises a crowd", ", or accept none: --no-crowd") if found.crowd else ("nothing", "")
        )
        say(f"{what} keeps these limits; raise --max-risk or --max-loss, or lower --min-k{also}")
