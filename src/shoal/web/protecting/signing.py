"""Who vouches for a release that a job made. A key is held in memory, for as long as it takes to sign."""

from __future__ import annotations

from pathlib import Path

from shoal.verification.signatures import KEY_TYPE, fingerprint_of, read_signature
from shoal.web.jobs import Job

RELEASE = "release"


def sign_release(release: Path, key: bytes, passphrase: str) -> None:
    """Verify the release and sign it, as `shoal sign` does. It is signed aside, where what that needs is loaded."""
    from shoal.release.signing import SigningKey, sign

    sign(release, SigningKey.parse(key, "the file", passphrase or None), force=True)


def signed_by(job: Job) -> str:
    """The key with which the release was signed; empty if it was not."""
    signature = read_signature(job.work / RELEASE)
    return f"{KEY_TYPE} {fingerprint_of(signature.key)}" if signature is not None else ""
