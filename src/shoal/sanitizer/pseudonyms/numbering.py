"""A pseudonym for every entity: a number by kind (Pers1), the kind alone ([person]), or something more general.

Numbers follow the order of first appearance, so a single text gives nothing away by them that it does not show anyway.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import count

from shoal.errors import InputError
from shoal.results.sanitizing import KINDS, Entity
from shoal.sanitizer.entities.identity import same_entities
from shoal.sanitizer.pseudonyms.general import NOUN_OF_KIND, Generalisation

__all__ = ["SCOPES", "STYLES", "pseudonyms_of"]

STYLES = ("numbered", "category", "general")
SCOPES = ("document", "collection")

Pseudonyms = tuple[tuple[str, ...], ...]

# Short enough to read past, and no words of their own.
PREFIX = dict(
    zip(
        KINDS,
        (
            *("Pers", "Org", "Loc", "Date", "Addr", "Mail", "Phone", "Acct", "Ident", "Case", "Sum", "Qty"),
            *("Prof", "Age", "Nat", "Url", "Misc"),
        ),
        strict=True,
    )
)


def pseudonyms_of(
    documents: Sequence[Sequence[Entity]],
    texts: Collection[str],
    style: str = "numbered",
    scope: str = "document",
) -> Pseudonyms:
    """For each document, one replacement per entity.

    The same entity has the same pseudonym everywhere in a document, or in the collection if that is the scope. A number
    that some text already has after the prefix is left out, so that a "Pers1" of the original is nobody's pseudonym.
    Give the entities that are to be masked and no others, and the documents in the order of the release: gaps and order
    of the numbers then tell nothing.

    >>> from shoal.results.sanitizing import Mention
    >>> ann = Entity("PERSON", (Mention(0, 3),), "Ann", "direct", 1.0)
    >>> bob = Entity("PERSON", (Mention(8, 11),), "Bob", "direct", 1.0)
    >>> pseudonyms_of([[ann, bob]], ["Ann met Bob."])
    (('Pers1', 'Pers2'),)
    """
    _check(documents, texts, style, scope)
    if style == "category":
        return _each(documents, lambda entity: f"[{NOUN_OF_KIND[entity.kind]}]")
    if style == "general":
        return _each(documents, Generalisation())
    if scope == "document":
        numbered = (_numbered([entities], [text]) for entities, text in zip(documents, texts, strict=True))
        return tuple(pseudonyms for (pseudonyms,) in numbered)
    return _numbered(documents, texts)


def _each(documents: Sequence[Sequence[Entity]], replacement: Callable[[Entity], str]) -> Pseudonyms:
    return tuple(tuple(map(replacement, entities)) for entities in documents)


def _numbered(documents: Sequence[Sequence[Entity]], texts: Iterable[str]) -> Pseudonyms:
    """Numbers in the order of first appearance, for all documents together."""
    same = same_entities(documents)
    prefixes = {PREFIX[entity.kind] for entities in documents for entity in entities}
    numbers = _free_numbers(prefixes, texts)
    pseudonym_of: dict[tuple[str, int], str] = {}  # by prefix and entity: one name may be of a person and of a place
    keys = [
        [(PREFIX[entity.kind], identity) for entity, identity in zip(entities, identities, strict=True)]
        for entities, identities in zip(documents, same, strict=True)
    ]
    for entities, keys_of_document in zip(documents, keys, strict=True):
        for place in sorted(range(len(entities)), key=lambda place: _first_place(entities[place])):
            key = keys_of_document[place]
            if key not in pseudonym_of:
                pseudonym_of[key] = f"{key[0]}{next(numbers[key[0]])}"
    return tuple(tuple(pseudonym_of[key] for key in keys_of_document) for keys_of_document in keys)


def _first_place(entity: Entity) -> tuple[int, int]:
    return min(((mention.start, -mention.end) for mention in entity.mentions), default=(0, 0))


def _free_numbers(prefixes: Iterable[str], texts: Iterable[str]) -> dict[str, Iterator[int]]:
    """For each prefix 1, 2, … without those that stand after it in a text, in small letters or capitals."""
    after_prefix = {prefix: re.compile(rf"{prefix}(\d+)", re.IGNORECASE) for prefix in prefixes}
    taken: dict[str, set[str]] = {prefix: set() for prefix in after_prefix}
    for text in texts:
        for prefix, pattern in after_prefix.items():
            for digits in pattern.findall(text):
                # A text with "Pers12" has "Pers1" in it, too.
                taken[prefix] |= {digits[:length] for length in range(1, len(digits) + 1)}
    return {prefix: _without(numbers) for prefix, numbers in taken.items()}


def _without(taken: set[str]) -> Iterator[int]:
    return (number for number in count(1) if str(number) not in taken)


def _check(documents: Sequence[Sequence[Entity]], texts: Collection[str], style: str, scope: str) -> None:
    if style not in STYLES:
        raise InputError(f"style={style!r} is unknown; give one of: {', '.join(STYLES)}")
    if scope not in SCOPES:
        raise InputError(f"scope={scope!r} is unknown; give one of: {', '.join(SCOPES)}")
    if len(documents) != len(texts):
        raise InputError(f"entities of {len(documents)} documents and {len(texts)} texts; give one text per document")
    unknown = sorted({entity.kind for entities in documents for entity in entities} - set(KINDS))
    if unknown:
        raise InputError(f"kind {unknown[0]!r} of an entity is unknown; give one of: {', '.join(KINDS)}")
