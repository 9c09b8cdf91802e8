"""verify: the promises of a release are counted and its copy compared; on request what was counted is written anew."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from shoal.results.sanitizing import Secrets
from shoal.verification.certificate import read_certificate
from shoal.verification.verify import Verification, opened_release
from shoal.verification.verify import verify as counted


def verify(
    folder: str | os.PathLike[str],
    expect: str | None = None,
    min_k: int | None = None,
    secrets: Secrets | None = None,
    signer: str | os.PathLike[str] | None = None,
    after: str | os.PathLike[str] | None = None,
    rewrite: str | os.PathLike[str] | None = None,
) -> Verification:
    """Check every promise that can be checked from the release alone.

    A seal shows that nothing changed since it was made, not who made it. `expect` is the seal as its maker gave it
    through another channel: with it, a release that was changed and sealed anew is found out too.

    `min_k` is the crowd that is asked for: a release that promises less, or none, does not hold.

    `secrets` are the owner's, of sanitized documents: with them it is checked that nothing masked is left.

    `signer` is the Ed25519 public key of whoever must have signed the release: a file such as id_ed25519.pub, OpenSSH's
    file of allowed signers, or the text of the key. A release that nobody signed, or somebody else, does not hold.

    `after` is the earlier release of a table that this one follows: it is verified as well, and so is that the two
    together show nobody outside a crowd.

    `rewrite` is a folder to write the release to anew, if all that was counted holds: with the same content, and with
    no byte of the files given. The answer is then about the release that was written.

    >>> from shoal import verify
    >>> bool(verify("release"))  # doctest: +SKIP
    True
    """
    release = opened_release(folder)
    result = counted(release, expect, min_k, secrets, signer, after)
    if not result.counts_hold:
        return result
    content = read_certificate(release)
    if rewrite is None and "copy" not in content["promises"]:
        return result
    from shoal.release.rewriting import copy_claims, rewrite_release  # takes long to load, and is rarely needed

    if rewrite is None:
        return replace(result, claims=(*result.claims, *copy_claims(release, content)))
    rewrite_release(release, content, result.counts, Path(rewrite))
    return verify(rewrite, None, min_k, secrets, None, after)
