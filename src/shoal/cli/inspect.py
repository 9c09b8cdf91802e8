"""shoal inspect: what a table holds; shoal map: which concepts the values of a column mean."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

import shoal
from shoal.cli.app import AsJson, command
from shoal.cli.options import path, takes_options
from shoal.cli.terminal import examples, printable, say, write, write_page
from shoal.errors import InputError
from shoal.request.plan import write_plan
from shoal.request.request import Request, parsed_options, spelled_option

WIDEST = 24  # characters of a bar


@command(
    epilog=examples(
        "shoal inspect people.csv",
        "shoal inspect people.csv --plan plan.toml",
        "shoal protect plan.toml",
    )
)
@takes_options("inspect")
def inspect(
    source: Annotated[Path, typer.Argument(help="CSV, Parquet, JSONL, .dat or a folder.", **path("INPUT"))],
    texts: dict[str, Any],
    plan: Annotated[
        Path | None,
        typer.Option(help="Write a plan for protect, with the reason beside each column.", **path("<file>")),
    ] = None,
    values: Annotated[bool, typer.Option("--values/--no-values", help="Show histograms and frequent values.")] = True,
    as_json: AsJson = False,
) -> None:
    """Show what each column of a table is: its kind, gaps, different values, and a role that would suit it.

    Documents and baskets are recognised and counted. The output quotes the data: it is for its owner alone.
    """
    options = parsed_options("inspect", texts)
    from shoal.data.sources import table_source

    request = Request.of(source, options)
    found = shoal.inspect(table_source(source, request.reading))
    if plan is not None:
        from shoal.data.kinds.inspection import proposed_request

        proposed, notes = proposed_request(found, request)
        write_plan(proposed, plan, notes, request.publication.force)
    if as_json:
        write(json.dumps(_as_data(found, values), indent=2, ensure_ascii=False))
    else:
        write_page("inspection.txt.jinja", f=found, values=values, bars=_bars, flag=spelled_option)
    if plan is not None:
        say(f"plan written to {plan}: check each line, then run: shoal protect {plan}")


def _as_data(found: Any, values: bool) -> dict[str, Any]:
    data = asdict(found)
    if not values:
        data["columns"] = [{name: one for name, one in column.items() if name != "bands"} for column in data["columns"]]
    return data


def _bars(bands: Any) -> list[tuple[str, int, str]]:
    """Label, count and bar of each band."""
    labels = [printable(band.label) for band in bands]
    widest = min(max(map(len, labels), default=0), 30)
    most = max((band.count for band in bands), default=0)
    return [
        (
            f"{label if len(label) <= widest else label[: widest - 1] + '…':<{widest}}",
            band.count,
            "#" * max(round(WIDEST * band.count / most), 1 if band.count else 0),
        )
        for label, band in zip(labels, bands, strict=True)
    ]


@command(
    "map",
    epilog=examples(
        "shoal map people.csv occupation country -o mapping.csv",
        "shoal protect people.csv --quasi occupation,country --mapping mapping.csv -o release/",
    ),
)
@takes_options("map")
def map_values(
    source: Annotated[Path, typer.Argument(help="CSV or Parquet; .gz too.", **path("INPUT"))],
    columns: Annotated[list[str], typer.Argument(help="Columns of labels.", metavar="COLUMN...")],
    out: Annotated[Path, typer.Option("-o", "--out", help="CSV file to make.", **path())],
    texts: dict[str, Any],
    as_json: AsJson = False,
) -> None:
    """Propose the concept that each value of a column means, for a person to correct.

    A ? before a concept marks a guess: the value was not found, or may well mean something else. Codes such as 2 or F
    get no concept. Read the glosses, write the right concept where there is a wrong one or none, remove each ? that you
    have checked, and pass the file to protect: --mapping.
    """
    options = parsed_options("map", texts)
    from shoal.data.files import counted
    from shoal.data.sources import table_source
    from shoal.terms.hierarchy import ontologies_of
    from shoal.terms.value_mapping import propose_mapping, write_proposals

    if len(set(columns)) < len(columns):
        raise InputError("a column is named twice; name each once")
    request = Request.of(source, options)
    ontology = request.method.ontology
    files = list(ontology.values()) if isinstance(ontology, dict) else [ontology] if ontology else []
    proposals = propose_mapping(table_source(source, request.reading), columns, ontologies_of(ontology))
    read = [Path(file) for file in files] + ([] if request.reading.query else [source])
    write_proposals(out, proposals, request.publication.force, read)
    guessed = [proposal for proposal in proposals if not proposal.found]
    if as_json:
        write(json.dumps({"mapping": str(out), "values": len(proposals), "guessed": len(guessed)}, indent=2))
        return
    write(printable(f"mapping      {out}"))
    write(f"values       {len(proposals):,}, of which {len(proposals) - len(guessed):,} found")
    if guessed:
        say(f"{counted(len(guessed), 'value')} with a guess (?) or no concept; correct or confirm each")
