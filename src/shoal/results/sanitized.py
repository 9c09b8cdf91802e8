"""A release of sanitized documents in figures, and the owner's secrets that a check may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class MaskedKind:
    """How much of one kind was masked."""

    kind: str
    entities: int
    places: int


@dataclass(frozen=True)
class SanitizedSummary:
    """All that report and README say: counts and settings, no word of a document."""

    documents: int
    form: str  # "text", "html" or "pdf"
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
