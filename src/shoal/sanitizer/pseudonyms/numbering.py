"""A pseudonym for every entity: a number by kind (Pers1), the kind alone ([person]), or something more general.

Numbers follow the order of first appearance, so a single text gives nothing away by them that it does not show anyway.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import count

from shoal.errors import InputError
from shoal.results.sanitizing import KINDS, Entity
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
    texts: Sequence[str],
    style: str = "numbered",
    scope: str = "document",
    same: Sequence[Sequence[int]] | None = None,
) -> Pseudonyms:
    """For each document, one replacement per entity.

    A number that some text already has after the prefix is left out, so that a "Pers1" of the original is nobody's
    pseudonym. With the scope "collection", `same` gives every entity its number over all documents (`same_entities`);
    without it, entities of one kind are the same when their names are, small letters and spaces aside. Give the
    entities that are to be masked and no others, and the documents in the order of the release: gaps and order of the
    numbers then tell nothing.

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
        numbered = (_numbered([entities], [text], None) for entities, text in zip(documents, texts, strict=True))
        return tuple(pseudonyms for (pseudonyms,) in numbered)
    return _numbered(documents, texts, same)


def _each(documents: Sequence[Sequence[Entity]], replacement: Callable[[Entity], str]) -> Pseudonyms:
    return tuple(tuple(map(replacement, entities)) for entities in documents)


def _numbered(
    documents: Sequence[Sequence[Entity]], texts: Sequence[str], same: Sequence[Sequence[int]] | None
) -> Pseudonyms:
    """Numbers in the order of first appearance, for all documents together."""
    numbers = {prefix: _free_numbers(prefix, texts) for prefix in {PREFIX[e.kind] for row in documents for e in row}}
    pseudonym_of: dict[tuple[str, Hashable], str] = {}
    replacements: list[tuple[str, ...]] = []
    for row, entities in enumerate(documents):
        for place in sorted(range(len(entities)), key=lambda place: _first_place(entities[place])):
            key = _key(entities[place], None if same is None else same[row][place])
            if key not in pseudonym_of:
                prefix = PREFIX[entities[place].kind]
                pseudonym_of[key] = f"{prefix}{next(numbers[prefix])}"
        keys = (_key(entity, None if same is None else same[row][place]) for place, entity in enumerate(entities))
        replacements.append(tuple(pseudonym_of[key] for key in keys))
    return tuple(replacements)


def _key(entity: Entity, number: int | None) -> tuple[str, Hashable]:
    """What an entity shares with those that are the same."""
    return entity.kind, " ".join(entity.name.casefold().split()) if number is None else number


def _first_place(entity: Entity) -> tuple[int, int]:
    return min(((mention.start, -mention.end) for mention in entity.mentions), default=(0, 0))


def _free_numbers(prefix: str, texts: Iterable[str]) -> Iterator[int]:
    """1, 2, … without those that stand after the prefix in a text, in small letters or capitals."""
    after_prefix = re.compile(rf"{prefix}(\d+)", re.IGNORECASE)
    written = {digits for text in texts for digits in after_prefix.findall(text)}
    # A text with "Pers12" has "Pers1" in it, too.
    taken = {digits[:length] for digits in written for length in range(1, len(digits) + 1)}
    return (number for number in count(1) if str(number) not in taken)


def _check(documents: Sequence[Sequence[Entity]], texts: Sequence[str], style: str, scope: str) -> None:
    if style not in STYLES:
        raise InputError(f"style={style!r} is unknown; give one of: {', '.join(STYLES)}")
    if scope not in SCOPES:
        raise InputError(f"scope={scope!r} is unknown; give one of: {', '.join(SCOPES)}")
    if len(documents) != len(texts):
        raise InputError(f"entities of {len(documents)} documents and {len(texts)} texts; give one text per document")
    unknown = sorted({entity.kind for entities in documents for entity in entities} - set(KINDS))
    if unknown:
        raise InputError(f"kind {unknown[0]!r} of an entity is unknown; give one of: {', '.join(KINDS)}")
