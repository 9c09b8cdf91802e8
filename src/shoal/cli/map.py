"""shoal map: which concepts the values of a column mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options, reading
from shoal.cli.app import AsJson, Force, app
from shoal.cli.terminal import examples, printable, say, write
from shoal.errors import InputError


@app.command(
    "map",
    epilog=examples(
        "shoal map people.csv occupation country -o mapping.csv",
        "shoal protect people.csv --quasi occupation,country --mapping mapping.csv -o release/",
    ),
)
def map_values(
    source: Annotated[Path, typer.Argument(help="CSV or Parquet; .gz too.", **options.path("INPUT"))],
    columns: Annotated[list[str], typer.Argument(help="Columns of labels.", metavar="COLUMN...")],
    out: Annotated[Path, typer.Option("-o", "--out", help="CSV file to make.", **options.path())],
    ontology: Annotated[
        list[str] | None, typer.Option(help="Hierarchy, FILE or COLUMN=FILE.  [default: WordNet]")
    ] = None,
    delimiter: reading.Delimiter = None,
    decimal: reading.Decimal = None,
    encoding: reading.Encoding = None,
    sheet: reading.Sheet = None,
    query: reading.Query = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Propose the concept that each value of a column means, for a person to correct.

    A ? before a concept marks a guess: the value was not found, or may well mean something else. Codes such as 2 or F
    get no concept. Read the glosses, write the right concept where there is a wrong one or none, remove each ? that you
    have checked, and pass the file to protect: --mapping.
    """
    from shoal.data.files import counted
    from shoal.terms.value_mapping import propose_mapping, write_proposals

    if len(set(columns)) < len(columns):
        raise InputError("a column is named twice; name each once")
    table = reading.table_source(source, delimiter, decimal, encoding, sheet, query)
    proposals = propose_mapping(table, columns, options.ontologies(ontology))
    files = [Path(given.rpartition("=")[2]) for given in ontology or ()]
    write_proposals(out, proposals, force, [*([] if query else [source]), *files])
    guessed = [proposal for proposal in proposals if not proposal.found]
    if as_json:
        write(json.dumps({"mapping": str(out), "values": len(proposals), "guessed": len(guessed)}, indent=2))
        return
    write(printable(f"mapping      {out}"))
    write(f"values       {len(proposals):,}, of which {len(proposals) - len(guessed):,} found")
    if guessed:
        say(f"{counted(len(guessed), 'value')} with a guess (?) or no concept; correct or confirm each")
