"""Replay: from the log to what holds now. Nothing else is remembered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from shoal.results.sanitizing import Decision

__all__ = ["DECIDED", "DISPUTED", "PENDING", "State", "Verdict", "active", "replay", "undone_numbers"]

PENDING, DISPUTED, DECIDED = "pending", "disputed", "decided"
Key = tuple[str, str]  # document and item


@dataclass(frozen=True)
class Verdict:
    """What holds for an item."""

    state: str  # PENDING, DISPUTED or DECIDED
    masked: bool = False  # when it is decided
    span: tuple[int, int] | None = None  # what is masked of it, if less than all
    reason: str = ""
    asked: bool = True  # False: below the threshold, and nobody said a word about it


@dataclass(frozen=True)
class State:
    """The decisions that hold, by item: the last of each reviewer, and the last that adjudicates."""

    reviewers_needed: int = 1
    by_reviewer: Mapping[Key, Mapping[str, Decision]] = field(default_factory=lambda: MappingProxyType({}))
    adjudicated: Mapping[Key, Decision] = field(default_factory=lambda: MappingProxyType({}))
    added: Mapping[str, tuple[Decision, ...]] = field(default_factory=lambda: MappingProxyType({}))  # by document

    def verdict(self, key: Key) -> Verdict:
        """Decided when enough reviewers say the same, or somebody adjudicates."""
        if key in self.adjudicated:
            return _verdict_of(self.adjudicated[key])
        given = self.by_reviewer.get(key, {})
        if len({_answer(decision) for decision in given.values()}) > 1:
            return Verdict(DISPUTED)
        if len(given) < self.reviewers_needed:
            return Verdict(PENDING)
        return _verdict_of(max(given.values(), key=lambda decision: decision.number))

    def disputed(self) -> tuple[Key, ...]:
        """Items about which reviewers differ and nobody has adjudicated, in order."""
        return tuple(sorted(key for key in self.by_reviewer if self.verdict(key).state == DISPUTED))


def undone_numbers(decisions: Sequence[Decision]) -> frozenset[int]:
    """The decisions that were taken back. Taking back an undo brings back what it had undone."""
    undone: set[int] = set()
    for decision in reversed(decisions):
        if decision.action == "undo" and decision.number not in undone and decision.of is not None:
            undone.add(decision.of)
    return frozenset(undone)


def active(decisions: Sequence[Decision]) -> tuple[Decision, ...]:
    """Those that hold: neither an undo nor taken back."""
    undone = undone_numbers(decisions)
    return tuple(decision for decision in decisions if decision.action != "undo" and decision.number not in undone)


def replay(decisions: Sequence[Decision], reviewers_needed: int = 1) -> State:
    """The state after these decisions. What was said of an added item counts only while the item is there."""
    by_reviewer: dict[Key, dict[str, Decision]] = {}
    adjudicated: dict[Key, Decision] = {}
    added: dict[str, list[Decision]] = {}
    for decision in _on_known_items(active(decisions)):
        key = (decision.document, decision.item)
        if decision.action == "add":
            added.setdefault(decision.document, []).append(decision)
        if decision.adjudicates:
            adjudicated[key] = decision
        else:
            by_reviewer.setdefault(key, {})[decision.reviewer] = decision
    return State(
        reviewers_needed,
        MappingProxyType(by_reviewer),
        MappingProxyType(adjudicated),
        MappingProxyType({document: tuple(decisions) for document, decisions in added.items()}),
    )


def _on_known_items(decisions: Sequence[Decision]) -> Iterable[Decision]:
    there = {(decision.document, decision.item) for decision in decisions if decision.action == "add"}
    for decision in decisions:
        if not decision.item.startswith("a") or (decision.document, decision.item) in there:
            yield decision


def _answer(decision: Decision) -> tuple[bool, tuple[int, int] | None]:
    """What two reviewers must have in common to agree: whether it is masked, and how far."""
    return decision.action != "reject", decision.span if decision.action == "shrink" else None


def _verdict_of(decision: Decision) -> Verdict:
    masked, span = _answer(decision)
    return Verdict(DECIDED, masked, span, decision.reason)
