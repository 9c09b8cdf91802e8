"""shoal board: one page with what a disclosure board asks of a release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import shoal
from shoal.cli.app import AsJson, command
from shoal.cli.options import path, takes_options
from shoal.cli.terminal import examples, printable, shown_progress, write
from shoal.request.request import parsed_options


@command(
    epilog=examples(
        "shoal board release/ -o board",
        "shoal board release/ -o board-private --original people.csv --weight w",
    )
)
@takes_options("board")
def board(
    release: Annotated[Path, typer.Argument(help="Folder of a release of a table.", **path("RELEASE"))],
    texts: dict[str, Any],
    as_json: AsJson = False,
) -> None:
    """Answer what a disclosure board asks of a release, on one page to print and sign.

    From the release alone it is the public version; with --original it is the owner's.
    """
    options = parsed_options("board", texts)
    with shown_progress():
        found = shoal.board(release, **options)
    version = "public" if found.audit is None else "owner's"
    if as_json:
        write(json.dumps({"version": version, "promises": found.promises, "seal": found.seal}, indent=2))
        return
    if "out" in options:
        write(printable(f"page         {Path(options['out']) / 'report.html'} ({version} version)"))
    write(f"promises     {found.promises} counted, all hold; {found.signature}")
    if found.audit is not None and found.assessment is not None:
        write(f"before       {found.audit.below[0]:,} of {found.audit.rows:,} records one of a kind")
    write(printable(f"seal         {found.seal}"))
