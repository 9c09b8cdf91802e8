"""A mention ends where its kind ends: candidates grow over the rest of a number, a name, a description."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shoal.sanitizer.entities.candidates import Candidate
from shoal.sanitizer.entities.names import CAPITALISED, INITIAL, PARTICLES
from shoal.terms.lexicon import FUNCTION_WORDS, is_common_word, lexicon

_CODES = ("PHONE", "ID", "ACCOUNT", "CASE", "EMAIL", "URL")
_NAMED = ("PERSON", "ORG", "LOC", "MISC")
_HEADS = (
    r"(?:villages?|army|navy|government|channel|team|squad|movement|organi[sz]ation|hotel|school|newspaper|magazine|company|"
    r"party|club|forces|regiment|church|bank|police|hospital|clinic|prison|camp|college|university|region|province|district|"
    r"coast|border|valley|riots?|massacre|war|accord|agreement|treaty|cup|league|championship|tournament|season|scandal|"
    r"festival|award|prize|case|match|series|river|island|mountains?|street|airport|station)"
)
# What follows a candidate of a kind and belongs to it.
_AFTER = {
    kind: re.compile(pattern)
    for kind, pattern in {
        "PERSON": rf"(?:[-‑]{CAPITALISED})+|(?:[ \t]{INITIAL}(?=[ \t,;]))+(?:[ \t]{CAPITALISED})?|"
        rf"[ \t]{PARTICLES}[ \t]{CAPITALISED}",
        "ORG": rf"(?:[-‑]{CAPITALISED})+|[ \t]&[ \t]{CAPITALISED}|(?:[ \t](?:national|imperial|commercial|"
        rf"\w+al)){{0,2}}[ \t]{_HEADS}\b(?:[ \t][A-Z]+\d?\b)?",
        "LOC": rf"(?:[-‑]{CAPITALISED})+|(?:[ \t](?:national|imperial|\w+al)){{0,1}}[ \t]{_HEADS}\b|[-‑]based\b",
        "MISC": rf"(?:[-‑]{CAPITALISED})+|[ \t]{_HEADS}\b|['’][ \t]?{CAPITALISED}(?:[ \t]{CAPITALISED})?",
        "NATIONALITY": r"[ \t](?:descent|(?:wo)?m[ae]n|people|famil(?:y|ies)|army|navy|government|"
        r"(?:\w+[ \t])?channel(?:[ \t][A-Z]+\d?)?)\b",
        "DATE": r"[ \t](?:season|school year)\b",
        "QUANTITY": r"[ \t]of[ \t](?:land|[a-z]+(?=[,.;]))",
        "MONEY": r"[ \t]\((?:euros?|dollars?|pounds?)\)|[ \t]\[(?:approx\.|approximately|about)[^\]\n]{1,30}\]",
        **dict.fromkeys(_CODES, r"(?:[ \t]?[-–/.x][ \t]?(?=[\w]*\d)\w{1,12})+(?!\w)|\w+(?:[-/.]\w*\d\w*)*"),
    }.items()
}
# What stands before it.
_BEFORE = {
    kind: re.compile(rf"(?:{pattern})$")
    for kind, pattern in {
        "PERSON": rf"(?<![\w.])(?:(?:{INITIAL}[ \t]?)+|(?:{CAPITALISED}[-‑])+|{PARTICLES}[ \t])",
        "ORG": rf"(?<!\w)(?:{CAPITALISED}[-‑])+",
        "LOC": rf"\b(?:(?:north|south)(?:-?(?:east|west))?(?:ern)?|(?:east|west|centr)(?:ern|al)|Greater|"
        rf"Upper|Lower)[ \t]|(?<!\w)(?:{CAPITALISED}[-‑])+",
        "CASE": r"\b(?:plot|parcel|block|lot|sheet/plan|apartment|cell|room|flat)[ \t](?:nos?\.[ \t])?",
        "DATE": r"\b(?:(?:spring|summer|autumn|winter|(?:first|second|latter)[ \t]half|end|beginning|"
        r"(?:first|second|third|last)[ \t]quarter)(?:[ \t](?:and|or)[ \t](?:spring|summer|autumn|"
        r"winter))?[ \t](?:of[ \t])?)",
        **dict.fromkeys(("PHONE", "ACCOUNT"), r"(?<![\w.])(?:\+?\(?\d{1,5}\)?[ \t.-]){1,2}"),
    }.items()
}
_REACH = 60  # characters looked at before a candidate
_MODIFIERS = 4  # words between "a" and a profession: "a local authority housing officer"
_WORDS_BEFORE = re.compile(rf"\b(?:an?|as|the|his|her)[ \t]((?:[a-z][a-z‑-]+[ \t]){{1,{_MODIFIERS}}})$")


def completed(text: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, each as long as what it names; none grows into another."""
    whole: list[Candidate] = []
    for number, candidate in enumerate(candidates):
        free_from = whole[-1].end if whole else 0
        free_until = candidates[number + 1].start if number + 1 < len(candidates) else len(text)
        start = max(free_from, _start(text, candidate, free_from))
        end = _end(text, candidate)
        whole.append(candidate._replace(start=start, end=end if end <= free_until else candidate.end))
    return whole


def _end(text: str, candidate: Candidate) -> int:
    end = candidate.end
    after = _AFTER.get(candidate.kind)
    for _ in range(2):
        match = after.match(text, end) if after is not None else None
        if match is None or match.end() == end:
            break
        end = match.end()
    return end


def _start(text: str, candidate: Candidate, free_from: int) -> int:
    lowest = max(free_from, candidate.start - _REACH)
    before = text[lowest : candidate.start]
    if candidate.kind == "PROFESSION" or candidate.form == "health":
        modifiers = _WORDS_BEFORE.search(before)
        words = modifiers[1].split() if modifiers else []
        if words and all(map(_is_modifier, words)):
            return candidate.start - len(modifiers[1]) if modifiers else candidate.start
    known = _BEFORE.get(candidate.kind)
    match = known.search(before) if known is not None else None
    return candidate.start if match is None else candidate.start - len(match[0])


def _is_modifier(word: str) -> bool:
    """Whether a word may narrow a description down."""
    plain = word.replace("‑", "-")
    return plain not in FUNCTION_WORDS and (is_common_word(plain) or lexicon().is_adjective(plain) or "-" in plain)
