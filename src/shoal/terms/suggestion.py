"""What a value that is not found may have meant: its spellings, its parts, and the words most like it."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A part of a compound: letters, with a new one where a small letter meets a capital (TechSupport).
_PART = re.compile(r"[^\W\d_]+?(?=[^\W_a-z][a-z])|[^\W\d_]+|\d+")
_ALIKE = 0.75  # how like the value a word must be, by difflib's ratio
_MOST = 3  # words like a value, and words that it abbreviates
_SHORTEST_PART = 3
_BITS = 64


def suggestions(
    value: str, n: int, senses: Callable[[str], Sequence[int]], spellings: Spellings, misspelt: bool = True
) -> list[int]:
    """At most n concepts, the likeliest first, each once.

    `senses` gives the concepts of a word, `spellings` all words there are. A value that has senses means one of these.
    For another: what it means without the marks between its parts; then words like it; then its parts, the last first
    (the head of an English compound); then words like these. Of every word the first sense, and after all words the
    second senses, and so on. A value that is not `misspelt` is a word of its own, and those like it are others.
    """
    listed = senses(value)
    if listed or n < 1:
        return list(listed[: max(n, 0)])
    senses_of: dict[str, Sequence[int]] = {}
    for word in _words_for(value, spellings, misspelt):
        if word not in senses_of:
            senses_of[word] = senses(word)
        if sum(bool(meanings) for meanings in senses_of.values()) >= n:
            break
    return list(islice(dict.fromkeys(_in_turn(list(senses_of.values()))), n))


def _words_for(value: str, spellings: Spellings, misspelt: bool) -> Iterator[str]:
    parts = [part.lower() for part in _PART.findall(value)]  # "Tech-support" is tech and support
    yield " ".join(parts)
    yield "".join(parts)
    if misspelt:
        yield from spellings.like(value)
    long_enough = [part for part in reversed(parts) if len(part) >= _SHORTEST_PART]
    yield from long_enough
    for part in long_enough:
        if misspelt or len(parts) > 1:
            yield from spellings.like(part)


class Spellings:
    """Words by how they are spelt, to find those like another in less than a millisecond."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words: dict[str, list[str]] = {}
        for word in words:
            # A typing error in the first letter is rare, and looking at all words for it takes seconds.
            self._words.setdefault(word[:1].lower(), []).append(word)
        self._initials: dict[str, _Initial] = {}
        self.like = lru_cache(maxsize=100_000)(self._like)

    def _like(self, value: str) -> tuple[str, ...]:
        """The words most like the value, and words that it abbreviates ("serv" for service), the shortest first."""
        plain = _plain(value)
        if len(plain) < _SHORTEST_PART or plain[0] not in self._words:
            return ()
        if plain[0] not in self._initials:
            self._initials[plain[0]] = _Initial(self._words[plain[0]])
        initial = self._initials[plain[0]]
        close = difflib.get_close_matches(plain, initial.near(plain), n=_MOST, cutoff=_ALIKE)
        shortest = sorted(initial.beginning(plain), key=lambda word: (len(word), word))[:_MOST]
        return tuple(dict.fromkeys([*(initial.word_of[spelt] for spelt in close), *shortest]))


class _Initial:
    """The words with one first letter, as arrays."""

    def __init__(self, words: Sequence[str]) -> None:
        spelt = sorted((_plain(word), word) for word in words)
        self._plain = [plain for plain, _ in spelt]
        self._word = [word for _, word in spelt]
        self.word_of: dict[str, str] = {}
        for word in words:
            self.word_of.setdefault(_plain(word), word)
        self._by_length = sorted(self.word_of, key=len)
        self._lengths = np.array([len(plain) for plain in self._by_length])
        self._places: dict[str, NDArray[np.uint64]] = {}  # of each letter in each word, as bits
        for row, plain in enumerate(self._by_length):
            for position, letter in enumerate(plain[:_BITS]):
                if letter not in self._places:
                    self._places[letter] = np.zeros(len(self._by_length), np.uint64)
                self._places[letter][row] |= np.uint64(1 << position)

    def beginning(self, plain: str) -> Iterator[str]:
        """The words that begin so."""
        first = bisect_left(self._plain, plain)
        alike = takewhile(lambda position: self._plain[position].startswith(plain), range(first, len(self._plain)))
        return (self._word[position] for position in alike)

    def near(self, plain: str) -> list[str]:
        """Words that have enough letters in common with the value, in its order, to reach difflib's ratio."""
        # Of words much shorter or longer, the ratio cannot reach the bar.
        shortest, longest = len(plain) * _ALIKE / (2 - _ALIKE), len(plain) / _ALIKE * 2 - len(plain)
        rows = slice(*np.searchsorted(self._lengths, [shortest - 1e-9, longest + 1e-9]))
        lengths = self._lengths[rows]
        # Hyyrö's bit-parallel count of the longest common subsequence: a letter in common clears a bit of its word.
        unmatched: NDArray[Any] = np.full(len(lengths), ~np.uint64(0))
        for letter in plain:
            if letter in self._places:
                met = unmatched & self._places[letter][rows]
                unmatched = (unmatched + met) | (unmatched - met)
        common = _BITS - np.bitwise_count(unmatched).astype(np.int64) + np.maximum(lengths - _BITS, 0)
        enough: Any = np.flatnonzero(2 * common >= _ALIKE * (len(plain) + lengths) - 1e-9)
        return [self._by_length[rows.start + row] for row in enough]


def _plain(word: str) -> str:
    return re.sub(r"[\W_]+", "", word).lower()


def _in_turn(meanings: list[Sequence[int]]) -> Iterator[int]:
    """All first senses, then all second ones, …"""
    for number in range(max((len(senses) for senses in meanings), default=0)):
        yield from (senses[number] for senses in meanings if number < len(senses))
