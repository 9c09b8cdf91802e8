"""Candidates: stretches that may name something, by the rules of rules.toml, which people can read and change.

Which remain when several overlap, and where each ends.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from shoal.terms.lexicon import FUNCTION_WORDS, is_common_word, lexicon

_PART = re.compile(r"\{([A-Z_]+)\}")
_INDENTATION = re.compile(r"(?:^|\n) +")


class Candidate(NamedTuple):
    """A stretch with a kind. Among overlapping candidates the lower rank wins, then the longer one."""

    start: int
    end: int
    kind: str  # of results.sanitizing.KINDS
    form: str  # which sort of its kind: "day", "duration", "initials", …
    rank: int


class Rule(NamedTuple):
    """A pattern of candidates of one form; where it has a group "name", that is the candidate."""

    kind: str
    form: str
    rank: int
    pattern: re.Pattern[str]


def matches(text: str, rules: Iterable[Rule]) -> Iterator[Candidate]:
    """The candidates of all rules."""
    for kind, form, rank, pattern in rules:
        group = "name" if "name" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            yield Candidate(*match.span(group), kind, form, rank)


class RuleTable:
    """A table of the file; `parts` are those of its patterns that are not in the file."""

    def __init__(self, name: str, parts: Mapping[str, str] | None = None) -> None:
        tables = _tables()
        self._table = tables[name]
        self._parts = {**tables["shared"], **self._table, **(parts or {})}

    def rules(self) -> tuple[Rule, ...]:
        listed = self._table["rules"]
        return tuple(Rule(kind, form, rank, self._compiled(pattern)) for kind, form, rank, pattern in listed)

    def pattern(self, name: str) -> re.Pattern[str]:
        return self._compiled(self._table[name])

    def by_kind(self, name: str) -> dict[str, re.Pattern[str]]:
        """Patterns of a table within this one; a key may name several kinds."""
        table = self._table[name]
        return {kind: self._compiled(pattern) for kinds, pattern in table.items() for kind in kinds.split()}

    def table(self, name: str) -> dict[str, Any]:
        return dict(self._table[name])

    def words(self, name: str) -> frozenset[str]:
        return frozenset(self._table["words"][name].split())

    def lists(self, name: str) -> dict[str, list[str]]:
        """Lists of words by what they stand for."""
        return {key: words.split() for key, words in self._table[name].items()}

    def _compiled(self, pattern: str) -> re.Pattern[str]:
        return re.compile(self.expanded(pattern))

    def expanded(self, pattern: str) -> str:
        """With its parts in place, and without the breaks of lines."""
        return _PART.sub(lambda part: self.expanded(self._parts[part[1]]), _INDENTATION.sub("", pattern))


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(files("shoal.sanitizer.entities").joinpath("rules.toml").read_text(encoding="utf-8"))


_LEADING = re.compile(r"(?:[\s\W]|(?:the|a|an|The|A|An|of|and|in|by|on)\s)+", re.UNICODE)
_OPENERS = "([{$£€¥#@+-‑“\"'‘"
_TRAILING = re.compile(r"(?:['’]s|['’]|[\s,;:\-–—“\"‘(\[{]|(?<![A-Z])\.)+$")

# The dot of "Imagine Inc. was" belongs to the name; at the end of a sentence it does not.
_SHORTENED = ("Inc", "Ltd", "Corp", " Co", "Bros")
_FREE = re.compile(rb"\0+")
_GOES_ON = re.compile(r"\.(?=[\s,;]+[a-z0-9(])")


def trimmed(text: str, candidate: Candidate) -> Candidate | None:
    """The candidate without leading articles, trailing possessive and punctuation; None if nothing is left."""
    start, end = candidate.start, candidate.end
    leading = _LEADING.match(text, start, end)
    if leading is not None:
        start = leading.end()
        while start > candidate.start and text[start - 1] in _OPENERS and not text[start - 1].isspace():
            start -= 1
    trailing = _TRAILING.search(text, start, end)
    if trailing is not None and trailing.end() == end:
        end = trailing.start()
    if candidate.kind == "ORG" and text.endswith(_SHORTENED, start, end) and _GOES_ON.match(text, end):
        end += 1
    return candidate._replace(start=start, end=end) if start < end else None


def resolved(text: str, candidates: Iterable[Candidate]) -> list[Candidate]:
    """Candidates that do not overlap, in the order of the text.

    The rest of a candidate that a better one cuts remains if it still names something.
    """
    taken = bytearray(len(text))
    kept = []
    best_first = sorted(dict.fromkeys(candidates), key=lambda other: (other.rank, other.start - other.end, other.start))
    for candidate in best_first:
        for start, end in [free.span() for free in _FREE.finditer(taken, candidate.start, candidate.end)]:
            whole = (start, end) == (candidate.start, candidate.end)
            rest = candidate if whole else trimmed(text, candidate._replace(start=start, end=end))
            if rest is None or not (whole or still_names(rest, text[rest.start : rest.end])):
                continue
            taken[rest.start : rest.end] = b"\1" * (rest.end - rest.start)
            kept.append(rest)
    return sorted(kept)


def still_names(rest: Candidate, words: str) -> bool:
    """Whether the rest of a candidate still names something: "Istanbul", not "Between" or "of 3"."""
    if rest.kind in ("DATE", "QUANTITY", "MONEY", "AGE", "CASE", "ID"):
        return bool(re.search(r"\d\d", words))
    capitals = [word for word in re.findall(r"\w+", words) if len(word) > 2 and word[0].isupper()]
    return len(capitals) > 1 or any(not is_common_word(word.lower()) for word in capitals)


_TABLE = RuleTable("completion")
_AFTER, _BEFORE = _TABLE.by_kind("after"), _TABLE.by_kind("before")
_REACH = 60  # characters looked at before a candidate
_MODIFIERS = 4  # words between "a" and a profession: "a local authority housing officer"
_WORDS_BEFORE = re.compile(rf"\b(?:an?|as|the|his|her)[ \t]((?:[a-z][a-z‑-]+[ \t]){{1,{_MODIFIERS}}})$")


def completed(text: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, each as long as what it names; none grows into another."""
    whole: list[Candidate] = []
    for number, candidate in enumerate(candidates):
        free_from = whole[-1].end if whole else 0
        free_until = candidates[number + 1].start if number + 1 < len(candidates) else len(text)
        start = max(free_from, _start(text, candidate, free_from))
        end = _end(text, candidate)
        start, end = _whole_words(text, start, end if end <= free_until else candidate.end)
        whole.append(candidate._replace(start=max(start, free_from), end=min(end, free_until)))
    return whole


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch to the end of the words that it cuts: "TRAORÉ", not "TRAOR"."""
    while start and text[start].isalpha() and text[start - 1].isalpha():
        start -= 1
    while end < len(text) and text[end - 1].isalpha() and text[end].isalpha():
        end += 1
    return start, end


def _end(text: str, candidate: Candidate) -> int:
    end = candidate.end
    after = _AFTER.get(candidate.kind)
    for _ in range(2):
        match = after.match(text, end) if after is not None else None
        if match is None or match.end() == end:
            break
        end = match.end()
    return end


def _start(text: str, candidate: Candidate, free_from: int) -> int:
    lowest = max(free_from, candidate.start - _REACH)
    before = text[lowest : candidate.start]
    if candidate.kind == "PROFESSION" or candidate.form == "health":
        modifiers = _WORDS_BEFORE.search(before)
        words = modifiers[1].split() if modifiers else []
        if words and all(map(_is_modifier, words)):
            return candidate.start - len(modifiers[1]) if modifiers else candidate.start
    known = _BEFORE.get(candidate.kind)
    match = known.search(before) if known is not None else None
    return candidate.start if match is None else candidate.start - len(match[0])


def _is_modifier(word: str) -> bool:
    """Whether a word may narrow a description down."""
    plain = word.replace("‑", "-")
    return plain not in FUNCTION_WORDS and (is_common_word(plain) or lexicon().is_adjective(plain) or "-" in plain)
