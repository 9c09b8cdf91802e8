"""Options that several commands of the sanitizer have: probabilities, and the key of the vault."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.passphrase import asked_passphrase
from shoal.cli.terminal import say
from shoal.errors import InputError

__all__ = ["Key", "Private", "identities_of", "passphrase", "probability", "recipients_of"]

Key = Annotated[
    Path | None,
    typer.Option(
        help="File with the secret key (age).  [default: sanitizer.key in Shoal's folder for settings]",
        **options.path("<file>"),
    ),
]
Private = Annotated[
    Path | None,
    typer.Option(help="The private side.  [default: beside the release, -private added]", **options.path()),
]


def probability() -> dict[str, Any]:
    """An option that takes a number from 0 to 1."""

    def parse(given: Any) -> float:
        try:
            number = float(given)
        except ValueError:
            number = -1.0
        if not 0 <= number <= 1:
            raise typer.BadParameter(f"{str(given)[:40]!r} must be a number from 0 to 1")
        return number

    return {"parser": parse, "metavar": "<probability>"}


def passphrase() -> str | None:
    """SHOAL_PASSPHRASE, if it is set."""
    return os.environ.get("SHOAL_PASSPHRASE") or None


def identities_of(key: Path | None) -> tuple[tuple[str, ...], str | None]:
    """What opens a vault: the key in a file, or the passphrase in the environment."""
    from shoal.io.sealing import Keys

    if key is None and passphrase() is not None:
        return (), passphrase()
    place = key or _default_key()
    if not place.exists():
        raise InputError(f"{place} does not exist; give the key of the vault with --key, or SHOAL_PASSPHRASE")
    return (str(Keys.read(place, passphrase=asked_passphrase).identity),), None


def recipients_of(key: Path | None, recipients: list[str] | None) -> tuple[tuple[str, ...], str | None]:
    """For whom a vault is sealed; the owner's key is made when there is none yet."""
    from shoal.io.sealing import Keys, check_recipient

    for recipient in recipients or ():
        check_recipient(recipient)
    if key is None and not recipients and passphrase() is not None:
        return (), passphrase()
    if key is None and recipients:
        return tuple(recipients), None
    place = key or _default_key()
    if place.exists():
        keys = Keys.read(place, passphrase=asked_passphrase)
    else:
        keys = Keys.draw()
        keys.write(place)
        say(f"a new key was written to {place}; keep a copy, for without it the vault cannot be opened")
    return tuple(dict.fromkeys((keys.public, *(recipients or ())))), None


def _default_key() -> Path:
    from shoal.io.private_files import config_folder

    return config_folder() / "sanitizer.key"
