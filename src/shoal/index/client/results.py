"""What the client's verbs return."""

from __future__ import annotations

from dataclasses import dataclass, field

DAY = 86_400.0  # seconds
WAIT = 7.0  # days before a document that fits no group is placed anyway


@dataclass
class PutReport:
    """What became of the documents of a put."""

    documents: int = 0  # in the source
    known: int = 0  # put before, and not sent again
    uploaded: int = 0
    waiting: int = 0  # in no group until enough similar documents have come
    without_terms: int = 0  # stored, but no search finds them: none of their words is in the vocabulary
    changed: list[tuple[str, str]] = field(default_factory=list)  # name, and id of an earlier text of it, which stays
    refused: list[tuple[str, str]] = field(default_factory=list)  # name and reason


@dataclass(frozen=True)
class SearchHit:
    """A document, as similar to the query as its whole group, and the words that matched."""

    document: str
    similarity: float
    words: tuple[str, ...]  # of the query that matched, the heaviest first
    name: str | None = None  # that its owner put it under


@dataclass(frozen=True)
class IndexStatus:
    """An index in figures, and what this machine keeps of it."""

    k: int
    embargo: float | None
    trust: bool  # the server may hold vectors back
    version: int
    groups: int
    documents: int  # visible
    terms: int
    waiting: int  # held back by the server
    mine: int  # documents of this account
    put_here: int  # of those, put from this machine
    waiting_here: int  # held back on this machine
    overdue: int  # of those, for longer than WAIT: the next put places them in the nearest groups
    unfinished: int  # requests of a put that was interrupted
