"""Unmixing: a release of documents taken apart, from the published rows back to the members of each group."""

from __future__ import annotations

from shoal.risk.unmixing.attack import Unmixing
from shoal.risk.unmixing.published import Guesses, Published
from shoal.risk.unmixing.scoring import score

__all__ = ["Guesses", "Published", "Unmixing", "score"]
