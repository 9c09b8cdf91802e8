"""Which server, which token and which key: as given, by environment, or from the user's settings file."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.io.files import check_private, reading, shown
from shoal.io.private_files import config_folder

__all__ = ["Settings", "read_settings"]

FILE = "index.toml"
KEY = "key.txt"
HERE = "http://127.0.0.1:8750"
KNOWN = {"server": str, "token": str, "key": str, "recipients": list}


@dataclass(frozen=True)
class Settings:
    """What a client needs to know."""

    server: str
    token: str = field(repr=False)
    key: Path
    recipients: tuple[str, ...]  # who may read what is put, besides the owner of the key


def read_settings(
    server: str | None = None, token: str | None = None, key: Path | None = None, recipients: Sequence[str] = ()
) -> Settings:
    """What is given comes before what the file says."""
    folder = config_folder()
    noted = _read(folder / FILE)
    return Settings(
        server or noted.get("server", HERE),
        token or noted.get("token", ""),
        key or folder / noted.get("key", KEY),
        tuple(recipients) or tuple(noted.get("recipients", ())),
    )


def _read(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    with reading(file):
        check_private(file, "a token")
        try:
            noted = tomllib.loads(file.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError:
            raise InputError(f'{shown(file)} is not TOML; write lines such as server = "https://…"') from None
    for name, value in noted.items():
        if not isinstance(value, KNOWN.get(name, ())):
            raise InputError(f"{shown(file)}: {shown(name)} is not known, or of the wrong type; use {', '.join(KNOWN)}")
    if not all(isinstance(recipient, str) for recipient in noted.get("recipients", ())):
        raise InputError(f"{shown(file)}: recipients is a list of public keys, each in quotes")
    return noted
