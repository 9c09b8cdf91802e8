"""Professions, nationalities and states of health: what is said of people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import numpy as np

from shoal.io.lexicon import lexicon
from shoal.ontology.wordnet import WordNet
from shoal.sanitizer.entities.candidates import Candidate
from shoal.sanitizer.entities.nations import well_known
from shoal.sanitizer.entities.ordinary import word_set

__all__ = ["description_candidates"]

_WORD = re.compile(r"[^\W\d_]+(?:[-‑][^\W\d_]+)*")
# Medicine builds its words with Greek endings; an injury is told with the part of the body that has it.
_ILLNESS = re.compile(
    r"\b(?:(?:paranoid|chronic|acute|degenerative|rheumatoid|bronchial|lateral|severe|major|cervico[-‑]brachial)\s+)*"
    r"(?:\w{3,}(?:osis|itis|opathy|algia|emia|aemia|plegia|opia|phobia|phrenia|carcinoma|melanoma|sclerosis)|cancer|"
    r"tumou?rs?|diabetes|epilepsy|asthma|hernia|stroke|HIV|AIDS|autism|dementia|psychosis|"
    r"(?:fractures?|amputation|loss|dislocation|rupture|calcification|paralysis)\s+of\s+(?:(?:the|his|her|their)\s+)?(?:\w+\s+){0,2}"
    r"(?:tibia|femur|vertebra|kneecap|patella|skull|spine|arm|leg|hand|foot|hip|rib|eye|ear|vision|sight|hearing|finger|jaw|"
    r"nose|knee|ankle|wrist|shoulder)s?)\b"
)
_PROFESSIONAL = word_set(
    "worker.n.01 professional.n.01 expert.n.01 leader.n.01 entertainer.n.01 creator.n.02 skilled_worker.n.01 "
    "serviceman.n.01 scientist.n.01 communicator.n.01 intellectual.n.01 contestant.n.01 capitalist.n.02 "
    "official.n.01 educator.n.01 student.n.01 owner.n.02 businessperson.n.01 unskilled_person.n.01 adult.n.01 "
    "preserver.n.03 peer.n.01"
)
_ILL = word_set("ill_health.n.01 disorder.n.01 injury.n.01 symptom.n.01 disability.n.01")
# Words that have such a sense and seldom mean it, or say nothing that narrows anybody down.
_NOT = word_set(
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
_IN_PROCEEDINGS = word_set(
    "lawyer judge prosecutor counsel solicitor barrister advocate attorney agent expert clerk registrar president "
    "chairman minister officer official director secretary representative guardian defendant plaintiff respondent "
    "appellant accused complainant employer employee worker magistrate bailiff notary inspector governor claimant "
    "landlord tenant owner heir creditor"
)


@cache
def _said_of_people(word: str) -> str:
    """ "profession", "health" or "": what a lower-case word says of a person, by its first sense."""
    if len(word) < 4 or word in _NOT:
        return ""
    if lexicon().is_adjective(word):
        return ""  # "private", "principal": rarely a person
    wordnet, concepts = _wordnet()
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
    for match in well_known().nationalities.finditer(text):
        yield Candidate(match.start(), match.end(), "NATIONALITY", "nationality", 18)
    for match in well_known().names.finditer(text):
        yield Candidate(match.start(), match.end(), "LOC", "well known", 11)
    for match in _ILLNESS.finditer(text):
        yield Candidate(match.start(), match.end(), "MISC", "health", 39)
    words = list(_WORD.finditer(text))
    for place, word in enumerate(words):
        form = _said_of_people(word.group().lower().replace("‑", "-"))
        if not form or (word.group()[0].isupper() and form == "health"):
            continue
        if word.group().lower().rstrip("s") in _IN_PROCEEDINGS:
            form = "role in proceedings"
        start = place
        while start > 0 and place - start < 3 and _narrows(text, words[start - 1], words[start]):
            start -= 1
        kind = "MISC" if form == "health" else "PROFESSION"
        yield Candidate(words[start].start(), word.end(), kind, form, 40)


def _narrows(text: str, word: re.Match[str], following: re.Match[str]) -> bool:
    """Whether a word belongs to the description that follows it: "primary school" before "teacher"."""
    if text[word.end() : following.start()].strip(" ") or word.end() == following.start():
        return False
    return word.group().lower() in _NARROWING
