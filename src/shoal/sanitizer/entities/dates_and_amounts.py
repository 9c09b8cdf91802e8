"""Dates, times and durations, sums of money, percentages, measures and ages, in the forms people write."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shoal.sanitizer.entities.rules import Candidate, RuleTable, matches

_TABLE = RuleTable("dates_and_amounts")
_RULES = _TABLE.rules()
_HAS_MONTH = _TABLE.pattern("has_month")


def date_and_amount_candidates(text: str) -> Iterator[Candidate]:
    """Dates, times, durations, sums of money, percentages, measures and ages of a text."""
    return matches(text, _RULES)


def date_form(words: str) -> str:
    """The form of a date that a language model pointed out."""
    if not re.search(r"\d", words):
        return "month" if _HAS_MONTH.search(words) else "relative"
    return next((rule.form for rule in _RULES if rule.kind == "DATE" and rule.pattern.search(words)), "relative")
