"""Masked strings, looked for in a text: whatever their case, accents, spaces and hyphens.

They count as whole words, or as whole parts of words (OldNewName2009 has four); long ones also amid a longer word. A
string that begins with a capital is an ordinary word as well: by itself it counts only where it has a capital.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator

LEAST_LETTERS_AMID, LEAST_DIGITS_AMID = 5, 7
BEGINNING = 3  # letters by which strings are sorted
# What nobody sees, and accents that stand by themselves. Within a word they do not end it.
UNSEEN = (
    "\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u20d0-\u20ff\u3164\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\uffa0\U000e0000-\U000e0fff"
)
# A modifier letter is a mark like an apostrophe, not a letter: OʼBrien is O'Brien.
WORD = re.compile(rf"[^\W_\u02b0-\u02ff](?:[{UNSEEN}]*[^\W_\u02b0-\u02ff])*")
NO_LETTER = re.compile(f"[{UNSEEN}]+")
# Letters that Unicode does not take apart.
PLAIN = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)
# Cyrillic and Greek letters that look Latin: among Latin letters they count as such.
ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТУХЬԁаеѕіјорсухһԛԝѵкмтΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορτυχϲᴀ",
    "ABESIJKMHOPCTYXbdaesijopcyxhqwvkmtABEZHIKMNOPTYXaikvoptuxca",
)


def found_in(text: str, strings: Iterable[str] | Wanted) -> Counter[str]:
    """How often each folded string is in the text: the longest that begins at a place counts, and what is within it
    no more. Whole words and parts come first.
    """
    wanted = strings if isinstance(strings, Wanted) else Wanted(strings)
    letters = _Letters(text)
    found: Counter[str] = Counter()
    ends: list[int] = []  # of what was found, and where it begins
    begins: list[int] = []
    for start in letters.parts:
        if ends and start < ends[-1]:
            continue
        for string in wanted.at(letters.joined, start):
            end = start + len(string)
            if end not in letters.bounds:
                continue
            if string not in wanted.small and start not in letters.capitals:
                continue
            found[string if string in wanted.small else wanted.capitalised[string]] += 1
            begins.append(start)
            ends.append(end)
            break
    for first, last in letters.words:
        start = first
        while start < last:
            end = start + 1
            for string in wanted.at(letters.joined, start):
                stop = start + len(string)
                # The next that ends behind our start must begin behind our end.
                after = bisect_right(ends, start)
                free = after == len(begins) or begins[after] >= stop
                if string in wanted.amid and stop <= last and (start, stop) != (first, last) and free:
                    found[wanted.amid[string]] += 1
                    end = stop
                    break
            start = end
    return found


class Wanted:
    """Strings to look for in many texts, by how they begin, the longest first, all in small letters."""

    def __init__(self, strings: Iterable[str]) -> None:
        listed = sorted(set(strings))
        self.small = {string for string in listed if string == string.casefold()}
        self.capitalised = {string.casefold(): string for string in listed if string != string.casefold()}
        self.amid = {string.casefold(): string for string in listed if _long_enough(string)}
        self._by_beginning: dict[str, list[str]] = {}
        for string in sorted({*self.small, *self.capitalised}, key=len, reverse=True):
            self._by_beginning.setdefault(string[:BEGINNING], []).append(string)
        self._lengths = sorted({len(beginning) for beginning in self._by_beginning}, reverse=True)

    def at(self, joined: str, start: int) -> Iterator[str]:
        """Those that stand in `joined` from `start` on, the longest first."""
        for length in self._lengths:
            for string in self._by_beginning.get(joined[start : start + length], ()):
                if joined.startswith(string, start):
                    yield string


class _Letters:
    """The letters and digits of a text, folded and joined: where words and their parts begin and end."""

    def __init__(self, text: str) -> None:
        pieces: list[str] = []
        at = 0
        self.words: list[tuple[int, int]] = []
        self.parts: list[int] = []
        self.capitals: set[int] = set()
        for match in WORD.finditer(text):
            first = at
            for part, capital in _parts(match[0]):
                self.parts.append(at)
                if capital:
                    self.capitals.add(at)
                pieces.append(part)
                at += len(part)
            self.words.append((first, at))
        self.joined = "".join(pieces)
        self.bounds = {*self.parts, at}


def _parts(word: str) -> Iterator[tuple[str, bool]]:
    """The parts of a word, folded, and whether each begins with a capital."""
    if word.isascii() and word.isalpha() and word.islower():
        yield word, False
        return
    shown = NO_LETTER.sub("", word)
    plain = shown.translate(ALIKE) if re.search("[A-Za-z]", shown) else shown
    begin = 0
    for place in range(1, len(shown) + 1):
        if place == len(shown) or _begins_part(shown, place):
            part = "".join(map(_folded, plain[begin:place]))
            if part:
                yield part, shown[begin].isupper()
            begin = place


def _begins_part(word: str, place: int) -> bool:
    """A digit after a letter or a letter after a digit; the capital of a new name."""
    before, here, after = word[place - 1], word[place], word[place + 1 : place + 2]
    if before.isdigit() is not here.isdigit():
        return True
    return here.isupper() and (before.islower() or (before.isupper() and after.islower()))


def _folded(letter: str) -> str:
    plain = unicodedata.normalize("NFKD", letter).casefold().translate(PLAIN)
    kept = (one for one in plain if one.isalnum() and not "\u02b0" <= one <= "\u02ff")
    return "".join(str(unicodedata.decimal(one, one)) for one in kept)


def _long_enough(string: str) -> bool:
    letters = sum(map(str.isalpha, string))
    return letters >= LEAST_LETTERS_AMID or len(string) - letters >= LEAST_DIGITS_AMID
