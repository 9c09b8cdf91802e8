"""The strings to search for once something is masked: as written; of a person, without title and by surname; of a
block, each of its sentences.
"""

from __future__ import annotations

from collections.abc import Iterator

from shoal.sanitizer.entities.ordinary import is_common_word
from shoal.sanitizer.entities.spelling import name_words
from shoal.sanitizer.review.folding import folded
from shoal.sanitizer.review.items import BLOCK
from shoal.sanitizer.sentences import units_of

__all__ = ["strings_to_search"]

LEAST_SURNAME = 4  # letters, of a name that has more than a surname
LEAST_WORDS = 4  # of a sentence; shorter ones are in any text
SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv", "esq", "phd"})


def strings_to_search(kind: str, written: str) -> Iterator[str]:
    """Folded. A surname that is an ordinary word as well begins with a capital: it counts only where it is so written.

    >>> list(strings_to_search("PERSON", "Mr. Ivo Dunstable"))
    ['mrivodunstable', 'ivodunstable', 'dunstable']
    >>> list(strings_to_search("PERSON", "Ann Baker Jr."))
    ['annbakerjr', 'Baker']
    >>> list(strings_to_search("BLOCK", "Yes. The bomb was small."))
    ['yesthebombwassmall', 'thebombwassmall']
    """
    strings = [folded(written)]
    if kind == "PERSON":
        words = name_words(written)
        if len(words) > 1:
            strings.append(folded(" ".join(words)))
        strings.append(_surname(words))
    elif kind == BLOCK:
        sentences = (written[start:end] for start, end in units_of(written, "sentence"))
        strings += [folded(sentence) for sentence in sentences if len(sentence.split()) >= LEAST_WORDS]
    yield from (string for string in dict.fromkeys(strings) if string)


def _surname(words: list[str]) -> str:
    """Empty if it is short, or if there is none: "the King of Spain"."""
    names = [word for word in words if not word[0].islower() and folded(word) not in SUFFIXES]
    if not names or "of" in words:
        return ""
    surname = folded(names[-1])
    if len(words) > 1 and len(surname) < LEAST_SURNAME:
        return ""
    return surname.capitalize() if is_common_word(surname) else surname
