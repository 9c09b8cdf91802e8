"""Strings as a reader recognises them: case, accents, spaces and hyphens make no difference."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["LEAST_LETTERS", "Occurrence", "Strings", "folded", "letters_of", "tells"]

# A modifier letter is a mark like an apostrophe, not a letter: OʼBrien is O'Brien.
WORD = re.compile(r"[^\W_\u02b0-\u02ff]+")
# Letters that Unicode does not take apart, and the mark that it makes of ŉ.
PLAIN = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ʼ": ""}
)
LEAST_LETTERS, LEAST_DIGITS = 3, 4  # shorter strings are everywhere and tell nothing


@dataclass(frozen=True)
class Occurrence:
    """A string of a list, where it stands in a text."""

    start: int
    end: int
    string: str  # of the list


def folded(text: str) -> str:
    """
    >>> folded("José  Núñez-García")
    'josenunezgarcia'
    >>> folded("Łukasz OʼBrien") == folded("Lukasz O'Brien")
    True
    """
    return "".join(_folded_word(word[0]) for word in WORD.finditer(text))


def letters_of(text: str, start: int, end: int) -> tuple[int, int] | None:
    """A stretch from its first to its last letter or digit; None if it has none.

    >>> letters_of("by “Ann Smith”.", 3, 15)
    (4, 13)
    """
    words = list(WORD.finditer(text, start, end))
    return (words[0].start(), words[-1].end()) if words else None


def tells(string: str) -> bool:
    """Whether a folded string is long enough to be searched for: at least 3 letters, or 4 digits."""
    letters = sum(character.isalpha() for character in string)
    return letters >= LEAST_LETTERS or len(string) - letters >= LEAST_DIGITS


class Strings:
    """Folded strings, found wherever they stand as whole words, the longest first.

    One that begins with a capital counts only where it is written with a capital.
    """

    def __init__(self, strings: Iterable[str]) -> None:
        self._known = {string for string in strings if tells(string)}
        self._capitalised = {string.casefold(): string for string in self._known if string != string.casefold()}
        self._sorted = sorted({string.casefold() for string in self._known})

    def find(self, text: str) -> Iterator[Occurrence]:
        """Every occurrence, in order; they do not overlap."""
        words = [(match.start(), match.end(), _folded_word(match[0])) for match in WORD.finditer(text)]
        first = 0
        while first < len(words):
            last, string = self._longest(words, first, text[words[first][0]].isupper())
            if last is None:
                first += 1
            else:
                yield Occurrence(words[first][0], words[last][1], string)
                first = last + 1

    def _longest(self, words: list[tuple[int, int, str]], first: int, capital: bool) -> tuple[int | None, str]:
        """The last word of the longest string that begins with the word `first`."""
        best: tuple[int | None, str] = (None, "")
        joined = ""
        for place in range(first, len(words)):
            joined += words[place][2]
            if not self._begins(joined):
                break
            if joined in self._known:
                best = place, joined
            elif capital and joined in self._capitalised:
                best = place, self._capitalised[joined]
        return best

    def _begins(self, start: str) -> bool:
        place = bisect_left(self._sorted, start)
        return place < len(self._sorted) and self._sorted[place].startswith(start)


def _folded_word(word: str) -> str:
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word)
    return "".join(letter for letter in plain if not unicodedata.combining(letter)).casefold().translate(PLAIN)
