"""Masked strings, looked for in a text: as whole words, whatever their case, accents, spaces and hyphens.

A string that begins with a capital is an ordinary word as well: it counts only where it is written with a capital.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

__all__ = ["found_in"]

# A modifier letter is a mark like an apostrophe, not a letter: OʼBrien is O'Brien.
WORD = re.compile(r"[^\W_\u02b0-\u02ff]+")
# Letters that Unicode does not take apart, and the mark that it makes of ŉ.
PLAIN = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ʼ": ""}
)


def found_in(text: str, strings: Iterable[str]) -> Counter[str]:
    """How often each folded string is in the text: the longest that begins at a word counts, and its words no more."""
    wanted = set(strings)
    capitalised = {string.casefold(): string for string in wanted if string != string.casefold()}
    lengths = sorted({len(string) for string in wanted}, reverse=True)
    starts, letters, at = [], [], 0
    capitals = set()
    for match in WORD.finditer(text):
        word = _folded(match[0])
        starts.append(at)
        if match[0][0].isupper():
            capitals.add(at)
        letters.append(word)
        at += len(word)
    joined, bounds = "".join(letters), {*starts, at}
    found: Counter[str] = Counter()
    free_from = 0
    for start in starts:
        if start < free_from:
            continue
        for length in lengths:
            string = joined[start : start + length]
            if string not in wanted and start in capitals:
                string = capitalised.get(string, string)
            if start + length in bounds and string in wanted:
                found[string] += 1
                free_from = start + length
                break
    return found


def _folded(word: str) -> str:
    plain = unicodedata.normalize("NFKD", word)
    return "".join(letter for letter in plain if not unicodedata.combining(letter)).casefold().translate(PLAIN)
