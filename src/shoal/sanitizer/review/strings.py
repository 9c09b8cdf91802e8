"""Strings as a reader recognises them: case, accents, spaces and hyphens make no difference.

A string is found as whole words, and within a longer word if it is long enough to be recognised there: Dunstable in
dunstable2009.pdf, DunstableHouse and mdunstable@example.org. Once something is masked, it is searched for as written; a
person's name also without title and by surname; of a block, each sentence. What is masked by mistake must not empty all
other documents: words that everybody uses ("the", "one of") are not searched for, and an ordinary word, or an acronym
of three letters, that was masked with a capital counts only where it has one.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from shoal.sanitizer.entities.names import name_words
from shoal.sanitizer.policies.words import units_of
from shoal.sanitizer.review.work import BLOCK
from shoal.terms.lexicon import FUNCTION_WORDS, is_common_word, is_famous, word_set

# What nobody sees, and accents that stand by themselves: soft hyphens, joiners, directions, selectors. Within a word
# they do not end it.
UNSEEN = (
    "\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u20d0-\u20ff\u3164\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\uffa0\U000e0000-\U000e0fff"
)
# A modifier letter is a mark like an apostrophe, not a letter: OʼBrien is O'Brien.
MODIFIERS = frozenset(map(chr, range(0x2B0, 0x300)))
LETTER = r"[^\W_\u02b0-\u02ff]"
WORD = re.compile(rf"{LETTER}(?:[{UNSEEN}]*{LETTER})*")
IS_UNSEEN = re.compile(f"[{UNSEEN}]")
# Letters that Unicode does not take apart.
PLAIN = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)
# Letters of other alphabets that look Latin. They count as such only among Latin letters: a Greek name stays Greek.
ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТУХЬԁаеѕіјорсухһԛԝѵкмтΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορτυχϲᴀ",
    "ABESIJKMHOPCTYXbdaesijopcyxhqwvkmtABEZHIKMNOPTYXaikvoptuxca",
)
LATIN = re.compile("[A-Za-z]")
FoldedPart = tuple[int, int, str]  # start and end in the text, and what is written there, folded
LEAST_LETTERS, LEAST_DIGITS = 3, 4  # shorter strings are everywhere
LEAST_LETTERS_WITHIN, LEAST_DIGITS_WITHIN = 5, 7  # within a longer word; "ann" is in "planned"
ENDINGS = ("s", "es")  # Dunstables are people called Dunstable


class Part(NamedTuple):
    """A part of a word: letters or digits, up to the next capital of OldNewName."""

    start: int
    end: int
    folded: str
    positions: tuple[int, ...]  # where each folded letter stands


def folded(text: str) -> str:
    """Letters and digits alone, whatever their case and accents.

    >>> folded("José  Núñez-García")
    'josenunezgarcia'
    >>> folded("Łukasz OʼBrien") == folded("Lukasz O'Brien")
    True
    """
    return "".join(part.folded for match in WORD.finditer(text) for part in parts_of(match[0]))


@lru_cache(maxsize=65_536)
def parts_of(word: str) -> tuple[Part, ...]:
    """The parts of a word, by their places in it.

    >>> [part.folded for part in parts_of("DRSmith2009")]
    ['dr', 'smith', '2009']
    """
    seen = [position for position, letter in enumerate(word) if not IS_UNSEEN.match(letter)]
    shown = "".join(word[position] for position in seen)
    plain = shown.translate(ALIKE) if LATIN.search(shown) else shown
    parts = []
    for begin, end in pairwise(_bounds(shown)):
        letters = [(seen[position], letter) for position in range(begin, end) for letter in _folded(plain[position])]
        if letters:
            stop = seen[end] if end < len(seen) else len(word)
            positions, folded_letters = zip(*letters, strict=True)
            parts.append(Part(seen[begin], stop, "".join(folded_letters), positions))
    return tuple(parts)


def _bounds(word: str) -> list[int]:
    """Where parts begin, and the end: between letters and digits, before the capital of a new part."""
    bounds = [0]
    for position in range(1, len(word)):
        before, here = word[position - 1], word[position]
        new = here.isupper() and (
            before.islower() or (before.isupper() and word[position + 1 : position + 2].islower())
        )
        if new or before.isdigit() != here.isdigit():
            bounds.append(position)
    return [*bounds, len(word)]


def _folded(letter: str) -> str:
    """In small letters without accents; digits of any script are those of ASCII."""
    plain = unicodedata.normalize("NFKD", letter).casefold().translate(PLAIN)
    return "".join(str(unicodedata.decimal(part, part)) for part in plain if part.isalnum() and part not in MODIFIERS)


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


def is_searchable(string: str) -> bool:
    """Whether a folded string is long enough to be searched for: at least 3 letters, or 4 digits."""
    return _has(string, LEAST_LETTERS, LEAST_DIGITS)


class Strings:
    """Folded strings, found wherever they stand, the longest first.

    One that begins with a capital counts as whole words only where it is written with a capital.
    """

    def __init__(self, strings: Iterable[str]) -> None:
        self.strings = frozenset(string for string in strings if is_searchable(string))
        self._capitalised = {string.casefold(): string for string in self.strings if string != string.casefold()}
        self._sorted = sorted({string.casefold() for string in self.strings})
        self._within: dict[str, tuple[tuple[int, int, str], ...]] = {}  # what each word has within it

    def find(self, text: str) -> Iterator[Occurrence]:
        """Every occurrence, in order; they do not overlap."""
        if not self.strings:
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
        parts: list[FoldedPart] = []
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

    def _longest(self, parts: list[FoldedPart], first: int, capital: bool) -> tuple[int | None, str]:
        """The last part of the longest string that begins with the part `first`."""
        best: tuple[int | None, str] = (None, "")
        joined = ""
        for position in range(first, len(parts)):
            joined += parts[position][2]
            if not self._begins(joined):
                break
            if joined in self.strings:
                best = position, joined
            elif capital and joined in self._capitalised:
                best = position, self._capitalised[joined]
        return best

    def _begins(self, start: str) -> bool:
        position = bisect_left(self._sorted, start)
        return position < len(self._sorted) and self._sorted[position].startswith(start)

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
        letters = [pair for part in parts_of(word) for pair in zip(part.positions, part.folded, strict=True)]
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
        long = (string for string in sorted(self.strings) if _has(string, LEAST_LETTERS_WITHIN, LEAST_DIGITS_WITHIN))
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


LEAST_SURNAME = 4  # letters, of a name that has more than a surname
COUNTING = word_set("one two three four five six seven eight nine ten first second third several")
LETTERS = re.compile(r"[^\W\d_]+")
LEAST_WORDS = 4  # of a sentence; shorter ones are in any text
SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv", "esq", "phd"})


def strings_to_search(kind: str, written: str) -> Iterator[str]:
    """Folded. A surname that is an ordinary word as well begins with a capital: it counts only where it is so written.

    >>> list(strings_to_search("PERSON", "Mr. Ivo Dunstable"))
    ['mrivodunstable', 'ivodunstable', 'dunstable']
    >>> list(strings_to_search("PERSON", "Ann Baker Jr."))
    ['annbakerjr', 'Baker']
    >>> list(strings_to_search("ORG", "Union")), list(strings_to_search("MISC", "One of the"))
    (['Union'], [])
    >>> list(strings_to_search("ORG", "ISA"))  # not "is a"
    ['Isa']
    >>> list(strings_to_search("BLOCK", "Yes. The bomb was small."))
    ['yesthebombwassmall', 'thebombwassmall']
    """
    strings = [_searchable(written)]
    if kind == "PERSON":
        words = name_words(written)
        if len(words) > 1:
            strings.append(folded(" ".join(words)))
        strings.append(_surname(words))
    elif kind == BLOCK:
        sentences = (written[start:end] for start, end in units_of(written, "sentence"))
        strings += [folded(sentence) for sentence in sentences if len(sentence.split()) >= LEAST_WORDS]
    yield from (string for string in dict.fromkeys(strings) if string)


def _searchable(written: str) -> str:
    """Empty if these are words that everybody uses."""
    string = folded(written)
    if not string.isalpha():
        return string
    words = LETTERS.findall(written)
    if all(word.lower() in FUNCTION_WORDS or word.lower() in COUNTING for word in words):
        return ""
    acronym = written.isupper() and (len(string) <= LEAST_LETTERS or is_common_word(string))
    ordinary = len(words) == 1 and written[:1].isupper() and is_common_word(string)
    return string.capitalize() if acronym or ordinary else string


def _surname(words: list[str]) -> str:
    """Empty if it is short, or if there is none: "the King of Spain"."""
    names = [word for word in words if not word[0].islower() and folded(word) not in SUFFIXES]
    if not names or "of" in words:
        return ""
    surname = folded(names[-1])
    if surname in FUNCTION_WORDS or (len(words) > 1 and len(surname) < LEAST_SURNAME):
        return ""
    return surname.capitalize() if is_common_word(surname) else surname


class RememberedSearch:
    """Remembers every text that was searched, by its digest."""

    def __init__(self) -> None:
        self._searched: dict[str, tuple[frozenset[str], tuple[Occurrence, ...]]] = {}
        self._folded: dict[str, str] = {}

    def readable(self, search: Strings, digest: str, text: str) -> tuple[Occurrence, ...]:
        """What a reader of this text sees of the strings."""
        strings, occurrences = self._searched.get(digest, (None, ()))
        if strings is None or self._has_any(search.strings ^ strings, digest, text):
            occurrences = tuple(search.readable(text))
        self._searched[digest] = search.strings, occurrences
        return occurrences

    def _has_any(self, strings: frozenset[str], digest: str, text: str) -> bool:
        if strings and digest not in self._folded:
            self._folded[digest] = folded(text)
        return any(string.casefold() in self._folded[digest] for string in strings)
