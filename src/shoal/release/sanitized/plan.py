"""What each released document will say: the outcome of the review, with pseudonyms in place of what is masked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from shoal.errors import InputError
from shoal.results.sanitizing import Entity, Mention
from shoal.sanitizer.pseudonyms import REMOVED, Masked, masked, pseudonyms_of, replacements_of
from shoal.sanitizer.review.items import BLOCK, Item, Proposals
from shoal.sanitizer.review.outcome import Collection, Outcome
from shoal.sanitizer.review.strings import folded

__all__ = ["Planned", "check_decided", "plan"]

SHOWN = 5  # open items that a message names


@dataclass(frozen=True)
class Planned:
    """A document of the release, before it is written."""

    name: str  # document-0001, …: says nothing about where it came from
    proposals: Proposals
    masked: Masked
    entities: tuple[tuple[str, str, str], ...] = field(repr=False)  # pseudonym, kind and name of each

    @property
    def original_places(self) -> list[tuple[int, int, str]]:
        """Where each masked stretch stood in the original, and what stands there now."""
        places, shift = [], 0
        for start, end, original in self.masked.pieces:
            places.append((start + shift, start + shift + len(original), self.masked.text[start:end]))
            shift += len(original) - (end - start)
        return places

    @property
    def removed(self) -> int:
        """How many blocks are gone."""
        return sum(self.masked.text[start:end].strip() == REMOVED for start, end, _ in self.masked.pieces)


def check_decided(outcomes: Sequence[Outcome]) -> None:
    """Refuse while anything is open, and say what."""
    waiting = [item for outcome in outcomes for item in outcome.open]
    if waiting:
        listed = ", ".join(f"{item.document} {item.id} ({item.kind})" for item in waiting[:SHOWN])
        more = ", …" if len(waiting) > SHOWN else ""
        raise InputError(
            f"{len(waiting)} items are not decided: {listed}{more}; decide with shoal review, or pass --accept-rest P"
        )


def plan(collection: Collection, outcomes: Sequence[Outcome], style: str, scope: str) -> tuple[Planned, ...]:
    """All documents in the order of the release, which says nothing about the order of the input."""
    work = collection.work
    ordered = sorted(
        outcomes, key=lambda outcome: work.secret_digest("order", outcome.proposals.digest, outcome.proposals.document)
    )
    texts = [work.text(outcome.proposals) for outcome in ordered]
    entities = [_entities(outcome.masked) for outcome in ordered]
    pseudonyms = pseudonyms_of(entities, texts, style, scope)
    planned = []
    for number, outcome in enumerate(ordered):
        replacements = replacements_of(entities[number], pseudonyms[number])
        blocks = [(m.start, m.end) for item in outcome.masked if item.kind == BLOCK for m in item.mentions]
        named = zip(pseudonyms[number], entities[number], strict=True)
        planned.append(
            Planned(
                f"document-{number + 1:04}",
                outcome.proposals,
                masked(texts[number], replacements, blocks),
                tuple((pseudonym, entity.kind, entity.name) for pseudonym, entity in named),
            )
        )
    return tuple(planned)


def _entities(items: Sequence[Item]) -> tuple[Entity, ...]:
    """Items of one kind and name are one entity: repeats join what they repeat."""
    joined: dict[tuple[str, str], tuple[Item, set[Mention]]] = {}
    for item in items:
        if item.kind != BLOCK:
            key = item.kind, folded(item.name) or item.name
            joined.setdefault(key, (item, set()))[1].update(item.mentions)
    entities = (
        Entity(item.kind, tuple(sorted(mentions, key=_place)), item.name, item.role or "direct", item.probability)
        for item, mentions in joined.values()
    )
    return tuple(sorted(entities, key=lambda entity: _place(entity.mentions[0])))


def _place(mention: Mention) -> tuple[int, int]:
    return mention.start, mention.end
