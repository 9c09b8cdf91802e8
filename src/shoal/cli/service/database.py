"""The options that all commands on a server's database share, and what is said if the service is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options
from shoal.errors import MissingExtra

if TYPE_CHECKING:
    from shoal.service.storage.database import Database

__all__ = ["Address", "KeyFile", "opened", "with_extra"]

Address = Annotated[
    str,
    typer.Option(
        "--database",
        envvar="SHOAL_DATABASE",
        help="SQLite file, or postgresql://user@host/name.",
        metavar="<file or address>",
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option("--key-file", help="The server's key.  [default: beside the SQLite file]", **options.path()),
]


@contextmanager
def with_extra(purpose: str) -> Iterator[None]:
    """Within this block an import of the service may fail, and its remedy is named."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("shoal"):
            raise
        raise MissingExtra("service", purpose) from None


@contextmanager
def opened(address: str, purpose: str, *, make: bool = False) -> Iterator[Database]:
    """A database with the tables of this version, which are made only if `make` says so.

    What goes wrong with it is one line.
    """
    with with_extra(purpose):
        from shoal.service.problems import problems_in_one_line
        from shoal.service.storage.database import Database
    with problems_in_one_line(), closing(Database(address, must_exist=not make)) as database:
        if make:
            database.migrate()
        else:
            database.check_version()
        yield database
