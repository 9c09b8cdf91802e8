"""What each released document will say: the outcome of the review, with pseudonyms in place of what is masked.

A masked string may still stand in a released text for three reasons only: reviewers left that very place, the pseudonym
itself says it or a part of it, or it is part of an ordinary word. Anything else is no release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from shoal.errors import InputError
from shoal.results.sanitizing import Entity, Mention
from shoal.sanitizer.release.masking import REMOVED, Masked, Replacement, masked, replacements_of
from shoal.sanitizer.release.pseudonyms import pseudonyms_of
from shoal.sanitizer.review.outcome import Outcome
from shoal.sanitizer.review.strings import Strings, folded
from shoal.sanitizer.review.work import BLOCK, Item, Proposals, WorkFolder

SHOWN = 5  # open items that a message names


@dataclass(frozen=True, eq=False)
class PlannedDocument:
    """A document of the release, before it is written. Its text is made when it is asked for, and not kept."""

    name: str  # document-0001, …: says nothing about where it came from
    work: WorkFolder
    outcome: Outcome
    entities: tuple[tuple[str, str, str], ...] = field(repr=False)  # pseudonym, kind and name of each
    replacements: tuple[Replacement, ...] = field(repr=False)
    blocks: tuple[tuple[int, int], ...] = field(repr=False)

    @property
    def proposals(self) -> Proposals:
        return self.outcome.proposals

    @property
    def masked(self) -> Masked:
        return _masked(self)

    @property
    def original_spans(self) -> list[tuple[int, int, str]]:
        """Where each masked stretch stood in the original, and what stands there now."""
        spans, shift = [], 0
        for start, end, original in self.masked.pieces:
            spans.append((start + shift, start + shift + len(original), self.masked.text[start:end]))
            shift += len(original) - (end - start)
        return spans

    def original_position(self, position: int) -> int:
        """The position in the original of one in the masked text that is outside all pseudonyms."""
        before = (piece for piece in self.masked.pieces if piece[1] <= position)
        return position + sum(len(original) - (end - start) for start, end, original in before)

    @property
    def removed(self) -> int:
        """How many blocks are gone."""
        return sum(self.masked.text[start:end].strip() == REMOVED for start, end, _ in self.masked.pieces)


@lru_cache(maxsize=1)  # what is done with a document is done at once
def _masked(document: PlannedDocument) -> Masked:
    return masked(document.work.text(document.proposals), document.replacements, document.blocks)


def check_decided(outcomes: Sequence[Outcome]) -> None:
    """Refuse while anything is open, and say what."""
    waiting = [item for outcome in outcomes for item in outcome.open]
    if waiting:
        listed = ", ".join(f"{item.document} {item.id} ({item.kind})" for item in waiting[:SHOWN])
        more = ", …" if len(waiting) > SHOWN else ""
        undecided = "1 item is" if len(waiting) == 1 else f"{len(waiting):,} items are"
        raise InputError(
            f"{undecided} undecided: {listed}{more}; decide with shoal review, adjudicate where "
            "reviewers differ, or let a rule decide what nobody disputes",
            option="accept_rest",
        )


def plan(work: WorkFolder, outcomes: Sequence[Outcome]) -> tuple[PlannedDocument, ...]:
    """All documents in the order of the release, which says nothing about the order of the input."""
    ordered = sorted(
        outcomes, key=lambda outcome: work.secret_digest("order", outcome.proposals.digest, outcome.proposals.document)
    )
    blocks = [_blocks(outcome.masked) for outcome in ordered]
    entities = [_entities(outcome.masked, removed) for outcome, removed in zip(ordered, blocks, strict=True)]
    texts = (work.text(outcome.proposals) for outcome in ordered)
    pseudonyms = pseudonyms_of(entities, texts, work.settings["style"], work.settings["scope"])
    return tuple(
        PlannedDocument(
            f"document-{number + 1:04}",
            work,
            outcome,
            tuple((pseudonym, entity.kind, entity.name) for pseudonym, entity in zip(given, named, strict=True)),
            tuple(replacements_of(named, given)),
            tuple(blocks[number]),
        )
        for number, (outcome, named, given) in enumerate(zip(ordered, entities, pseudonyms, strict=True))
    )


def leftovers(planned: Sequence[PlannedDocument], strings: Strings) -> tuple[dict[str, dict[str, int]], int]:
    """How often each masked string may be found in each file, and in how many places reviewers left one.

    Counted in the texts that will be released; what is allowed follows from the decisions, not from those texts. A
    document that would show what nobody left is refused.
    """
    counts: dict[str, dict[str, int]] = {}
    on_purpose = 0
    for document in planned:
        left = document.outcome.left_spans(document.work.text(document.proposals))
        found: Counter[str] = Counter()
        for occurrence in strings.find(document.masked.text):
            start, end = occurrence.start, occurrence.end
            # "Pers12 may" has a masked "12 May" in it, which nobody reads.
            with_pseudonym = any(begins < end and start < ends for begins, ends, _ in document.masked.pieces)
            if occurrence.is_readable and not with_pseudonym:
                span = document.original_position(start), document.original_position(end)
                if span not in left:
                    raise InputError(
                        f"a masked string would be readable at {span[0]}-{span[1]} of {document.proposals.document}, "
                        "and nobody left it there; add this span in the review, then run redact again"
                    )
                on_purpose += 1
            found[occurrence.string] += 1
        counts[f"documents/{document.name}.txt"] = dict(sorted(found.items()))
    return counts, on_purpose


def _blocks(items: Sequence[Item]) -> list[tuple[int, int]]:
    return [(mention.start, mention.end) for item in items if item.kind == BLOCK for mention in item.mentions]


def _entities(items: Sequence[Item], blocks: Sequence[tuple[int, int]]) -> tuple[Entity, ...]:
    """Items of one kind and name are one entity: repeats join what they repeat.

    Mentions that go with a block are left out: a number that nobody sees would reveal who is in the block.
    """
    joined: dict[tuple[str, str], tuple[Item, set[Mention]]] = {}
    for item in items:
        mentions = [mention for mention in item.mentions if not _within(mention, blocks)]
        if item.kind != BLOCK and mentions:
            key = item.kind, folded(item.name) or item.name
            joined.setdefault(key, (item, set()))[1].update(mentions)
    entities = (
        Entity(item.kind, tuple(sorted(mentions)), item.name, item.role or "direct", item.probability)
        for item, mentions in joined.values()
    )
    return tuple(sorted(entities, key=lambda entity: entity.mentions[0]))


def _within(mention: Mention, blocks: Sequence[tuple[int, int]]) -> bool:
    return any(start <= mention.start and mention.end <= end for start, end in blocks)
