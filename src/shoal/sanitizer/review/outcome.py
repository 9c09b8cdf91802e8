"""Outcome: what the decisions make of each document, and what is still open.

A string that is masked somewhere must not stand elsewhere, whatever its case, accents, spaces or hyphens. Where it
does, there is a repeat: one more item to decide about. Reviewers may leave it, by rejecting it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from shoal.results.sanitizing import KINDS, Mention
from shoal.sanitizer.policies.words import join_overlapping
from shoal.sanitizer.review.decisions import ACCEPTED_UNSEEN, DECIDED, PENDING, ReviewState, Verdict, replay
from shoal.sanitizer.review.strings import Occurrence, RememberedSearch, Strings, folded, letters_of, strings_to_search
from shoal.sanitizer.review.work import BLOCK, Item, Proposals, WorkFolder

Span = tuple[int, int]
# Kinds that identify wherever they stand. What else a rule masked in one document says little about others: of such
# repeats one in twenty had to be masked in the court cases.
EVERYWHERE = frozenset(("PERSON", "EMAIL", "PHONE", "ACCOUNT", "ID", "CASE", "ADDRESS", "URL", BLOCK))
REPEATED_ELSEWHERE = 0.05


@dataclass(frozen=True)
class Outcome:
    """Of one document: every item, what holds for it, and the stretches that are masked."""

    proposals: Proposals
    items: tuple[Item, ...]
    verdicts: tuple[Verdict, ...]
    masked: tuple[Item, ...] = ()  # those that are masked, each with the places where it is

    @property
    def open(self) -> tuple[Item, ...]:
        """Items that are pending or disputed."""
        return tuple(item for item, verdict in self.judged if verdict.state != DECIDED)

    @property
    def judged(self) -> Iterator[tuple[Item, Verdict]]:
        """Each item with what holds for it."""
        return zip(self.items, self.verdicts, strict=True)

    def left_spans(self, text: str) -> frozenset[Span]:
        """Where items stand that reviewers looked at and left, from the first to the last letter. A decision about a
        longer stretch is none about what is within it.
        """
        left = (item for item, verdict in self.judged if _is_decided(verdict, masked=False) and verdict.asked)
        spans = (letters_of(text, mention.start, mention.end) for item in left for mention in item.mentions)
        return frozenset(span for span in spans if span is not None)


def _is_decided(verdict: Verdict, masked: bool) -> bool:
    return verdict.state == DECIDED and verdict.masked == masked


@dataclass
class MaskedString:
    """A string that is masked: the first item that has it, in which documents, and whether all must be without it."""

    item: Item
    documents: set[str] = field(default_factory=set)
    everywhere: bool = False

    def is_masked_in(self, document: str) -> bool:
        return self.everywhere or document in self.documents


class ReviewedCollection:
    """All documents of a work folder after the decisions of its log. Texts are read one at a time."""

    def __init__(self, work: WorkFolder, state: ReviewState, remembered: RememberedSearch | None = None) -> None:
        """`remembered` has searched the same texts before; keep it to look again and again."""
        self.work = work
        self.state = state
        self._remembered = RememberedSearch() if remembered is None else remembered

    def outcomes(self) -> Iterator[Outcome]:
        """The outcome of each document, repeats among its items."""
        return map(self.outcome, self.work.proposals)

    def outcome(self, proposals: Proposals) -> Outcome:
        """The outcome of one document."""
        text = self.work.text(proposals)
        proposed = self._proposed(proposals, text)
        repeats = tuple(self._repeats(proposed, text))
        verdicts = tuple(self.state.verdict(item.key) for item in repeats)
        return _outcome(proposals, (*proposed.items, *repeats), (*proposed.verdicts, *verdicts), text)

    @cached_property
    def masked_strings(self) -> dict[str, MaskedString]:
        """Every string to search for, because it is masked somewhere."""
        strings: dict[str, MaskedString] = {}
        for proposals in self.work.proposals:
            text = self.work.text(proposals)
            masked = self._proposed(proposals, text).masked
            spans = [(item, mention.start, mention.end) for item in masked for mention in item.mentions]
            item_at = {start: item for item, start, _ in spans}
            spans += [(item_at[start], start, end) for start, end in _Stretches(masked).joined]
            for item, start, end in spans:
                for string in strings_to_search(item.kind, text[start:end]):
                    known = strings.setdefault(string, MaskedString(item))
                    known.documents.add(item.document)
                    known.everywhere |= item.kind in EVERYWHERE or self._is_reviewed(item)
        return strings

    def _is_reviewed(self, item: Item) -> bool:
        return any(reviewer != ACCEPTED_UNSEEN for reviewer in self.state.by_reviewer.get(item.key, ()))

    @cached_property
    def search(self) -> Strings:
        """Finds those strings."""
        return Strings(self.masked_strings)

    def verdict(self, item: Item) -> Verdict:
        """An entity below the threshold stays unless somebody decides otherwise."""
        verdict = self.state.verdict(item.key)
        below = item.probability < self.work.settings["threshold"]
        untouched = verdict.state == PENDING and item.key not in self.state.by_reviewer
        return Verdict(DECIDED, asked=False) if below and untouched else verdict

    def _proposed(self, proposals: Proposals, text: str) -> Outcome:
        """What was proposed and what reviewers added, before repeats."""
        added = (
            _added(decision.item, proposals.document, decision.kind, decision.span, text)
            for decision in self.state.added.get(proposals.document, ())
        )
        items = (*proposals.items, *(item for item in added if item is not None))
        return _outcome(proposals, items, tuple(map(self.verdict, items)), text)

    def _repeats(self, outcome: Outcome, text: str) -> Iterator[Item]:
        """Masked strings that can still be read, unless a reviewer left that very string."""
        covered, pending = _Stretches(outcome.masked), _Stretches(outcome.open)
        left = outcome.left_spans(text)
        found = self._remembered.readable(self.search, outcome.proposals.digest, text)
        for occurrence in (part for whole in found for part in (whole, *self._exposed(whole, covered, text))):
            start, end = occurrence.start, occurrence.end
            if not (covered.cover(start, end) or pending.cover(start, end) or (start, end) in left):
                known, document = self.masked_strings[occurrence.string], outcome.proposals.document
                yield replace(
                    known.item,
                    document=document,
                    id=f"r{start}-{end}",
                    mentions=(Mention(start, end),),
                    probability=1.0 if known.is_masked_in(document) else REPEATED_ELSEWHERE,
                    within=occurrence.within,
                )

    def _exposed(self, whole: Occurrence, covered: _Stretches, text: str) -> Iterator[Occurrence]:
        """Masked strings in what a mask leaves of a longer one: "Majesty" where "Britannic" alone is masked."""
        for start, end in covered.gaps(whole.start, whole.end):
            for part in self.search.readable(text[start:end]):
                yield replace(part, start=start + part.start, end=start + part.end)


def current(work: WorkFolder, remembered: RememberedSearch | None = None) -> ReviewedCollection:
    """The collection as its log has it now."""
    return ReviewedCollection(work, replay(work.log.read(), work.settings["reviewers"]), remembered)


def _outcome(proposals: Proposals, items: tuple[Item, ...], verdicts: tuple[Verdict, ...], text: str) -> Outcome:
    masked = (
        shrunk(item, verdict.span, text) if verdict.span else item
        for item, verdict in zip(items, verdicts, strict=True)
        if _is_decided(verdict, masked=True)
    )
    return Outcome(proposals, items, verdicts, tuple(masked))


def _added(id: str, document: str, kind: str, span: Span | None, text: str) -> Item | None:
    """A stretch somebody added; an entity is masked wherever the document has the same string."""
    if span is None or not 0 <= span[0] < span[1] <= len(text) or kind not in (*KINDS, BLOCK):
        return None
    name = text[slice(*span)]
    mentions = {Mention(*span)}
    if kind != BLOCK:
        occurrences = Strings([folded(name)]).find(text)
        mentions |= {Mention(found.start, found.end) for found in occurrences if not found.within}
    return Item(document, id, kind, name, tuple(sorted(mentions)), 1.0)


def shrunk(item: Item, span: Span, text: str) -> Item:
    """The item with less of it masked: a block becomes the span. An entity keeps its places, and each that has the same
    part shrinks to it; others, such as a surname by itself, stay as they are.
    """
    if item.kind == BLOCK:
        return replace(item, mentions=(Mention(*span),))
    part = text[slice(*span)]
    around = next((m for m in item.mentions if m.start <= span[0] and span[1] <= m.end), Mention(*span))
    mentions = set()
    for mention in item.mentions:
        if text[mention.start : mention.end] == text[around.start : around.end]:  # even if it has the part twice
            shift = mention.start - around.start
            mentions.add(Mention(span[0] + shift, span[1] + shift))
        else:
            mentions.add(_part_of(mention, part, text) or mention)
    in_name = _part_of(Mention(0, len(item.name)), part, item.name)
    name = item.name if in_name is None else item.name[in_name.start : in_name.end]
    return replace(item, mentions=tuple(sorted(mentions)), name=name)


def equal_part(item: Item, text: str, part: str) -> Span | None:
    """Where an item has a part that another one shrinks to; None if it does not have it."""
    spans = (_part_of(mention, part, text) for mention in item.mentions)
    return next(((span.start, span.end) for span in spans if span is not None), None)


def _part_of(mention: Mention, part: str, text: str) -> Mention | None:
    """Where a mention has a part: as whole words in any spelling, or else exactly as it is."""
    written = text[mention.start : mention.end]
    whole = next((found for found in Strings([folded(part)]).find(written) if not found.within), None)
    start, end = (written.find(part), written.find(part) + len(part)) if whole is None else (whole.start, whole.end)
    return None if start < 0 else Mention(mention.start + start, mention.start + end)


class _Stretches:
    """The stretches that items cover."""

    def __init__(self, items: Iterable[Item]) -> None:
        self.joined = join_overlapping((mention.start, mention.end) for item in items for mention in item.mentions)
        self._starts = [start for start, _ in self.joined]

    def cover(self, start: int, end: int) -> bool:
        """Whether a place is within one of them."""
        at = bisect_right(self._starts, start) - 1
        return at >= 0 and end <= self.joined[at][1]

    def gaps(self, start: int, end: int) -> Iterator[Span]:
        """The parts of a place that none of them covers, if one covers some of it."""
        within = [(first, last) for first, last in self.joined if first < end and start < last]
        bounds = [start, *(bound for stretch in within for bound in stretch), end]
        if within:
            yield from ((first, last) for first, last in zip(bounds[::2], bounds[1::2], strict=True) if first < last)
