"""Options that several commands of the sanitizer have: probabilities, and the key of the vault."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.terminal import asked_passphrase, say
from shoal.errors import InputError
from shoal.request.values import Number

Key = Annotated[
    Path | None,
    typer.Option(
        help="File with the secret key (age).  [default: sanitizer.key in Shoal's folder for settings]",
        **options.path("<file>"),
    ),
]
Model = Annotated[str | None, typer.Option(help="Name of a spaCy model.  [default: an English one that is installed]")]
Private = Annotated[
    Path | None,
    typer.Option(help="Private folder of the release.  [default: beside it, -private added]", **options.path()),
]


def choice(meaning: str, *names: str, flag: str | None = None) -> Any:
    """An option that takes one of a few names, which its help lists."""
    listed = f"{', '.join(names[:-1])} or {names[-1]}"
    return typer.Option(*([flag] if flag else []), help=f"{meaning}: {listed}.", **options.one_of(*names))


def probability(meaning: str) -> Any:
    """An option that takes a number from 0 to 1."""
    value = Number(math.nextafter(0.0, -1.0), 1.0, bound="must be a number from 0 to 1", metavar="<probability>")
    return typer.Option(help=meaning, **options.takes(value))


def identities_of(key: Path | None) -> tuple[tuple[str, ...], str | None]:
    """What opens a vault: the key in a file, or the passphrase in the environment."""
    from shoal.data.keys import Keys

    passphrase = os.environ.get("SHOAL_PASSPHRASE")
    if key is None and passphrase:
        return (), passphrase
    file = key or _default_key()
    if not file.exists():
        raise InputError(f"{file} does not exist; give the key of the vault with --key, or SHOAL_PASSPHRASE")
    return (str(Keys.read(file, passphrase=asked_passphrase).identity),), None


def recipients_of(key: Path | None, recipients: list[str] | None) -> tuple[tuple[str, ...], str | None]:
    """For whom a vault is sealed; the owner's key is made when there is none yet."""
    from shoal.data.keys import Keys, check_recipient

    for recipient in recipients or ():
        check_recipient(recipient)
    passphrase = os.environ.get("SHOAL_PASSPHRASE")
    if key is None and (recipients or passphrase):
        return (tuple(recipients), None) if recipients else ((), passphrase)
    file = key or _default_key()
    if file.exists():
        keys = Keys.read(file, passphrase=asked_passphrase)
    else:
        keys = Keys.draw()
        keys.write(file)
        say(f"a new key was written to {file}; keep a copy, for without it the vault cannot be opened")
    return tuple(dict.fromkeys((keys.public, *(recipients or ())))), None


def _default_key() -> Path:
    from shoal.data.private_files import config_folder

    return config_folder() / "sanitizer.key"
