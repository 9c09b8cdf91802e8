"""The passphrase of a key, for every command that opens one."""

from __future__ import annotations

import os
import sys

import typer

from shoal.errors import InputError

PASSPHRASE = "SHOAL_PASSPHRASE"


def asked_passphrase(confirmed: bool = False) -> str:
    """From the environment, or typed unseen; `confirmed`: typed twice."""
    if PASSPHRASE in os.environ:
        if not os.environ[PASSPHRASE]:
            raise InputError(f"{PASSPHRASE} is empty; set it to the passphrase, or unset it to type one")
        return os.environ[PASSPHRASE]
    if not sys.stdin.isatty():
        raise InputError(f"the key needs a passphrase, and there is no terminal to type it on; set {PASSPHRASE}")
    return str(typer.prompt("Passphrase of the key", hide_input=True, err=True, confirmation_prompt=confirmed))
