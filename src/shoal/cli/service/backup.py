"""shoal backup and shoal restore: a server's database in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.app import Force, app
from shoal.cli.service.database import Address, opened
from shoal.cli.terminal import examples, say, shown_progress, write

__all__ = ["backup", "restore"]

PURPOSE = "backups of a server"


@app.command(
    epilog=examples(
        "shoal backup -o monday.shoal", "shoal backup --database postgresql://shoal@db/shoal -o monday.shoal"
    )
)
def backup(
    out: Annotated[Path, typer.Option("-o", "--out", help="File to make.", **options.path())],
    database: Address = "shoal.db",
    force: Force = False,
) -> None:
    """Write a server's database as it is at one moment into one file, while the server runs.

    The file holds ciphertexts, hashes of tokens and sealed vectors, and is readable by its owner alone. The server's
    key file is not in it: keep a copy of that elsewhere.
    """
    with opened(database, PURPOSE) as there, shown_progress():
        from shoal.service.storage.backup import back_up

        documents = back_up(there, out, force)
    write(f"backup       {out}")
    say(f"{documents:,} documents")


@app.command(
    epilog=examples("shoal restore monday.shoal", "shoal restore monday.shoal --database postgresql://shoal@db/shoal")
)
def restore(
    source: Annotated[Path, typer.Argument(help="A backup.", **options.path("BACKUP"))],
    database: Address = "shoal.db",
) -> None:
    """Fill an empty database from a backup, all of it or nothing. A backup of SQLite fits PostgreSQL, and back.

    Clients notice that the index was restored and fetch its representatives again.
    """
    with opened(database, PURPOSE, make=True) as there, shown_progress():
        from shoal.service.storage.backup import restore_from

        documents = restore_from(there, source)
    say(f"{documents:,} documents")
