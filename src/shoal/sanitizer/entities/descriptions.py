"""Nationalities, professions and states of health; countries and institutions that everybody knows."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from shoal.sanitizer.entities.names import name_key
from shoal.sanitizer.entities.rules import Candidate, Rule, RuleTable, matches
from shoal.terms.lexicon import lexicon
from shoal.terms.wordnet import WordNet

_TABLE = RuleTable("descriptions")
_RULES = _TABLE.rules()
_NEVER, _NARROWING, _OFFICES = map(_TABLE.words, ("never", "narrowing", "offices"))


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
            name_key(text[named.start : named.end]) in countries for named in (last, candidate) if named is not None
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


_WORD = re.compile(r"[^\W\d_]+(?:[-‑][^\W\d_]+)*")


@cache
def _description_form(word: str) -> str:
    """Whether a lower-case word describes a person, by its first sense: "profession", "health" or ""."""
    if len(word) < 4 or word in _NEVER:
        return ""
    wordnet, concepts = _wordnet()
    if lexicon().is_adjective(word):
        return ""  # "private", "principal": rarely a person
    senses = wordnet.senses(word)
    if not senses:
        return ""
    ancestors = wordnet.taxonomy.ancestors_of(senses[0])
    if re.search(r"\(.*\d{3}", wordnet.gloss(senses[0])):
        return ""  # a person of history with the years of their life, such as Drew
    for form, roots in concepts.items():
        if np.isin(ancestors, roots).any() or senses[0] in roots:
            return form
    return ""


@cache
def _wordnet() -> tuple[WordNet, dict[str, list[int]]]:
    wordnet = WordNet()
    roots = {"profession": _TABLE.words("professional"), "health": _TABLE.words("ill")}
    return wordnet, {
        form: [concept for name in names if (concept := wordnet.concept(name)) is not None]
        for form, names in roots.items()
    }


def description_candidates(text: str) -> Iterator[Candidate]:
    """Nationalities, professions with the words that narrow them down, and illnesses of a text."""
    known = well_known()
    nationalities = Rule("NATIONALITY", "nationality", 18, known.nationalities)
    yield from matches(text, (nationalities, Rule("LOC", "well known", 11, known.names), *_RULES))
    words = list(_WORD.finditer(text))
    for index, word in enumerate(words):
        form = _description_form(word.group().lower().replace("‑", "-"))
        if not form or (word.group()[0].isupper() and form == "health"):
            continue
        if word.group().lower().rstrip("s") in _OFFICES:
            form = "role in proceedings"
        start = index
        while start > 0 and index - start < 3 and _belongs_to(text, words[start - 1], words[start]):
            start -= 1
        kind = "MISC" if form == "health" else "PROFESSION"
        yield Candidate(words[start].start(), word.end(), kind, form, 40)


def _belongs_to(text: str, word: re.Match[str], following: re.Match[str]) -> bool:
    """Whether a word belongs to the description that follows it: "primary school" before "teacher"."""
    gap = text[word.end() : following.start()]
    return bool(gap) and not gap.strip(" ") and word.group().lower() in _NARROWING
