"""What was chosen on a page, as a command for the shell and as Python; a job runs the first and shows both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.web.jobs import Command


def python_call(function: str, *given: Any, **named: Any) -> str:
    """`from shoal import …` and the call, without what is None."""
    arguments = [*map(repr, given), *(f"{name}={value!r}" for name, value in named.items() if value is not None)]
    return f"from shoal import {function}\n\n{function}({', '.join(arguments)})"


def options(values: Mapping[str, Any]) -> tuple[str, ...]:
    """`--name value` for each that is given; True is a flag, and an empty text is none."""
    words: list[str] = []
    for name, value in values.items():
        if value is True:
            words.append(name)
        elif value not in (None, False, ""):
            # An option's value may begin with a hyphen only if it is joined to its name.
            words += [name, str(value)] if not str(value).startswith("-") else [f"{name}={value}"]
    return tuple(words)


def verify_command(release: str, expect: str = "", min_k: int | None = None, **more: str) -> Command:
    """`more` are files where the job works: the signer's public key, and an earlier release that this one follows."""
    asked = {"expect": expect, "min_k": min_k, **more}
    given = options({f"--{name.replace('_', '-')}": value for name, value in asked.items()})
    called = python_call("verify", release, **{name: value or None for name, value in asked.items()})
    return Command(("verify", release, *given), called)


def index_command(server: str, name: str, k: int | None) -> Command:
    """Put documents into an index; with k, begin one with them. Server, token and key are in the environment."""
    verb, crowd = ("put", "") if k is None else ("create", f", k={k}")
    python = (
        "import os\n\nfrom shoal import IndexClient, Keys\n\n"
        f'with IndexClient({server!r}, os.environ["SHOAL_TOKEN"], Keys.read("key.txt")) as index:\n'
        f"    index.{verb}({name!r}{crowd})"
    )
    return Command(("index", verb, name, *options({"-k": k})), python)
