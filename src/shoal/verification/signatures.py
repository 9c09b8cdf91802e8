"""Who vouches for a certificate: signatures as `ssh-keygen -Y sign` makes them, and whose a recipient trusts.

certificate.json.sig is in OpenSSH's own format, see PROTOCOL.sshsig. Only what can be written in one way is read: a
signature has no room for anything else. Trusted are public keys as OpenSSH writes them, or its file of allowed signers.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError, MissingExtra
from shoal.language import N_
from shoal.results.claims import Claim
from shoal.verification.release_files import Refused, ReleaseFolder

SIGNATURE = "certificate.json.sig"
NAMESPACE = "shoal-certificate"  # a signature under another purpose, such as git's, vouches for nothing here
KEY_TYPE = "ssh-ed25519"
PURPOSE = "checking a signature"

MAGIC = b"SSHSIG"
VERSION = (1).to_bytes(4, "big")
BEGIN, END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
COLUMNS = 70  # of a line, as ssh-keygen wraps them
LARGEST_SIGNATURE = 4_096  # bytes
HASHES = {b"sha256": hashlib.sha256, b"sha512": hashlib.sha512}
LARGEST_KEYS = 1 << 20  # bytes
BLANKS = " \t"  # as OpenSSH has them: no other sign divides words, and only a line feed ends a line
KEY = re.compile(
    rf"(?P<before>(?:.*[{BLANKS}])?){KEY_TYPE}[{BLANKS}]+(?P<key>[A-Za-z0-9+/]+=*)(?:[{BLANKS}]+(?P<comment>.*))?"
)
BEFORE = re.compile(rf'(?P<who>"[^"]*"|[^{BLANKS}]+)(?:[{BLANKS}]+(?P<options>.+))?')  # of a key, in allowed signers
OPTION = re.compile(r'([a-z-]+)(?:="([^"]*)")?(?:,|$)')
EXAMPLE = "give a file such as id_ed25519.pub"
UNSIGNED = N_("it is not signed, so nothing shows who made it")
UNCHECKED = N_("the signature was not checked, which takes the extra 'sign' or ssh-keygen -Y verify")


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


def read_signature(release: ReleaseFolder) -> Signature | None:
    """The signature in the folder, if there is one; refused if it is not an Ed25519 one made for a release."""
    if SIGNATURE not in release:
        return None
    try:
        text = release.read(SIGNATURE, LARGEST_SIGNATURE)
    except Refused as refused:
        raise _refused(refused.claim.detail) from None
    return _parsed(_unarmoured(text))


def _unarmoured(text: bytes) -> bytes:
    try:
        lines = text.decode("ascii").splitlines()
        blob = base64.b64decode("".join(lines[1:-1]), validate=True)
    except ValueError:
        blob = b""
    coded = base64.b64encode(blob).decode()
    wrapped = [coded[start : start + COLUMNS] for start in range(0, len(coded), COLUMNS)]
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


@dataclass(frozen=True)
class Signer:
    """A key that is trusted, and whose it is in the words of those who trust it."""

    key: bytes
    name: str

    def __str__(self) -> str:
        fingerprint = f"{KEY_TYPE} {fingerprint_of(self.key)}"
        return f"{self.name} ({fingerprint})" if self.name else f"the key {fingerprint}"


def read_signers(given: str | os.PathLike[str]) -> list[Signer]:
    """Keys from a file, or from the text of one key; lines with keys of other kinds are passed over."""
    text = os.fspath(given)
    if text.startswith(f"{KEY_TYPE} ") and "\n" not in text:
        return _signers(text, "the public key")
    shown = text if text and text.isprintable() else ascii(text)
    try:
        path = Path(text).expanduser()
        if not path.is_file():
            raise InputError(f"{shown} is not a file that exists; {EXAMPLE}")
        with path.open("rb") as file:
            content = file.read(LARGEST_KEYS).decode("utf-8-sig")
    except (OSError, ValueError, RuntimeError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"{shown} cannot be read as public keys; {EXAMPLE}") from None
    return _signers(content, shown)


def _signers(content: str, shown: str) -> list[Signer]:
    if "PRIVATE KEY" in content:
        raise InputError(f"{shown} is a private key; give the public one, which has .pub at its end")
    lines = [(number, line.strip(f"{BLANKS}\r")) for number, line in enumerate(content.split("\n"), start=1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    found = [signer for number, line in lines if (signer := _signer(line, f"{shown}, line {number}"))]
    if not found:
        kinds = sorted(set(re.findall(r"\b(?:ssh|ecdsa|sk)-[a-z0-9@.-]+", content)))
        has = f" ({', '.join(kinds[:3])})" if kinds and KEY_TYPE not in kinds else ""
        raise InputError(f"{shown} has no Ed25519 public key for {NAMESPACE}{has}; {EXAMPLE}")
    return found


def _signer(line: str, place: str) -> Signer | None:
    """The key of a line, and the name before it (allowed signers) or after it (a public key)."""
    match = KEY.fullmatch(line)
    if match is None:
        return None
    try:
        blob = base64.b64decode(match["key"], validate=True)
        kind, key = strings_of(blob)
    except ValueError:
        kind, key, blob = b"", b"", b""
    if kind != KEY_TYPE.encode() or len(key) != 32 or base64.b64encode(blob).decode() != match["key"]:
        raise InputError(f"{place}: the Ed25519 key is cut off or changed; copy it again")
    before = BEFORE.fullmatch(match["before"].strip(BLANKS))
    if before is None:
        return Signer(key, _printable(match["comment"] or ""))
    return Signer(key, _printable(before["who"].strip('"'))) if _is_for_releases(before["options"], place) else None


def _is_for_releases(options: str | None, place: str) -> bool:
    """Whether a line of allowed signers is for our purpose; what limits a key in another way is not ignored."""
    left = (options or "").strip()
    while left:
        option = OPTION.match(left)
        if option is None or option[1] != "namespaces":
            name = option[1] if option else "something"
            raise InputError(
                f"{place}: the option {name} is not supported; remove it, or check with ssh-keygen -Y verify"
            )
        if not _allows(option[2] or ""):
            return False
        left = left[option.end() :].strip()
    return True


def _allows(purposes: str) -> bool:
    """Whether a list of purposes has ours: * and ? stand for any signs, and what follows a ! is ruled out."""
    fitting = [purpose for purpose in purposes.split(",") if _fits(purpose.removeprefix("!"))]
    return bool(fitting) and not any(purpose.startswith("!") for purpose in fitting)


def _fits(pattern: str) -> bool:
    wild = {"*": ".*", "?": "."}
    return re.fullmatch("".join(wild.get(sign) or re.escape(sign) for sign in pattern), NAMESPACE) is not None


def _printable(name: str) -> str:
    return "".join(sign for sign in name if sign.isprintable()).strip()[:200]


def signature_claims(
    release: ReleaseFolder, content: dict[str, Any], certificate: bytes, signer: str | os.PathLike[str] | None
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
        return claim(True, detail), N_("it is signed, and --signer checks by whom")
    owner = next((one for one in trusted if one.key == signature.key), None)
    if owner is None:
        detail = f"was made with another key than the one asked for: {key}"
        return claim(False, detail), "somebody else signed it"
    return claim(True, f"{owner} vouches for {seal}"), f"signed by {owner}"
