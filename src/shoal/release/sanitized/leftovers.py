"""Masked strings that stand in a released text. Only three reasons are good: reviewers left that very place, the
pseudonym itself says it or a part of it, or it is part of an ordinary word. Anything else is no release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from shoal.errors import InputError
from shoal.release.sanitized.plan import Planned
from shoal.sanitizer.review.outcome import Outcome
from shoal.sanitizer.review.strings import Strings

__all__ = ["Leftovers", "leftovers_of"]


@dataclass(frozen=True)
class Leftovers:
    """Of one document: how often each string may be found in it, and in how many places reviewers left it."""

    counts: Mapping[str, int]
    on_purpose: int


def leftovers_of(document: Planned, outcome: Outcome, original: str, strings: Strings) -> Leftovers:
    """Counted in the text that will be released; what is allowed follows from the decisions, not from that text."""
    left = outcome.left_places(original)
    counts: Counter[str] = Counter()
    on_purpose = 0
    for occurrence in strings.find(document.masked.text):
        start, end = occurrence.start, occurrence.end
        # "Pers12 may" has a masked "12 May" in it, which nobody reads.
        with_pseudonym = any(begins < end and start < ends for begins, ends, _ in document.masked.pieces)
        if occurrence.is_readable and not with_pseudonym:
            place = document.original_place(start), document.original_place(end)
            if place not in left:
                raise InputError(
                    f"a masked string would be readable at {place[0]}-{place[1]} of {outcome.proposals.document}, "
                    "and nobody left it there; add this span with shoal review --decisions, then run redact again"
                )
            on_purpose += 1
        counts[occurrence.string] += 1
    return Leftovers(dict(sorted(counts.items())), on_purpose)
