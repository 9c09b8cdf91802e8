"""Folding: what is left of a text when case, accents and all that is no letter or digit make no difference."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

__all__ = ["WORD", "Part", "folded", "parts_of"]

# What nobody sees, and accents that stand by themselves: soft hyphens, joiners, directions, selectors. Within a word
# they do not end it.
UNSEEN = (
    "\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u20d0-\u20ff\u3164\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\uffa0\U000e0000-\U000e0fff"
)
# A modifier letter is a mark like an apostrophe, not a letter: OʼBrien is O'Brien.
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


class Part(NamedTuple):
    """A part of a word: letters or digits, up to the next capital of OldNewName."""

    start: int
    end: int
    folded: str
    places: tuple[int, ...]  # where each folded letter stands


def folded(text: str) -> str:
    """
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
    seen = [place for place, letter in enumerate(word) if not IS_UNSEEN.match(letter)]
    shown = "".join(word[place] for place in seen)
    plain = shown.translate(ALIKE) if LATIN.search(shown) else shown
    parts = []
    for begin, end in pairwise(_bounds(shown)):
        letters = [(seen[place], letter) for place in range(begin, end) for letter in _folded(plain[place])]
        if letters:
            stop = seen[end] if end < len(seen) else len(word)
            places, folded_letters = zip(*letters, strict=True)
            parts.append(Part(seen[begin], stop, "".join(folded_letters), places))
    return tuple(parts)


def _bounds(word: str) -> list[int]:
    """Where parts begin, and the end: between letters and digits, before the capital of a new part."""
    bounds = [0]
    for place in range(1, len(word)):
        before, here = word[place - 1], word[place]
        new = here.isupper() and (before.islower() or (before.isupper() and word[place + 1 : place + 2].islower()))
        if new or before.isdigit() != here.isdigit():
            bounds.append(place)
    return [*bounds, len(word)]


def _folded(letter: str) -> str:
    """In small letters without accents; digits of any script are those of ASCII."""
    plain = unicodedata.normalize("NFKD", letter).casefold().translate(PLAIN)
    return "".join(str(unicodedata.decimal(one, one)) for one in plain if one.isalnum() and not _is_modifier(one))


def _is_modifier(letter: str) -> bool:
    return "\u02b0" <= letter <= "\u02ff"
