"""Counting terms in a stream of texts or of baskets: bounded memory, the same answer for any number of cores."""

from __future__ import annotations

import os
import unicodedata
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import accumulate, chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.baskets import stream_counts
from shoal.errors import InputError
from shoal.kernels import words as kernel

CHUNK = 4_000_000  # characters handed to one core at a time

# The different words of some documents, the word of every token, and where each document's tokens end.
Tokens = tuple[list[str], NDArray[np.int32], NDArray[np.int64]]
Split = Callable[[str], list[str]]  # a text into words
TermOf = Callable[[str], tuple[str | None, str]]  # word -> (term, "") or (None, the step that leaves it out)


@dataclass(frozen=True)
class Tally:
    """Counts of the words and terms of a collection, or of a part of it. Parts add up."""

    n_documents: int
    frequency: Counter[str]  # documents that have each term
    occurrences: Counter[str]  # of each term
    seen: Counter[str]  # occurrences of each word
    term_of_word: dict[str, str]
    step_of_word: dict[str, str]  # words that are left out, and the step that did it

    @staticmethod
    def merged(tallies: Iterable[Tally]) -> Tally:
        """The tally of all parts together."""
        total = Tally(0, Counter(), Counter(), Counter(), {}, {})
        n_documents = 0
        for tally in tallies:
            n_documents += tally.n_documents
            total.frequency.update(tally.frequency)
            total.occurrences.update(tally.occurrences)
            total.seen.update(tally.seen)
            total.term_of_word.update(tally.term_of_word)
            total.step_of_word.update(tally.step_of_word)
        return replace(total, n_documents=n_documents)

    def without(self, terms: Collection[str], step: str) -> Tally:
        """The same without these terms: their words are left out by `step`."""
        words = {word: step for word, term in self.term_of_word.items() if term in terms}
        return replace(
            self,
            frequency=Counter({term: count for term, count in self.frequency.items() if term not in terms}),
            occurrences=Counter({term: count for term, count in self.occurrences.items() if term not in terms}),
            term_of_word={word: term for word, term in self.term_of_word.items() if word not in words},
            step_of_word=self.step_of_word | words,
        )


@dataclass(frozen=True)
class Counted:
    """How often each document has each term: CSR arrays, and the terms they number."""

    terms: tuple[str, ...]
    row_end: NDArray[np.int64]
    numbers: NDArray[np.int32]
    counts: NDArray[np.int32]
    tally: Tally

    def take(self, documents: NDArray[np.int64]) -> Counted:
        """Some of the documents, in that order; words stay counted over all of them."""
        sizes = np.diff(self.row_end, prepend=0)
        chosen = np.concatenate([np.arange(self.row_end[one] - sizes[one], self.row_end[one]) for one in documents])
        numbers, counts = self.numbers[chosen], self.counts[chosen]
        frequency, occurrences = _uses(self.terms, numbers, counts)
        tally = replace(self.tally, n_documents=len(documents), frequency=frequency, occurrences=occurrences)
        return Counted(self.terms, np.cumsum(sizes[documents]), numbers, counts, tally)


def count(texts: Iterable[str], term_of: TermOf, split: Split | None = None) -> Counted:
    """Count every text's terms, numbered by first appearance. Words are runs of letters, unless `split` gives them."""
    counter = _Counter(term_of)
    read = _read if split is None else partial(_split, split)
    cores = os.cpu_count() or 1
    with ThreadPoolExecutor(cores) as pool:
        waiting: deque[Future[Tokens]] = deque()
        for chunk in _chunks(texts):
            waiting.append(pool.submit(read, chunk))
            if len(waiting) > cores:
                counter.add(*waiting.popleft().result())
        while waiting:
            counter.add(*waiting.popleft().result())
    return counter.counted()


def count_items(baskets: Iterable[Mapping[str, float]]) -> Counted:
    """Count every basket's items, of which each is a word and a term."""
    counted = stream_counts(baskets)
    parts = np.flatnonzero(counted.counts % 1)
    if len(parts):
        basket = np.searchsorted(counted.row_end, parts[0], side="right") + 1
        raise InputError(f"basket {basket}: a count is not a whole number; give counts, not weights")
    items, counts = counted.items, counted.counts.astype(np.int32)
    frequency, occurrences = _uses(items, counted.numbers, counts)
    tally = Tally(len(counted.row_end), frequency, occurrences, occurrences, dict(zip(items, items, strict=True)), {})
    return Counted(items, counted.row_end, counted.numbers, counts, tally)


class _Counter:
    """Terms and words seen so far, and the counts of the chunks."""

    def __init__(self, term_of: TermOf) -> None:
        self._term_of = term_of
        self._number_of_term: dict[str, int] = {}
        self._number_of_word: dict[str, int] = {}
        self._tally = Tally(0, Counter(), Counter(), Counter(), {}, {})
        self._chunks: list[tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]] = []

    def add(self, words: list[str], token_word: NDArray[np.int32], token_end: NDArray[np.int64]) -> None:
        """Take in a chunk."""
        times = np.bincount(token_word, minlength=len(words)).tolist()
        for word, seen in zip(words, times, strict=True):
            self._tally.seen[word] += seen
        numbers = np.fromiter(map(self._number, words), dtype=np.int32, count=len(words))
        self._chunks.append(kernel.count_terms(token_word, token_end, numbers, len(self._number_of_term)))

    def counted(self) -> Counted:
        """Everything, put together."""
        offsets = [0, *accumulate(len(terms) for _, terms, _ in self._chunks)]
        row_end = [end + offset for (end, _, _), offset in zip(self._chunks, offsets, strict=False)]
        ends = np.concatenate([np.empty(0, np.int64), *row_end])
        numbers = np.concatenate([np.empty(0, np.int32), *(terms for _, terms, _ in self._chunks)])
        counts = np.concatenate([np.empty(0, np.int32), *(counts for _, _, counts in self._chunks)])
        terms = tuple(self._number_of_term)
        frequency, occurrences = _uses(terms, numbers, counts)
        tally = replace(self._tally, n_documents=len(ends), frequency=frequency, occurrences=occurrences)
        return Counted(terms, ends, numbers, counts, tally)

    def _number(self, word: str) -> int:
        """The number of the word's term, -1 for a word that is left out."""
        if word not in self._number_of_word:
            term, step = self._term_of(word)
            if term is None:
                self._tally.step_of_word[word] = step
                self._number_of_word[word] = -1
            else:
                self._tally.term_of_word[word] = term
                self._number_of_word[word] = self._number_of_term.setdefault(term, len(self._number_of_term))
        return self._number_of_word[word]


def _uses(terms: tuple[str, ...], numbers: Any, counts: Any) -> tuple[Counter[str], Counter[str]]:
    """Documents that have each term, and its occurrences."""
    documents = np.bincount(numbers, minlength=len(terms)).tolist()
    occurrences = np.bincount(numbers, weights=counts, minlength=len(terms)).astype(np.int64).tolist()
    return Counter(dict(zip(terms, documents, strict=True))), Counter(dict(zip(terms, occurrences, strict=True)))


def _read(texts: list[str]) -> Tokens:
    chunk = "".join(texts)
    ends = np.fromiter(accumulate(map(len, texts)), dtype=np.int64, count=len(texts))
    codes = np.frombuffer(chunk.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    token_word, token_end, start, length = kernel.find_words(codes, ends, letters())
    words = [chunk[first : first + n] for first, n in zip(start.tolist(), length.tolist(), strict=True)]
    return words, token_word, token_end


def _split(split: Split, texts: list[str]) -> Tokens:
    words = [split(text) for text in texts]
    number_of = {word: number for number, word in enumerate(dict.fromkeys(chain.from_iterable(words)))}
    token_word = np.fromiter(map(number_of.__getitem__, chain.from_iterable(words)), dtype=np.int32)
    return list(number_of), token_word, np.fromiter(accumulate(map(len, words)), dtype=np.int64, count=len(words))


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    """Texts, lower-case and composed, so many at a time."""
    held: list[str] = []
    size = 0
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"document {number + 1} is {type(text).__name__}, not text; pass strings")
        held.append(text.lower() if text.isascii() else unicodedata.normalize("NFC", text.lower()))
        size += len(held[-1])
        if size >= CHUNK:
            yield held
            held, size = [], 0
    if held:
        yield held


@lru_cache(maxsize=1)
def letters() -> NDArray[np.bool_]:
    """Which code points make words: Unicode letters and the marks on them, such as the vowel signs of Hindi."""
    kinds = (unicodedata.category(chr(code))[0] in "LM" for code in range(0x110000))
    return np.fromiter(kinds, dtype=np.bool_, count=0x110000)
