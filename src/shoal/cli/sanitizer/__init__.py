"""Commands of the sanitizer: propose, review, redact, and the way back."""

from __future__ import annotations

from shoal.cli.sanitizer.redact import redact
from shoal.cli.sanitizer.review import review
from shoal.cli.sanitizer.sanitize import sanitize
from shoal.cli.sanitizer.train import train_sanitizer
from shoal.cli.sanitizer.unmask import unmask

__all__ = ["redact", "review", "sanitize", "train_sanitizer", "unmask"]
