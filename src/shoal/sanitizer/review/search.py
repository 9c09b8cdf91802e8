"""Which strings to search for once something is masked, and searching all documents again and again.

A string is searched for as written; a person's also without title and by surname; of a block, each sentence. What is
masked by mistake must not empty all other documents: words that everybody uses ("the", "one of") are not searched for,
and an ordinary word, or an acronym of three letters, that was masked with a capital counts only where it has one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from shoal.sanitizer.entities.names import name_words
from shoal.sanitizer.policies.words import units_of
from shoal.sanitizer.review.strings import LEAST_LETTERS, Occurrence, Strings, folded
from shoal.sanitizer.review.work import BLOCK
from shoal.terms.lexicon import FUNCTION_WORDS, is_common_word, word_set

LEAST_SURNAME = 4  # letters, of a name that has more than a surname
COUNTING = word_set("one two three four five six seven eight nine ten first second third several")
_WORD = re.compile(r"[^\W\d_]+")
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
    words = _WORD.findall(written)
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


@dataclass(frozen=True)
class _Searched:
    """What a text was searched for, and where it was found."""

    strings: frozenset[str]
    occurrences: tuple[Occurrence, ...]


class RememberedSearch:
    """Remembers every text that was searched, by its digest."""

    def __init__(self) -> None:
        self._searched: dict[str, _Searched] = {}
        self._folded: dict[str, str] = {}

    def readable(self, search: Strings, digest: str, text: str) -> tuple[Occurrence, ...]:
        """What a reader of this text sees of the strings."""
        known = self._searched.get(digest)
        if known is None or self._has_any(search.strings ^ known.strings, digest, text):
            known = _Searched(search.strings, tuple(search.readable(text)))
        else:
            known = replace(known, strings=search.strings)
        self._searched[digest] = known
        return known.occurrences

    def _has_any(self, strings: frozenset[str], digest: str, text: str) -> bool:
        if strings and digest not in self._folded:
            self._folded[digest] = folded(text)
        return any(string.casefold() in self._folded[digest] for string in strings)
