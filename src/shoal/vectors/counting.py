"""Counting terms in a stream of texts: bounded memory, all cores, the same answer for any number of them."""

from __future__ import annotations

import os
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.kernels import words as kernel

__all__ = ["Counts", "Vocabulary", "count"]

CHUNK = 4_000_000  # characters handed to one core at a time

Reading = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


class Vocabulary:
    """Words seen so far, the term each one stands for, and the step that left it out."""

    def __init__(self, term_of: Callable[[str], tuple[str | None, str]]) -> None:
        self._term_of = term_of  # word -> (term, "") or (None, the step that leaves it out)
        self._term_number: dict[str, int] = {}
        self._word: dict[str, tuple[int, str]] = {}
        self.occurrences: dict[str, int] = {}  # of every word

    @property
    def terms(self) -> list[str]:
        """Terms in order of appearance."""
        return list(self._term_number)

    def number(self, word: str, seen: int) -> int:
        """The term's number, -1 for a word that is left out; counts it as seen."""
        if word not in self._word:
            term, step = self._term_of(word)
            number = -1 if term is None else self._term_number.setdefault(term, len(self._term_number))
            self._word[word] = number, step
            self.occurrences[word] = 0
        self.occurrences[word] += seen
        return self._word[word][0]

    def words_left_out(self) -> dict[str, list[str]]:
        """Words by the step that left them out."""
        out: dict[str, list[str]] = {}
        for word, (number, step) in self._word.items():
            if number < 0:
                out.setdefault(step, []).append(word)
        return out

    def words_of_terms(self, numbers: Iterable[int]) -> list[str]:
        """Words that stand for any of these terms."""
        wanted = set(numbers)
        return [word for word, (number, _) in self._word.items() if number in wanted]


@dataclass
class Counts:
    """How often each document has each term (CSR, terms numbered by the vocabulary)."""

    row_end: list[NDArray[np.int64]] = field(default_factory=list)
    terms: list[NDArray[np.int32]] = field(default_factory=list)
    counts: list[NDArray[np.int32]] = field(default_factory=list)

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Row ends, terms and counts of the whole collection."""
        if not self.row_end:
            return np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32)
        offsets = [0, *accumulate(len(terms) for terms in self.terms)]
        ends = [end + offset for end, offset in zip(self.row_end, offsets, strict=False)]
        return np.concatenate(ends), np.concatenate(self.terms), np.concatenate(self.counts)


def count(texts: Iterable[str], vocabulary: Vocabulary) -> Counts:
    """Count every text's terms, adding new ones to the vocabulary in order of appearance."""
    result = Counts()
    cores = os.cpu_count() or 1
    with ThreadPoolExecutor(cores) as pool:
        waiting: deque[tuple[str, Future[Reading]]] = deque()
        for chunk, ends in _chunks(texts):
            waiting.append((chunk, pool.submit(_read, chunk, ends)))
            if len(waiting) > cores:
                _add(*waiting.popleft(), vocabulary, result)
        while waiting:
            _add(*waiting.popleft(), vocabulary, result)
    return result


def _add(chunk: str, reading: Future[Reading], vocabulary: Vocabulary, result: Counts) -> None:
    token_word, token_end, word_start, word_length = reading.result()
    seen = np.bincount(token_word, minlength=len(word_start)).tolist()
    term_of_word = np.fromiter(
        (
            vocabulary.number(chunk[start : start + length], times)
            for start, length, times in zip(word_start.tolist(), word_length.tolist(), seen, strict=True)
        ),
        dtype=np.int32,
        count=len(word_start),
    )
    row_end, terms, counts = kernel.count_terms(token_word, token_end, term_of_word, len(vocabulary.terms))
    result.row_end.append(row_end)
    result.terms.append(terms)
    result.counts.append(counts)


def _read(chunk: str, ends: NDArray[np.int64]) -> Reading:
    codes = np.frombuffer(chunk.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    reading: Reading = kernel.find_words(codes, ends, _letters())
    return reading


def _chunks(texts: Iterable[str]) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Texts, lower-case and composed, joined into chunks, with the place where each one ends."""
    held: list[str] = []
    size = 0
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"document {number + 1} is {type(text).__name__}, not text; pass strings")
        lowered = text.lower() if text.isascii() else unicodedata.normalize("NFC", text.lower())
        held.append(lowered)
        size += len(lowered)
        if size >= CHUNK:
            yield _join(held)
            held, size = [], 0
    if held:
        yield _join(held)


def _join(texts: list[str]) -> tuple[str, NDArray[np.int64]]:
    return "".join(texts), np.fromiter(accumulate(map(len, texts)), dtype=np.int64, count=len(texts))


@lru_cache(maxsize=1)
def _letters() -> NDArray[Any]:
    """Which code points make words: Unicode letters and the marks on them, such as the vowel signs of Hindi."""
    kinds = (unicodedata.category(chr(code))[0] in "LM" for code in range(0x110000))
    return np.fromiter(kinds, dtype=np.bool_, count=0x110000)
