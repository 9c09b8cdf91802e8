"""A policy as a TOML file that people can read: beside every chosen sense stands what it means."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from shoal.errors import InputError
from shoal.io.files import PathLike, shown
from shoal.ontology import WordNet
from shoal.sanitizer.policies.policy import Concept, Policy
from shoal.sanitizer.policies.widening import definition_of, sense_named

__all__ = ["policy_text", "write_policy"]

WIDTH = 110  # characters of a line with words


def write_policy(policy: Policy, path: PathLike, wordnet: WordNet | None = None, force: bool = False) -> None:
    """Into a file, which is there whole or not at all; one that exists is replaced if `force` is set."""
    place = Path(path)
    if place.exists() and not force:
        raise InputError(f"{shown(place)} exists; give another name, or replace the file with force")
    aside = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        aside.write_text(policy_text(policy, wordnet), encoding="utf-8")
        os.replace(aside, place)
    except OSError as problem:
        aside.unlink(missing_ok=True)
        raise InputError(f"{shown(place)} cannot be written ({problem.strerror}); choose another place") from None


def policy_text(policy: Policy, wordnet: WordNet | None = None) -> str:
    """What stands in the file."""
    return "\n".join(_lines(policy, wordnet or WordNet())) + "\n"


def _lines(policy: Policy, wordnet: WordNet) -> Iterator[str]:
    yield f"name = {_quoted(policy.name)}"
    yield f"title = {_quoted(policy.title)}"
    yield f"first_senses_only = {'true' if policy.first_senses_only else 'false'}"
    yield from _listed("ignore", policy.ignore)
    for topic in policy.topics:
        yield from ("", "[[topics]]", f"id = {_quoted(topic.id)}", f"title = {_quoted(topic.title)}")
        for concept in topic.concepts:
            yield from ("", "[[topics.concepts]]", f"word = {_quoted(concept.word)}")
            yield from _senses("senses", concept.senses, concept, wordnet)
            yield from _senses("without", concept.without, concept, wordnet)
            yield from _listed("without_words", concept.without_words)
            yield from _listed("words", concept.words)


def _senses(key: str, names: Sequence[str], concept: Concept, wordnet: WordNet) -> Iterator[str]:
    if names:
        yield f"{key} = ["
        for name in names:
            meaning = definition_of(sense_named(name, concept.word, wordnet), wordnet)
            yield f"    {_quoted(name)}, # {meaning}"
        yield "]"


def _listed(key: str, words: Iterable[str]) -> Iterator[str]:
    quoted = [_quoted(word) for word in words]
    line = f"{key} = [{', '.join(quoted)}]"
    if not quoted:
        return
    if len(line) <= WIDTH:
        yield line
        return
    yield f"{key} = ["
    line = "   "
    for word in quoted:
        if len(line) + len(word) + 2 > WIDTH:
            yield line
            line = "   "
        line += f" {word},"
    yield from (line, "]")


def _quoted(text: str) -> str:
    """JSON's strings are TOML's, but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
