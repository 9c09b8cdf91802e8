"""Outcome: what the decisions make of each document, and what is still open.

A string that is masked somewhere must not stand elsewhere, whatever its case, accents, spaces or hyphens. Where it
does, there is a repeat: one more item to decide about. Reviewers may leave it, by rejecting it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from shoal.results.sanitizing import KINDS, Mention
from shoal.sanitizer.review.folding import folded
from shoal.sanitizer.review.items import BLOCK, Item, Proposals
from shoal.sanitizer.review.names import strings_to_search
from shoal.sanitizer.review.replay import DECIDED, PENDING, State, Verdict, replay
from shoal.sanitizer.review.searching import RememberedSearch
from shoal.sanitizer.review.shrinking import shrunk
from shoal.sanitizer.review.strings import Occurrence, Strings, letters_of
from shoal.sanitizer.review.work import WorkFolder

__all__ = ["Collection", "Outcome", "current"]


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
        return tuple(i for i, verdict in zip(self.items, self.verdicts, strict=True) if verdict.state != DECIDED)

    @property
    def spared(self) -> tuple[Item, ...]:
        """Items that reviewers looked at and left as they are."""
        pairs = zip(self.items, self.verdicts, strict=True)
        return tuple(i for i, verdict in pairs if verdict.state == DECIDED and not verdict.masked and verdict.asked)

    def left_places(self, text: str) -> frozenset[tuple[int, int]]:
        """Where those stand, from the first to the last letter. A decision about a longer stretch is none about
        what is within it.
        """
        mentions = (mention for item in self.spared for mention in item.mentions)
        places = (letters_of(text, mention.start, mention.end) for mention in mentions)
        return frozenset(place for place in places if place is not None)


class Collection:
    """All documents of a work folder after the decisions of its log. Texts are read one at a time."""

    def __init__(self, work: WorkFolder, state: State, remembered: RememberedSearch | None = None) -> None:
        """`remembered` has searched the same texts before; whoever looks again and again keeps it."""
        self.work = work
        self.state = state
        self._remembered = remembered

    def outcomes(self) -> Iterator[Outcome]:
        """The outcome of each document, repeats among its items."""
        return map(self.outcome, self.work.proposals)

    def outcome(self, proposals: Proposals) -> Outcome:
        """The outcome of one document."""
        text = self.work.text(proposals)
        outcome = self._proposed(proposals, text)
        repeats = tuple(self._repeats(outcome, text))
        verdicts = tuple(self.state.verdict(item.key) for item in repeats)
        return _outcome(proposals, (*outcome.items, *repeats), (*outcome.verdicts, *verdicts), text)

    @cached_property
    def masked_strings(self) -> dict[str, Item]:
        """Every string to search for, because it is masked somewhere, and the first item that has it."""
        strings: dict[str, Item] = {}
        for proposals in self.work.proposals:
            text = self.work.text(proposals)
            masked = self._proposed(proposals, text).masked
            for item in masked:
                for mention in item.mentions:
                    for string in strings_to_search(item.kind, text[mention.start : mention.end]):
                        strings.setdefault(string, item)
            item_at = {mention.start: item for item in masked for mention in item.mentions}
            for joined in _Stretches([mention for item in masked for mention in item.mentions]).joined:
                item = item_at[joined.start]
                for string in strings_to_search(item.kind, text[joined.start : joined.end]):
                    strings.setdefault(string, item)
        return strings

    @cached_property
    def search(self) -> Strings:
        return Strings(self.masked_strings)

    def _readable(self, proposals: Proposals, text: str) -> Iterable[Occurrence]:
        if self._remembered is None:
            return self.search.readable(text)
        return self._remembered.readable(self.search, proposals.digest, text)

    def _proposed(self, proposals: Proposals, text: str) -> Outcome:
        """What was proposed and what reviewers added, before repeats."""
        added = (
            _added(decision.item, proposals.document, decision.kind, decision.span, text)
            for decision in self.state.added.get(proposals.document, ())
        )
        items = (*proposals.items, *(item for item in added if item is not None))
        return _outcome(proposals, items, tuple(map(self.verdict, items)), text)

    def verdict(self, item: Item) -> Verdict:
        """An entity below the threshold stays unless somebody says otherwise."""
        verdict = self.state.verdict(item.key)
        below = item.probability < self.work.settings["threshold"]
        untouched = verdict.state == PENDING and item.key not in self.state.by_reviewer
        return Verdict(DECIDED, asked=False) if below and untouched else verdict

    def _repeats(self, outcome: Outcome, text: str) -> Iterator[Item]:
        """Masked strings that can still be read, unless a reviewer left that very string."""
        covered = _Stretches([mention for item in outcome.masked for mention in item.mentions])
        pending = _Stretches([mention for item in outcome.open for mention in item.mentions])
        left = outcome.left_places(text)
        for occurrence in self._readable(outcome.proposals, text):
            place = Mention(occurrence.start, occurrence.end)
            if covered.cover(place) or pending.cover(place) or (place.start, place.end) in left:
                continue
            like = self.masked_strings[occurrence.string]
            id = f"r{occurrence.start}-{occurrence.end}"
            document, within = outcome.proposals.document, occurrence.within
            yield replace(like, document=document, id=id, mentions=(place,), probability=1.0, within=within)


def current(work: WorkFolder, remembered: RememberedSearch | None = None) -> Collection:
    """The collection as its log has it now."""
    return Collection(work, replay(work.log.read(), work.settings["reviewers"]), remembered)


def _outcome(proposals: Proposals, items: tuple[Item, ...], verdicts: tuple[Verdict, ...], text: str) -> Outcome:
    decided = (
        shrunk(item, verdict.span, text) if verdict.span else item
        for item, verdict in zip(items, verdicts, strict=True)
        if verdict.state == DECIDED and verdict.masked
    )
    return Outcome(proposals, items, verdicts, tuple(decided))


def _added(id: str, document: str, kind: str, span: tuple[int, int] | None, text: str) -> Item | None:
    """A stretch somebody added; an entity is masked wherever the document has the same string."""
    if span is None or not 0 <= span[0] < span[1] <= len(text) or kind not in (*KINDS, BLOCK):
        return None
    name = text[span[0] : span[1]]
    mentions = {Mention(*span)}
    if kind != BLOCK:
        occurrences = Strings([folded(name)]).find(text)
        mentions |= {Mention(found.start, found.end) for found in occurrences if not found.within}
    return Item(document, id, kind, name, tuple(sorted(mentions, key=lambda m: (m.start, m.end))), 1.0)


class _Stretches:
    """Stretches of a text that answer whether a place is within one of them."""

    def __init__(self, mentions: Sequence[Mention]) -> None:
        joined: list[Mention] = []
        for mention in sorted(mentions, key=lambda mention: mention.start):
            if joined and mention.start < joined[-1].end:
                joined[-1] = Mention(joined[-1].start, max(joined[-1].end, mention.end))
            else:
                joined.append(mention)
        self.joined = joined
        self._starts = [mention.start for mention in joined]

    def cover(self, place: Mention) -> bool:
        at = bisect_right(self._starts, place.start) - 1
        return at >= 0 and place.end <= self.joined[at].end
