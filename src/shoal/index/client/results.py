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
class SearchFilter:
    """Which documents a search may find; by what their records say, on this machine."""

    since: str = ""  # ISO 8601: not before this
    until: str = ""  # not after this; 2024 is all of the year
    folder: str = ""
    label: str = ""

    def __bool__(self) -> bool:
        return any((self.since, self.until, self.folder, self.label))

    def allows(self, name: str, date: str, label: str) -> bool:
        """Whether a document may be found."""
        return (
            (not self.since or date >= self.since)
            and (not self.until or (bool(date) and date[: len(self.until)] <= self.until))
            and (not self.folder or name.startswith(f"{self.folder.rstrip('/')}/"))
            and (not self.label or label == self.label)
        )


@dataclass(frozen=True)
class SearchHit:
    """A document, how similar it is to the query, and the words of the query that it has.

    If this user cannot read its record, similarity and words are those of its whole group.
    """

    document: str
    similarity: float
    words: tuple[str, ...]  # of the query that matched, the heaviest first
    name: str | None = None  # that its owner put it under
    opening: str = ""
    date: str = ""
    label: str = ""
    readable: bool = True


@dataclass(frozen=True)
class SyncReport:
    """What a sync fetched, and what this machine has now."""

    fetched: int  # records that changed
    readable: int  # documents that can be searched here
    bytes: int  # on this machine's disk


@dataclass(frozen=True)
class IndexStatus:
    """An index in figures, and what this machine keeps of it."""

    k: int
    embargo: float | None
    version: int
    groups: int
    documents: int  # visible
    terms: int
    mine: int  # documents of this account
    put_here: int  # of those, put from this machine
    waiting_here: int  # held back on this machine
    overdue: int  # of those, for longer than WAIT: the next put places them in the nearest groups
    unfinished: int  # requests of a put that was interrupted
