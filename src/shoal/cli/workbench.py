"""shoal workbench: every job in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.app import app
from shoal.cli.terminal import examples, say
from shoal.errors import MissingExtra


@app.command(epilog=examples("shoal workbench", "shoal workbench --no-browser --port 8760"))
def workbench(
    folder: Annotated[
        Path | None,
        typer.Option(help="Private folder for its files.  [default: your own, for programs]", **options.path()),
    ] = None,
    port: Annotated[int, typer.Option(help="Port to listen on; 0 for any.", **options.whole(0))] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it in the browser.")] = True,
) -> None:
    """Do every job in the browser: protect, verify, assess, explore, review, index.

    The workbench runs on this machine and answers to this machine alone; nothing leaves it. The address it prints
    lets one browser in, once. Its files stay in a private folder until you close them on their page. Ctrl-C ends it.
    """
    try:
        from shoal import web
    except ImportError as missing:
        if not isinstance(missing, MissingExtra) and (missing.name or "").startswith("shoal"):
            raise
        raise MissingExtra("workbench", "the workbench") from None
    web.workbench(folder, port, browser=browser, announce=lambda address: say(f"the workbench is at {address}"))
