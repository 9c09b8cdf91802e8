"""What is looked for."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Term"]


@dataclass(frozen=True)
class Term:
    """A word or several, the concept of the policy they stand for, and its topic."""

    text: str
    concept: str
    topic: str
