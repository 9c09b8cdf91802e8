"""Words and sentences of a text with their places, and the forms in which words are compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import accumulate

import Stemmer

from shoal.errors import InputError
from shoal.terms.lexicon import irregular_plurals, lexicon

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

    def start(self, index: int) -> int:
        """Where a word starts."""
        return self.ends[index] - len(self.written[index])

    def are_joined(self, index: int) -> bool:
        """Whether a word and the next may be of one term: no punctuation but that of "U.S." stands between."""
        gap = self.gaps[index]
        if gap == " " or len(gap) > WIDEST_GAP:
            return gap == " "
        return bool(_GAP.fullmatch(gap) or (len(self.written[index]) == 1 and _ABBREVIATION.fullmatch(gap)))


def plain(word: str) -> str:
    """In small letters, without accents, and in one piece."""
    if word.isascii() and word.isalnum():
        return word.lower()
    whole = _NOT_IN_WORDS.sub("", word).casefold()
    return "".join(c for c in unicodedata.normalize("NFKD", whole) if not unicodedata.combining(c))


class Stems:
    """The stem of every plain word; irregular plurals have that of their singular."""

    def __init__(self) -> None:
        self._stemmer = Stemmer.Stemmer("english")

    def singular(self, word: str) -> str:
        """The singular of an English plural that stemmers miss, knives or gases; any other word as it is."""
        if word in REGULAR:
            return word
        if word.endswith("ses") and word[:-1] not in lexicon() and word[:-2] in lexicon():
            return word[:-2]
        return irregular_plurals().get(word, word)

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
    kept = next((index for index, (first, second) in pairs if first != second), min(len(term), len(written)))
    ending = written[kept:]
    doubled = _DOUBLED.fullmatch(ending)
    is_inflected = _ENDING.fullmatch(ending) or (doubled is not None and doubled[1] == written[kept - 1])
    return bool(is_inflected and _ENDING.fullmatch(term[kept:]))


UNITS = ("sentence", "paragraph")
LONGEST = 1_000  # characters; a longer "sentence" is a list or a table, and ends with its line

_ABBREVIATED = """
    mr. mrs. ms. dr. prof. st. sr. jr. rev. hon. gen. col. lt. capt. maj. sgt. adm. gov. sen. rep. amb. no. nos.
    art. sec. par. fig. vol. pp. cf. vs. etc. inc. ltd. co. corp. dept. approx. jan. feb. mar. apr. jun. jul.
    aug. sep. sept. oct. nov. dec.
"""
_PARAGRAPH_END = re.compile(r"\r?\n[^\S\n]*\r?\n\s*|\f\s*")
_LINE_END = re.compile(r"\r?\n\s*")
# A stop, what may close after it, space, and what may open before a capital or a number.
_STOP = re.compile(r"[.!?…][\"'”’)\]]*(\s+)(?=[\"'“‘(\[]*[^\W_a-z])")
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘]+$")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+")
_ABBREVIATIONS = frozenset(_ABBREVIATED.split())


def units_of(text: str, unit: str) -> list[tuple[int, int]]:
    """Start and end of every sentence or paragraph, without the white space between them.

    >>> text = "Dr. Lee left. He took No. 5."
    >>> [text[start:end] for start, end in units_of(text, "sentence")]
    ['Dr. Lee left.', 'He took No. 5.']
    """
    if unit not in UNITS:
        raise InputError(f"unit={unit!r} is unknown; give one of: {', '.join(UNITS)}")
    paragraphs = _cut(text, 0, len(text), (match.span() for match in _PARAGRAPH_END.finditer(text)))
    if unit == "paragraph":
        return list(paragraphs)
    return [sentence for start, end in paragraphs for sentence in _sentences(text, start, end)]


def join_overlapping(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, those that overlap as one.

    >>> join_overlapping([(5, 9), (0, 3), (2, 4)])
    [(0, 4), (5, 9)]
    """
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    stops = (match.span(1) for match in _STOP.finditer(text, start, end) if _ends_a_sentence(text, start, match))
    for first, last in _cut(text, start, end, stops):
        if last - first > LONGEST:
            yield from _cut(text, first, last, (match.span() for match in _LINE_END.finditer(text, first, last)))
        else:
            yield first, last


def _ends_a_sentence(text: str, start: int, stop: re.Match[str]) -> bool:
    """Not after an abbreviation or an initial."""
    if stop.group()[0] != ".":
        return True
    last_word = _LAST_WORD.search(text, max(start, stop.start() - 20), stop.start() + 1)
    return last_word is None or not (
        last_word.group().lower() in _ABBREVIATIONS or _INITIALS.fullmatch(last_word.group())
    )


def _cut(text: str, start: int, end: int, gaps: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """What lies between the gaps, trimmed, if anything does."""
    for gap_start, gap_end in (*gaps, (end, end)):
        stretch = text[start:gap_start]
        trimmed = stretch.strip()
        if trimmed:
            first = start + len(stretch) - len(stretch.lstrip())
            yield first, first + len(trimmed)
        start = gap_end
