"""shoal inspect: what a table holds, before anything is done with it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

import shoal
from shoal.cli.app import AsJson, command
from shoal.cli.options import path, takes_options
from shoal.cli.terminal import examples, printable, say, write
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
        _show(found, values)
    if plan is not None:
        say(f"plan written to {plan}: check each line, then run: shoal protect {plan}")


def _as_data(found: Any, values: bool) -> dict[str, Any]:
    data = asdict(found)
    if not values:
        data["columns"] = [{name: one for name, one in column.items() if name != "bands"} for column in data["columns"]]
    return data


def _show(found: Any, values: bool) -> None:
    if found.kind != "table":
        least = "at least " if found.rows_at_least else ""
        write(f"{found.kind} ({found.format}): {least}{found.rows:,}")
        write("protect releases them as vectors of words, with -k; sanitize masks names in the texts")
        return
    write(f"table ({found.format}): {found.rows:,} rows, {len(found.columns)} columns")
    for name, number in found.reading.items():
        write(f"the header stands elsewhere: read with {spelled_option(name)} {number}; in the plan, {name} = {number}")
    if found.sampled is not None:
        write(f"kinds and values are from a sample of {found.sampled:,} rows; rows and gaps are counted over all")
    for column in found.columns:
        write("")
        write(printable(column.name))
        write(f"  kind       {column.kind.in_words}: {printable(column.kind_reason)}")
        if column.order:
            write(f"  order      {printable(' < '.join(column.order))}")
        least = "at least " if found.sampled is not None else ""
        write(f"  values     {least}{column.distinct:,} different, {column.missing:,} missing")
        write(f"  role       {column.role.value}: {column.reason}")
        for note in column.notes:
            write(f"  note       {printable(note)}")
        if values:
            _show_bands(column.bands)


def _show_bands(bands: Any) -> None:
    if not bands:
        return
    widest = min(max(len(printable(band.label)) for band in bands), 30)
    most = max(band.count for band in bands)
    for band in bands:
        label = printable(band.label)
        label = label if len(label) <= widest else label[: widest - 1] + "…"
        bar = "#" * max(round(WIDEST * band.count / most), 1 if band.count else 0)
        write(f"             {label:<{widest}}  {band.count:>9,}  {bar}")
