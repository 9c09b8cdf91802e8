"""Releases of sanitized letters, made by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

from shoal.data.keys import Keys
from shoal.results.sanitizing import Secrets
from shoal.sanitizer.redact import Redacted, Sealing, redact
from shoal.sanitizer.release.vault import read_secrets
from shoal.sanitizer.review.outcome import current
from shoal.sanitizer.review.review import Review
from shoal.sanitizer.review.work import WorkFolder

KEYS = Keys.draw()
SEALING = Sealing(KEYS.recipients)
IDENTITIES = (str(KEYS.identity),)


def accept_everything(work: WorkFolder, reviewer: str = "ana") -> None:
    """As somebody would who agrees with every proposal."""
    review = Review(work, reviewer)
    while waiting := [item.key for outcome in current(work).outcomes() for item in outcome.open]:
        review.decide(waiting, "accept")


def released(work: WorkFolder, out: Path, **options: object) -> Redacted:
    return redact(work.path, out, SEALING, **options)  # type: ignore[arg-type]


def secrets_of(made: Redacted) -> Secrets:
    return read_secrets(made.private, IDENTITIES, None)


def copied(made: Redacted, target: Path) -> Path:
    """A copy to tamper with."""
    shutil.copytree(made.folder, target)
    return target
