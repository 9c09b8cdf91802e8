"""Whose signature a recipient trusts: public keys as OpenSSH writes them, or its file of allowed signers."""

from __future__ import annotations

import base64
import os
import re
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import InputError
from shoal.verification.signed.signature import KEY_TYPE, NAMESPACE, fingerprint_of, strings_of

__all__ = ["Signer", "read_signers"]

LARGEST = 1 << 20  # bytes
BLANKS = " \t"  # as OpenSSH has them: no other sign divides words, and only a line feed ends a line
KEY = re.compile(
    rf"(?P<before>(?:.*[{BLANKS}])?){KEY_TYPE}[{BLANKS}]+(?P<key>[A-Za-z0-9+/]+=*)(?:[{BLANKS}]+(?P<comment>.*))?"
)
BEFORE = re.compile(rf'(?P<who>"[^"]*"|[^{BLANKS}]+)(?:[{BLANKS}]+(?P<options>.+))?')  # of a key, in allowed signers
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
    shown = text if text and text.isprintable() else ascii(text)
    try:
        path = Path(text).expanduser()
        if not path.is_file():
            raise InputError(f"{shown} is not a file that exists; {EXAMPLE}")
        with path.open("rb") as file:
            content = file.read(LARGEST).decode("utf-8-sig")
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
