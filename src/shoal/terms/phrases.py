"""Terms of an ontology in texts: one word or several, found by the longest match.

Words are compared by their stems, so that inflected forms match; spaces, hyphens and apostrophes between them do not
count, other punctuation and numbers do: "heart. Attack" is no heart attack, and type 1 diabetes is not type 2.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from shoal.terms.counting import letters
from shoal.terms.language import stemmer, stop_words


class Phrases:
    """The names that an ontology gives its concepts, each with the term that it counts as.

    >>> found = Phrases([("heart attack", "myocardial infarction"), ("heart", "heart")], "english")
    >>> found.split("Two heart-attacks. The heart is weak.")
    ['two', 'heart attacks', 'the', 'heart', 'is', 'weak']
    >>> found.term("heart attacks")
    'myocardial infarction'
    """

    def __init__(self, names: Iterable[tuple[str, str]], language: str) -> None:
        self._stem = stemmer(language).stemWords
        self._named: dict[tuple[str, ...], dict[str, str]] = {}  # stems -> spelling -> term
        self._longest: dict[str, int] = {}  # first stem -> words of the longest name
        stops = stop_words(language)
        for name, term in names:
            words = _tokens(name)
            if any(_is_word(word) and word not in stops for word in words):
                # The stemmer has thromboses as another word than thrombosis.
                for key in {self._key(words), self._key([re.sub("sis$", "ses", word) for word in words])}:
                    self._named.setdefault(key, {}).setdefault(" ".join(words), term)
                    self._longest[key[0]] = max(self._longest.get(key[0], 0), len(key))

    def split(self, text: str) -> list[str]:
        """The words of a text in lower case, those of a name together."""
        tokens = _tokens(text)
        key = self._key(tokens)
        words: list[str] = []
        at = 0
        while at < len(tokens):
            longest = min(self._longest.get(key[at], 0), len(tokens) - at)
            length = next((n for n in range(longest, 0, -1) if key[at : at + n] in self._named), 0) if longest else 0
            if length or _is_word(tokens[at]):
                words.append(" ".join(tokens[at : at + max(length, 1)]))
            at += max(length, 1)
        return words

    def term(self, words: str) -> str | None:
        """The term of a name as `split` gives it; None for other words."""
        spelt = self._named.get(self._key(words.split()))
        if spelt is None:
            return None
        # Of names that differ in their endings, the one spelt so, else the nearest in length.
        nearest = min(spelt, key=lambda name: (name != words, abs(len(name) - len(words)), name))
        return spelt[nearest]

    def _key(self, words: list[str]) -> tuple[str, ...]:
        return tuple(self._stem(words))


@lru_cache(maxsize=4)
def phrases_of(ontology: Any, language: str) -> Phrases:
    """The names of an ontology, read once."""
    return Phrases(ontology.spellings(), language)


def _is_word(token: str) -> bool:
    return bool(letters()[ord(token[0])])


def _tokens(text: str) -> list[str]:
    return _token().findall(unicodedata.normalize("NFC", text.lower()))


@lru_cache(maxsize=1)
def _token() -> re.Pattern[str]:
    """Runs of letters, runs of digits, and single marks that are not left out between words."""
    bounds = np.flatnonzero(np.diff(letters(), prepend=False, append=False)).reshape(-1, 2).tolist()
    runs = "".join(f"{chr(first)}-{chr(end - 1)}" for first, end in bounds)
    return re.compile(rf"[{runs}]+|\d+|[^\s\-‐-―'’_]")
