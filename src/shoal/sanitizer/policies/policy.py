"""A policy: risky topics, the concepts of each, and the WordNet senses chosen for them, in a TOML file."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from shoal.data.files import PathLike, reading, shown
from shoal.errors import InputError
from shoal.sanitizer.policies.matching import Term, TermFinder
from shoal.terms.wordnet import WordNet

BUILT_IN = ("eo13526", "health", "gdpr", "company")

_SENSE = re.compile(r".+\.n\.\d+")
_SHORTEST_TERM = 2  # letters: .22 and 9/11 would be found in every list of numbers


@dataclass(frozen=True)
class Concept:
    """A risky concept, and which of its senses are meant."""

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
        for order, (topic, concept) in enumerate((t, c) for t in self.topics for c in t.concepts):
            for text, links in self._words_of(concept, wordnet):
                term = links, order, Term(text, concept.word, topic.id)
                nearest[text] = min(nearest.get(text, term), term, key=lambda term: term[:2])
        return tuple(nearest[text][2] for text in sorted(nearest))

    def finder(self, wordnet: WordNet | None = None) -> TermFinder:
        """Finds the terms in texts."""
        return TermFinder(self.widened(wordnet), self.ignore)

    def _words_of(self, concept: Concept, wordnet: WordNet) -> Iterator[tuple[str, int]]:
        """The words of a concept, each with its number of links up to the chosen sense."""
        if not concept.senses and not concept.words:
            raise _unknown_sense("", concept.word, wordnet)  # offers what there is to choose
        senses = [_sense(name, concept.word, wordnet) for name in concept.senses]
        without = [_sense(name, concept.word, wordnet) for name in concept.without]
        unwanted = {word.casefold() for word in (*self.ignore, *concept.without_words)}
        yield from ((word, 0) for word in concept.words)
        for word, links in wordnet.words_below(senses, without, self.first_senses_only):
            if sum(map(str.isalpha, word)) >= _SHORTEST_TERM and word.casefold() not in unwanted:
                yield word, links


def _sense(name: str, word: str, wordnet: WordNet) -> int:
    """The sense with this name."""
    concept = wordnet.concept(name) if _SENSE.fullmatch(name) else None
    if concept is None:
        raise _unknown_sense(name, word, wordnet)
    return concept


def _unknown_sense(name: str, word: str, wordnet: WordNet) -> InputError:
    """The error offers the senses that the word has."""
    senses = wordnet.senses(word)
    offered = " · ".join(f"{wordnet.taxonomy.names[sense]} ({_definition(sense, wordnet)})" for sense in senses)
    remedy = f"choose from: {offered}" if offered else "WordNet does not have the word; list it under words"
    return InputError(f"the sense {name!r} of the concept {word!r} is unknown; {remedy}")


def _definition(concept: int, wordnet: WordNet) -> str:
    """The gloss without its examples."""
    return wordnet.gloss(concept).partition('; "')[0]


def _parsed(content: bytes, source: str) -> Policy:
    try:
        data = tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise InputError(f"{source} has a broken encoding; save it as UTF-8") from None
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"{source} is no TOML ({problem}); correct the file") from None
    topics = []
    for table in _tables(data, "topics", source):
        where = f"topic {table.get('id')!r} of {source}"
        concepts = [_built(Concept, entry, f"a concept of {where}") for entry in _tables(table, "concepts", where)]
        topics.append(_built(Topic, {**table, "concepts": concepts}, where))
    twice = [identifier for identifier, count in Counter(topic.id for topic in topics).items() if count > 1]
    if twice:
        raise InputError(f"{source} has the topic {twice[0]!r} more than once; give every topic an id of its own")
    policy: Policy = _built(Policy, {**data, "topics": topics}, source)
    return policy


def _tables(data: Mapping[str, Any], name: str, where: str) -> list[dict[str, Any]]:
    tables = data.get(name)
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise InputError(f"{where} has no {name}; add at least one as [[{name}]]")
    return tables


# What a key of the file may hold, by the type of the field, and how a message calls it.
_EXPECTED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "str": (lambda value: isinstance(value, str) and bool(value.strip()), "a text"),
    "bool": (lambda value: isinstance(value, bool), "true or false"),
    "tuple[str, ...]": (
        lambda value: isinstance(value, list) and all(isinstance(w, str) and any(map(str.isalnum, w)) for w in value),
        "a list of texts",
    ),
}


def _built(kind: type[Any], table: Mapping[str, Any], where: str) -> Any:
    """A value from a table of the file; what is missing, unknown or of another type is refused."""
    types = {field.name: str(field.type) for field in fields(kind)}
    for key, value in table.items():
        if key not in types:
            close = difflib.get_close_matches(key, types, n=1)
            remedy = f"did you mean {close[0]}?" if close else f"it may have: {', '.join(types)}"
            raise InputError(f"{where} has an unknown key {key!r}; {remedy}")
        is_expected, expected = _EXPECTED.get(types[key], (lambda _: True, ""))
        if not is_expected(value):
            raise InputError(f"{key} of {where} must be {expected}; correct the file")
    missing = [name for name, type_ in types.items() if type_ == "str" and name not in table]
    if missing:
        raise InputError(f"{where} has no {missing[0]}; add it")
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in table.items()})
