"""Results that cross folders: small frozen values, each a measured thing with what it is measured against."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Claim", "Diversity", "Loss", "Withheld"]


@dataclass(frozen=True)
class Loss:
    """Within-group error, between-group error, and the share of information lost."""

    sse: float
    ssa: float

    @property
    def information_loss(self) -> float:
        """SSE / (SSE + SSA): 0 nothing was lost, 1 all records became one."""
        total = self.sse + self.ssa
        return self.sse / total if total > 0 else 0.0


@dataclass(frozen=True)
class Diversity:
    """How many different values of a confidential column the records of a group have."""

    column: str
    least: int  # fewest distinct values in any group (distinct-l)
    single_valued_groups: int  # groups whose members all share one value: membership tells it
    groups: int
    values: int  # distinct values in the whole release


@dataclass(frozen=True)
class Withheld:
    """Records that are not in the release, and why."""

    reason: str
    count: int


@dataclass(frozen=True)
class Claim:
    """One promise of a certificate, and whether it was found to hold."""

    promise: str  # what is promised, e.g. "k-anonymity"
    holds: bool
    detail: str  # what was found, in a sentence
    file: str | None = None  # the file that shows it
