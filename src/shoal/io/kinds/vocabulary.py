"""The kinds of columns, by the names that options and roles files use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from shoal.errors import InputError
from shoal.io.files import shown
from shoal.io.kinds.dates import FORMS

__all__ = ["AVERAGED", "CATEGORIES", "Kind", "checked_kinds", "checked_orders", "kind_and_spelling"]


class Kind(StrEnum):
    """What the values of a column are, and so what may be done with them."""

    NUMBER = "number"  # averaged
    WHOLE = "whole"  # averaged; rounded if asked
    DATE = "date"  # averaged as a date, or generalised
    LABEL = "label"  # a word: compared by meaning, or as a plain category
    CODE = "code"  # digits or letters that are a name: never averaged
    ORDERED = "ordered"  # labels in an order: the median stands for a group
    YES_NO = "yes-no"
    TEXT = "text"  # sentences: no value stands for several of them
    IDENTIFIER = "identifier"  # one value per record

    @property
    def in_words(self) -> str:
        """The kind as people read it."""
        return _IN_WORDS.get(self, self.value)


_IN_WORDS = {
    Kind.WHOLE: "whole number",
    Kind.DATE: "date/time",
    Kind.ORDERED: "ordered label",
    Kind.YES_NO: "yes/no",
    Kind.TEXT: "free text",
}

AVERAGED = (Kind.NUMBER, Kind.WHOLE, Kind.DATE)
CATEGORIES = (Kind.CODE, Kind.YES_NO)  # values that are equal or not, and nothing else


def checked_kinds(given: Any) -> dict[str, str]:
    """The kinds that a user gives columns; empty for None."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"kinds={given!r} must be a dict of columns and kinds, such as {{'zip': 'code'}}")
    found: dict[str, str] = {}
    for name, kind in given.items():
        plain, _, spelling = str(kind).partition(":")
        if plain not in list(Kind):
            raise InputError(f"kind {shown(str(name))}={kind}: there is no such kind; use one of {', '.join(Kind)}")
        if ":" in str(kind) and (plain != Kind.DATE or spelling not in FORMS):
            raise InputError(
                f"kind {shown(str(name))}={kind}: there is no such form of dates; write it like date:%d/%m/%Y"
            )
        found[str(name)] = str(kind)
    return found


def kind_and_spelling(given: str) -> tuple[Kind, str | None]:
    """A checked kind, and the form of its dates if that is said: date:%d/%m/%Y."""
    plain, _, spelling = given.partition(":")
    return Kind(plain), spelling or None


def checked_orders(given: Any) -> dict[str, tuple[str, ...]]:
    """The labels of columns from the lowest to the highest, as a user gives them; empty for None."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"order={given!r} must be a dict of columns and lists of labels, the lowest first")
    found: dict[str, tuple[str, ...]] = {}
    for name, labels in given.items():
        where = f"order of {shown(str(name))}"
        if isinstance(labels, str) or not isinstance(labels, Sequence) or len(labels) < 2:
            raise InputError(f"{where} must be a list of at least 2 labels, the lowest first")
        texts = tuple(str(label).strip() for label in labels)
        if not all(texts):
            raise InputError(f"{where}: a label is empty; leave it out, a gap has no place in an order")
        if len(set(texts)) < len(texts):
            raise InputError(f"{where}: a label stands there twice; give each one place")
        found[str(name)] = texts
    return found
