"""Words that are a small misspelling of a known one: a letter too many, too few, another, or two in the wrong order.

Two words that differ by so little have a form in common once a letter is left out of each (Garbe's SymSpell). Comparing
takes a few lookups per word, however many words are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

__all__ = ["Misspellings", "edits_between"]

SHORTEST = 6  # letters of a word that may be misspelt: shorter ones are too near each other
LONGEST = 30  # letters: what is longer is no word
LONG = 12  # letters from which on two errors are allowed


class Misspellings:
    """Known words, to be found by what is nearly them. The first letter must be right: errors there are rare."""

    def __init__(self, words: Iterable[str]) -> None:
        self._known: dict[str, list[str]] = {}
        for word in sorted({word for word in words if SHORTEST <= len(word) <= LONGEST and word.isalpha()}):
            for form in _shortened(word):
                self._known.setdefault(form, []).append(word)

    def meant_by(self, word: str) -> str | None:
        """The nearest of the known words, the first in the alphabet of equally near ones; None if none is near.

        >>> Misspellings(["missile", "missive"]).meant_by("misslie")
        'missile'
        """
        if not SHORTEST <= len(word) <= LONGEST or not word.isalpha():
            return None
        near = {known for form in _shortened(word) for known in self._known.get(form, ()) if known[0] == word[0]}
        graded = [(edits_between(word, known), known) for known in near]
        edits, known = min(graded, default=(LONG, ""))
        return known if edits <= _allowed(min(len(word), len(known))) else None


def _allowed(length: int) -> int:
    return 2 if length >= LONG else 1


def _shortened(word: str) -> Iterator[str]:
    """The word, and the word without any letter, or any two, but the first, which is right."""
    yield word
    for n_missing in range(1, _allowed(len(word)) + 1):
        for places in combinations(range(1, len(word)), n_missing):
            yield "".join(letter for place, letter in enumerate(word) if place not in places)


def edits_between(first: str, second: str) -> int:
    """The fewest insertions, deletions, substitutions and swaps of neighbours from a word to another.

    No letter is edited twice ("optimal string alignment").
    """
    before: list[int] = []
    above = list(range(len(second) + 1))
    for row, letter in enumerate(first, 1):
        current = [row]
        for column, other in enumerate(second, 1):
            edits = min(above[column] + 1, current[column - 1] + 1, above[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == second[column - 2] and first[row - 2] == other:
                edits = min(edits, before[column - 2] + 1)
            current.append(edits)
        before, above = above, current
    return above[-1]
