"""shoal demo: all of it on a sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

import shoal
from shoal.cli import options
from shoal.cli.app import AsJson, Force, app
from shoal.cli.protect import as_data, say_protected
from shoal.cli.terminal import BROKEN, examples, say, say_if_kernels_compile, shown_progress, write

__all__ = ["demo"]


@app.command(epilog=examples("shoal demo -o demo"))
def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to make.", **options.path())] = Path("demo"),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make a sample of invented clinical letters, protect letters and patients, and verify both releases."""
    from shoal.release.demo import run_demo

    say_if_kernels_compile()
    with shown_progress():
        made = run_demo(out, force=force)
    if as_json:
        write(json.dumps([as_data(protected) for protected in made], indent=2))
    else:
        for protected in made:
            say_protected(protected)
    if not all(shoal.verify(protected.folder) for protected in made):
        raise typer.Exit(BROKEN)
    say(f"both releases verified; look at {made[0].folder / 'report.html'}")
