"""An option: its name, type, default, bounds, what it is for, and one plain sentence, declared once as a field.

The parts of a request are dataclasses whose fields are made with `option`. All else that knows options reads them from
there: the Python signatures, the command line, the form of the workbench, the plan, the documentation and the checks.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from shoal.request.values import Codes, Files, Switch, Text, Value

TABLES, DOCUMENTS, BASKETS = "tables", "documents", "baskets"
TEXTS = "texts"  # sanitized ones, for `assess`
EVERYTHING = (TABLES, DOCUMENTS, BASKETS, TEXTS)


@dataclass(frozen=True)
class About:
    """What is declared of an option beside its name, type and default."""

    help: str  # one plain sentence
    value: Value = Text()
    of: tuple[str, ...] = EVERYTHING  # kinds of input that it is for
    commands: tuple[str, ...] = ("protect",)
    heading: str = ""  # in the help; "": among what everybody needs first
    word: str = ""  # on the command line, where that is not its name
    letter: str = ""  # the same, short
    otherwise: str = ""  # what holds where nothing is given, in words
    see: str = ""  # the page of the documentation, below docs
    label: str = ""  # on the page of the workbench
    column: str = ""  # in a plan: the key of a column's own table
    role: str = ""  # in a plan: the role of the column that it names
    section: str = ""  # of a plan, where that is not the section of its part; "-": in no plan
    instead: str = ""  # what to do where it is not for the input
    only_python: bool = False


@dataclass(frozen=True)
class Option:
    """An option as all front ends know it."""

    name: str
    annotation: str  # as the source spells it
    default: Any
    about: About
    part: type

    @property
    def flag(self) -> str:
        """How the command line spells it: the letter where there is no more than that, else the word."""
        if len(self.name) == 1 and self.about.letter:
            return f"-{self.about.letter}"
        return f"--{self.about.word or self.name.replace('_', '-')}"

    @property
    def section(self) -> str:
        """The section of a plan that it stands in; "" for what is no part of a plan, or said of columns there."""
        about = self.about
        said_of_columns = about.role or (about.column and not isinstance(about.value, Codes | Files))
        if about.only_python or said_of_columns or about.section == "-":
            return ""
        return self.about.section or str(getattr(self.part, "SECTION", ""))

    @property
    def key(self) -> str:
        """Its key in a plan."""
        word = self.name if isinstance(self.about.value, Codes) else self.about.word
        return word.replace("-", "_") or self.name

    @property
    def default_in_words(self) -> str:
        """What holds where nothing is given."""
        if self.about.otherwise or self.default in (None, False) or isinstance(self.about.value, Switch):
            return self.about.otherwise
        return str(self.default)


def option(help: str, value: Value = Text(), default: Any = None, **about: Any) -> Any:
    """A field of a part of a request."""
    return field(default=default, metadata={"about": About(help, value, **about)})


def options_of(part: type) -> dict[str, Option]:
    """The options that a part declares, by name."""
    return {
        declared.name: Option(declared.name, str(declared.type), declared.default, declared.metadata["about"], part)
        for declared in fields(part)
        if "about" in declared.metadata
    }
