"""Nationalities, professions and states of health; countries and institutions that everybody knows."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from shoal.sanitizer.entities.candidates import Candidate, Rule, matches
from shoal.sanitizer.entities.names import name_key
from shoal.terms.lexicon import lexicon, word_set
from shoal.terms.wordnet import WordNet


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
# Medicine builds its words with Greek endings; an injury comes with the part of the body that has it.
_ILLNESSES = (
    r"\b(?:(?:paranoid|chronic|acute|degenerative|rheumatoid|bronchial|lateral|severe|major|cervico[-‑]brachial)\s+)*"
    r"(?:\w{3,}(?:osis|itis|opathy|algia|emia|aemia|plegia|opia|phobia|phrenia|carcinoma|melanoma|sclerosis)|cancer|"
    r"tumou?rs?|diabetes|epilepsy|asthma|hernia|stroke|HIV|AIDS|autism|dementia|psychosis|"
    r"(?:fractures?|amputation|loss|dislocation|rupture|calcification|paralysis)\s+of\s+(?:(?:the|his|her|their)\s+)?(?:\w+\s+){0,2}"
    r"(?:tibia|femur|vertebra|kneecap|patella|skull|spine|arm|leg|hand|foot|hip|rib|eye|ear|vision|sight|hearing|finger|jaw|"
    r"nose|knee|ankle|wrist|shoulder)s?(?:\s+in\s+(?:his|her|the|one|both)\s+(?:left\s+|right\s+)?(?:eye|ear|leg|arm|hand|foot)s?)?)\b"
)
_ILLNESS = Rule("MISC", "health", 39, re.compile(_ILLNESSES))
_KIN = (
    r"(?:grand|step|half-|great-)?(?:mother|father|sister|brother|son|daughter|uncle|aunt|niece|nephew|cousin|wife|husband|widow(?:er)?|"
    r"fianc[ée]e?|twins?|spouse|partner)(?:-in-law)?s?"
)
_PEOPLES = (
    r"(?:black|white|Asian|African|Arab|Roma|gypsy|Gypsy|Jewish|Muslim|Christian|Catholic|Protestant|Hindu|Sikh|"
    r"Buddhist|Kurdish|indigenous)"
)
_PHRASES = (
    Rule(
        "MISC",
        "kinship",
        41,
        re.compile(
            rf"\b(?:(?:only|eldest|oldest|youngest|elder|younger|late|twin|adopted|estranged|deceased|first|second|third)\s+)+{_KIN}\b"
            rf"|\b(?:gave birth to|mother of|father of|expecting)\s+(?:a\s+|an\s+|her\s+)?(?:\w+\s+)?(?:son|"
            rf"daughter|child|children|twins|triplets|baby)\b"
        ),
    ),
    Rule(
        "NATIONALITY",
        "people",
        17,
        re.compile(
            rf"\b{_PEOPLES}[\s-](?:(?:\w+)[\s-])?(?:wom[ae]n|m[ae]n|people|person|girl|boy|famil(?:y|ies)|communit(?:y|ies)|origin|faith|minority)\b"
        ),
    ),
    Rule("MISC", "sentence", 37, re.compile(r"\b(?:life imprisonment|death penalty|house arrest)\b")),
)
_PROFESSIONAL = word_set(
    "worker.n.01 professional.n.01 expert.n.01 leader.n.01 entertainer.n.01 creator.n.02 skilled_worker.n.01 "
    "serviceman.n.01 scientist.n.01 communicator.n.01 intellectual.n.01 contestant.n.01 capitalist.n.02 "
    "official.n.01 educator.n.01 student.n.01 owner.n.02 businessperson.n.01 unskilled_person.n.01 adult.n.01 "
    "preserver.n.03 peer.n.01 operator.n.02 assistant.n.01 athlete.n.01 clergyman.n.01 traveler.n.01"
)
_ILL = word_set("ill_health.n.01 disorder.n.01 injury.n.01 symptom.n.01 disability.n.01")
# Words that have such a sense and seldom mean it, or say nothing that narrows anybody down.
_NEVER = word_set(
    "applicant applicants person persons man men woman women people party parties child children son sons "
    "daughter daughters wife husband father mother parent parents brother sister male female adult adults witness "
    "witnesses member members head heads individual individuals third first second general subject subjects court "
    "page major minor cover case cases chief friend friends contact counter host producers may will mark bill "
    "rose victim victims complaint complaints suffering harm other others second post base"
)


_NARROWING = word_set(
    "primary secondary high school university college assistant associate deputy senior junior chief principal "
    "head retired former private public police prison security civil military army naval airline lorry truck taxi "
    "bus medical dental general research social computer software mechanical electrical chemical ballet opera "
    "folk jazz rock pop film television radio football basketball baseball cricket hockey tennis professional "
    "amateur independent freelance non-commissioned commissioned artillery infantry market business estate bank "
    "insurance tax legal financial executive managing vice severe chronic acute paranoid permanent partial total "
    "mental physical multiple degenerative psychotic left right strong lateral serious"
)
# Offices that any case has, whoever holds them.
_OFFICES = word_set(
    "lawyer judge prosecutor counsel solicitor barrister advocate attorney agent expert clerk registrar president "
    "chairman minister officer official director secretary representative guardian defendant plaintiff respondent "
    "appellant accused complainant employer employee worker magistrate bailiff notary inspector governor claimant "
    "landlord tenant owner heir creditor"
)


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
    roots = {"profession": _PROFESSIONAL, "health": _ILL}
    return wordnet, {
        form: [concept for name in names if (concept := wordnet.concept(name)) is not None]
        for form, names in roots.items()
    }


def description_candidates(text: str) -> Iterator[Candidate]:
    """Nationalities, professions with the words that narrow them down, and illnesses of a text."""
    known = well_known()
    nationalities = Rule("NATIONALITY", "nationality", 18, known.nationalities)
    yield from matches(text, (nationalities, Rule("LOC", "well known", 11, known.names), _ILLNESS, *_PHRASES))
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
