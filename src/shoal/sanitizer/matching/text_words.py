"""The words of a text with their places, and the forms in which they are compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import accumulate

import Stemmer

from shoal.io.lexicon import IRREGULAR_PLURALS, lexicon

__all__ = ["Stems", "TextWords", "are_forms_of_one_word", "plain"]

WIDEST_GAP = 40  # characters
REGULAR = ("bases", "axes")  # more often of base and axe than of basis and axis

_INVISIBLE = r"\u00ad\u200b-\u200d\u2060\ufeff"  # soft hyphens, and what has no width
_HYPHENS = r"\-\u2010\u2011"
# Letters and digits with their accents. A word that is broken at the end of a line goes on in the next.
_PART = rf"[^\W_]+(?:[\u0300-\u036f{_INVISIBLE}]+[^\W_]*)*"
_WORD = re.compile(rf"({_PART}(?:[{_HYPHENS}][ \t]*\r?\n[ \t]*(?=[a-z]){_PART})?)")
_NOT_IN_WORDS = re.compile(rf"[\s{_HYPHENS}{_INVISIBLE}]+")
# What may stand between the words of a term: spaces, one line break, a hyphen, an apostrophe.
_GAP = re.compile(rf"[^\S\n]*\n?[^\S\n]*|[ ]?[{_HYPHENS}–'’_][ ]?")
_ABBREVIATION = re.compile(r"\.[ ]?")
# What inflection adds (a consonant may be doubled before it), and the endings of close kin: negotiate, negotiation.
_ENDING = re.compile(r"(?:s|es|e|y|ies|ied|ed|ing|ings|ion|ions|ic)?")
_DOUBLED = re.compile(r"([bdglmnprt])(?:ed|ing|ings)")


class TextWords:
    """The words of a text as lists: how each is written, where it ends, and what stands between it and the next.

    >>> TextWords("nerve-gas, submar-\\nines").written
    ['nerve', 'gas', 'submar-\\nines']
    """

    def __init__(self, text: str) -> None:
        pieces = _WORD.split(text)  # in turn what is no word and a word
        self.written = pieces[1::2]
        self.gaps = pieces[2::2]
        self.ends = list(accumulate(map(len, pieces)))[1::2]

    def start(self, place: int) -> int:
        """Where a word starts."""
        return self.ends[place] - len(self.written[place])

    def are_joined(self, place: int) -> bool:
        """Whether a word and the next may be of one term: no punctuation but that of "U.S." stands between."""
        gap = self.gaps[place]
        if gap == " " or len(gap) > WIDEST_GAP:
            return gap == " "
        return bool(_GAP.fullmatch(gap) or (len(self.written[place]) == 1 and _ABBREVIATION.fullmatch(gap)))


def plain(word: str) -> str:
    """In small letters, without accents, and in one piece."""
    if word.isascii() and word.isalnum():
        return word.lower()
    whole = _NOT_IN_WORDS.sub("", word).casefold()
    return "".join(c for c in unicodedata.normalize("NFKD", whole) if not unicodedata.combining(c))


class Stems:
    """The stem of every plain word; irregular plurals have that of their singular."""

    def __init__(self, language: str = "english") -> None:
        self._is_english = language == "english"
        self._stemmer = Stemmer.Stemmer(language)

    def singular(self, word: str) -> str:
        """The singular of an English plural that stemmers miss, knives or gases; any other word as it is."""
        if not self._is_english or word in REGULAR:
            return word
        if word.endswith("ses") and word[:-1] not in lexicon() and word[:-2] in lexicon():
            return word[:-2]
        return IRREGULAR_PLURALS.get(word, word)

    def of(self, words: Iterable[str]) -> list[str]:
        """The stems of plain words."""
        return list(self._stemmer.stemWords([self.singular(word) for word in words]))


def are_forms_of_one_word(term: str, written: str) -> bool:
    """Whether two plain words with the same stem differ by endings that leave the meaning alone.

    Stems alone would take a hospital for hospitality, and information for an informant.

    >>> are_forms_of_one_word("negotiation", "negotiated"), are_forms_of_one_word("informant", "informed")
    (True, False)
    """
    pairs = enumerate(zip(term, written, strict=False))
    kept = next((place for place, (first, second) in pairs if first != second), min(len(term), len(written)))
    ending = written[kept:]
    doubled = _DOUBLED.fullmatch(ending)
    is_inflected = _ENDING.fullmatch(ending) or (doubled is not None and doubled[1] == written[kept - 1])
    return bool(is_inflected and _ENDING.fullmatch(term[kept:]))
