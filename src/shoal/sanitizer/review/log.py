"""The log of decisions: lines are added and never changed, and each holds the fingerprint of the line before.

Two people may decide at once: a line is written under a lock, after those that the other has written meanwhile. A
line that was not written to its end, because the machine stopped, was never acknowledged and is cut off.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.io.files import shown
from shoal.io.private_files import private_file
from shoal.results.sanitizing import Decision

__all__ = ["ACTIONS", "DecisionLog", "Making"]

ACTIONS = ("accept", "reject", "shrink", "add", "undo")
FIELDS = {field.name for field in fields(Decision)}


# What is to be decided, given all that has been decided before.
Making = Callable[[tuple[Decision, ...]], Sequence[Decision]]


class DecisionLog:
    """The decisions in a file, as far as they have been read; `genesis` is what the first line follows."""

    def __init__(self, path: Path, genesis: str) -> None:
        self.path = path
        self.genesis = genesis
        self._decisions: list[Decision] = []
        self._head = genesis
        self._read_to = 0  # bytes

    @property
    def head(self) -> str:
        """The fingerprint of the last line that was read."""
        return self._head

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
            head = self._head
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
                raise InputError(f"{shown(self.path)} cannot be written: no room is left; make room and decide again")
            os.fsync(descriptor)
            self._decisions += new
            self._read_to += len(content)
            self._head = head
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
            self._head = hashlib.sha256(line).hexdigest()
        self._read_to += len(content)

    def _decision(self, line: bytes) -> Decision:
        number = len(self._decisions)
        try:
            decision = _parsed(json.loads(line))
        except (ValueError, TypeError, KeyError):
            raise self._unsound(f"is not sound in line {number + 1}") from None
        if decision.number != number or _line(decision) != line:
            raise self._unsound(f"was changed in line {number + 1}")
        if decision.previous != self._head:
            wrong = "belongs to other documents" if number == 0 else f"was changed before line {number + 1}"
            raise self._unsound(wrong)
        return decision

    def _unsound(self, how: str) -> InputError:
        return InputError(f"{shown(self.path)} {how}; put back the log of this work folder")


def _parsed(content: dict[str, Any]) -> Decision:
    if set(content) != FIELDS or content["action"] not in ACTIONS:
        raise ValueError("fields")
    span = content["span"]
    return Decision(**{**content, "span": None if span is None else (int(span[0]), int(span[1]))})


def _line(decision: Decision) -> bytes:
    return (json.dumps(asdict(decision), ensure_ascii=False, sort_keys=True) + "\n").encode("utf-8", "surrogatepass")
