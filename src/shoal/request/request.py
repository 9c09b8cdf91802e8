"""The request: what is asked of a release, as one value with a part for each step."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from shoal.errors import InputError
from shoal.request.judging_options import OWN
from shoal.request.method_options import MethodOptions, WordOptions
from shoal.request.option import BASKETS, DOCUMENTS, TABLES, Option, option, options_of
from shoal.request.options import EXPLORE, ColumnOptions, GroupPromises, Publication, Reading
from shoal.request.values import Switch, Whole, short

P = TypeVar("P")
IN_WORDS = {TABLES: "a table", DOCUMENTS: "a collection of documents", BASKETS: "a collection of baskets"}


@dataclass(frozen=True)
class Request:
    """Everything that is asked of a release; see `protect`."""

    source: Any  # a path, an address, a dataframe, texts or a corpus
    k: int = option(
        "Smallest number of records that look alike.",
        Whole(2),
        default=5,
        commands=EXPLORE,
        letter="k",
        section="promise",
        label="Records that look alike, at least (k)",
    )
    attack: bool = option(
        "Attack the release before it is handed out.",
        Switch(),
        default=True,
        heading="Release",
        section="release",
        label="Attack the release before it is handed out",
    )
    reading: Reading = field(default_factory=Reading)
    columns: ColumnOptions = field(default_factory=ColumnOptions)
    promises: GroupPromises = field(default_factory=GroupPromises)
    method: MethodOptions = field(default_factory=MethodOptions)
    words: WordOptions = field(default_factory=WordOptions)
    publication: Publication = field(default_factory=Publication)

    @classmethod
    def of(cls, source: Any, options: Mapping[str, Any]) -> Request:
        """A request with these options, by name; each is checked for itself. None is as if it were not given."""
        for name in options.keys() - OPTIONS.keys():
            raise TypeError(f"{name!r} is not an option of a request")
        parts: dict[str, Any] = {name: checked_part(part, options) for name, part in PARTS.items()}
        own = {name: options[name] for name in ("k", "attack") if options.get(name) is not None}
        return cls(source, **{name: checked_value(name, value) for name, value in own.items()}, **parts)

    @property
    def given(self) -> dict[str, Any]:
        """The options that differ from their defaults, by name."""
        parts = {Request: self} | {part: getattr(self, name) for name, part in PARTS.items()}
        return not_default({name: getattr(parts[known.part], name) for name, known in OPTIONS.items()})

    def with_options(self, **options: Any) -> Request:
        """The same request with these options in place of its own; None: the default."""
        return Request.of(self.source, {**self.given, **options})

    @property
    def command_words(self) -> list[str]:
        """What follows `shoal protect`; a ValueError says what no command line can spell."""
        name = os.fspath(self.source) if isinstance(self.source, str | os.PathLike) else "INPUT"
        words = [f"./{name}" if name.startswith("-") else name]
        for given, value in self.given.items():
            words += words_of(OPTIONS[given], value)
        return words

    def check_for(self, kind: str) -> None:
        """Refuse options that are not for this kind of input."""
        for name in self.given:
            kinds = OPTIONS[name].about.of
            if kind not in kinds:
                meant = "texts" if kinds == (DOCUMENTS,) else kinds[0]
                instead = OPTIONS[name].about.instead or "leave it out"
                raise InputError(f"{{option}} is for {meant}, and this is {IN_WORDS[kind]}; {instead}", name)
        self.method.check_for(kind == TABLES)


def not_default(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a call that differ from their defaults."""
    defaults = {name: OPTIONS[name].default for name in options}
    return {
        name: value
        for name, value in options.items()
        if value is not defaults[name] and not (isinstance(value, str | int | float) and value == defaults[name])
    }


def checked_part(part: type[P], options: Mapping[str, Any]) -> P:
    """The options of a part among these, checked each for itself."""
    table = TABLE_OF[part]
    given = {name: options[name] for name in table if options.get(name) is not None}
    return part(**{name: checked_value(name, value, table) for name, value in given.items()})


def checked_value(name: str, value: Any, table: Mapping[str, Option] | None = None) -> Any:
    """An option's value in its usual form."""
    try:
        return (OPTIONS if table is None else table)[name].about.value.check(value)
    except ValueError as problem:
        given = name if isinstance(value, Mapping) else f"{name}={short(repr(value))}"
        raise InputError(f"{given} {problem}") from None


def parsed_options(command: str, texts: Mapping[str, Any]) -> dict[str, Any]:
    """The options that the texts of a command line stand for, by name; a switch stands for itself."""
    table, options = options_of_command(command), dict(texts)
    for name, given in texts.items():
        try:
            if isinstance(given, list):
                options[name] = table[name].about.value.parse_all(given)
        except ValueError as problem:
            remedy = "" if ";" in str(problem) else f"; see the help of shoal {command}"
            raise InputError(f"{{option}} {problem}{remedy}", f"{name} {short(' '.join(given))}") from None
    return options


def words_of(known: Option, value: Any) -> list[str]:
    """An option as a command line spells it."""
    if isinstance(known.about.value, Switch):
        return [known.flag if value else f"{known.flag[:2]}no-{known.flag[2:]}"]
    texts = known.about.value.write(value)
    # A value may begin with a hyphen only if it is joined to the option.
    pairs = ([f"{known.flag}={text}"] if text.startswith("-") else [known.flag, text] for text in texts)
    return [word for pair in pairs for word in pair]


PARTS = {
    "reading": Reading,
    "columns": ColumnOptions,
    "promises": GroupPromises,
    "method": MethodOptions,
    "words": WordOptions,
    "publication": Publication,
}
TABLE_OF = {part: options_of(part) for part in (Request, *PARTS.values(), *OWN.values())}
OPTIONS = {name: known for part in (Request, *PARTS.values()) for name, known in TABLE_OF[part].items()}


def options_of_command(command: str) -> dict[str, Option]:
    """The options of a function or command by name: its own, and those of the table that are for it, too."""
    own = TABLE_OF[OWN[command]] if command in OWN else {}
    return own | {name: known for name, known in OPTIONS.items() if command in known.about.commands and name not in own}


def spelled_option(name: str) -> str:
    """How the command line spells an option, whichever command has it."""
    table = next((table for table in (OPTIONS, *TABLE_OF.values()) if name in table), {})
    return table[name].flag if table else f"--{name.replace('_', '-')}"
