"""Countries, institutions that stay, and the words for nationalities."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from shoal.sanitizer.entities.spelling import name_key

__all__ = ["WellKnown", "well_known"]


class WellKnown(NamedTuple):
    """Names the package knows; keys are those of `name_key`."""

    countries: frozenset[str]
    stays: frozenset[str]  # countries, regions and institutions
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
    others = frozenset(map(name_key, _listed(source["places"]) + _listed(source["institutions"])))
    words = sorted([*demonyms, *source["peoples"].split()], key=len, reverse=True)
    spelled = "|".join(re.escape(word).replace(r"\ ", r"[\s-]+") for word in words)
    pattern = re.compile(rf"\b(?:(?:\w+[-–])?(?:{spelled}))(?:[-–](?:{spelled}))*\b(?:\s+(?:nationals?|citizens?)\b)?")
    nation_words = frozenset(word.lower() for name in [*names, *demonyms] for word in re.findall(r"\w{4,}", name))
    return WellKnown(countries, countries | others, pattern, nation_words)


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.replace("\n", " ").split(",") if name.strip()]
