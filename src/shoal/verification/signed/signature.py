"""certificate.json.sig: a signature in OpenSSH's own format, as `ssh-keygen -Y sign` makes it. See PROTOCOL.sshsig.

Only what can be written in one way is read: a signature has no room for anything else.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import MissingExtra
from shoal.verification.forms.refused import Refused

__all__ = ["KEY_TYPE", "NAMESPACE", "SIGNATURE", "Signature", "fingerprint_of", "read_signature", "strings_of"]

SIGNATURE = "certificate.json.sig"
NAMESPACE = "shoal-certificate"  # a signature under another purpose, such as git's, vouches for nothing here
KEY_TYPE = "ssh-ed25519"
PURPOSE = "checking a signature"

MAGIC = b"SSHSIG"
VERSION = (1).to_bytes(4, "big")
BEGIN, END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
COLUMNS = 70  # of a line, as ssh-keygen wraps them
LARGEST = 4_096  # bytes
HASHES = {b"sha256": hashlib.sha256, b"sha512": hashlib.sha512}


@dataclass(frozen=True)
class Signature:
    """What a signature file holds."""

    key: bytes  # 32 bytes
    hash: bytes  # its name
    signature: bytes  # 64 bytes

    def is_of(self, message: bytes) -> bool:
        """Whether the holder of the key signed this message, for the purpose of a release."""
        try:
            from cryptography.exceptions import InvalidSignature
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        except ImportError:
            raise MissingExtra("sign", PURPOSE) from None
        digest = HASHES[self.hash](message).digest()
        signed = MAGIC + b"".join(map(_string, (NAMESPACE.encode(), b"", self.hash, digest)))
        try:
            Ed25519PublicKey.from_public_bytes(self.key).verify(self.signature, signed)
        except (InvalidSignature, ValueError):
            return False
        return True


def read_signature(release: Path) -> Signature | None:
    """The signature in the folder, if there is one; refused if it is not an Ed25519 one made for a release."""
    path = release / SIGNATURE
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise _refused("is not a plain file")
    if not path.exists():
        return None
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST + 1)
        blob = _unarmoured(text)
        return _parsed(blob)
    except OSError:
        raise _refused("cannot be read") from None


def _unarmoured(text: bytes) -> bytes:
    if len(text) <= LARGEST:
        try:
            lines = text.decode("ascii").splitlines()
            blob = base64.b64decode("".join(lines[1:-1]), validate=True)
        except ValueError:
            blob = b""
        coded = base64.b64encode(blob).decode()
        wrapped = [coded[place : place + COLUMNS] for place in range(0, len(coded), COLUMNS)]
        if blob and text == "".join(f"{line}\n" for line in [BEGIN, *wrapped, END]).encode():
            return blob
    raise _refused("is not written as ssh-keygen writes a signature")


def _parsed(blob: bytes) -> Signature:
    head = MAGIC + VERSION
    if not blob.startswith(head):
        raise _refused("is not an OpenSSH signature of version 1")
    try:
        key, namespace, reserved, hash, signature = strings_of(blob[len(head) :])
        kind, public = strings_of(key)
        of_kind, number = strings_of(signature)
    except ValueError:
        raise _refused("is not an Ed25519 signature; sign with an Ed25519 key") from None
    if (kind, of_kind, len(public), len(number)) != (KEY_TYPE.encode(), KEY_TYPE.encode(), 32, 64):
        raise _refused("is not an Ed25519 signature; sign with an Ed25519 key")
    if namespace != NAMESPACE.encode():
        raise _refused(f"was made for another purpose than {NAMESPACE}")
    if reserved or hash not in HASHES:
        raise _refused("has something in it that a signature of a release does not have")
    return Signature(public, hash, number)


def strings_of(blob: bytes) -> list[bytes]:
    """The strings that a blob is made of, each after its length; ValueError if it is made of anything else."""
    found, at = [], 0
    while at < len(blob):
        length = int.from_bytes(blob[at : at + 4], "big")
        end = at + 4 + length
        if at + 4 > len(blob) or end > len(blob):
            raise ValueError("cut off")
        found.append(blob[at + 4 : end])
        at = end
    return found


def fingerprint_of(key: bytes) -> str:
    """A key by the name that OpenSSH shows of it."""
    blob = _string(KEY_TYPE.encode()) + _string(key)
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def _string(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content


def _refused(detail: str) -> Refused:
    return Refused("signature", detail, SIGNATURE)
