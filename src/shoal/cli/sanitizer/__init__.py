"""Commands of the sanitizer: propose, review, redact, and the way back."""

from __future__ import annotations

from shoal.cli.sanitizer.redact import redact, unmask
from shoal.cli.sanitizer.review import review
from shoal.cli.sanitizer.sanitize import sanitize, train_sanitizer

__all__ = ["redact", "review", "sanitize", "train_sanitizer", "unmask"]
