"""shoal unmask: the originals of a release, for the owner of its vault."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.app import app
from shoal.cli.sanitizer.options import Key, Private, identities_of
from shoal.cli.terminal import examples, printable, say, shown_progress, write

__all__ = ["unmask"]


@app.command(epilog=examples("shoal unmask release/ -o originals/"))
def unmask(
    release: Annotated[Path, typer.Argument(help="Release of shoal redact.", **options.path("RELEASE"))],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to make.", **options.path())],
    key: Key = None,
    private: Private = None,
) -> None:
    """Put back what was masked, to the last byte, with the vault and its key.

    The texts have the names they came with; index.csv says which document of the release is which.
    """
    from shoal.release.sanitized.unmask import unmask

    identities, passphrase = identities_of(key)
    with shown_progress():
        back = unmask(release, out, identities=identities, passphrase=passphrase, private=private)
    write(printable(f"originals    {back.folder}"))
    write(f"documents    {back.documents:,}")
    say("these are confidential again")
