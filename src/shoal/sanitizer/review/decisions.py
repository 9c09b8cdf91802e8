"""The log of decisions, and what holds after them.

Lines are added and never changed, and each holds the fingerprint of the line before. Two people may decide at once: a
line is written under a lock, after those that the other has written meanwhile. A line that was not written to its end,
because the machine stopped, was never acknowledged and is cut off.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from shoal.data.files import shown
from shoal.data.private_files import private_file
from shoal.errors import InputError
from shoal.results.sanitizing import Decision

ACTIONS = ("accept", "reject", "shrink", "add", "undo")
ACCEPTED_UNSEEN = "shoal --accept-rest"  # the reviewer in whose name the rest is decided
FIELDS = {field.name for field in fields(Decision)}
PENDING, DISPUTED, DECIDED = "pending", "disputed", "decided"
Key = tuple[str, str]  # document and item
# What is to be decided, given all that has been decided before.
Making = Callable[[tuple[Decision, ...]], Sequence[Decision]]


class DecisionLog:
    """The decisions in a file, as far as they have been read; `genesis` stands for the line before the first."""

    def __init__(self, path: Path, genesis: str) -> None:
        self.path = path
        self.head = genesis  # fingerprint of the last line that was read
        self._decisions: list[Decision] = []
        self._read_to = 0  # bytes

    def read(self) -> tuple[Decision, ...]:
        """All decisions, those that others have added meanwhile among them."""
        if self.path.exists():
            with self.path.open("rb") as file:
                self._read_on(file.fileno())
        elif self._read_to:
            raise self._unsound("was removed")
        return tuple(self._decisions)

    def append(self, make: Making) -> tuple[Decision, ...]:
        """Add what `make` makes of the decisions so far. Numbers and fingerprints are filled in here."""
        with self._locked() as descriptor:
            self._read_on(descriptor)
            os.ftruncate(descriptor, self._read_to)  # a line without an end
            new: list[Decision] = []
            lines: list[bytes] = []
            head = self.head
            for decision in make(tuple(self._decisions)):
                numbered = replace(decision, number=len(self._decisions) + len(new), previous=head)
                line = _line(numbered)
                head = hashlib.sha256(line).hexdigest()
                new.append(numbered)
                lines.append(line)
            content = b"".join(lines)
            written = os.pwrite(descriptor, content, self._read_to) if content else 0
            if written < len(content):
                os.ftruncate(descriptor, self._read_to)
                raise InputError(f"{shown(self.path)} cannot be written: the disk is full; make room and decide again")
            os.fsync(descriptor)
            self._decisions += new
            self._read_to += len(content)
            self.head = head
        return tuple(new)

    @contextmanager
    def _locked(self) -> Iterator[int]:
        descriptor = private_file(str(self.path), os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # ends with the process, however it ends
            yield descriptor
        finally:
            os.close(descriptor)

    def _read_on(self, descriptor: int) -> None:
        size = os.fstat(descriptor).st_size
        if size < self._read_to:
            raise self._unsound("was cut")
        content = os.pread(descriptor, size - self._read_to, self._read_to)
        content = content[: content.rfind(b"\n") + 1]
        for line in content.splitlines(keepends=True):
            decision = self._decision(line)
            self._decisions.append(decision)
            self.head = hashlib.sha256(line).hexdigest()
        self._read_to += len(content)

    def _decision(self, line: bytes) -> Decision:
        number = len(self._decisions)
        try:
            decision = _parsed(json.loads(line))
        except (ValueError, TypeError, KeyError):
            raise self._unsound(f"is damaged in line {number + 1}") from None
        if decision.number != number or _line(decision) != line:
            raise self._unsound(f"was changed in line {number + 1}")
        if decision.previous != self.head:
            wrong = "belongs to other documents" if number == 0 else f"was changed before line {number + 1}"
            raise self._unsound(wrong)
        return decision

    def _unsound(self, how: str) -> InputError:
        return InputError(f"{shown(self.path)} {how}; restore the log of this work folder")


def _parsed(content: dict[str, Any]) -> Decision:
    if set(content) != FIELDS or content["action"] not in ACTIONS:
        raise ValueError("fields")
    span = content["span"]
    return Decision(**{**content, "span": None if span is None else (int(span[0]), int(span[1]))})


def _line(decision: Decision) -> bytes:
    return (json.dumps(asdict(decision), ensure_ascii=False, sort_keys=True) + "\n").encode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class Verdict:
    """What holds for an item."""

    state: str  # PENDING, DISPUTED or DECIDED
    masked: bool = False  # when it is decided
    span: tuple[int, int] | None = None  # what is masked of it, if less than all
    asked: bool = True  # False: below the threshold, without a decision


@dataclass(frozen=True)
class ReviewState:
    """The decisions that hold, by item: the last of each reviewer, and the last that adjudicates."""

    reviewers_needed: int
    by_reviewer: Mapping[Key, Mapping[str, Decision]]
    adjudicated: Mapping[Key, Decision]
    added: Mapping[str, Sequence[Decision]]  # by document

    def verdict(self, key: Key) -> Verdict:
        """Decided when enough reviewers agree, or someone adjudicates."""
        given = self.by_reviewer.get(key, {})
        deciding = self.adjudicated.get(key)
        if deciding is None:
            if len({_answer(decision) for decision in given.values()}) > 1:
                return Verdict(DISPUTED)
            if len(given) < self.reviewers_needed:
                return Verdict(PENDING)
            deciding = max(given.values(), key=lambda decision: decision.number)
        return Verdict(DECIDED, *_answer(deciding))


def _answer(decision: Decision) -> tuple[bool, tuple[int, int] | None]:
    """What two reviewers must have in common to agree: whether it is masked, and how far."""
    return decision.action != "reject", decision.span if decision.action == "shrink" else None


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


def replay(decisions: Sequence[Decision], reviewers_needed: int = 1) -> ReviewState:
    """The state after these decisions. A decision about an added item counts only while the item is there."""
    holding = active(decisions)
    additions = {(decision.document, decision.item) for decision in holding if decision.action == "add"}
    by_reviewer: dict[Key, dict[str, Decision]] = {}
    adjudicated: dict[Key, Decision] = {}
    added: dict[str, list[Decision]] = {}
    for decision in holding:
        key = (decision.document, decision.item)
        if decision.item.startswith("a") and key not in additions:
            continue
        if decision.action == "add":
            added.setdefault(decision.document, []).append(decision)
        if decision.adjudicates:
            adjudicated[key] = decision
        else:
            by_reviewer.setdefault(key, {})[decision.reviewer] = decision
    return ReviewState(reviewers_needed, by_reviewer, adjudicated, added)


def last_step(decisions: Sequence[Decision], reviewer: str) -> list[Decision]:
    """What a reviewer decided last, of what holds. Decisions made at once have the same time."""
    own = [decision for decision in active(decisions) if decision.reviewer == reviewer]
    return [decision for decision in own if decision.at == own[-1].at]


def last_undo(decisions: Sequence[Decision], reviewer: str) -> list[Decision]:
    """What a reviewer undid last, of the undos that hold; nothing once they have decided anew."""
    undone = undone_numbers(decisions)
    own = [decision for decision in decisions if decision.reviewer == reviewer]
    decided = [decision.at for decision in own if decision.action != "undo"]
    undos = [
        decision
        for decision in own
        if decision.action == "undo" and decision.number not in undone and not _is_redo(decision, decisions)
    ]
    if not undos or (decided and decided[-1] > undos[-1].at):
        return []
    return [decision for decision in undos if decision.at == undos[-1].at]


def _is_redo(undo: Decision, decisions: Sequence[Decision]) -> bool:
    """Whether it takes back another undo."""
    return undo.of is None or decisions[undo.of].action == "undo"
