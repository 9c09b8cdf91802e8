"""What options take: each parser says what was given, what is allowed, and what to do."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

import shoal
from shoal.errors import InputError


def whole(least: int) -> dict[str, Any]:
    """An option that takes a whole number of at least so much; typer's own check does not say what was given."""

    def parse(given: Any) -> int:
        try:
            number = int(given)
        except ValueError:  # no number, or more digits than Python reads
            number = least - 1
        if number < least:
            raise typer.BadParameter(f"{_short(given)!r} must be a whole number of at least {least}")
        return number

    return {"parser": parse, "metavar": "<number>"}


def diversity() -> dict[str, Any]:
    """An option that takes a whole number of at least 2, or for entropy a fraction above 1."""

    def parse(given: Any) -> float:
        number = float("nan")
        with suppress(ValueError):
            number = float(given) if "." in str(given) else int(given)
        if not number > 1:
            raise typer.BadParameter(f"{_short(given)!r} must be a whole number of at least 2, or with entropy above 1")
        return number

    return {"parser": parse, "metavar": "<number>"}


def above_zero(what: str = "number") -> dict[str, Any]:
    """An option that takes a number above 0."""

    def parse(given: Any) -> float:
        try:
            number = float(given)
        except ValueError:
            number = 0.0
        if not 0 < number < 1e9:
            raise typer.BadParameter(f"{_short(given)!r} must be a {what} above 0")
        return number

    return {"parser": parse, "metavar": "<number>"}


def seconds() -> dict[str, Any]:
    """An option that takes a number of seconds."""
    return above_zero("number of seconds") | {"metavar": "<seconds>"}


def one_of(*names: str) -> dict[str, Any]:
    """An option that takes one of a few names."""

    def parse(given: str) -> str:
        if given not in names:
            raise typer.BadParameter(f"{_short(given)!r} is not known; use one of {', '.join(names)}")
        return given

    return {"parser": parse, "metavar": "<name>"}


def path(metavar: str = "<path>") -> dict[str, Any]:
    """A path. An empty one, as an unset shell variable gives, would be the current folder."""

    def parse(given: Any) -> Path | str:
        text = str(given)
        if not text.strip() or "\0" in text or not _is_text(text):
            raise typer.BadParameter(f"{text!r} is no path; give the name of a file or folder")
        return Path(text) if "://" not in text else text  # an address; a path would lose a slash

    return {"parser": parse, "metavar": metavar}


def named() -> dict[str, Any]:
    """A column's name."""

    def parse(given: str) -> str:
        if not given.strip():
            raise typer.BadParameter(f"{given!r} names no column; name one, or leave the option out")
        return given

    return {"parser": parse, "metavar": "<column>"}


def _is_text(name: str) -> bool:
    """A name whose bytes are no UTF-8 has surrogates in it; Arrow opens no such file."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _short(given: object) -> str:
    text = str(given)
    return text if len(text) <= 40 else text[:40] + "…"


def ontologies(given: list[str] | None) -> Any:
    """FILE for all columns, or COLUMN=FILE for one: None, an ontology, or a dict of ontologies by column."""
    if not given:
        return None

    def read(name: str) -> Any:
        return shoal.WordNet() if name.lower() == "wordnet" else shoal.Hierarchy.from_file(name)

    named = [one.partition("=") for one in given if "=" in one and not Path(one).exists()]
    if not named:
        if len(given) > 1:
            raise InputError(
                f"{len(given)} hierarchies for all columns; name each one's column: --ontology COLUMN=FILE"
            )
        return read(given[0])
    if len(named) < len(given):
        raise InputError("--ontology FILE is for all columns, COLUMN=FILE for one; give one or the other")
    columns = [column.strip() for column, _, _ in named]
    twice = [column for column, count in Counter(columns).items() if count > 1]
    if twice:
        raise InputError(
            f"--ontology names column {_short(twice[0])} {columns.count(twice[0])} times; give it one file"
        )
    return {column.strip(): read(name.strip()) for column, _, name in named}


def weights(given: str | None) -> dict[str, float] | None:
    """COLUMN=NUMBER, comma-separated."""
    if given is None:
        return None
    found: dict[str, float] = {}
    for one in given.split(","):
        column, _, number = one.rpartition("=")
        try:
            found[column.strip()] = float(number)
        except ValueError:
            found = {}
        if not column.strip() or not 0 < found.get(column.strip(), 0.0) < 1e9:
            raise InputError(
                f"--weights {_short(given)}: numbers above 0 must follow the columns; write COLUMN=NUMBER, age=2"
            )

    return found


def coarsening(given: list[str] | None) -> dict[str, int] | None:
    """COLUMN=K, given as often as needed. A column's name may have an = in it, a number has none."""
    if not given:
        return None
    found: dict[str, int] = {}
    for one in given:
        column, _, number = (part.strip() for part in one.rpartition("="))
        if not column or not number:
            raise InputError(f"--coarsen {_short(one)!r} must be a column and a number; write COLUMN=K, income=40")
        if column in found:
            raise InputError(f"--coarsen names {_short(column)!r} twice; give each column once")
        try:
            found[column] = int(number)
        except ValueError:  # no number, or more digits than Python reads
            found[column] = 0
        if found[column] < 2:
            raise InputError(
                f"--coarsen {_short(one)!r}: {_short(number)!r} must be a whole number of at least 2; write income=40"
            )
    return found


def listed(given: str | None) -> tuple[str, ...] | None:
    """Names, comma-separated."""
    if given is None:
        return None
    names = tuple(name.strip() for name in given.split(",") if name.strip())
    if not names:
        raise InputError(f"{_short(given)!r} names no column; name at least one, or leave the option out")
    return names


def pairs(option: str, given: str | None, example: str) -> dict[str, str] | None:
    """COLUMN=WORD, comma-separated."""
    if given is None:
        return None
    found: dict[str, str] = {}
    for one in given.split(","):
        column, _, word = (part.strip() for part in one.rpartition("="))
        if not column or not word:
            raise InputError(f"{option} {_short(given)!r} must name columns and give each a word; write {example}")
        if column in found:
            raise InputError(f"{option} names {_short(column)!r} twice; give each column once")
        found[column] = word
    return found


def categories(given: str | None) -> dict[str, str] | None:
    """COLUMN or COLUMN=set, comma-separated."""
    names = listed(given)
    if names is None:
        return None
    found: dict[str, str] = {}
    for name in names:
        column, _, how = (part.strip() for part in name.rpartition("="))
        if (column or name) in found:
            raise InputError(f"--categorical names {_short(column or name)!r} twice; give each column once")
        found[column or name] = how if column else "most frequent"
    return found


def orders(given: list[str] | None) -> dict[str, list[str]] | None:
    """COLUMN=LOW<…<HIGH, given as often as needed."""
    if not given:
        return None
    found: dict[str, list[str]] = {}
    for one in given:
        column, _, labels = one.partition("=")
        if not column.strip() or "<" not in labels:
            raise InputError(f"--order {_short(one)!r} must be a column and its labels; write risk='low<medium<high'")
        if column.strip() in found:
            raise InputError(f"--order names {_short(column)!r} twice; give each column once")
        found[column.strip()] = [label.strip() for label in labels.split("<")]
    return found
