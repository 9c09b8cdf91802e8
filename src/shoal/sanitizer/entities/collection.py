"""One number for an entity throughout a collection."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from shoal.results.sanitizing import Entity
from shoal.sanitizer.entities.linking import same_person
from shoal.sanitizer.entities.spelling import folded, name_key, name_words

__all__ = ["same_entities"]

_NAMED = ("ORG", "LOC", "MISC")


def same_entities(documents: Sequence[Sequence[Entity]]) -> list[tuple[int, ...]]:
    """For each entity of each document its number in the collection, from 0 in the order of first appearance.

    Entities are the same if they have the same kind and name, whatever the spelling. A person's shorter name ("Smith",
    "J. Smith") belongs to the only longer name it fits; if it fits several, it is a person of its own.
    """
    people = {
        name_key(entity.name): name_words(entity.name)
        for document in documents
        for entity in document
        if entity.kind == "PERSON"
    }
    owner = _owners(people)
    numbers: dict[tuple[str, str], int] = {}
    numbered = []
    for document in documents:
        row = []
        for entity in document:
            key = name_key(entity.name)
            family = "NAME" if entity.kind in _NAMED else entity.kind
            identity = (family, owner[key] if entity.kind == "PERSON" else key)
            row.append(numbers.setdefault(identity, len(numbers)))
        numbered.append(tuple(row))
    return numbered


def _owners(people: dict[str, list[str]]) -> dict[str, str]:
    """The key of the longest name that each name belongs to; the order of the names does not matter."""
    holders: dict[str, set[str]] = defaultdict(set)
    for key, words in people.items():
        for word in words:
            holders[folded(word)].add(key)
    owner: dict[str, str] = {}
    for key in sorted(people, key=lambda key: (-len(people[key]), -len(key), key)):
        words = people[key]
        longer = {
            owner[other]
            for other in holders[folded(words[-1] if words else key)]
            if other in owner and same_person(words, people[other])
        }
        owner[key] = longer.pop() if len(longer) == 1 else key
    return owner
