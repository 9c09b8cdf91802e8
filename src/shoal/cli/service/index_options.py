"""What all commands of shoal index share: server, token, key, and how a source is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options
from shoal.cli.passphrase import asked_passphrase
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.service.client import IndexClient

__all__ = [
    "IdColumn",
    "Key",
    "Recipients",
    "Server",
    "TextColumn",
    "Thin",
    "Token",
    "connected",
]

Server = Annotated[
    str | None,
    typer.Option("--server", envvar="SHOAL_SERVER", help="Address of the server.", metavar="<address>"),
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token",
        envvar="SHOAL_TOKEN",
        help="Your token. Other users of this machine can see an option; they cannot see the variable.",
        metavar="<token>",
    ),
]
Key = Annotated[
    Path | None,
    typer.Option("--key", envvar="SHOAL_KEY", help="File with your secret key.", **options.path()),
]
Recipients = Annotated[
    list[str] | None,
    typer.Option("--recipient", help="Public key of somebody else who may read; repeatable.", metavar="<age1…>"),
]
TextColumn = Annotated[str | None, typer.Option(help="Column with the text.", **options.named())]
IdColumn = Annotated[str | None, typer.Option(help="Column that names the documents.", **options.named())]
Thin = Annotated[bool, typer.Option("--thin", help="Leave the work to the server, which then sees it.")]


@contextmanager
def connected(
    server: str | None,
    token: str | None,
    key: Path | None = None,
    recipients: Sequence[str] | None = None,
    *,
    needs_key: bool = False,
) -> Iterator[IndexClient]:
    """A client with these settings; without a key where none is needed."""
    from shoal.io.files import shown
    from shoal.service.client import IndexClient, Keys
    from shoal.service.client.settings import read_settings

    settings = read_settings(server, token, key, recipients or ())
    if not settings.token:
        raise InputError("there is no token; set SHOAL_TOKEN to the one that the operator gave you")
    keys = None
    if needs_key:
        if not settings.key.exists():
            raise InputError(f"{shown(settings.key)} does not exist; make a key with: shoal index keys --new")
        keys = Keys.read(settings.key, asked_passphrase).shared_with(settings.recipients)
    with IndexClient(settings.server, settings.token, keys) as client:
        yield client
