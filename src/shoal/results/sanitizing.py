"""What a sanitizer sees in a text, what reviewers decide, a sanitized release in figures, and the owner's secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shoal.language import ENGLISH

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


@dataclass(frozen=True)
class MaskedKind:
    """How much of one kind was masked."""

    kind: str
    entities: int
    places: int


@dataclass(frozen=True)
class PeopleFound:
    """How often attackers with public text find the person whom a document is about."""

    asked: float  # the rate that was asked for
    k: int  # the right person ranks no better for the attackers who chose what to mask
    people: int  # in the background
    attacker: str  # the one left out of the masking, whose rates these are
    before: float | None = None  # found first, with nothing more masked; None: too few documents to say
    after: float | None = None
    low: float | None = None  # 95 % interval of `after`
    high: float | None = None
    worst: float | None = None  # found first by the best attacker of all
    words: int | None = None  # masked for it
    shown: int | None = None  # words that were shown before


@dataclass(frozen=True)
class SanitizedSummary:
    """All that report and README say: counts and settings, no word of a document."""

    documents: int
    form: str  # "text", "html", "docx" or "pdf"
    style: str  # of pseudonyms
    scope: str  # where a pseudonym is the same: "document" or "collection"
    kinds: tuple[MaskedKind, ...]
    blocks: int  # stretches removed
    kept: int  # places where reviewers left a string that is masked elsewhere
    hidden_share: float | None  # of the characters of the originals; None: too little is masked to say
    model: str
    policy: str
    threshold: float
    decisions: int
    reviewers: int
    unseen: int  # items accepted or left without anybody looking at them
    rejected: int  # items that reviewers left as they are
    withheld: int  # documents that could not be read
    dial: tuple[tuple[float, int], ...]  # how many entities reach each threshold
    reidentification: PeopleFound | None = None  # None: not asked for
    language: str = ENGLISH  # of the pages


@dataclass(frozen=True)
class Secrets:
    """What was masked in a release, and the log of its review. Never in the release, never shown."""

    key: str = field(repr=False)  # of the fingerprint in the certificate
    pieces: Mapping[str, tuple[tuple[int, int, str], ...]] = field(repr=False)  # by document: place, original
    strings: tuple[str, ...] = field(repr=False)  # folded: all that must not be found
    kept: Mapping[str, Mapping[str, int]] = field(repr=False)  # by file: how often each string may be there
    entities: tuple[tuple[str, str, str, str], ...] = field(repr=False)  # document or "", pseudonym, kind, name
    digests: Mapping[str, str] = field(repr=False)  # by document: SHA-256 of the text that was released
    log: bytes | None = field(default=None, repr=False)
