"""An overview of a review: how far it is, and who decided what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal.results.sanitizing import Decision
from shoal.sanitizer.review.outcome import Collection
from shoal.sanitizer.review.replay import DISPUTED, PENDING, undone_numbers

__all__ = ["HistoryLine", "Progress", "history_of", "progress_of"]


@dataclass(frozen=True)
class Progress:
    """Counts of items. Entities below the threshold that nobody spoke of are not among them."""

    masked: int  # decided: hidden in the release
    left: int  # decided: stay as they are
    pending: int  # nobody has decided, or not enough reviewers
    disputed: int  # reviewers differ
    waiting: int  # of those pending or disputed, the ones that this reviewer has not decided
    by_reviewer: Mapping[str, int]  # how many items each has decided

    @property
    def items(self) -> int:
        return self.masked + self.left + self.pending + self.disputed

    @property
    def open(self) -> int:
        """What `redact` waits for."""
        return self.pending + self.disputed


@dataclass(frozen=True)
class HistoryLine:
    """A line of the log, and whether it still holds: undo takes decisions back, and redo takes back the undo."""

    decision: Decision
    holds: bool


def progress_of(collection: Collection, reviewer: str) -> Progress:
    """Counted over all documents."""
    states: Counter[str] = Counter()
    waiting = 0
    decided_by = collection.state.by_reviewer
    for outcome in collection.outcomes():
        for item, verdict in zip(outcome.items, outcome.verdicts, strict=True):
            if verdict.state in (PENDING, DISPUTED):
                states[verdict.state] += 1
                waiting += reviewer not in decided_by.get(item.key, {})
            elif verdict.asked:
                states["masked" if verdict.masked else "left"] += 1
    people = Counter(name for decisions in decided_by.values() for name in decisions)
    people.update(decision.reviewer for decision in collection.state.adjudicated.values())
    return Progress(
        states["masked"], states["left"], states[PENDING], states[DISPUTED], waiting, dict(sorted(people.items()))
    )


def history_of(decisions: Sequence[Decision], key: tuple[str, str] | None = None) -> list[HistoryLine]:
    """All lines, or those about one item, in the order in which they were written. An undo holds until it is undone."""
    undone = undone_numbers(decisions)
    return [
        HistoryLine(decision, decision.number not in undone)
        for decision in decisions
        if key is None or (decision.document, decision.item) == key
    ]
