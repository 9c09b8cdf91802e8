"""People by title, by initials, and in other scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shoal.sanitizer.entities.candidates import Candidate
from shoal.sanitizer.entities.ordinary import is_common_word, word_set
from shoal.sanitizer.entities.spelling import CAPITALISED, INITIAL, PARTICLES, TITLE

__all__ = ["is_heading", "people_candidates"]

_S = r"[^\S\n]*\n?[^\S\n]*"  # a blank, at most one line break
_CAPITALISED = rf"(?!(?:The|In|On|He|She|It|They|And|But|By|At|For|From|As|When|After|Article|Section)\b){CAPITALISED}"
_NAME_WORD = rf"(?:{INITIAL}|{_CAPITALISED})"
# Names go over a line break only after a title or an initial; "President Kennedy\\nWashington" is two names.
_NAME = rf"(?:{PARTICLES}\s+)?{_NAME_WORD}(?:(?:(?<=\.){_S}|[ \t]+|-)(?:{PARTICLES}\s+)*{_NAME_WORD}){{0,4}}"
_MORE = rf"(?:[ \t](?:{INITIAL}\s)?(?!(?:{TITLE})){CAPITALISED}){{0,2}}(?:,?\s(?:Jr|Sr|jr|sr)\.|\s(?:II|III|IV)\b)?"
_PERSONAL = r"(?:M(?:r|rs|s|essrs|me|lle|iss|aster)|MR|MRS|MS|Drs?|DR|Prof(?:essor)?s?|Sir|Herr|Frau|Mister)\b\.?"
_LETTERS = r"[A-Z](?:\.?[\s-]?[A-Z]){0,2}\b\.?"  # Mr X, Mrs A.B.
_PATTERNS = tuple(
    (form, rank, re.compile(pattern))
    for form, rank, pattern in (
        ("titled", 10, rf"\b(?:{_PERSONAL}{_S})+(?:{_NAME}|{_LETTERS})"),
        ("titled", 17, rf"\b(?:{TITLE}\s+)+{_NAME}"),
        ("initialled", 13, rf"(?<![\w.])(?:{INITIAL}\s?)+(?:{PARTICLES}\s+)*{CAPITALISED}{_MORE}"),
        ("initialled", 13, rf"(?<![\w.]){CAPITALISED}\s(?:{INITIAL}\s?)+(?:{PARTICLES}\s+)*{CAPITALISED}{_MORE}"),
        ("initials", 26, r"(?<![\w.])(?:[A-ZÀ-ÞŁŚŻİŞÇĞ]\.[\s-]?){1,3}[A-ZÀ-ÞŁŚŻİŞÇĞ]\.(?!\w)"),
        ("initials", 27, r"(?<![\w.(§])[A-ZÀ-ÞŁŚŻİŞÇĞ]\.(?=[,;’']|\s+[a-z])(?<!\d\s[A-Z]\.)"),
        (
            "script",
            28,
            r"[\u0370-\u1fff\u2c00-\ud7ff\uf900-\ufdff\ufe70-\ufeff]{2,}(?:[\s・·-]*[\u0370-\u1fff\u2c00-\ud7ff\uf900-\ufdff]+)*",
        ),
    )
)
_ABBREVIATIONS = word_set(
    "u.s. u.k. u.n. u.s.s.r. u.s.a. d.c. e.g. i.e. a.m. p.m. e.c. e.u. n.b. p.s. a.d. b.c. p.o. l.a. n.y. r.i.p. "
    "b.a. m.a. ph.d. m.d. b.sc. m.sc. j.d. ll.b. ll.m. o.b.e. c.b.e. k.c. q.c. v.s. c.f. n.a. p.m."
)


_HEADING = re.compile(r"[A-Z]\.\s(?:\w+\s)*(\w+)")
_NOT_INITIALS = ("u.s.", "u.n.", "u.k.", "no.", "art.")


def is_heading(text: str, start: int, end: int) -> bool:
    """Whether an initial is the number of a heading: "A. Facts", "I. THE CIRCUMSTANCES"."""
    if text[max(0, start - 9) : start].rstrip(" \t")[-1:] not in ("", "\n"):
        return False
    heading = _HEADING.fullmatch(text, start, end)
    return heading is not None and is_common_word(heading.group(1).lower())


def people_candidates(text: str) -> Iterator[Candidate]:
    """People of a text whose names follow from their form."""
    for form, rank, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            words = re.sub(r"\s", "", match.group()).lower()
            if form == "initials" and words in _ABBREVIATIONS:
                continue
            if form == "initialled" and (
                words.startswith(_NOT_INITIALS) or is_heading(text, match.start(), match.end())
            ):
                continue
            yield Candidate(match.start(), match.end(), "PERSON", form, rank)
