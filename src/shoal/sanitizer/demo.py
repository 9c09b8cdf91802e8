"""The demonstration of the sanitizer: some of the sample letters, masked by a rule, verified and undone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shoal.data.keys import Keys
from shoal.data.private_files import PRIVATE_FOLDER
from shoal.sanitizer.propose import Proposing, propose
from shoal.sanitizer.redact import Redacted, Sealing, redact
from shoal.sanitizer.release.masking import unmasked
from shoal.sanitizer.release.vault import read_secrets
from shoal.verification.verify import Verification, verify

LETTERS = 12
LEAST = 0.5  # probability from which on the demonstration masks


@dataclass(frozen=True)
class SanitizerDemo:
    """What the demonstration did."""

    redacted: Redacted
    verified: Verification  # with the vault
    before: str  # the beginning of a letter
    after: str


def run_sanitizer_demo(letters: Path, out: Path) -> SanitizerDemo:
    """Sanitize the first letters of the sample; the key is written into the private folder."""
    private = out / "sanitized-private"
    few = out / "few.jsonl"
    with letters.open(encoding="utf-8") as file:
        few.write_text("".join(line for _, line in zip(range(LETTERS), file, strict=False)), encoding="utf-8")
    try:
        propose(few, out / "review", Proposing(policy="none", scope="collection"))
    finally:
        few.unlink()
    keys = Keys.draw()
    made = redact(out / "review", out / "sanitized", Sealing(keys.recipients), form="html", accept_rest=LEAST)
    keys.write(private / "owner.key")
    private.chmod(PRIVATE_FOLDER)
    secrets = read_secrets(private, (str(keys.identity),), None)
    after = (made.folder / "documents" / "document-0001.txt").read_text(encoding="utf-8")
    before = unmasked(after, secrets.pieces["document-0001"])
    return SanitizerDemo(made, verify(made.folder, secrets=secrets), before, after)
