"""Reviewing: somebody looks at what is open and decides. Every decision is a line of the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby

from shoal.errors import InputError
from shoal.results.sanitizing import KINDS, Decision
from shoal.sanitizer.review.folding import folded
from shoal.sanitizer.review.items import BLOCK, Item, items_of
from shoal.sanitizer.review.log import Making
from shoal.sanitizer.review.outcome import Collection, current
from shoal.sanitizer.review.replay import DISPUTED, active, replay
from shoal.sanitizer.review.work import WorkFolder

__all__ = ["Difference", "Group", "Review", "check_reviewer", "sameness"]

Key = tuple[str, str]  # document and item


def check_reviewer(reviewer: str) -> None:
    """Refuse what is no name."""
    if not reviewer.strip() or not reviewer.isprintable() or len(reviewer) > 100:
        raise InputError("a reviewer needs a name of 1 to 100 printable characters; give it with --reviewer")


def sameness(item: Item) -> tuple[str, ...]:
    """What equal items have in common: kind and name, and the longer word they are within, if any. A block is alone."""
    alone = item.key if item.kind == BLOCK else ()
    return (item.kind, folded(item.name) or item.name, folded(item.within), *alone)


@dataclass(frozen=True)
class Group:
    """Equal items of all documents."""

    items: tuple[Item, ...]
    disputed: bool = False

    @property
    def unsure(self) -> tuple[int, float]:
        """The smaller, the sooner somebody should look: what is disputed, then what could be either way."""
        return (0 if self.disputed else 1), min(abs(item.probability - 0.5) for item in self.items)


@dataclass(frozen=True)
class Difference:
    """An item that reviewers decided differently."""

    item: Item
    decisions: tuple[Decision, ...]


class Review:
    """The review of a work folder by one person."""

    def __init__(self, work: WorkFolder, reviewer: str) -> None:
        check_reviewer(reviewer)
        self.work = work
        self.reviewer = reviewer

    def collection(self) -> Collection:
        """What holds now, with what others have decided meanwhile."""
        return current(self.work)

    def queue(self) -> list[Group]:
        """What this reviewer has still to decide, the least sure first."""
        collection = self.collection()
        decided_by = collection.state.by_reviewer
        groups: dict[tuple[str, ...], list[Item]] = {}
        for outcome in collection.outcomes():
            for item in outcome.open:
                if self.reviewer not in decided_by.get(item.key, {}):
                    groups.setdefault(sameness(item), []).append(item)
        return sorted((Group(tuple(items)) for items in groups.values()), key=lambda group: group.unsure)

    def differences(self) -> list[Difference]:
        """What reviewers decided differently, and nobody has adjudicated."""
        collection = self.collection()
        return [
            Difference(item, tuple(collection.state.by_reviewer[item.key].values()))
            for outcome in collection.outcomes()
            for item in outcome.open
            if collection.state.verdict(item.key).state == DISPUTED
        ]

    def decide(
        self,
        keys: Iterable[Key],
        action: str,
        *,
        span: tuple[int, int] | None = None,
        reason: str = "",
        adjudicates: bool = False,
    ) -> tuple[Decision, ...]:
        """Accept, reject or shrink; all at once or nothing. Nobody adjudicates what they have decided before."""
        listed = list(keys)
        self.check(listed, action, span)

        def make(decisions: tuple[Decision, ...]) -> Sequence[Decision]:
            if adjudicates:
                self._check_uninvolved(decisions, listed)
            at = self._now(decisions)
            return [
                Decision(0, *key, action, "", span, None, adjudicates, self.reviewer, at, reason, "") for key in listed
            ]

        return self._append(make)

    def add(self, document: str, span: tuple[int, int], kind: str, *, reason: str = "") -> tuple[Decision, ...]:
        """Mask a stretch that nobody proposed: an entity of a kind, or a block."""
        self.check_added(document, span, kind)

        def make(decisions: tuple[Decision, ...]) -> Sequence[Decision]:
            number = sum(decision.action == "add" and decision.document == document for decision in decisions)
            at = self._now(decisions)
            return [Decision(0, document, f"a{number}", "add", kind, span, None, False, self.reviewer, at, reason, "")]

        return self._append(make)

    def check_added(self, document: str, span: tuple[int, int], kind: str) -> None:
        """Refuse what cannot be added."""
        if kind not in (*KINDS, BLOCK):
            raise InputError(f"kind {kind[:20]!r} is unknown; give one of: {', '.join((*KINDS, BLOCK))}")
        proposals = {proposals.document: proposals for proposals in self.work.proposals}
        if document not in proposals:
            raise InputError(f"there is no document {document[:20]!r}; give one of d1 to d{len(proposals)}")
        length = len(self.work.text(proposals[document]))
        if not 0 <= span[0] < span[1] <= length:
            raise InputError(
                f"span {span[0]}-{span[1]} is not within the {length} characters of {document}; correct it"
            )

    def undo(self, numbers: Iterable[int] | None = None, *, reason: str = "") -> tuple[Decision, ...]:
        """Take back decisions by their numbers, or all that this reviewer made in their last step."""
        asked = None if numbers is None else list(numbers)

        def make(decisions: tuple[Decision, ...]) -> Sequence[Decision]:
            chosen = self._last_step(decisions) if asked is None else list(self._own(decisions, asked))
            return self._taken_back(decisions, chosen, reason)

        return self._append(make)

    def redo(self, *, reason: str = "") -> tuple[Decision, ...]:
        """Bring back what this reviewer's last undo took back; again and again, until they decide something else."""
        return self._append(lambda decisions: self._taken_back(decisions, self._last_undone(decisions), reason))

    def _taken_back(self, decisions: tuple[Decision, ...], chosen: Sequence[Decision], reason: str) -> list[Decision]:
        at = self._now(decisions)
        return [
            Decision(0, one.document, one.item, "undo", "", None, one.number, False, self.reviewer, at, reason, "")
            for one in chosen
        ]

    def _append(self, make: Making) -> tuple[Decision, ...]:
        def unlocked(decisions: tuple[Decision, ...]) -> Sequence[Decision]:
            self.work.check_unlocked()
            return make(decisions)

        self.work.check_unlocked()
        return self.work.log.append(unlocked)

    def _check_uninvolved(self, decisions: tuple[Decision, ...], keys: Sequence[Key]) -> None:
        by_reviewer = replay(decisions).by_reviewer
        for document, item in keys:
            if self.reviewer in by_reviewer.get((document, item), {}):
                raise InputError(
                    f"{item} of {document} was decided by {self.reviewer}, who cannot adjudicate it; "
                    "let another person settle it, or take the decision back"
                )

    def _last_step(self, decisions: tuple[Decision, ...]) -> list[Decision]:
        """Decisions made at once have the same time."""
        own = [decision for decision in active(decisions) if decision.reviewer == self.reviewer]
        return [decision for decision in own if decision.at == own[-1].at] if own else []

    def _last_undone(self, decisions: tuple[Decision, ...]) -> list[Decision]:
        """The undo to take back. One that was taken back is no longer there, and a new decision ends them all."""
        undone: list[list[Decision]] = []
        own = (decision for decision in decisions if decision.reviewer == self.reviewer)
        for _, made in groupby(own, key=lambda decision: decision.at):
            step = list(made)
            taken_back = step[0].of
            if taken_back is None:
                undone.clear()
            elif decisions[taken_back].action != "undo":
                undone.append(step)
            else:
                undone = [other for other in undone if other[0].number != taken_back]
        return undone[-1] if undone else []

    def _own(self, decisions: tuple[Decision, ...], numbers: Sequence[int]) -> Iterator[Decision]:
        for number in numbers:
            if not 0 <= number < len(decisions):
                raise InputError(f"there is no decision {number}; give one of 0 to {len(decisions) - 1}")
            if decisions[number].reviewer != self.reviewer:
                raise InputError(f"decision {number} is another reviewer's; only they can take it back")
            yield decisions[number]

    def check(self, keys: Sequence[Key], action: str, span: tuple[int, int] | None) -> None:
        """Refuse what cannot be decided: all items must be there, and a shrunk one stays within its bounds."""
        if action not in ("accept", "reject", "shrink"):
            raise InputError(f"action {action[:20]!r} is unknown; accept, reject or shrink")
        if (action == "shrink") != (span is not None):
            raise InputError("shrink takes a span, START-END in characters, and nothing else does; correct it")
        documents = {document for document, _ in keys}
        there = {
            item.key: item
            for proposals in self.work.proposals
            if proposals.document in documents
            for item in items_of(proposals)
        }
        if any(key not in there for key in keys):  # added, or a repeat
            there |= {item.key: item for outcome in self.collection().outcomes() for item in outcome.items}
        for document, name in keys:
            item = there.get((document, name))
            if item is None:
                raise InputError(f"there is no item {name[:20]!r} in document {document[:20]!r}; list them: --list")
            if span is None:
                continue
            first = item.mentions[0]
            if item.kind != BLOCK or not first.start <= span[0] < span[1] <= first.end:
                raise InputError(
                    f"span {span[0]}-{span[1]} is not within a block ({first.start}-{first.end} of {document}); "
                    "shrink blocks only, and within their bounds"
                )

    @staticmethod
    def _now(decisions: tuple[Decision, ...]) -> str:
        """Later than every decision before, even if the clock was set back."""
        now = datetime.now(UTC)
        if decisions:
            now = max(now, datetime.fromisoformat(decisions[-1].at) + timedelta(microseconds=1))
        return now.isoformat(timespec="microseconds")
