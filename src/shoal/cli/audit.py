"""shoal audit: how risky a table is as it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

import shoal
from shoal.cli.app import AsJson, command
from shoal.cli.options import path, takes_options
from shoal.cli.terminal import examples, printable, say, shown_progress, write
from shoal.request.reading_options import Reading
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
