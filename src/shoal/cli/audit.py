"""shoal audit: how risky a table is as it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

import shoal
from shoal.cli import options, reading
from shoal.cli.app import AsJson, Force, app
from shoal.cli.terminal import examples, printable, say, shown_progress, write


@app.command(
    epilog=examples(
        "shoal audit people.csv -o audit --quasi age,sex,town --confidential diagnosis",
        "shoal audit survey.csv --quasi age,sex,region --weight w --household hh",
        "shoal audit release/ --population 83000000",
    )
)
def audit(
    source: Annotated[Path, typer.Argument(help="A table, or the folder of a release.", **options.path("TABLE"))],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", help="Folder to make for the page and its figures.  [default: none]", **options.path()
        ),
    ] = None,
    quasi: Annotated[
        str | None,
        typer.Option(help="Columns that others may know, comma-separated.  [default: proposed]", metavar="<columns>"),
    ] = None,
    confidential: Annotated[
        str | None, typer.Option(help="Columns that nobody should learn, comma-separated.", metavar="<columns>")
    ] = None,
    roles: Annotated[
        Path | None, typer.Option(help="TOML file with the columns of each role.", **options.path())
    ] = None,
    person: Annotated[
        str | None,
        typer.Option(help="Column that names the person: people are counted, not records.", **options.named()),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(help="Column with sampling weights: people that a record stands for.", **options.named()),
    ] = None,
    population: Annotated[
        int | None, typer.Option(help="How many people the table was drawn from.", **options.whole(1))
    ] = None,
    household: Annotated[str | None, typer.Option(help="Column that names the household.", **options.named())] = None,
    missing: Annotated[
        str,
        typer.Option(
            help="Gaps: group (a gap is a value) or match (it stands for every value).",
            **options.one_of("group", "match"),
        ),
    ] = "group",
    max_size: Annotated[
        int | None,
        typer.Option(help="Most columns of the combinations counted.  [default: 3 at most]", **options.whole(1)),
    ] = None,
    threshold: Annotated[
        float, typer.Option(help="Risk above which records are at risk, 0 to 1.", **options.above_zero())
    ] = 0.2,
    delimiter: reading.Delimiter = None,
    decimal: reading.Decimal = None,
    encoding: reading.Encoding = None,
    sheet: reading.Sheet = None,
    query: reading.Query = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Measure how risky a table is, before it is protected or after: crowds, uniques, three attackers, the population.

    Without --quasi and --confidential, the roles are those of the release, or those that inspect proposes.
    """
    with shown_progress():
        found = shoal.audit(
            reading.table_source(source, delimiter, decimal, encoding, sheet, query),
            out,
            quasi=options.listed(quasi),
            confidential=options.listed(confidential),
            roles=roles,
            person=person,
            weight=weight,
            population=population,
            household=household,
            missing=missing,
            max_size=max_size,
            threshold=threshold,
            force=force,
        )
    if as_json:
        write(json.dumps(found.data(), indent=2, ensure_ascii=False))
        return
    if out is not None:
        write(printable(f"report       {out / 'report.html'}"))
    for line in _lines(found):
        write(printable(line))
    for note in found.notes:
        say(f"note: {note}")
    if found.proposed:
        say("note: the columns were proposed; name those that others may know with --quasi")


def _lines(found: Any) -> Iterator[str]:
    yield f"known        {', '.join(found.quasi)}"
    yield (
        f"records      {found.rows:,}: {found.below[0]:,} one of a kind ({found.below[0] / found.rows:.1%}), "
        f"{found.below[2]:,} in crowds below 5; k = {found.k}"
    )
    for one in found.attackers:
        highest = "" if one.highest is None else f", at most {one.highest:.2%}; {one.above:,} above {found.threshold:g}"
        yield f"{one.name:<13}{one.average:.2%} on average{highest}"
    yield f"found        {found.individual.expected:,.1f} records expected, {found.individual.share:.2%} of all"
    if found.household is not None:
        yield f"households   {found.household.expected:,.1f} records expected in households that are found"
    if found.population is not None:
        uniques = found.population.uniques(found.population.chosen)
        others = ", ".join(
            f"{one.model} {'no solution' if one.uniques is None else f'{one.uniques:,.0f}'}"
            for one in found.population.estimates
            if one.model != found.population.chosen
        )
        yield f"population   {uniques:,.0f} of {found.population.size:,} people one of a kind ({others})"
    for value in found.values:
        yield (
            f"values       {value.column}: l {value.distinct_l} (entropy {value.entropy_l:.2f}), t {value.t:.3f}, "
            f"α {value.alpha:.3f}, β {value.beta:.3f}, δ {value.delta:.3f}"
        )
    added = [f"{one.column} ({one.added / found.rows:.1%})" for one in found.columns[:3] if one.added]
    if added:
        yield f"columns      {', '.join(added)} add most uniques"
    special = found.special
    yield f"special      records singled out by few columns, at most {special.max_size}: {special.records:,} (SUDA2)"
