"""shoal sign: the owner vouches for a release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import shoal
from shoal.cli import options
from shoal.cli.app import AsJson, Force, app
from shoal.cli.terminal import asked_passphrase, examples, printable, write


@app.command(epilog=examples("shoal sign release/ --key ~/.ssh/id_ed25519"))
def sign(
    folder: Annotated[Path, typer.Argument(help="Folder of a release.", **options.path("RELEASE"))],
    key: Annotated[Path, typer.Option(help="Your OpenSSH private key, of the kind Ed25519.", **options.path("<file>"))],
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Sign the certificate of a release of any kind, after verifying it.

    The signature is the file certificate.json.sig in the release. Recipients check it with shoal verify --signer, or
    with ssh-keygen -Y verify. A passphrase is asked for, or taken from SHOAL_PASSPHRASE.
    """
    seal = shoal.sign(folder, signing_key(key), force=force)
    if as_json:
        write(json.dumps({"signature": str(folder / "certificate.json.sig"), "seal": seal}, indent=2))
        return
    write(printable(f"signature    {folder / 'certificate.json.sig'}"))
    write(f"for the seal {seal}")


def signing_key(path: Path | None) -> Any:
    """The key in a file, unlocked; None if no file is given."""
    if path is None:
        return None
    from shoal.release.signing import SigningKey

    return SigningKey.read(path, passphrase=asked_passphrase)
