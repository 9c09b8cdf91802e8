"""What a disclosure board asks of a release, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shoal.results.assessment import TableAssessment
from shoal.results.audit import Audit
from shoal.results.summary import Summary


@dataclass(frozen=True)
class Board:
    """A release that was verified; with its original, the risk before and what is left of it."""

    summary: Summary
    columns: tuple[tuple[str, str], ...]  # name and role of each released column
    seal: str
    promises: int  # that were counted, and hold
    signature: str  # who vouches, in a sentence
    reasons: Mapping[str, str] = field(default_factory=dict)  # why a column has its role, where it was proposed
    audit: Audit | None = None  # of the original
    assessment: TableAssessment | None = None  # of both
