"""Codes and numbers: of cases, accounts, cards, telephones; addresses of mail and machines; dates and amounts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from shoal.errors import InputError, MissingExtra
from shoal.sanitizer.entities.rules import Candidate, RuleTable, matches

_CODES, _AMOUNTS = RuleTable("codes"), RuleTable("dates_and_amounts")
_RULES, _AMOUNT_RULES = _CODES.rules(), _AMOUNTS.rules()
_HAS_MONTH = _AMOUNTS.pattern("has_month")

_PRESIDIO = _CODES.table("presidio")
_LONGEST = 2000
_HAS_CODES = re.compile(r"\d{2}|@|\w\.\w")
_WEAK = 0.3  # scores of Presidio's patterns without any check of their digits: any eight may be a passport
_WEAK_RANK = 35  # below what our rules find
_PHONE_RANK = 21  # after dates: 03.05.1961 is a date before it is a French telephone


def code_candidates(text: str) -> Iterator[Candidate]:
    """Codes and numbers of a text, by our patterns and by Presidio's recognizers."""
    yield from matches(text, _RULES)
    # Short pieces: a few of its patterns take the square of the length.
    for offset, piece in cut(text, _LONGEST, ("\n", ". ", " "), _LONGEST // 4):
        for candidate in _recognised(piece) if _HAS_CODES.search(piece) else ():
            yield candidate._replace(start=candidate.start + offset, end=candidate.end + offset)


def cut(text: str, longest: int, marks: Sequence[str], least: int = 0) -> Iterator[tuple[int, str]]:
    """A text in pieces that end after one of these marks, the first that is there beyond the least length."""
    start = 0
    while start < len(text):
        end = min(len(text), start + longest)
        if end < len(text):
            breaks = (text.rfind(mark, start, end) + 1 for mark in marks)
            end = next((position for position in breaks if position > start + least), end)
        yield start, text[start:end]
        start = end


def _recognised(text: str) -> Iterator[Candidate]:
    """Codes that Presidio's recognizers find."""
    for recognizer, kind, form in _recognizers():
        for hit in recognizer.analyze(text, recognizer.supported_entities, None):
            rank = _WEAK_RANK if hit.score <= _WEAK else _PHONE_RANK if kind == "PHONE" else 5
            yield Candidate(hit.start, hit.end, kind, form, rank)


@cache
def _recognizers() -> tuple[tuple[Any, str, str], ...]:
    """Presidio's pattern recognizers, which need no language model, each with the kind and form of what it finds."""
    try:
        from presidio_analyzer import predefined_recognizers as presidio
    except ImportError:
        raise MissingExtra("sanitize", "finding entities") from None
    missing = [name for name in _PRESIDIO if not hasattr(presidio, name)]
    if missing:  # codes of a kind would be left in the clear, and nobody would know
        raise InputError(f"presidio-analyzer has no {', '.join(missing)}; install version 2.2.366 of it")
    return tuple((getattr(presidio, name)(), *sort) for name, sort in _PRESIDIO.items())


def date_and_amount_candidates(text: str) -> Iterator[Candidate]:
    """Dates, times, durations, sums of money, percentages, measures and ages of a text."""
    return matches(text, _AMOUNT_RULES)


def date_form(words: str) -> str:
    """The form of a date that a language model pointed out."""
    if not re.search(r"\d", words):
        return "month" if _HAS_MONTH.search(words) else "relative"
    return next((rule.form for rule in _AMOUNT_RULES if rule.kind == "DATE" and rule.pattern.search(words)), "relative")
