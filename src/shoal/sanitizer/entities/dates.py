"""Dates, times and durations in the forms people write."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shoal.sanitizer.entities.candidates import Candidate

__all__ = ["date_candidates", "date_form"]

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?"
    r"|JANUARY|FEBRUARY|MARCH|APRIL|MAY|JUNE|JULY|AUGUST|SEPTEMBER|OCTOBER|NOVEMBER|DECEMBER)\b\.?"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?:1[0-9]|20)\d\d"
_S = r"[\s\u00a0]+"  # a line may break inside a date
_PART = r"(?:(?:(?:the|in|at|around|about)\s+)?(?:early|mid|late|beginning|middle|end)(?:\s+of)?[\s-]+)?"
_WORDS = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    r"|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[\s-]\w+)?|hundred|several)"
)
NUMBER = rf"(?:\d[\d,.]*\d|\d|{_WORDS})"
_UNIT = r"(?:second|minute|hour|day|night|week|fortnight|month|year|decade|centur(?:y|ie))s?"

_PATTERNS = tuple(
    (form, re.compile(pattern, re.IGNORECASE if form in ("duration", "clock", "century") else 0))
    for form, pattern in (
        (
            "day",
            rf"\b{_DAY}(?:(?:{_S}(?:and|or|to|until){_S}|\s?[-–,/&]\s?){_DAY})*{_S}(?:of\s+)?{_MONTH},?{_S}{_YEAR}\b",
        ),
        (
            "day",
            rf"\b{_MONTH}{_S}{_DAY}(?:\s?[-–]\s?{_DAY})?,?{_S}{_YEAR}\b",
        ),
        ("day", r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z?)?\b"),
        ("day", r"(?<![\d./])\d{1,2}([./-])\d{1,2}\1(?:\d{4}|\d{2})(?![\d/]|[.-]\d)"),
        ("day", rf"\b{_DAY}{_S}(?:of\s+)?{_MONTH}(?!\s*\d)"),
        ("day", rf"\b{_MONTH}{_S}{_DAY}(?!\d|,\d)"),
        (
            "month",
            rf"\b{_PART}{_MONTH}(?:{_S}(?:and|or|to|until){_S}{_MONTH}|\s?[-–/,]\s?{_MONTH})*,?{_S}(?:of\s+)?{_YEAR}\b",
        ),
        ("year", rf"(?<![\w./:§-]){_PART}{_YEAR}(?:\s?[-–/]\s?(?:{_YEAR}|\d\d))?(?![\w/:]|[.,]\d|-\d|\s?%)"),
        ("decade", rf"\b{_PART}(?:{_YEAR}|['’]\d0)['’]?s\b"),
        ("century", rf"\b{_PART}(?:\d{{1,2}}(?:st|nd|rd|th)|\w+teenth|twentieth|twenty-first)[\s-]century\b"),
        ("clock", r"\b\d{1,2}[.:]\d{2}(?:[.:]\d{2})?\s?(?:[ap]\.?\s?m\b\.?|hours|hrs)"),
        ("clock", r"\b\d{1,2}\s?[ap]\.?m\b\.?"),
        ("clock", r"\b(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?\b"),
        (
            "duration",
            rf"\b{NUMBER}(?:\s+(?:and|or|to)\s+(?:a\s+)?(?:half|{NUMBER}))?[\s-]+{_UNIT}\b['’]?"
            r"(?:\s+(?:later|ago|earlier|before))?",
        ),
        ("weekday", r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b"),
    )
)
_HAS_MONTH = re.compile(rf"\b{_MONTH}")


def date_candidates(text: str) -> Iterator[Candidate]:
    """Everything in a text that the patterns take for a date, a time or a duration."""
    for form, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            yield Candidate(match.start(), match.end(), "DATE", form, 20)


def date_form(words: str) -> str:
    """The form of a date that a language model pointed out."""
    if not re.search(r"\d", words):
        return "month" if _HAS_MONTH.search(words) else "relative"
    for form, pattern in _PATTERNS:
        if pattern.search(words):
            return form
    return "relative"
