"""People by title, by initials, and in other scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shoal.sanitizer.entities.candidates import Candidate
from shoal.sanitizer.entities.names import CAPITALISED, INITIAL, PARTICLES, TITLE, is_given_name, name_words
from shoal.sanitizer.entities.organisations import GENERIC
from shoal.terms.lexicon import FUNCTION_WORDS, is_common_word, word_set

_S = r"[^\S\n]{0,3}\n?[^\S\n]{0,3}"  # a blank, at most one line break
_NOT_NAMES = "|".join(sorted(word.capitalize() for word in (*FUNCTION_WORDS, "article", "section", "chapter")))
_CAPITALISED = rf"(?!(?:{_NOT_NAMES})\b){CAPITALISED}"
_NAME_WORD = rf"(?:{INITIAL}|{_CAPITALISED})"
# Names go over a line break only after a title or an initial; "President Kennedy\\nWashington" is two names.
_NAME = rf"(?:{PARTICLES}\s+)?{_NAME_WORD}(?:(?:(?<=\.){_S}|[ \t]+|-)(?:{PARTICLES}\s+){{0,2}}{_NAME_WORD}){{0,4}}"
_MORE = rf"(?:[ \t](?:{INITIAL}\s)?(?!(?:{TITLE})){CAPITALISED}){{0,2}}(?:,?\s(?:Jr|Sr|jr|sr)\.|\s(?:II|III|IV)\b)?"
_SHOUTED = r"[A-ZÀ-ÖØ-ÞŁŚŻİŞÇĞ][A-ZÀ-ÖØ-ÞŁŚŻİŞÇĞ'’-]{1,30}+(?![a-z])"  # SMITH, John
_PERSONAL = r"(?:M(?:r|rs|s|essrs|me|lle|iss|aster)|MR|MRS|MS|Drs?|DR|Prof(?:essor)?s?|Sir|Herr|Frau|Mister)\b\.?"
_LETTERS = r"[A-Z](?:\.?[\s-]?[A-Z]){0,2}\b\.?"  # Mr X, Mrs A.B.
_PATTERNS = tuple(
    (form, rank, re.compile(pattern))
    for form, rank, pattern in (
        ("titled", 10, rf"\b(?:{_PERSONAL}{_S}){{1,3}}(?:{_NAME}|{_LETTERS})"),
        ("titled", 17, rf"\b(?:{TITLE}\s+){{1,3}}{_NAME}"),
        ("initialled", 13, rf"(?<![\w.])(?:{INITIAL}\s?){{1,4}}(?:{PARTICLES}\s+){{0,2}}{_CAPITALISED}{_MORE}"),
        (
            "initialled",
            13,
            rf"(?<![\w.]){_CAPITALISED}\s(?:{INITIAL}\s?){{1,4}}(?:{PARTICLES}\s+){{0,2}}{_CAPITALISED}{_MORE}",
        ),
        ("listed", 12, rf"(?<![\w.])(?:{PARTICLES}\s)?{_SHOUTED},[ \t]{_NAME_WORD}(?:[ \t]{_NAME_WORD}){{0,2}}"),
        (
            "listed",
            12,
            rf"(?m)(?:^|[:;/(]|\d[.)]|[-•*])[ \t]*({_CAPITALISED},[ \t]{_NAME_WORD}(?:[ \t]{_NAME_WORD}){{0,2}})"
            r"(?=[ \t]*(?:$|[;/()–-]|\d|DOB|born|aged))",
        ),
        # In capitals, as forms and scans have them; with digits for letters, as recognised text has them.
        ("shouted", 25, rf"(?<![\w.-]){_SHOUTED}(?:[ \t][A-Z]\.?)?[ \t]{_SHOUTED}(?![\w-]|[ \t][A-Z]{{2}})"),
        ("misread", 24, r"(?<!\w)[A-Z](?=\w{3,20}\b)[a-z]*(?:[01]{1,2}[a-z]+)+(?:[ \t]+[A-Z][a-z01]{2,20})?(?!\w)"),
        ("in lower case", 30, r"(?<![\w.@/-])[a-z]{3,12}[ \t][a-z]{4,20}(?![\w@/-])"),
        ("initials", 26, r"(?<![\w.])(?:[A-ZÀ-ÞŁŚŻİŞÇĞ]\.[\s-]?){1,3}[A-ZÀ-ÞŁŚŻİŞÇĞ]\.(?!\w)"),
        ("initials", 27, r"(?<![\w.(§])[A-ZÀ-ÞŁŚŻİŞÇĞ]\.(?=[,;’']|\s+[a-z])(?<!\d\s[A-Z]\.)"),
        (
            "script",
            28,
            r"[\u0370-\u1fff\u2c00-\ud7ff\uf900-\ufdff\ufe70-\ufeff]{2,80}+(?:[\s・·-]{1,2}[\u0370-\u1fff\u2c00-\ud7ff\uf900-\ufdff]{1,80}+){0,6}",
        ),
    )
)
_ABBREVIATIONS = word_set(
    "u.s. u.k. u.n. u.s.s.r. u.s.a. d.c. e.g. i.e. a.m. p.m. e.c. e.u. n.b. p.s. a.d. b.c. p.o. l.a. n.y. r.i.p. "
    "b.a. m.a. ph.d. m.d. b.sc. m.sc. j.d. ll.b. ll.m. o.b.e. c.b.e. k.c. q.c. v.s. c.f. n.a. p.m."
)


_HEADING = re.compile(r"[A-Z]\.\s(?:\w+\s){0,9}(\w+)")
_NOT_INITIALS = re.compile(r"(?:^|[a-z])u\.[snk]\.|^(?:no|art)\.")
_TITLE_WORDS = word_set("minister foreign prime vice ambassador chairman general assistant deputy under")


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
            if form == "initialled" and (_NOT_INITIALS.search(words) or is_heading(text, match.start(), match.end())):
                continue
            start, end = match.span(match.lastindex or 0)
            if form in ("shouted", "in lower case") and not _is_named(match.group().lower().split(), form):
                continue
            if form in ("titled", "listed") and _names_nobody(text[start:end], form):
                continue
            yield Candidate(start, end, "PERSON", form, rank)


def _names_nobody(written: str, form: str) -> bool:
    """Whether a title or a comma stands with nothing but titles and ordinary words: "Mr. President", "Paris, Texas"."""
    words = [word.lower() for word in name_words(written)]
    if form == "titled":
        return bool(words) and all(word in GENERIC or word in _TITLE_WORDS for word in words)
    return is_common_word(words[-1]) and is_common_word(words[0]) and not is_given_name(words[0])


def _is_named(words: list[str], form: str) -> bool:
    """Whether a name without capitals, or in nothing else, begins with a given name: "john trelawny"; not "mark it"."""
    if not is_given_name(words[0]) or words[-1] in FUNCTION_WORDS:
        return False
    return not is_common_word(words[-1]) if form == "in lower case" else words[-1] not in GENERIC
