"""What the desk's page is told, as plain data. With two reviewers, nobody sees the other's answer before their own."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from shoal.results.sanitizing import Decision
from shoal.sanitizer.release.masking import PlannedDocument
from shoal.sanitizer.release.pseudonyms import KIND_WORDS
from shoal.sanitizer.review.decisions import DECIDED, DISPUTED, PENDING, ReviewState, Verdict, active
from shoal.sanitizer.review.outcome import Outcome, ReviewedCollection, shrunk
from shoal.sanitizer.review.review import sameness
from shoal.sanitizer.review.work import BLOCK, Item

LARGEST_SINGLE = "\uffff"


class Offsets:
    """Places of one text, from Python to the browser, which counts UTF-16 units (an emoji has two), and back.

    >>> offsets = Offsets("🙂 Ann 🙂 Bob")
    >>> offsets.to_browser(2), offsets.from_browser(3)
    (3, 2)
    """

    def __init__(self, text: str) -> None:
        large = () if text.isascii() else (position for position, letter in enumerate(text) if letter > LARGEST_SINGLE)
        self._pairs = tuple(large)  # where characters of two units are, for Python
        self._in_browser = tuple(position + number for number, position in enumerate(self._pairs))

    def to_browser(self, position: int) -> int:
        return position + bisect_left(self._pairs, position)

    def from_browser(self, position: int) -> int:
        return position - bisect_left(self._in_browser, position)


Key = tuple[str, str]  # document and item

# How an item stands for a reviewer.
OPEN, WAITING, MASKED, KEPT, BELOW = "open", "waiting", "masked", "kept", "below"


def standing(verdict: Verdict, decided_by_me: bool) -> str:
    """`open`: decide. `waiting`: you did, another has to. `below`: under the threshold, it stays unless you decide."""
    if verdict.state == DISPUTED:
        return DISPUTED
    if verdict.state == PENDING:
        return WAITING if decided_by_me else OPEN
    if not verdict.asked:
        return BELOW
    return MASKED if verdict.masked else KEPT


@dataclass(frozen=True)
class Snapshot:
    """All documents after the first `length` decisions of the log."""

    length: int
    collection: ReviewedCollection
    outcomes: dict[str, Outcome]  # by document

    @cached_property
    def _items(self) -> dict[Key, tuple[Item, Verdict]]:
        return {item.key: (item, verdict) for outcome in self.outcomes.values() for item, verdict in outcome.judged}

    @cached_property
    def _equal(self) -> dict[tuple[str, ...], list[Item]]:
        equal: dict[tuple[str, ...], list[Item]] = {}
        for item, _ in self._items.values():
            equal.setdefault(sameness(item), []).append(item)
        return equal

    def item(self, key: Key) -> Item | None:
        return self._items[key][0] if key in self._items else None

    def equal(self, item: Item) -> list[Item]:
        """The item and all that are equal to it, in all documents."""
        return self._equal.get(sameness(item), [item])

    def progress(self, outcome: Outcome, reviewer: str) -> dict[str, int]:
        """How far a document is, for one reviewer."""
        decided_by = self.collection.state.by_reviewer
        stands = Counter(
            standing(verdict, reviewer in decided_by.get(item.key, {})) for item, verdict in outcome.judged
        )
        total = sum(stands.values()) - stands[BELOW]
        return {"open": stands[OPEN], "disputed": stands[DISPUTED], "total": total}

    def open_of_kind(self, kind: str, reviewer: str) -> list[Item]:
        """What a reviewer has still to decide of a kind, in all documents."""
        decided_by = self.collection.state.by_reviewer
        return [
            item
            for item, verdict in self._items.values()
            if item.kind == kind and standing(verdict, reviewer in decided_by.get(item.key, {})) == OPEN
        ]

    def decided_together(self, item: Item, reviewer: str, action: str, adjudicates: bool) -> Iterator[Key]:
        """The item, and equal ones that the reviewer has not decided otherwise.

        Left out are those that another has decided, those that others dispute unless they are being settled, and,
        if it is to stay, what is below the threshold and stays anyway.
        """
        state = self.collection.state
        answers = {other.key: state.by_reviewer.get(other.key, {}) for other in self.equal(item)}
        mine = answers[item.key].get(reviewer) if item.key in answers else None
        before = None if mine is None else mine.action
        for other in self.equal(item):
            answer = answers[other.key].get(reviewer)
            verdict = self._items[other.key][1]
            disputed = verdict.state == DISPUTED and answer is None
            decided = verdict.state == DECIDED and answer is None
            below = decided and not verdict.asked
            if other.key == item.key:
                yield item.key
            elif disputed != adjudicates or (answer is not None and answer.action != before):
                continue
            elif not decided or (below and action == "accept"):
                yield other.key


KIND_NAMES = {kind: name for kind, (_, name) in KIND_WORDS.items()} | {BLOCK: "passage"}


def as_items(
    state: ReviewState, judged: Iterable[tuple[Item, Verdict]], equal: Snapshot, text: str, reviewer: str
) -> list[dict[str, Any]]:
    """Items of a document and what holds for each; equal ones are looked up in a snapshot."""
    items = []
    offsets = Offsets(text)
    for item, verdict in judged:
        alike = equal.equal(item)
        counts = {"equal": len(alike), "documents": len({other.document for other in alike})}
        # What is masked of it, if less than all.
        cut = None if verdict.span is None else _spans(shrunk(item, verdict.span, text), offsets)
        known = _as_item(state, item, verdict, offsets, reviewer)
        items.append(known | counts | {"group": "/".join(alike[0].key), "cut": cut})
    return items


def _as_item(state: ReviewState, item: Item, verdict: Verdict, offsets: Offsets, reviewer: str) -> dict[str, Any]:
    given = state.by_reviewer.get(item.key, {})
    mine = given.get(reviewer)
    settled = state.adjudicated.get(item.key)
    blind = state.reviewers_needed > 1 and mine is None and verdict.state != DISPUTED and settled is None
    answers = [*given.values(), *([settled] if settled else [])]
    return {
        "id": item.id,
        "kind": item.kind,
        "called": KIND_NAMES[item.kind],
        "name": " ".join(item.name.split()),
        "spans": _spans(item, offsets),
        "probability": item.probability if item.id.startswith("e") else None,  # of what the model found
        "stands": standing(verdict, mine is not None),
        "mine": None if mine is None else mine.action,
        "by": [] if blind else [_as_answer(decision, offsets) for decision in answers],
        "others": len(given) - (mine is not None),
    }


def _as_answer(decision: Decision, offsets: Offsets) -> dict[str, Any]:
    span = None if decision.span is None else _span(decision.span, offsets)
    known = {"reviewer": decision.reviewer, "action": decision.action, "at": decision.at, "reason": decision.reason}
    return {**known, "span": span, "adjudicates": decision.adjudicates, "number": decision.number}


def as_after(planned: PlannedDocument, offsets: Offsets) -> dict[str, Any]:
    """The redacted text, and where in it and in the original each pseudonym stands."""
    text = planned.masked.text
    after = Offsets(text)
    pieces = [
        [*_span((start, end), after), offsets.to_browser(span[0])]
        for (start, end, _), span in zip(planned.masked.pieces, planned.original_spans, strict=True)
    ]
    return {"text": text, "pieces": pieces}


def as_history(decisions: Sequence[Decision], snapshot: Snapshot, reviewer: str, most: int) -> list[dict[str, Any]]:
    """Who decided what, when and why; decisions at once are one entry. The answers of a second reader stay hidden."""
    holding = {decision.number for decision in active(decisions)}
    steps: dict[tuple[str, str], list[Decision]] = {}
    for decision in reversed(decisions):
        steps.setdefault((decision.reviewer, decision.at), []).append(decision)
        if len(steps) > most:
            break
    state = snapshot.collection.state
    entries = []
    for (who, at), made in list(steps.items())[:most]:
        first = made[-1]
        item = snapshot.item((first.document, first.item))
        given = state.by_reviewer.get((first.document, first.item), {})
        hidden = state.reviewers_needed > 1 and who != reviewer and reviewer not in given and not first.adjudicates
        entries.append(
            {
                "reviewer": who,
                "at": at,
                "action": "decided" if hidden else first.action,
                "adjudicates": first.adjudicates,
                "reason": "" if hidden else first.reason,
                "document": first.document,
                "item": first.item,
                "name": " ".join(item.name.split())[:80] if item else "",
                "items": len(made),
                "holds": first.action != "undo" and first.number in holding,
            }
        )
    return entries


def _spans(item: Item, offsets: Offsets) -> list[tuple[int, int]]:
    return [_span((mention.start, mention.end), offsets) for mention in item.mentions]


def _span(span: tuple[int, int], offsets: Offsets) -> tuple[int, int]:
    return offsets.to_browser(span[0]), offsets.to_browser(span[1])
