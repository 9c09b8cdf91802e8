"""A review: somebody looks at what is open and decides. Every decision is a line of the log.

All that a terminal or a page needs: `queue`, `outcome` and `text` to show, `decide`, `shrink`, `add`, `decide_all`,
`undo` and `redo` to act, `differences`, `history` and `progress` to look back. Nothing holds but the log; a
RememberedSearch that is kept between calls only saves time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from shoal.errors import InputError
from shoal.results.sanitizing import KINDS, Decision
from shoal.sanitizer.review.decisions import (
    DECIDED,
    DISPUTED,
    PENDING,
    Making,
    last_step,
    last_undo,
    replay,
    undone_numbers,
)
from shoal.sanitizer.review.outcome import Outcome, ReviewedCollection, current, equal_part
from shoal.sanitizer.review.strings import RememberedSearch, Strings, folded
from shoal.sanitizer.review.work import BLOCK, Item, WorkFolder

Key = tuple[str, str]  # document and item
Span = tuple[int, int]
Group = tuple[Item, ...]  # equal items of all documents
PLACES = 3  # of an item that a message names


def check_reviewer(reviewer: str) -> None:
    """Refuse what is no name."""
    if not reviewer.strip() or not reviewer.isprintable() or len(reviewer) > 100:
        raise InputError("a reviewer needs a name of 1 to 100 printable characters; give one", option="reviewer")


def sameness(item: Item) -> tuple[str, ...]:
    """What equal items have in common: kind and name, and the longer word they are within, if any. A block is alone."""
    alone = item.key if item.kind == BLOCK else ()
    return (item.kind, _folded(item.name) or item.name, _folded(item.within), *alone)


_folded = lru_cache(maxsize=65_536)(folded)  # names come again and again


@dataclass(frozen=True)
class Order:
    """What somebody wants to be decided about an item, or added to a document."""

    document: str
    item: str  # "" of what is added
    action: str  # "accept", "reject", "shrink" or "add"
    span: Span | None = None  # of "shrink" and "add"
    kind: str = ""  # of "add"
    reason: str = ""


@dataclass(frozen=True)
class Progress:
    """Counts of items. Entities below the threshold without a decision are not among them."""

    masked: int  # decided: hidden in the release
    left: int  # decided: stay as they are
    pending: int  # without a decision, or not of enough reviewers
    disputed: int  # reviewers differ

    @property
    def items(self) -> int:
        return self.masked + self.left + self.pending + self.disputed


@dataclass(frozen=True)
class HistoryLine:
    """A line of the log, and whether it still holds: undo takes decisions back, and redo takes back the undo."""

    decision: Decision
    holds: bool


class Review:
    """The review of a work folder by one person.

    Items are named by document and id: ("d1", "e0"). Whatever cannot be decided is an InputError, and then nothing
    was written. Several people may decide at once, each with a Review of their own.
    """

    def __init__(self, work: WorkFolder, reviewer: str, remembered: RememberedSearch | None = None) -> None:
        check_reviewer(reviewer)
        self.work = work
        self.reviewer = reviewer
        self._remembered = remembered

    def collection(self) -> ReviewedCollection:
        """What holds now, with what others have decided meanwhile."""
        return current(self.work, self._remembered)

    def queue(self) -> list[Group]:
        """What this reviewer has still to decide, the least sure first."""
        collection = self.collection()
        decided_by = collection.state.by_reviewer
        groups: dict[tuple[str, ...], list[Item]] = {}
        for outcome in collection.outcomes():
            for item in outcome.open:
                if self.reviewer not in decided_by.get(item.key, {}):
                    groups.setdefault(sameness(item), []).append(item)
        least_sure_first = sorted(groups.values(), key=lambda items: min(abs(item.probability - 0.5) for item in items))
        return list(map(tuple, least_sure_first))

    def text(self, document: str) -> str:
        """The text of a document, in which the places of items are counted."""
        return self.work.text(self.work.proposals_of(document))

    def outcome(self, document: str) -> Outcome:
        """Every item of a document, what holds for it, and what is masked."""
        return self.collection().outcome(self.work.proposals_of(document))

    def places_of(self, string: str) -> dict[str, Span]:
        """The first place of a string in each document that has it, in any spelling."""
        search = Strings([folded(string)] if folded(string) else ())
        places = {}
        for proposals in self.work.proposals if string else ():
            text = self.work.text(proposals)
            start = text.find(string)
            found = next((found for found in search.find(text) if not found.within), None)
            if start >= 0:
                places[proposals.document] = start, start + len(string)
            elif found is not None:
                places[proposals.document] = found.start, found.end
        return places

    def progress(self) -> Progress:
        """How many items are decided and open."""
        verdicts = [verdict for outcome in self.collection().outcomes() for verdict in outcome.verdicts]
        states = Counter(verdict.state for verdict in verdicts)
        decided = Counter(verdict.masked for verdict in verdicts if verdict.state == DECIDED and verdict.asked)
        return Progress(decided[True], decided[False], states[PENDING], states[DISPUTED])

    def history(self, key: Key | None = None) -> list[HistoryLine]:
        """Who decided what, when and why: about an item or about everything, in order, with what was taken back."""
        decisions = self.work.log.read()
        undone = undone_numbers(decisions)
        return [
            HistoryLine(decision, decision.number not in undone)
            for decision in decisions
            if key is None or (decision.document, decision.item) == key
        ]

    def differences(self) -> list[tuple[Item, tuple[Decision, ...]]]:
        """What reviewers decided differently and nobody has adjudicated, with their decisions."""
        collection = self.collection()
        return [
            (item, tuple(collection.state.by_reviewer[item.key].values()))
            for outcome in collection.outcomes()
            for item, verdict in outcome.judged
            if verdict.state == DISPUTED
        ]

    def decide(
        self, keys: Iterable[Key], action: str, span: Span | None = None, reason: str = "", adjudicates: bool = False
    ) -> tuple[Decision, ...]:
        """Accept or reject, or shrink to a span; all at once or nothing. Nobody adjudicates what they have decided."""
        if action == "shrink" and span is not None:
            return self.shrink(list(keys), span, reason=reason, adjudicates=adjudicates)
        return self.decide_all([Order(*key, action, span, reason=reason) for key in keys], adjudicates=adjudicates)

    def shrink(
        self, keys: Sequence[Key], span: Span, *, reason: str = "", adjudicates: bool = False
    ) -> tuple[Decision, ...]:
        """Mask only a part of the first item, a span of its document, and the same part of all others."""
        self._check_items(keys[:1], "shrink", span)
        part = self.text(keys[0][0])[slice(*span)]
        orders = [Order(*keys[0], "shrink", span, reason=reason)]
        for item in self._items(keys[1:]):
            part_span = equal_part(item, self.text(item.document), part)
            if part_span is None:
                raise InputError(f"{item.id} of {item.document} does not have that part; decide it by itself")
            orders.append(Order(*item.key, "shrink", part_span, reason=reason))
        return self._append(lambda decisions: self._decisions(orders, decisions, adjudicates))

    def add(self, document: str, span: Span, kind: str, *, reason: str = "") -> tuple[Decision, ...]:
        """Mask a stretch that nobody proposed: an entity of a kind, or a block."""
        return self.decide_all([Order(document, "", "add", span, kind, reason)])

    def decide_all(self, orders: Sequence[Order], *, adjudicates: bool = False) -> tuple[Decision, ...]:
        """Different decisions as one step: all are written, or none. Undo takes all of them back."""
        same: dict[tuple[str, Span | None], list[Key]] = {}
        for order in orders:
            if order.action == "add":
                self._check_added(order.document, order.span or (0, 0), order.kind)
            else:
                same.setdefault((order.action, order.span), []).append((order.document, order.item))
        for (action, span), keys in same.items():
            self._check_items(keys, action, span)
        return self._append(lambda decisions: self._decisions(orders, decisions, adjudicates))

    def undo(self, numbers: Iterable[int] | None = None, *, reason: str = "") -> tuple[Decision, ...]:
        """Take back decisions by their numbers, or all that this reviewer made in their last step."""
        if numbers is None:
            return self._take_back(lambda decisions: last_step(decisions, self.reviewer), reason)
        listed = list(numbers)
        return self._take_back(lambda decisions: list(self._own(decisions, listed)), reason)

    def redo(self, *, reason: str = "") -> tuple[Decision, ...]:
        """Bring back what this reviewer undid last, step by step, as long as they have decided nothing since."""
        return self._take_back(lambda decisions: last_undo(decisions, self.reviewer), reason)

    def _decisions(
        self, orders: Sequence[Order], decisions: tuple[Decision, ...], adjudicates: bool
    ) -> Sequence[Decision]:
        """What is written of the orders; added items get the next free ids."""
        if adjudicates:
            self._check_uninvolved(decisions, [(order.document, order.item) for order in orders])
        at = _now(decisions)
        added = Counter(decision.document for decision in decisions if decision.action == "add")
        made = []
        for order in orders:
            item, settles = order.item, adjudicates
            if order.action == "add":
                item, settles = f"a{added[order.document]}", False
                added[order.document] += 1
            asked = order.document, item, order.action, order.kind, order.span
            made.append(Decision(0, *asked, None, settles, self.reviewer, at, order.reason, ""))
        return made

    def _take_back(self, choose: Making, reason: str) -> tuple[Decision, ...]:
        def make(decisions: tuple[Decision, ...]) -> Sequence[Decision]:
            at = _now(decisions)
            return [
                Decision(0, old.document, old.item, "undo", "", None, old.number, False, self.reviewer, at, reason, "")
                for old in choose(decisions)
            ]

        return self._append(make)

    def _append(self, make: Making) -> tuple[Decision, ...]:
        def unlocked(decisions: tuple[Decision, ...]) -> Sequence[Decision]:
            self.work.check_unlocked()
            return make(decisions)

        self.work.check_unlocked()
        return self.work.log.append(unlocked)

    def _own(self, decisions: tuple[Decision, ...], numbers: Sequence[int]) -> Iterator[Decision]:
        for number in numbers:
            if not 0 <= number < len(decisions):
                raise InputError(f"there is no decision {number}; give one of 0 to {len(decisions) - 1}")
            if decisions[number].reviewer != self.reviewer:
                raise InputError(f"decision {number} is another reviewer's; only they can take it back")
            yield decisions[number]

    def _items(self, keys: Sequence[Key]) -> list[Item]:
        """By their keys; all must be there."""
        documents = {document for document, _ in keys}
        there = {
            item.key: item
            for proposals in self.work.proposals
            if proposals.document in documents
            for item in proposals.items
        }
        missing = {key[0] for key in keys if key not in there}  # added, or a repeat
        if missing:
            collection = self.collection()
            proposed = (proposals for proposals in self.work.proposals if proposals.document in missing)
            outcomes = map(collection.outcome, proposed)
            there |= {item.key: item for outcome in outcomes for item in outcome.items}
        for document, name in keys:
            if (document, name) not in there:
                missed = f"there is no item {name[:20]!r} in document {document[:20]!r}"
                raise InputError(f"{missed}; list what there is", option="list")
        return [there[key] for key in keys]

    def _check_uninvolved(self, decisions: tuple[Decision, ...], keys: Sequence[Key]) -> None:
        by_reviewer = replay(decisions).by_reviewer
        for document, item in keys:
            if self.reviewer in by_reviewer.get((document, item), {}):
                raise InputError(
                    f"{item} of {document} was decided by {self.reviewer}, who cannot adjudicate it; "
                    "let another person settle it, or take the decision back"
                )

    def _check_added(self, document: str, span: Span, kind: str) -> None:
        """Refuse what cannot be added."""
        if kind not in (*KINDS, BLOCK):
            raise InputError(f"kind {kind[:20]!r} is unknown; give one of: {', '.join((*KINDS, BLOCK))}")
        length = len(self.text(document))
        if not 0 <= span[0] < span[1] <= length:
            raise InputError(
                f"span {span[0]}-{span[1]} is not within the {length} characters of {document}; correct it"
            )

    def _check_items(self, keys: Sequence[Key], action: str, span: Span | None) -> None:
        """Refuse what cannot be decided: all items must be there, and a shrunk one stays within its bounds."""
        if action not in ("accept", "reject", "shrink"):
            raise InputError(f"action {action[:20]!r} is unknown; accept, reject or shrink")
        if (action == "shrink") != (span is not None):
            raise InputError("shrink takes a span, START-END in characters, and nothing else does; correct it")
        for item in self._items(keys):
            if span is None:
                continue
            if not any(mention.start <= span[0] < span[1] <= mention.end for mention in item.mentions):
                spans = ", ".join(f"{mention.start}-{mention.end}" for mention in item.mentions[:PLACES])
                raise InputError(
                    f"span {span[0]}-{span[1]} is not within {item.id} of {item.document} ({spans}); "
                    "shrink it within its bounds, or add what is more"
                )
            if not folded(self.text(item.document)[slice(*span)]):
                raise InputError(f"span {span[0]}-{span[1]} of {item.document} has no letter or digit; reject the item")


def _now(decisions: tuple[Decision, ...]) -> str:
    """Later than every decision before, even if the clock was set back."""
    now = datetime.now(UTC)
    if decisions:
        now = max(now, datetime.fromisoformat(decisions[-1].at) + timedelta(microseconds=1))
    return now.isoformat(timespec="microseconds")
