"""People by title, by initials, and in other scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shoal.sanitizer.entities.names import is_given_name, name_words
from shoal.sanitizer.entities.organisations import GENERIC
from shoal.sanitizer.entities.rules import Candidate, RuleTable
from shoal.terms.lexicon import FUNCTION_WORDS, is_common_word

_NOT_NAMES = "|".join(sorted(word.capitalize() for word in (*FUNCTION_WORDS, "article", "section", "chapter")))
_TABLE = RuleTable("people", {"NOT_NAMES": _NOT_NAMES})
_RULES = _TABLE.rules()
_ABBREVIATIONS, _TITLE_WORDS = _TABLE.words("abbreviations"), _TABLE.words("title_words")


_HEADING = re.compile(r"[A-Z]\.\s(?:\w+\s){0,9}(\w+)")
_NOT_INITIALS = re.compile(r"(?:^|[a-z])u\.[snk]\.|^(?:no|art)\.")


def is_heading(text: str, start: int, end: int) -> bool:
    """Whether an initial is the number of a heading: "A. Facts", "I. THE CIRCUMSTANCES"."""
    if text[max(0, start - 9) : start].rstrip(" \t")[-1:] not in ("", "\n"):
        return False
    heading = _HEADING.fullmatch(text, start, end)
    return heading is not None and is_common_word(heading.group(1).lower())


def people_candidates(text: str) -> Iterator[Candidate]:
    """People of a text whose names follow from their form."""
    for kind, form, rank, pattern in _RULES:
        for match in pattern.finditer(text):
            words = re.sub(r"\s", "", match.group()).lower()
            if form == "initials" and words in _ABBREVIATIONS:
                continue
            if form == "initialled" and (_NOT_INITIALS.search(words) or is_heading(text, match.start(), match.end())):
                continue
            start, end = match.span("name" if "name" in pattern.groupindex else 0)
            if form in ("shouted", "in lower case") and not _is_named(match.group().lower().split(), form):
                continue
            if form in ("titled", "listed") and _names_nobody(text[start:end], form):
                continue
            yield Candidate(start, end, kind, form, rank)


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
