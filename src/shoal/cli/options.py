"""The options of commands: generated from the option table, or declared by a command with what they take."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from shoal.request.option import Option
from shoal.request.request import options_of_command
from shoal.request.values import Column, File, Number, OneOf, Switch, Value, Whole, short

HEADINGS = (
    "Arguments",
    "Options",
    "Tables",
    "Documents",
    "Sanitized texts",
    "Sketches",
    "Promises",
    "Method",
    "Release",
)


def takes_options(command: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that the table has for it; its function gets what was given of each as `texts`."""
    table = {name: known for name, known in options_of_command(command).items() if not known.about.only_python}

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(function, eval_str=True).parameters.values()
        generated = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_annotation(known))
            for name, known in table.items()
        ]

        @wraps(function)
        def run(**given: Any) -> None:
            texts = {name: given.pop(name) for name in table}
            function(**given, texts={name: one for name, one in texts.items() if one not in (None, [])})

        first, last = ([one for one in own if (one.name == "as_json") is late] for late in (False, True))
        parameters = [*(one for one in first if one.name != "texts"), *generated, *last]
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
        )
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate


class GroupedCommand(TyperCommand):
    """A command whose help lists its options under headings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        headings: dict[str, list[tuple[str, str]]] = {heading: [] for heading in HEADINGS}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
            if record is not None:
                headings.setdefault(getattr(parameter, "rich_help_panel", None) or kind, []).append(record)
        for heading, records in headings.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def _annotation(known: Option) -> Any:
    about, help = known.about, known.about.help
    flags = [f"-{about.letter}"] if about.letter and known.flag != f"-{about.letter}" else []
    how: dict[str, Any] = {"rich_help_panel": about.heading or None, "show_default": False}
    if known.default_in_words:
        help += f"  [default: {known.default_in_words}]"
    if not isinstance(about.value, Switch):
        return Annotated[
            list[str] | None, typer.Option(*flags, known.flag, help=help, metavar=about.value.metavar, **how)
        ]
    both = known.flag if known.default is False else f"{known.flag}/{known.flag.replace('--', '--no-', 1)}"
    return Annotated[bool | None, typer.Option(*flags, both, help=help, **how)]


def takes(value: Value, metavar: str = "") -> dict[str, Any]:
    """How a command's own option or argument takes such a value; typer's checks do not say what was given."""

    def parse(given: Any) -> Any:
        try:
            return value.parse(str(given))
        except ValueError as problem:
            raise typer.BadParameter(f"{short(given)!r} {problem}") from None

    return {"parser": parse, "metavar": metavar or value.metavar}


def whole(least: int) -> dict[str, Any]:
    """A whole number of at least so much."""
    return takes(Whole(least))


def above_zero() -> dict[str, Any]:
    """A number above 0."""
    return takes(Number())


def one_of(*names: str) -> dict[str, Any]:
    """One of a few names."""
    return takes(OneOf(names))


def path(metavar: str = "<path>") -> dict[str, Any]:
    """A file, a folder or an address."""
    return takes(File(), metavar)


def named() -> dict[str, Any]:
    """A column's name."""
    return takes(Column())


Plan = Annotated[
    Path | None,
    typer.Option(help="Plan to carry out; INPUT may be one itself. Options given here override it.", **path("<file>")),
]
