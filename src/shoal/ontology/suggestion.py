"""What a value that is not found may have meant: its spellings, its parts, and the words most like it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

__all__ = ["like", "parts", "suggestions"]

# A part of a compound: letters, with a new one where a small letter meets a capital (TechSupport).
_PART = re.compile(r"[^\W\d_]+?(?=[^\W_a-z][a-z])|[^\W\d_]+|\d+")
_ALIKE = 0.75  # how like the value a word must be, by difflib's ratio
_SHORTEST_PART = 3


def suggestions(
    value: str, n: int, senses: Callable[[str], Sequence[int]], words: Callable[[], Iterable[str]]
) -> list[int]:
    """At most n concepts, the likeliest first, each once.

    `senses` gives the concepts of a word, `words` all words there are. First what the value means as it is spelt or
    without the marks between its parts; then words like it; then its parts, the last first (the head of an English
    compound); then words like these. Of every word the first sense, and after all words the second senses, and so on.
    """
    if n < 1:
        return []
    found: dict[str, Sequence[int]] = {}
    for word in _words_for(value, words):
        if word not in found:
            found[word] = senses(word)
        if sum(bool(meanings) for meanings in found.values()) >= n:
            break
    return list(islice(dict.fromkeys(_in_turn(list(found.values()))), n))


def _words_for(value: str, words: Callable[[], Iterable[str]]) -> Iterator[str]:
    split = parts(value)
    yield value
    yield " ".join(split)
    yield "".join(split)
    known = list(words())
    yield from like(value, known)
    long_enough = [part for part in reversed(split) if len(part) >= _SHORTEST_PART]
    yield from long_enough
    for part in long_enough:
        yield from like(part, known)


def parts(value: str) -> list[str]:
    """The words of a compound: "Tech-support" is tech and support."""
    return [part.lower() for part in _PART.findall(value)]


def like(value: str, words: Iterable[str], n: int = 3) -> list[str]:
    """The n words most like the value, and words that it abbreviates ("serv" for service), the shortest first."""
    plain = _plain(value)
    if len(plain) < _SHORTEST_PART:
        return []
    longest = len(plain) / _ALIKE * 2 - len(plain)  # the ratio of a longer word cannot reach the bar
    shortest = len(plain) * _ALIKE / (2 - _ALIKE)
    near: dict[str, str] = {}
    begins: list[str] = []
    for word in words:
        # A typing error in the first letter is rare, and looking at all words for it takes seconds.
        if word[:1].lower() != plain[0]:
            continue
        spelt = _plain(word)
        if shortest <= len(spelt) <= longest:
            near.setdefault(spelt, word)
        if spelt.startswith(plain):
            begins.append(word)
    close = [near[spelt] for spelt in difflib.get_close_matches(plain, near, n=n, cutoff=_ALIKE)]
    return list(dict.fromkeys([*close, *sorted(begins, key=lambda word: (len(word), word))[:n]]))


def _plain(word: str) -> str:
    return re.sub(r"[\W_]+", "", word).lower()


def _in_turn(meanings: list[Sequence[int]]) -> Iterator[int]:
    """All first senses, then all second ones, …"""
    for place in range(max((len(some) for some in meanings), default=0)):
        yield from (some[place] for some in meanings if place < len(some))
