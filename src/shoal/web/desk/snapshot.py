"""A snapshot: every item of a collection, and which ones are equal, after so many decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from shoal.sanitizer.review.items import Item
from shoal.sanitizer.review.outcome import Collection, Outcome
from shoal.sanitizer.review.replay import DECIDED, DISPUTED, PENDING, Verdict
from shoal.sanitizer.review.reviewing import sameness

__all__ = ["Progress", "Snapshot", "standing"]

Key = tuple[str, str]  # document and item

# How an item stands for a reviewer.
OPEN, WAITING, MASKED, KEPT, BELOW = "open", "waiting", "masked", "kept", "below"


def standing(verdict: Verdict, decided_by_me: bool) -> str:
    """`open`: decide. `waiting`: you did, another has to. `below`: under the threshold, it stays unless you say so."""
    if verdict.state == DISPUTED:
        return DISPUTED
    if verdict.state == PENDING:
        return WAITING if decided_by_me else OPEN
    if not verdict.asked:
        return BELOW
    return MASKED if verdict.masked else KEPT


@dataclass(frozen=True)
class Progress:
    """How far a document is, for one reviewer."""

    open: int
    disputed: int
    total: int


@dataclass(frozen=True)
class Snapshot:
    """All documents after the first `length` decisions of the log."""

    length: int
    collection: Collection
    outcomes: dict[str, Outcome]  # by document

    @cached_property
    def _items(self) -> dict[Key, tuple[Item, Verdict]]:
        return {
            item.key: (item, verdict)
            for outcome in self.outcomes.values()
            for item, verdict in zip(outcome.items, outcome.verdicts, strict=True)
        }

    @cached_property
    def _equal(self) -> dict[tuple[str, ...], list[Item]]:
        equal: dict[tuple[str, ...], list[Item]] = {}
        for item, _ in self._items.values():
            equal.setdefault(sameness(item), []).append(item)
        return equal

    def item(self, key: Key) -> Item | None:
        found = self._items.get(key)
        return None if found is None else found[0]

    def equal(self, item: Item) -> list[Item]:
        """The item and all that are equal to it, in all documents."""
        return self._equal.get(sameness(item), [item])

    def counted(self, outcome: Outcome, reviewer: str) -> Progress:
        decided_by = self.collection.state.by_reviewer
        stands: Counter[str] = Counter(
            standing(verdict, reviewer in decided_by.get(item.key, {}))
            for item, verdict in zip(outcome.items, outcome.verdicts, strict=True)
        )
        return Progress(stands[OPEN], stands[DISPUTED], sum(stands.values()) - stands[BELOW])

    def decided_together(self, item: Item, reviewer: str, action: str, adjudicates: bool) -> Iterator[Key]:
        """The item, and equal ones about which the reviewer has said nothing else.

        Left out are those that another has decided, those that others dispute unless they are being settled, and,
        if it is to stay, what is below the threshold and stays anyway.
        """
        state = self.collection.state
        answers = {other.key: state.by_reviewer.get(other.key, {}) for other in self.equal(item)}
        mine = answers[item.key].get(reviewer) if item.key in answers else None
        before = None if mine is None else mine.action
        for other in self.equal(item):
            said = answers[other.key].get(reviewer)
            verdict = self._items[other.key][1]
            disputed = verdict.state == DISPUTED and said is None
            decided = verdict.state == DECIDED and said is None
            below = decided and not verdict.asked
            if other.key == item.key:
                yield item.key
            elif disputed != adjudicates or (said is not None and said.action != before):
                continue
            elif not decided or (below and action == "accept"):
                yield other.key
