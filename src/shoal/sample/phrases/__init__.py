"""The clauses the letters are made of: one TOML file per speciality, one for what all letters share, one for people."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

SPECIALITIES = ("cardiology", "orthopaedics", "respiratory", "gastroenterology", "oncology", "psychiatry")

Clauses = tuple[str, ...]


@dataclass(frozen=True)
class Condition:
    """What a patient has: how many letters are about it, what such patients are like, and clauses about them."""

    name: str
    called: str  # the names it goes by in prose
    letters: int
    age: tuple[float, float, float, float]  # mean, deviation, lowest, highest
    bmi: float
    systolic: tuple[float, float]  # mean, deviation
    heart_rate: tuple[float, float]  # mean, deviation
    stay: tuple[float, float]  # share seen in clinic only; mean days of the others
    men: float  # share of men
    complaint: Clauses
    detail: Clauses
    tests: Clauses
    treatment: Clauses
    plan: Clauses
    examination: Clauses = ()
    ward_treatment: Clauses = ()  # in place of `treatment` for patients who stayed
    ward_plan: Clauses = ()
    habits: Clauses = ()  # in place of the habits any patient may have
    working: float = 0.92  # share at work among those of working age


@dataclass(frozen=True)
class Speciality:
    name: str
    specialist: str
    clinic: str
    wards: Clauses
    consultants: Clauses
    examination: Clauses  # said of any patient of the speciality
    conditions: tuple[Condition, ...]


@dataclass(frozen=True)
class Employer:
    name: str
    posts: tuple[tuple[str, int], ...]  # occupation, pay a year


@dataclass(frozen=True)
class People:
    women: Clauses
    men: Clauses
    surnames: Clauses
    towns: Clauses
    streets: Clauses
    practices: Clauses
    employers: tuple[Employer, ...]
    districts: Mapping[str, tuple[str, ...]]  # and their towns
    counties: Mapping[str, tuple[str, ...]]  # and their districts
    meanings: Mapping[str, str]  # occupation: concept of WordNet


@cache
def specialities() -> tuple[Speciality, ...]:
    return tuple(_speciality(_read(name)) for name in SPECIALITIES)


@cache
def people() -> People:
    entries = _read("people")
    employers = tuple(Employer(each["name"], tuple(each["posts"].items())) for each in entries.pop("employers"))
    return People(employers=employers, **entries)


@cache
def frame() -> dict[str, Clauses]:
    """The clauses that letters of every speciality share."""
    return _read("letter")


def _speciality(entries: dict[str, Any]) -> Speciality:
    conditions = tuple(Condition(**_frozen(each)) for each in entries.pop("conditions"))
    return Speciality(conditions=conditions, **entries)


def _read(name: str) -> dict[str, Any]:
    return _frozen(tomllib.loads(files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")))


def _frozen(entries: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entries.items()}
