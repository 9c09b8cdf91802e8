"""Rules as people read and change them: the patterns and lists of words of rules.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

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
