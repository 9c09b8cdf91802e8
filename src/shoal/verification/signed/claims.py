"""What a signature claims: who vouches, and for which certificate."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from shoal.errors import MissingExtra
from shoal.results.claims import Claim
from shoal.verification.forms.refused import Refused
from shoal.verification.signed.signature import KEY_TYPE, SIGNATURE, fingerprint_of, read_signature
from shoal.verification.signed.signers import read_signers

__all__ = ["UNSIGNED", "signature_claims"]

UNSIGNED = "it is not signed, so nothing tells who made it"
UNCHECKED = "the signature was not checked, which takes the extra 'sign' or ssh-keygen -Y verify"


def signature_claims(
    release: Path, content: dict[str, Any], certificate: bytes, signer: str | os.PathLike[str] | None
) -> tuple[list[Claim], str]:
    """The claim, if there is a signature or one is asked for; and in a sentence who vouches."""
    trusted = None if signer is None else read_signers(signer)

    def claim(holds: bool, detail: str) -> list[Claim]:
        return [Claim("signature", holds, detail, SIGNATURE)]

    try:
        signature = read_signature(release)
        if signature is None:
            return ([] if trusted is None else claim(False, "is missing: nobody signed the release")), UNSIGNED
        valid = signature.is_of(certificate)
    except Refused as refused:
        return [refused.claim], "its signature file is no signature of a release"
    except MissingExtra:
        if trusted is not None:
            raise
        return [], UNCHECKED
    key = f"{KEY_TYPE} {fingerprint_of(signature.key)}"
    if not valid:
        return claim(False, "is not a signature of this certificate: one of the two was changed"), "the signature fails"
    seal = f"the certificate with the seal {content['seal'][:16]}…"
    if trusted is None:
        detail = f"the holder of the key {key} vouches for {seal}"
        return claim(True, detail), "it is signed, and --signer checks by whom"
    owner = next((one for one in trusted if one.key == signature.key), None)
    if owner is None:
        detail = f"was made with another key than the one asked for: {key}"
        return claim(False, detail), "somebody else signed it"
    return claim(True, f"{owner} vouches for {seal}"), f"signed by {owner}"
