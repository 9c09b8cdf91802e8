"""A policy: topics, the concepts of each, and the senses that were chosen for them, in a TOML file.

name = "birds"
title = "What a bird club keeps to itself"

[[topics]]
id = "nests"
title = "Where birds breed"

[[topics.concepts]]
word = "nest"
senses = ["nest.n.01"]  # a structure in which animals lay eggs or give birth to their young
without = ["beehive.n.02"]  # senses below that are left out, with all below them
without_words = ["aery"]
words = ["breeding ledge"]  # further words, looked for as they are
"""

from __future__ import annotations

import difflib
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.io.files import PathLike, reading, shown
from shoal.ontology import WordNet
from shoal.sanitizer.matching import Term, TermFinder
from shoal.sanitizer.policies.widening import sense_named, terms_below

__all__ = ["BUILT_IN", "Concept", "Policy", "Topic"]

BUILT_IN = ("eo13526", "health", "gdpr", "company")


@dataclass(frozen=True)
class Concept:
    """A risk concept, and which of its senses are meant."""

    word: str
    senses: tuple[str, ...] = ()  # gun.n.01, …
    without: tuple[str, ...] = ()  # senses below that are not meant, with all below them
    without_words: tuple[str, ...] = ()
    words: tuple[str, ...] = ()  # looked for as they are


@dataclass(frozen=True)
class Topic:
    """A subject of the policy."""

    id: str
    title: str
    concepts: tuple[Concept, ...]


@dataclass(frozen=True)
class Policy:
    """What is risky, by topic.

    >>> policy = Policy.read("eo13526")
    >>> len(policy.topics), policy.topics[2].title
    (8, 'Cryptology')
    """

    name: str
    title: str
    topics: tuple[Topic, ...]
    first_senses_only: bool = False  # words below count only if that is their first sense
    ignore: tuple[str, ...] = ()  # words of a text that never count, however like a term they are

    @classmethod
    def read(cls, source: PathLike) -> Policy:
        """A built-in policy by its name, or the policy in a TOML file."""
        if source in BUILT_IN:
            return _parsed(files(__package__).joinpath("builtin", f"{source}.toml").read_bytes(), str(source))
        if isinstance(source, str) and "." not in source and not Path(source).exists():
            raise InputError(f"the policy {source!r} is unknown; give a TOML file or one of: {', '.join(BUILT_IN)}")
        with reading(source):
            content = Path(source).read_bytes()
        return _parsed(content, shown(source))

    def widened(self, wordnet: WordNet | None = None) -> tuple[Term, ...]:
        """All terms in alphabetical order. A term of several concepts belongs to the nearest above it."""
        wordnet = wordnet or WordNet()
        nearest: dict[str, tuple[int, int, Term]] = {}
        for place, (topic, concept) in enumerate((t, c) for t in self.topics for c in t.concepts):
            for text, links in self._terms_of(concept, wordnet):
                term = links, place, Term(text, concept.word, topic.id)
                nearest[text] = min(nearest.get(text, term), term, key=lambda term: term[:2])
        return tuple(nearest[text][2] for text in sorted(nearest))

    def finder(self, wordnet: WordNet | None = None) -> TermFinder:
        """Finds the terms in texts."""
        return TermFinder(self.widened(wordnet), self.ignore)

    def adding(self, topic: str, concept: Concept) -> Policy:
        """The policy with another concept, for the senses that a person has just chosen."""
        if topic not in [known.id for known in self.topics]:
            known = ", ".join(known.id for known in self.topics)
            raise InputError(f"the topic {topic!r} is unknown; give one of: {known}")
        topics = (
            replace(known, concepts=(*known.concepts, concept)) if known.id == topic else known for known in self.topics
        )
        return replace(self, topics=tuple(topics))

    def _terms_of(self, concept: Concept, wordnet: WordNet) -> Iterable[tuple[str, int]]:
        if not concept.senses and not concept.words:
            sense_named("", concept.word, wordnet)  # offers what there is to choose
        senses = [sense_named(name, concept.word, wordnet) for name in concept.senses]
        branches = [sense_named(name, concept.word, wordnet) for name in concept.without]
        unwanted = {word.casefold() for word in (*self.ignore, *concept.without_words)}
        below = terms_below(senses, branches, self.first_senses_only, wordnet)
        yield from ((word, 0) for word in concept.words)
        yield from ((word, links) for word, links in below if word.casefold() not in unwanted)


def _parsed(content: bytes, place: str) -> Policy:
    try:
        data = tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise InputError(f"{place} has a broken encoding; save it as UTF-8") from None
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"{place} is no TOML ({problem}); correct the file") from None
    topics = tuple(_topic(table, place) for table in _tables(data, "topics", place))
    twice = [identifier for identifier, count in Counter(topic.id for topic in topics).items() if count > 1]
    if twice:
        raise InputError(f"{place} has the topic {twice[0]!r} more than once; give every topic an id of its own")
    policy: Policy = _built(Policy, {**data, "topics": topics}, place)
    return policy


def _topic(table: Mapping[str, Any], place: str) -> Topic:
    within = f"topic {table.get('id')!r} of {place}"
    concepts = tuple(
        _built(Concept, concept, f"a concept of {within}") for concept in _tables(table, "concepts", within)
    )
    topic: Topic = _built(Topic, {**table, "concepts": concepts}, within)
    return topic


def _tables(data: Mapping[str, Any], name: str, place: str) -> list[dict[str, Any]]:
    tables = data.get(name)
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise InputError(f"{place} has no {name}; add at least one as [[{name}]]")
    return tables


# What a key of the file may hold, by the type of the field, and how a message calls it.
_RIGHT: dict[str, tuple[Callable[[Any], bool], str]] = {
    "str": (lambda value: isinstance(value, str) and bool(value.strip()), "a text"),
    "bool": (lambda value: isinstance(value, bool), "true or false"),
    "tuple[str, ...]": (
        lambda value: isinstance(value, list) and all(isinstance(w, str) and any(map(str.isalnum, w)) for w in value),
        "a list of texts",
    ),
}


def _built(kind: type[Any], table: Mapping[str, Any], place: str) -> Any:
    """A value from a table of the file; what is missing, unknown or of another type is refused."""
    expected = {field.name: str(field.type) for field in fields(kind)}
    for key, value in table.items():
        if key not in expected:
            close = difflib.get_close_matches(key, expected, n=1)
            remedy = f"did you mean {close[0]}?" if close else f"it may have: {', '.join(expected)}"
            raise InputError(f"{place} has an unknown key {key!r}; {remedy}")
        is_right, wanted = _RIGHT.get(expected[key], (lambda _: True, ""))
        if not is_right(value):
            raise InputError(f"{key} of {place} must be {wanted}; correct the file")
    missing = [name for name, type_ in expected.items() if type_ == "str" and name not in table]
    if missing:
        raise InputError(f"{place} has no {missing[0]}; add it")
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in table.items()})
