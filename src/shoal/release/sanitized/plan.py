"""What each released document will say: the outcome of the review, with pseudonyms in place of what is masked."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from shoal.errors import InputError
from shoal.results.sanitizing import Entity, Mention
from shoal.sanitizer.pseudonyms import REMOVED, Masked, masked, pseudonyms_of, replacements_of
from shoal.sanitizer.pseudonyms.replacing import Replacement
from shoal.sanitizer.review.folding import folded
from shoal.sanitizer.review.items import BLOCK, Item, Proposals
from shoal.sanitizer.review.outcome import Collection as ReviewedCollection
from shoal.sanitizer.review.outcome import Outcome
from shoal.sanitizer.review.work import WorkFolder

__all__ = ["Planned", "check_decided", "plan"]

SHOWN = 5  # open items that a message names


@dataclass(frozen=True, eq=False)
class Planned:
    """A document of the release, before it is written. Its text is made when it is asked for, and not kept."""

    name: str  # document-0001, …: says nothing about where it came from
    work: WorkFolder
    proposals: Proposals
    entities: tuple[tuple[str, str, str], ...] = field(repr=False)  # pseudonym, kind and name of each
    replacements: tuple[Replacement, ...] = field(repr=False)
    blocks: tuple[tuple[int, int], ...] = field(repr=False)

    @property
    def masked(self) -> Masked:
        return _masked(self)

    @property
    def original_places(self) -> list[tuple[int, int, str]]:
        """Where each masked stretch stood in the original, and what stands there now."""
        places, shift = [], 0
        for start, end, original in self.masked.pieces:
            places.append((start + shift, start + shift + len(original), self.masked.text[start:end]))
            shift += len(original) - (end - start)
        return places

    def original_place(self, place: int) -> int:
        """Where a place of the masked text, outside all pseudonyms, was in the original."""
        before = (piece for piece in self.masked.pieces if piece[1] <= place)
        return place + sum(len(original) - (end - start) for start, end, original in before)

    @property
    def removed(self) -> int:
        """How many blocks are gone."""
        return sum(self.masked.text[start:end].strip() == REMOVED for start, end, _ in self.masked.pieces)


@lru_cache(maxsize=1)  # what is done with a document is done at once
def _masked(document: Planned) -> Masked:
    return masked(document.work.text(document.proposals), document.replacements, document.blocks)


class _Texts(Collection[str]):
    """The texts of documents, read one at a time."""

    def __init__(self, work: WorkFolder, outcomes: Sequence[Outcome]) -> None:
        self._work = work
        self._outcomes = outcomes

    def __iter__(self) -> Iterator[str]:
        return (self._work.text(outcome.proposals) for outcome in self._outcomes)

    def __len__(self) -> int:
        return len(self._outcomes)

    def __contains__(self, text: object) -> bool:
        return any(text == other for other in self)


def check_decided(outcomes: Sequence[Outcome]) -> None:
    """Refuse while anything is open, and say what."""
    waiting = [item for outcome in outcomes for item in outcome.open]
    if waiting:
        listed = ", ".join(f"{item.document} {item.id} ({item.kind})" for item in waiting[:SHOWN])
        more = ", …" if len(waiting) > SHOWN else ""
        raise InputError(
            f"{len(waiting)} items are not decided: {listed}{more}; decide with shoal review "
            "(--adjudicate where reviewers differ), or pass --accept-rest P for what nobody disputes"
        )


def plan(collection: ReviewedCollection, outcomes: Sequence[Outcome], style: str, scope: str) -> tuple[Planned, ...]:
    """All documents in the order of the release, which says nothing about the order of the input."""
    work = collection.work
    ordered = sorted(
        outcomes, key=lambda outcome: work.secret_digest("order", outcome.proposals.digest, outcome.proposals.document)
    )
    blocks = [_blocks(outcome.masked) for outcome in ordered]
    entities = [_entities(outcome.masked, gone) for outcome, gone in zip(ordered, blocks, strict=True)]
    pseudonyms = pseudonyms_of(entities, _Texts(work, ordered), style, scope)
    planned = []
    for number, outcome in enumerate(ordered):
        named = zip(pseudonyms[number], entities[number], strict=True)
        planned.append(
            Planned(
                f"document-{number + 1:04}",
                work,
                outcome.proposals,
                tuple((pseudonym, entity.kind, entity.name) for pseudonym, entity in named),
                tuple(replacements_of(entities[number], pseudonyms[number])),
                tuple(blocks[number]),
            )
        )
    return tuple(planned)


def _blocks(items: Sequence[Item]) -> list[tuple[int, int]]:
    return [(mention.start, mention.end) for item in items if item.kind == BLOCK for mention in item.mentions]


def _entities(items: Sequence[Item], blocks: Sequence[tuple[int, int]]) -> tuple[Entity, ...]:
    """Items of one kind and name are one entity: repeats join what they repeat.

    Mentions that go with a block are left out: a number that nobody sees would tell who is in the block.
    """
    joined: dict[tuple[str, str], tuple[Item, set[Mention]]] = {}
    for item in items:
        mentions = [mention for mention in item.mentions if not _within(mention, blocks)]
        if item.kind != BLOCK and mentions:
            key = item.kind, folded(item.name) or item.name
            joined.setdefault(key, (item, set()))[1].update(mentions)
    entities = (
        Entity(item.kind, tuple(sorted(mentions, key=_place)), item.name, item.role or "direct", item.probability)
        for item, mentions in joined.values()
    )
    return tuple(sorted(entities, key=lambda entity: _place(entity.mentions[0])))


def _within(mention: Mention, blocks: Sequence[tuple[int, int]]) -> bool:
    return any(start <= mention.start and mention.end <= end for start, end in blocks)


def _place(mention: Mention) -> tuple[int, int]:
    return mention.start, mention.end
