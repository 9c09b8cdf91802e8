"""Strings as a reader recognises them: case, accents, spaces and hyphens make no difference.

A string is found as whole words, and within a longer word if it is long enough to be recognised there: Dunstable in
dunstable2009.pdf, DunstableHouse and mdunstable@example.org.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from shoal.sanitizer.entities.ordinary import is_common_word, is_famous
from shoal.sanitizer.review.folding import WORD, folded, parts_of

__all__ = ["LEAST_LETTERS", "Occurrence", "Strings", "letters_of", "tells"]

Place = tuple[int, int, str]  # start and end in the text, and what is written there, folded
LEAST_LETTERS, LEAST_DIGITS = 3, 4  # shorter strings are everywhere and tell nothing
LEAST_LETTERS_WITHIN, LEAST_DIGITS_WITHIN = 5, 7  # within a longer word; "ann" is in "planned"
ENDINGS = ("s", "es")  # Dunstables are people called Dunstable


@dataclass(frozen=True)
class Occurrence:
    """A string of a list, where it stands in a text."""

    start: int
    end: int
    string: str  # of the list
    within: str = ""  # the longer word that it is a part of

    @property
    def is_readable(self) -> bool:
        """Whether a reader sees the string in it: nobody sees Smith in "blacksmith", a word of its own."""
        word = folded(self.within)
        if not word or not (is_common_word(word) or is_famous(word)):
            return True
        string = self.string.casefold()
        return string == self.string and any(word == string + ending for ending in ENDINGS)


def letters_of(text: str, start: int, end: int) -> tuple[int, int] | None:
    """A stretch from its first to its last letter or digit; None if it has none.

    >>> letters_of("by “Ann Smith”.", 3, 15)
    (4, 13)
    """
    words = list(WORD.finditer(text, start, end))
    return (words[0].start(), words[-1].end()) if words else None


def tells(string: str) -> bool:
    """Whether a folded string is long enough to be searched for: at least 3 letters, or 4 digits."""
    return _has(string, LEAST_LETTERS, LEAST_DIGITS)


class Strings:
    """Folded strings, found wherever they stand, the longest first.

    One that begins with a capital counts as whole words only where it is written with a capital.
    """

    def __init__(self, strings: Iterable[str]) -> None:
        self._known = frozenset(string for string in strings if tells(string))
        self._capitalised = {string.casefold(): string for string in self._known if string != string.casefold()}
        self._sorted = sorted({string.casefold() for string in self._known})
        self._within: dict[str, tuple[tuple[int, int, str], ...]] = {}  # what each word has within it

    @property
    def strings(self) -> frozenset[str]:
        """Those that are long enough to be searched for."""
        return self._known

    def find(self, text: str) -> Iterator[Occurrence]:
        """Every occurrence, in order; they do not overlap."""
        if not self._known:
            return
        words = [(match[0], match.start()) for match in WORD.finditer(text)]
        whole = list(self._of_parts(text, words))
        within = self._of_words(words, whole)
        yield from sorted((*whole, *within), key=lambda occurrence: occurrence.start)

    def readable(self, text: str) -> Iterator[Occurrence]:
        """Those that a reader sees."""
        return (occurrence for occurrence in self.find(text) if occurrence.is_readable)

    def _of_parts(self, text: str, words: list[tuple[str, int]]) -> Iterator[Occurrence]:
        """Strings that begin and end with a part of a word."""
        parts: list[Place] = []
        begins = set()  # of words, in `parts`
        for word, at in words:
            begins.add(len(parts))
            parts += [(at + part.start, at + part.end, part.folded) for part in parts_of(word)]
        begins.add(len(parts))
        first = 0
        while first < len(parts):
            last, string = self._longest(parts, first, text[parts[first][0]].isupper())
            if last is None:
                first += 1
                continue
            start, end = parts[first][0], parts[last][1]
            within = "" if first in begins and last + 1 in begins else _words_around(text, start, end)
            yield Occurrence(start, end, string, within)
            first = last + 1

    def _longest(self, parts: list[Place], first: int, capital: bool) -> tuple[int | None, str]:
        """The last part of the longest string that begins with the part `first`."""
        best: tuple[int | None, str] = (None, "")
        joined = ""
        for place in range(first, len(parts)):
            joined += parts[place][2]
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

    def _of_words(self, words: list[tuple[str, int]], whole: list[Occurrence]) -> Iterator[Occurrence]:
        """Strings that begin or end amid a word, where nothing else was found."""
        ends = [occurrence.end for occurrence in whole]
        for word, at in words:
            if word not in self._within:
                self._within[word] = tuple(self._inside(word))
            for start, end, string in self._within[word]:
                near = bisect_right(ends, at + start)
                if near == len(whole) or whole[near].start >= at + end:
                    yield Occurrence(at + start, at + end, string, word)

    def _inside(self, word: str) -> Iterator[tuple[int, int, str]]:
        """Strings of some length within a word, from the left, the longest first."""
        letters = [pair for part in parts_of(word) for pair in zip(part.places, part.folded, strict=True)]
        joined = "".join(letter for _, letter in letters)
        start = 0
        while start < len(joined):
            end = self._end_within(joined, start)
            if end is None:
                start += 1
                continue
            last = letters[end - 1][0] + 1
            stop = max(last, letters[end][0]) if end < len(letters) else len(word)
            yield letters[start][0], stop, self._strings_within[joined[start:end]]
            start = end

    def _end_within(self, joined: str, start: int) -> int | None:
        """Where the longest string ends that begins here; the whole word is no part of itself."""
        fitting = bisect_right(self._lengths_within, len(joined) - start)
        for length in reversed(self._lengths_within[:fitting]):
            if length < len(joined) and joined[start : start + length] in self._strings_within:
                return start + length
        return None

    @cached_property
    def _strings_within(self) -> dict[str, str]:
        """Those that are searched for within words, by what they are in small letters."""
        long = (string for string in sorted(self._known) if _has(string, LEAST_LETTERS_WITHIN, LEAST_DIGITS_WITHIN))
        return {string.casefold(): string for string in long}

    @cached_property
    def _lengths_within(self) -> list[int]:
        return sorted({len(string) for string in self._strings_within})


def _has(string: str, letters: int, digits: int) -> bool:
    count = sum(character.isalpha() for character in string)
    return count >= letters or len(string) - count >= digits


def _words_around(text: str, start: int, end: int) -> str:
    """The words that a stretch goes through, up to their ends."""
    words = [match for match in WORD.finditer(text, max(start - 200, 0), end + 200) if match.end() > start]
    return "".join(match[0] for match in words if match.start() < end)
