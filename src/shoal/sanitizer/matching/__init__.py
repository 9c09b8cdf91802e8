"""Where the terms of a policy stand in a text, by stem, plural, hyphenation and small misspellings.
Every hit has its place, so that a person can see why a stretch was proposed.
"""

from __future__ import annotations

from shoal.sanitizer.matching.finder import TermFinder, find_hits
from shoal.sanitizer.matching.term import Term

__all__ = ["Term", "TermFinder", "find_hits"]
