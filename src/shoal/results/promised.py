"""What is promised of every group beside its size: of the confidential values in it, and of the people behind it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DISTINCT", "DIVERSITIES", "ENTROPY", "NOTHING_MORE", "RECURSIVE", "Crowd", "GroupPromises", "asked_option"]

DISTINCT, ENTROPY, RECURSIVE = "distinct", "entropy", "recursive"
DIVERSITIES = (DISTINCT, ENTROPY, RECURSIVE)  # how the values of a group are counted for l


@dataclass(frozen=True)
class GroupPromises:
    """What every group must have."""

    l: float | None = None  # values of each confidential column; a whole number but for entropy
    diversity: str = DISTINCT  # how they are counted
    c: float | None = None  # recursive: the most frequent value is below c times those from the l-th on
    t: float | None = None  # how far values may be from those of all records, 0 to 1
    person: str | None = None  # the column that says whose a record is: a crowd is k people
    k_column: str | None = None  # the column with each record's own k

    @property
    def of_values(self) -> bool:
        """Whether anything is promised of confidential values."""
        return self.l is not None or self.t is not None

    @property
    def of_crowds(self) -> bool:
        """Whether more is promised of a crowd than k records."""
        return self.person is not None or self.k_column is not None

    def __bool__(self) -> bool:
        return self.of_values or self.of_crowds


NOTHING_MORE = GroupPromises()  # than k


@dataclass(frozen=True)
class Crowd:
    """Groups of as many records, with as many people in each and the same largest own k."""

    groups: int  # how many there are
    rows: int
    people: int | None  # None: records were counted, not people
    own_k: int | None  # the largest k that any record of the group asks for; None: all ask for the same


def asked_option(promises: GroupPromises) -> str:
    """The first option that asks for what is promised, for messages."""
    options = {"--l": promises.l, "--t": promises.t, "--person": promises.person, "--k-column": promises.k_column}
    return next(option for option, value in options.items() if value is not None)
