"""What a sanitizer sees in a text and what reviewers decide: plain values, without logic."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_THRESHOLD = 0.1  # misses few entities and lets a person reject the rest; docs/sanitizer/tuning.md has the curve

KINDS = (
    "PERSON",
    "ORG",
    "LOC",
    "DATE",
    "ADDRESS",
    "EMAIL",
    "PHONE",
    "ACCOUNT",
    "ID",
    "CASE",
    "MONEY",
    "QUANTITY",
    "PROFESSION",
    "AGE",
    "NATIONALITY",
    "URL",
    "MISC",
)


@dataclass(frozen=True, slots=True, order=True)  # there are many
class Mention:
    """A stretch of a document's text, in characters; the end is exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)  # there are many
class Entity:
    """Something a text speaks of, with every place where it does."""

    kind: str  # of KINDS
    mentions: tuple[Mention, ...]  # in the order of the text
    name: str  # the most complete mention
    role: str  # "direct", "quasi" or "harmless": how it identifies
    probability: float  # that it must be masked


@dataclass(frozen=True, slots=True)  # there are many
class Hit:
    """A term of a policy, where it stands in a text."""

    start: int
    end: int
    term: str  # the term of the policy that matched
    concept: str  # the concept it comes from
    topic: str  # the topic of that concept


@dataclass(frozen=True, slots=True)  # there are many
class Block:
    """A stretch of sentences or paragraphs proposed for removal."""

    start: int
    end: int
    hits: tuple[Hit, ...]  # what caused it
    density: float  # the denser, the riskier


@dataclass(frozen=True, slots=True)  # there are many
class Decision:
    """A line of the log of a review."""

    number: int  # its place in the log, from 0
    document: str
    item: str  # "e0", "e1", … entities, "b0", … blocks, "a0", … what reviewers added
    action: str  # "accept", "reject", "shrink", "add" or "undo"
    kind: str  # of "add": one of KINDS, or "BLOCK"; else ""
    span: tuple[int, int] | None  # of "shrink" and "add"
    of: int | None  # of "undo": the number of the decision it takes back
    adjudicates: bool  # settles what reviewers decided differently, and wins over them
    reviewer: str
    at: str  # when, ISO 8601 in UTC
    reason: str
    previous: str  # SHA-256 of the line before; of the first line, what it was proposed from
