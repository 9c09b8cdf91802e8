"""Where sentences and paragraphs begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shoal.errors import InputError

__all__ = ["UNITS", "units_of"]

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
