"""shoal audit: how risky a table is as it stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import shoal
from shoal.cli.app import AsJson, command
from shoal.cli.options import path, takes_options
from shoal.cli.terminal import examples, printable, say, shown_progress, write, write_page
from shoal.request.options import Reading
from shoal.request.request import checked_part, parsed_options


@command(
    epilog=examples(
        "shoal audit people.csv -o audit --quasi age,sex,town --confidential diagnosis",
        "shoal audit survey.csv --quasi age,sex,region --weight w --household hh",
        "shoal audit release/ --population 83000000",
    )
)
@takes_options("audit")
def audit(
    source: Annotated[Path, typer.Argument(help="A table, or the folder of a release.", **path("TABLE"))],
    texts: dict[str, Any],
    as_json: AsJson = False,
) -> None:
    """Measure how risky a table is, before it is protected or after: crowds, uniques, three attackers, the population.

    Without --quasi and --confidential, the roles are those of the release, or those that inspect proposes.
    """
    options = parsed_options("audit", texts)
    from shoal.data.sources import table_source

    reading = checked_part(Reading, options)
    asked = {name: value for name, value in options.items() if name not in vars(reading)}
    with shown_progress():
        found = shoal.audit(table_source(source, reading), **asked)
    if as_json:
        write(json.dumps(found.data(), indent=2, ensure_ascii=False))
        return
    if "out" in options:
        write(printable(f"report       {Path(options['out']) / 'report.html'}"))
    write_page("audit.txt.jinja", f=found)
    for note in found.notes:
        say(f"note: {note}")
    if found.proposed:
        say("note: the columns were proposed; name those that others may know with --quasi")
