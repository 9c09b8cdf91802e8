"""shoal audit: how risky a table is as it stands; shoal count: its crowds, counted where it lives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import shoal
from shoal.cli.app import AsJson, app, command
from shoal.cli.options import path, takes_options, whole
from shoal.cli.terminal import BROKEN, examples, printable, say, shown_progress, write, write_page
from shoal.request.request import parsed_options


@command(
    epilog=examples(
        "shoal audit people.csv -o audit --quasi age,sex,town --confidential diagnosis",
        "shoal audit survey.csv --quasi age,sex,region --weight w --household hh",
        "shoal audit release/ --population 83000000",
    )
)
@takes_options("audit")
def audit(
    source: Annotated[Path, typer.Argument(help="A table, the folder of a release, or a plan.", **path("TABLE"))],
    texts: dict[str, Any],
    as_json: AsJson = False,
) -> None:
    """Measure how risky a table is, before it is protected or after: crowds, uniques, three attackers, the population.

    Without --quasi and --confidential, the roles are those of the release, or those that inspect proposes.
    """
    options = parsed_options("audit", texts)
    with shown_progress():
        found = shoal.audit(source, **options)
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


@app.command(
    epilog=examples(
        "shoal count people.parquet --quasi age,sex,town --confidential diagnosis",
        "shoal count postgresql://host/study --table people --quasi age,sex --min-k 5",
        "shoal count postgresql://host/study --table people --quasi age,sex --sql",
    )
)
def count(
    source: Annotated[
        str, typer.Argument(help="Database, Parquet file, or folder of Parquet files.", metavar="SOURCE")
    ],
    quasi: Annotated[str, typer.Option(help="Columns that others may know, comma-separated.", metavar="<columns>")],
    confidential: Annotated[
        str | None, typer.Option(help="Columns that nobody should learn, comma-separated.", metavar="<columns>")
    ] = None,
    table: Annotated[str | None, typer.Option(help="The table of a database.", metavar="<name>")] = None,
    min_k: Annotated[int | None, typer.Option(help="Fail if k is smaller.", **whole(2))] = None,
    sql: Annotated[bool, typer.Option("--sql", help="Print the SELECT, and do not run it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Count crowds where the table lives: in a database or in Parquet files, without reading them into memory.

    Exit code 1 if k is smaller than --min-k.
    """
    from shoal.assessment.count import counting_sql, source_sql

    names, hidden = ([name.strip() for name in text.split(",") if name.strip()] for text in (quasi, confidential or ""))
    if sql:
        write(counting_sql(source_sql(source, table), names, hidden))
        return
    found = shoal.count(source, quasi=names, confidential=hidden, table=table)
    if as_json:
        write(json.dumps(found.data(), indent=2, ensure_ascii=False))
    else:
        write(f"records      {found.rows:,} in {found.keys:,} crowds; k = {found.k:,}")
        write(f"small        {found.below[0]:,} one of a kind, {found.below[2]:,} in crowds below 5")
        for name, least in found.values:
            write(printable(f"values       {name}: at least {least:,} different in a crowd"))
    if min_k is not None and found.k < min_k:
        say(f"k = {found.k:,}, and {min_k:,} was asked for")
        raise typer.Exit(BROKEN)
