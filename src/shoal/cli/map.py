"""shoal map: which concepts the values of a column mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.app import AsJson, command
from shoal.cli.options import path, takes_options
from shoal.cli.terminal import examples, printable, say, write
from shoal.errors import InputError
from shoal.request.request import Request, parsed_options


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
