"""What each released document says: the text with what was accepted replaced, and back again to the last character.

The way back goes by place, never by searching for pseudonyms: a text that already has a "Pers1", or that has it twice
for different reasons, comes back as it was. A masked string may still stand in a released text for three reasons only:
reviewers left that very place, the pseudonym itself says it or a part of it, or it is part of an ordinary word.
Anything else is no release.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from shoal.errors import InputError
from shoal.results.sanitizing import Entity, Mention
from shoal.sanitizer.release.pseudonyms import pseudonyms_of
from shoal.sanitizer.review.outcome import Outcome
from shoal.sanitizer.review.strings import Strings, folded
from shoal.sanitizer.review.work import BLOCK, Item, Proposals, WorkFolder

HIDDEN_WORDS = "[…]"  # words that gave a document away
REMOVED = "[removed]"  # the same for every block, whatever its length

_ARTICLE = re.compile(r"\b(?:an?|the)\s+$", re.IGNORECASE)
_LONGEST_ARTICLE = 5  # characters, with the space after it

Replacement = tuple[int, int, str]  # start and end in the original, and what stands there instead
Piece = tuple[int, int, str]  # start and end in the masked text, and what stood there


@dataclass(frozen=True)
class Masked:
    """A masked text, which may be shown, and its pieces, which may not."""

    text: str
    pieces: tuple[Piece, ...] = field(repr=False)  # in the order of the text


def replacements_of(entities: Sequence[Entity], pseudonyms: Sequence[str]) -> list[Replacement]:
    """Every mention of every entity with the entity's pseudonym."""
    return [
        (mention.start, mention.end, pseudonym)
        for entity, pseudonym in zip(entities, pseudonyms, strict=True)
        for mention in entity.mentions
    ]


def masked(text: str, replacements: Iterable[Replacement], blocks: Iterable[tuple[int, int]] = ()) -> Masked:
    """The text without what was accepted.

    Stretches that overlap are hidden together: by a block if one is among them, else by the longest one's pseudonym
    (the first of equally long ones). Blocks that touch become one. A replacement with an article ("a physician") takes
    the place of the article before it, too.

    >>> masked("Ann met Bob.", [(0, 3, "Pers1"), (8, 11, "Pers2")]).text
    'Pers1 met Pers2.'
    """
    joined = _joined(_checked(text, [(start, end, REMOVED) for start, end in blocks]), touching=True)
    stretches = _joined([*joined, *_checked(text, replacements)], touching=False)
    parts: list[str] = []
    pieces: list[Piece] = []
    length = shown_until = 0
    for start, end, shown in stretches:
        start = _with_article(shown, text, start, shown_until)
        if shown[-1:].isdigit() and text[end : end + 1].isdigit():
            shown += " "  # or "Pers1" before a 2 would read as another's pseudonym
        parts += [text[shown_until:start], shown]
        length += start - shown_until
        pieces.append((length, length + len(shown), text[start:end]))
        length += len(shown)
        shown_until = end
    return Masked("".join([*parts, text[shown_until:]]), tuple(pieces))


def unmasked(masked_text: str, pieces: Iterable[Piece]) -> str:
    """The original, exactly: `unmasked(m.text, m.pieces)` is the text that `m` was made from."""
    parts: list[str] = []
    kept_from = 0
    for start, end, original in pieces:
        if not kept_from <= start <= end <= len(masked_text):
            raise InputError(
                f"a piece at {start} to {end} does not fit a masked text of {len(masked_text)} characters; "
                "give the text as it was released, and its own vault"
            )
        parts += [masked_text[kept_from:start], original]
        kept_from = end
    return "".join([*parts, masked_text[kept_from:]])


def _with_article(shown: str, text: str, start: int, free_from: int) -> int:
    """Where a stretch starts if it takes the article before it along: "the physician" becomes "a practitioner"."""
    if not shown.startswith(("a ", "an ")):
        return start
    article = _ARTICLE.search(text, max(start - _LONGEST_ARTICLE, free_from), start)
    return start if article is None else article.start()


def _checked(text: str, stretches: Iterable[Replacement]) -> list[Replacement]:
    listed = list(stretches)
    for start, end, _ in listed:
        if not 0 <= start < end <= len(text):
            raise InputError(
                f"a stretch from {start} to {end} is not in a text of {len(text)} characters; "
                "give places of this text, the end after the start"
            )
    return listed


def _joined(stretches: list[Replacement], touching: bool) -> list[Replacement]:
    """Disjoint stretches in the order of the text; what overlaps is one, with the text of the strongest."""
    joined: list[Replacement] = []
    strength = (False, 0)  # whether it is a block, its length
    for start, end, shown in sorted(stretches, key=lambda stretch: (stretch[0], -stretch[1])):
        own = (shown == REMOVED, end - start)
        if joined and (start < joined[-1][1] or (touching and start == joined[-1][1])):
            before_start, before_end, before_shown = joined.pop()
            joined.append((before_start, max(before_end, end), before_shown if strength >= own else shown))
            strength = max(strength, own)
        else:
            joined.append((start, end, shown))
            strength = own
    return joined


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
