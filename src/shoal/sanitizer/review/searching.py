"""Searching all documents again and again, as masked strings come and go: only where they can stand.

A string is found in a text only if it is a part of the folded text. So a text in which none of the new strings and none
of those that are gone stands has the same occurrences as before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from shoal.sanitizer.review.folding import folded
from shoal.sanitizer.review.strings import Occurrence, Strings

__all__ = ["RememberedSearch"]


@dataclass(frozen=True)
class _Searched:
    """What a text was searched for, and what was found."""

    folded: str
    strings: frozenset[str]
    found: tuple[Occurrence, ...]


class RememberedSearch:
    """Remembers every text that was searched, by its digest."""

    def __init__(self) -> None:
        self._searched: dict[str, _Searched] = {}

    def readable(self, search: Strings, digest: str, text: str) -> tuple[Occurrence, ...]:
        """What a reader of this text sees of the strings."""
        known = self._searched.get(digest)
        if known is None:
            known = _Searched(folded(text), search.strings, tuple(search.readable(text)))
        elif any(string.casefold() in known.folded for string in search.strings ^ known.strings):
            known = replace(known, strings=search.strings, found=tuple(search.readable(text)))
        else:
            known = replace(known, strings=search.strings)
        self._searched[digest] = known
        return known.found
