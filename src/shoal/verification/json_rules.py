"""Rules for JSON values: what a field of a certificate may hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from shoal.results.wordings import worded

LARGEST_NUMBER = 2**53  # whole numbers that every reader of JSON has exactly
LONGEST_TEXT = 1_000  # characters, of a column's name or label

Rule = Callable[[Any, str], None]  # looks at a value and its place; raises Unfit


class Unfit(ValueError):
    """A value that its place does not allow."""

    def __init__(self, place: str, needed: str) -> None:
        super().__init__(f"{place} must be {needed}")


def text(value: Any, place: str) -> None:
    if type(value) is not str or len(value) > LONGEST_TEXT:
        raise Unfit(place, f"text of at most {LONGEST_TEXT:,} characters")


def wording(value: Any, place: str) -> None:
    if type(value) is not str or worded(value) != value:
        raise Unfit(place, "worded by Shoal")


def version_number(value: Any, place: str) -> None:
    if type(value) is not str or not re.fullmatch(r"\d{1,4}(\.\d{1,4}){1,3}(\.?(a|b|rc|post|dev)\d{0,4}){0,2}", value):
        raise Unfit(place, "the number of a version")


def anything(value: Any, place: str) -> None:
    """What another rule looks at."""


def boolean(value: Any, place: str) -> None:
    if type(value) is not bool:
        raise Unfit(place, "true or false")


def number(value: Any, place: str) -> None:
    if type(value) not in (int, float) or not abs(value) < 1e300:
        raise Unfit(place, "a number")


def above(limit: float) -> Rule:
    def rule(value: Any, place: str) -> None:
        number(value, place)
        if not value > limit:
            raise Unfit(place, f"a number above {limit}")

    return rule


def whole(least: int) -> Rule:
    def rule(value: Any, place: str) -> None:
        if type(value) is not int or not least <= value <= LARGEST_NUMBER:
            raise Unfit(place, f"a whole number of at least {least}")

    return rule


def one_of(*allowed: str) -> Rule:
    def rule(value: Any, place: str) -> None:
        if value not in allowed or type(value) is not str:
            raise Unfit(place, " or ".join(map(repr, allowed)))

    return rule


def digest(value: Any, place: str) -> None:
    if type(value) is not str or not re.fullmatch("[0-9a-f]{64}", value):
        raise Unfit(place, "a SHA-256 in hexadecimal")


def or_null(rule: Rule) -> Rule:
    return lambda value, place: None if value is None else rule(value, place)


def each(rule: Rule) -> Rule:
    def of_all(value: Any, place: str) -> None:
        if type(value) is not list:
            raise Unfit(place, "a list")
        for number, one in enumerate(value):
            rule(one, f"{place}[{number}]")

    return of_all


def either(one: Rule, other: Rule) -> Rule:
    """What fits one of two rules."""

    def rule(value: Any, place: str) -> None:
        try:
            one(value, place)
        except Unfit:
            other(value, place)

    return rule


def by_name(rule: Rule) -> Rule:
    def of_all(value: Any, place: str) -> None:
        if type(value) is not dict:
            raise Unfit(place, "an object")
        for name, one in value.items():
            rule(one, f"{place}.{name[:40]}")

    return of_all


def fields(rules: Mapping[str, Rule], may: Mapping[str, Rule] | None = None) -> Rule:
    """An object with exactly these keys; those in `may` can be absent."""
    known = {**rules, **(may or {})}

    def rule(value: Any, place: str) -> None:
        if type(value) is not dict:
            raise Unfit(place, "an object")
        for name in value:
            if name not in known:
                raise Unfit(_below(place, name[:40]), "absent: it is not known")
        for name, of_field in known.items():
            if name in value:
                of_field(value[name], _below(place, name))
            elif name in rules:
                raise Unfit(_below(place, name), "there")

    return rule


def _below(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
