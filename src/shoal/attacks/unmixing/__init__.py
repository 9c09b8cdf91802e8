"""Unmixing: a release of documents taken apart, from the published rows back to the members of each group."""

from __future__ import annotations

from shoal.attacks.unmixing.attack import Unmixing
from shoal.attacks.unmixing.published import Guesses, Published
from shoal.attacks.unmixing.scoring import score

__all__ = ["Guesses", "Published", "Unmixing", "score"]
