"""Countries, institutions that stay, and the words for nationalities."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from shoal.sanitizer.entities.candidates import Candidate
from shoal.sanitizer.entities.spelling import name_key

__all__ = ["WellKnown", "well_known", "with_countries"]


class WellKnown(NamedTuple):
    """Names the package knows; keys are those of `name_key`."""

    countries: frozenset[str]
    stays: frozenset[str]  # countries, regions and institutions
    names: re.Pattern[str]  # of countries and regions in several words
    nationalities: re.Pattern[str]
    nation_words: frozenset[str]  # of countries and their people, lower case


@cache
def well_known() -> WellKnown:
    """The package's list, read once."""
    source = tomllib.loads(files("shoal.sanitizer.entities").joinpath("stays.toml").read_text(encoding="utf-8"))
    names: list[str] = []
    demonyms: list[str] = []
    for line in source["nations"].split("\n"):
        nation, _, people = line.partition("|")
        names += _listed(nation)
        demonyms += [word.replace("-", " ") for word in people.split()]
    countries = frozenset(map(name_key, names))
    places = _listed(source["places"])
    others = frozenset(map(name_key, places + _listed(source["institutions"])))
    long_names = [name for name in [*names, *places] if " " in name]
    words = [*demonyms, *source["peoples"].split()]
    spelled = _alternatives(words)
    pattern = re.compile(rf"\b(?:(?:\w+[-–])?(?:{spelled}))(?:[-–](?:{spelled}))*\b")
    nation_words = frozenset(word.lower() for name in [*names, *demonyms] for word in re.findall(r"\w{4,}", name))
    named = re.compile(rf"\b(?:{_alternatives(long_names)})(?!\w)")
    return WellKnown(countries, countries | others, named, pattern, nation_words)


def with_countries(text: str, candidates: list[Candidate]) -> list[Candidate]:
    """Candidates in order; a place and the country that follows it are one place: "Lublin, Poland"."""
    countries = well_known().countries
    joined: list[Candidate] = []
    for candidate in candidates:
        last = joined[-1] if joined else None
        follows = last is not None and last.kind == "LOC" and text[last.end : candidate.start] in (", ", " (", ",\n")
        names = (
            name_key(text[place.start : place.end]) in countries for place in (last, candidate) if place is not None
        )
        if last is None or not follows or tuple(names) != (False, True):
            joined.append(candidate)
            continue
        closed = text[last.end : candidate.start] == " (" and text[candidate.end : candidate.end + 1] == ")"
        joined[-1] = last._replace(end=candidate.end + closed)
    return joined


def _alternatives(names: list[str]) -> str:
    """A pattern for any of these names, the longest first, over line breaks."""
    return "|".join(re.escape(name).replace(r"\ ", r"[\s-]+") for name in sorted(names, key=len, reverse=True))


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.replace("\n", " ").split(",") if name.strip()]
