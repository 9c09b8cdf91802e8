"""Steps: the decisions that one person made at once. Undo and redo go step by step."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.results.sanitizing import Decision
from shoal.sanitizer.review.replay import active, undone_numbers

__all__ = ["last_step", "last_undo"]


def last_step(decisions: Sequence[Decision], reviewer: str) -> list[Decision]:
    """What a reviewer decided last, of what holds. Decisions made at once have the same time."""
    own = [decision for decision in active(decisions) if decision.reviewer == reviewer]
    return [decision for decision in own if decision.at == own[-1].at] if own else []


def last_undo(decisions: Sequence[Decision], reviewer: str) -> list[Decision]:
    """What a reviewer undid last, of the undos that hold; nothing once they have decided anew."""
    undone = undone_numbers(decisions)
    own = [decision for decision in decisions if decision.reviewer == reviewer]
    decided = [decision.at for decision in own if decision.action != "undo"]
    undos = [
        decision
        for decision in own
        if decision.action == "undo" and decision.number not in undone and _of_decision(decision, decisions)
    ]
    if not undos or (decided and decided[-1] > undos[-1].at):
        return []
    return [decision for decision in undos if decision.at == undos[-1].at]


def _of_decision(undo: Decision, decisions: Sequence[Decision]) -> bool:
    """Whether it takes back a decision; redo takes back an undo."""
    return undo.of is not None and decisions[undo.of].action != "undo"
