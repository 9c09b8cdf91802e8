"""A mention ends where its kind ends: candidates grow over the rest of a number, a name, a description."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shoal.sanitizer.entities.rules import Candidate, RuleTable
from shoal.terms.lexicon import FUNCTION_WORDS, is_common_word, lexicon

_TABLE = RuleTable("completion")
_AFTER, _BEFORE = _TABLE.by_kind("after"), _TABLE.by_kind("before")

_NAMED = ("PERSON", "ORG", "LOC", "MISC")
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
