"""Whose signature a recipient trusts: public keys as OpenSSH writes them, or its file of allowed signers."""

from __future__ import annotations

import base64
import os
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from shoal.errors import InputError
from shoal.verification.signed.signature import KEY_TYPE, NAMESPACE, fingerprint_of, strings_of

__all__ = ["Signer", "read_signers"]

LARGEST = 1 << 20  # bytes
KEY = re.compile(rf"(?P<before>(?:.*\s)?){KEY_TYPE}\s+(?P<key>[A-Za-z0-9+/]+=*)(?:\s+(?P<comment>.*))?")
BEFORE = re.compile(r'(?P<who>"[^"]*"|\S+)(?:\s+(?P<options>\S.*))?')  # of a key, in a file of allowed signers
OPTION = re.compile(r'([a-z-]+)(?:="([^"]*)")?(?:,|$)')
EXAMPLE = "give a file such as id_ed25519.pub"


@dataclass(frozen=True)
class Signer:
    """A key that is trusted, and whose it is in the words of who trusts it."""

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
    shown = text if text.isprintable() else ascii(text)
    try:
        path = Path(text)
        if not path.is_file():
            raise InputError(f"{shown} is not a file that exists; {EXAMPLE}")
        with path.open("rb") as file:
            content = file.read(LARGEST).decode()
    except (OSError, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"{shown} cannot be read as public keys; {EXAMPLE}") from None
    return _signers(content, shown)


def _signers(content: str, shown: str) -> list[Signer]:
    if "PRIVATE KEY" in content:
        raise InputError(f"{shown} is a private key; give the public one, which has .pub at its end")
    lines = [(number, line.strip()) for number, line in enumerate(content.splitlines(), start=1)]
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
        kind, key = strings_of(base64.b64decode(match["key"], validate=True))
    except ValueError:
        raise InputError(f"{place}: the Ed25519 key is cut off or changed; copy it again") from None
    if kind != KEY_TYPE.encode() or len(key) != 32:
        raise InputError(f"{place}: the Ed25519 key is cut off or changed; copy it again")
    before = BEFORE.fullmatch(match["before"].strip())
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
        if not any(fnmatchcase(NAMESPACE, pattern) for pattern in (option[2] or "").split(",")):
            return False
        left = left[option.end() :].strip()
    return True


def _printable(name: str) -> str:
    return "".join(sign for sign in name if sign.isprintable()).strip()[:200]
