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

    strings: frozenset[str]
    found: tuple[Occurrence, ...]


class RememberedSearch:
    """Remembers every text that was searched, by its digest."""

    def __init__(self) -> None:
        self._searched: dict[str, _Searched] = {}
        self._folded: dict[str, str] = {}

    def readable(self, search: Strings, digest: str, text: str) -> tuple[Occurrence, ...]:
        """What a reader of this text sees of the strings."""
        known = self._searched.get(digest)
        if known is None or self._has_any(search.strings ^ known.strings, digest, text):
            known = _Searched(search.strings, tuple(search.readable(text)))
        else:
            known = replace(known, strings=search.strings)
        self._searched[digest] = known
        return known.found

    def _has_any(self, strings: frozenset[str], digest: str, text: str) -> bool:
        if strings and digest not in self._folded:
            self._folded[digest] = folded(text)
        return any(string.casefold() in self._folded[digest] for string in strings)
