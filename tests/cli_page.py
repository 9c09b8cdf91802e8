"""The tables of options in docs/cli.md, generated from the option table and the commands that it makes.

    python -m tests.cli_page        writes them anew; `make docs` does so, too

What stands between `<!-- options of shoal … -->` and `<!-- end of options -->` is generated, the rest is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer.main

from shoal.cli import app
from shoal.cli.options import HEADINGS
from shoal.request.option import Option
from shoal.request.request import options_of_command

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"
BLOCK = re.compile(r"(<!-- options of shoal ([\w -]+?) -->\n).*?(<!-- end of options -->)", re.DOTALL)
DEFAULT = re.compile(r"\s*\[default: (.*)\]$", re.DOTALL)
FIRST = "Options"  # what everybody needs
SHARED = ("server", "token", "ca", "key", "recipient")  # options of every `shoal index`, explained in its section


def with_tables(page: str) -> str:
    """The page with its tables of options as they are now."""
    return BLOCK.sub(lambda found: f"{found[1]}{tables_of(found[2])}{found[3]}", page)


def tables_of(command: str) -> str:
    """A table per heading for protect, which has many options; else one table."""
    table = options_of_command(command)
    rows: dict[str, list[str]] = {heading: [] for heading in HEADINGS}
    shown: Any = typer.main.get_command(app)
    for word in command.split():
        shown = shown.commands[word]
    for parameter in shown.params:
        shared = command.startswith("index ") and parameter.name in SHARED
        if parameter.param_type_name == "option" and parameter.name != "help" and not shared:
            heading = getattr(parameter, "rich_help_panel", None) or FIRST
            rows.setdefault(heading, []).append(_row(parameter, table.get(parameter.name)))
    if command.startswith("index "):
        rows[FIRST].append(_shared_row([of for of in shown.params if of.name in SHARED]))
    if command != "protect":
        return _table(row for of_heading in rows.values() for row in of_heading)
    return "\n".join(f"### {heading}\n\n{_table(listed)}" for heading, listed in rows.items() if listed)


def _row(parameter: Any, known: Option | None) -> str:
    flags = ", ".join(f"`{flag}`" for flag in (*parameter.opts, *parameter.secondary_opts))
    default = DEFAULT.search(parameter.help or "")
    meaning = DEFAULT.sub("", parameter.help or "")
    if known is not None and known.about.value.repeated:
        meaning += " Can be repeated."
    if known is not None and known.about.see:
        meaning += f" [More]({known.about.see})"
    if parameter.envvar:
        meaning += f" Also from `{parameter.envvar}`."
    otherwise = default[1] if default else "required" if parameter.required else _on(known) or _value(parameter)
    return f"| {flags} | {_escaped(meaning)} | {_escaped(otherwise)} |"


def _shared_row(parameters: list[Any]) -> str:
    flags = ", ".join(f"`{flag}`" for parameter in parameters for flag in parameter.opts)
    return f"| {flags} | As for [`shoal index`](#shoal-index). |  |"


def _value(parameter: Any) -> str:
    """The default that the command line declares, where it says something."""
    value = parameter.default
    if parameter.is_flag or value in (None, "", ()) or callable(value):
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _on(known: Option | None) -> str:
    return "on" if known is not None and known.default is True else ""


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _table(rows: Iterable[str]) -> str:
    return "\n".join(("| option | meaning | default |", "|---|---|---|", *rows, ""))


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
