"""shoal map: which concepts the values of a column mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.app import AsJson, Force, app
from shoal.cli.terminal import examples, printable, say, write
from shoal.errors import InputError

__all__ = ["map_values"]


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
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Propose the concept that each value of a column means, for a person to correct.

    A value that is not found gets the concept that comes nearest, with a ? before it. Look at the glosses, write
    another concept where it is wrong, take the ? away where it is right, and give the file to protect: --mapping.
    """
    from shoal.ontology.proposals import propose_mapping, write_proposals

    if len(set(columns)) < len(columns):
        raise InputError("a column is named twice; name each once")
    proposals = propose_mapping(source, columns, options.ontologies(ontology))
    files = [Path(one.rpartition("=")[2]) for one in ontology or ()]
    write_proposals(out, proposals, force, [source, *files])
    guessed = [one for one in proposals if not one.found]
    if as_json:
        write(json.dumps({"mapping": str(out), "values": len(proposals), "guessed": len(guessed)}, indent=2))
        return
    write(printable(f"mapping      {out}"))
    write(f"values       {len(proposals):,}, of which {len(proposals) - len(guessed):,} found")
    if guessed:
        say(
            f"{len(guessed)} values are guesses (with a ?) or empty; check them, correct the concept or take the ? away"
        )
