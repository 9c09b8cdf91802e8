"""Records: what the readers of a document search by. Its words, name, date, label and opening, sealed for them.

A record has the document's own words, whatever the vocabulary of the index is, so a new word is found at once. It is
padded to one of few lengths: the server sees about how many different words a document has, and nothing else.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from shoal.data.keys import Keys
from shoal.errors import InputError
from shoal.terms.language import stemmer

WORD = re.compile(r"\w+")
LONGEST_WORD = 64  # characters
MOST_WORDS = 50_000  # different ones of a document: the most frequent
OPENING = 120  # characters
DIGEST = 32  # bytes
SMALLEST = 256  # bytes
MOST_BYTES = 4 << 20  # of a record when it is unpacked


class About(NamedTuple):
    """What a record says about its document, besides its words."""

    name: str
    date: str = ""  # ISO 8601, or ""
    label: str = ""
    opening: str = ""


@dataclass(frozen=True)
class Record:
    """A document as its readers search for it."""

    about: About
    digest: bytes  # of name and text: the owner's other machines know by it what was put
    counts: Mapping[str, int]  # by word, stemmed

    def sealed(self, keys: Keys) -> bytes:
        """The record, padded and encrypted for all readers of the document."""
        words = " ".join(f"{word}:{count}" if count > 1 else word for word, count in sorted(self.counts.items()))
        about = json.dumps(self.about, ensure_ascii=False)
        packed = self.digest + zlib.compress(f"{about}\n{words}".encode("utf-8", "replace"), 9)
        return keys.encrypt(packed.ljust(padded_length(len(packed)), b"\0"))

    @classmethod
    def opened(cls, content: bytes, keys: Keys) -> Record | None:
        """The record, or None if this key cannot read it. Whoever wrote it may be a stranger."""
        try:
            packed = keys.decrypt(content)
            text = zlib.decompressobj().decompress(packed[DIGEST:], MOST_BYTES).decode()
            first, _, words = text.partition("\n")
            name, date, label, opening = map(str, json.loads(first))
            counts = dict(_count(word) for word in words.split())
        except (InputError, ValueError, TypeError, zlib.error):
            return None
        return cls(About(name, date, label, opening), packed[:DIGEST], counts)


def padded_length(length: int) -> int:
    """The next power of two, or the next three quarters of one."""
    whole = max(SMALLEST, 1 << (max(length, 1) - 1).bit_length())
    return whole * 3 // 4 if whole > SMALLEST and length <= whole * 3 // 4 else whole


@dataclass(frozen=True)
class Words:
    """How words are read off a text: letters and digits, in small letters, stemmed as in the vocabulary."""

    parameters: Mapping[str, Any]  # of the vocabulary's space
    _stems: dict[str, str] = field(default_factory=dict, repr=False)

    def counts(self, text: str) -> dict[str, int]:
        """How often a text has each word. Stop words count too: a subject line is found by them as well."""
        counts: Counter[str] = Counter()
        for word, count in Counter(WORD.findall(text.lower())).items():
            counts[self._stem(word)] += count
        return dict(counts.most_common(MOST_WORDS)) if len(counts) > MOST_WORDS else dict(counts)

    def of_query(self, query: str) -> dict[str, tuple[str, ...]]:
        """The words of a query by their stems."""
        words: dict[str, tuple[str, ...]] = {}
        for word in dict.fromkeys(WORD.findall(query.lower())):
            words[self._stem(word)] = (*words.get(self._stem(word), ()), word)
        return words

    def _stem(self, word: str) -> str:
        if word not in self._stems:
            self._stems[word] = (self._stemmer.stemWord(word) if self._stemmer else word)[:LONGEST_WORD]
        return self._stems[word]

    @cached_property
    def _stemmer(self) -> Any:
        return stemmer(str(self.parameters.get("language", "english"))) if self.parameters.get("stem", True) else None


def opening_of(text: str) -> str:
    """The first words of a text, on one line."""
    return " ".join(text[: 4 * OPENING].split())[:OPENING]


def _count(word: str) -> tuple[str, int]:
    stem, _, count = word.partition(":")
    return stem, min(int(count or 1), 2**31 - 1)
