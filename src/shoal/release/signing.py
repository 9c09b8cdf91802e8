"""sign: the owner vouches for a release, with the OpenSSH key they have. `ssh-keygen -Y verify` accepts it as well."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.data.files import check_private, is_folder, reading, shown
from shoal.errors import InputError, MissingExtra
from shoal.release.folders import CERTIFICATE, uninterrupted
from shoal.verification.verify import verify

SIGNATURE = CERTIFICATE + ".sig"  # the name that ssh-keygen -Y sign gives it
NAMESPACE = b"shoal-certificate"
KIND = b"ssh-ed25519"
EPOCH = 315_532_800  # the beginning of 1980, as all files of a release have it
LARGEST = 1 << 16  # bytes of a key
COLUMNS = 70
PURPOSE = "signing"
MAKE_ONE = "make one with: ssh-keygen -t ed25519"

Passphrase = str | Callable[[], str] | None


@dataclass(frozen=True, repr=False)
class SigningKey:
    """An Ed25519 private key, in memory. It has no name: the comment in its file is not read."""

    _private: Any

    @classmethod
    def read(cls, path: str | os.PathLike[str], passphrase: Passphrase = None) -> SigningKey:
        """The key in a file that only its owner can read.

        `passphrase`, or what asks for it, opens a locked one; without it, SHOAL_PASSPHRASE does.
        """
        place = Path(path).expanduser()
        return cls.parse(_content(place), shown(place), passphrase or os.environ.get("SHOAL_PASSPHRASE") or None)

    @classmethod
    def parse(cls, content: bytes, name: str, passphrase: Passphrase = None) -> SigningKey:
        """The key that such a file holds; errors call it by the name."""
        try:
            from cryptography.exceptions import UnsupportedAlgorithm
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
            from cryptography.hazmat.primitives.serialization import load_ssh_private_key
        except ImportError:
            raise MissingExtra("sign", PURPOSE) from None
        _check_format(content, name)

        def load(secret: bytes | None) -> Any:
            try:
                return load_ssh_private_key(content, secret)
            except (ValueError, UnsupportedAlgorithm):
                if secret is not None:
                    raise InputError(f"the passphrase does not open {name}; try again") from None
                raise InputError(f"{name} is not a sound OpenSSH private key; {MAKE_ONE}") from None

        try:
            private = load(None)
        except TypeError:  # it is locked
            if passphrase is None:
                raise InputError(
                    f"{name} is locked with a passphrase; give it in SHOAL_PASSPHRASE, or type it"
                ) from None
            typed = passphrase() if callable(passphrase) else passphrase
            private = load(typed.encode(errors="surrogateescape"))  # the bytes that the environment has
        if not isinstance(private, Ed25519PrivateKey):
            kind = type(private).__name__.removeprefix("_").removesuffix("PrivateKey")
            raise InputError(f"{name} is a key of the kind {kind}; signing takes Ed25519: {MAKE_ONE}")
        return cls(private)

    def signature_of(self, message: bytes) -> bytes:
        """The signature file for a message. It holds the public key and nothing of the owner's name."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        about = _strings(NAMESPACE, b"", b"sha512")
        signed = self._private.sign(b"SSHSIG" + about + _strings(hashlib.sha512(message).digest()))
        public = self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        blob = b"SSHSIG" + (1).to_bytes(4, "big") + _strings(_strings(KIND, public)) + about
        coded = base64.b64encode(blob + _strings(_strings(KIND, signed)))
        lines = [coded[place : place + COLUMNS] for place in range(0, len(coded), COLUMNS)]
        return b"\n".join([b"-----BEGIN SSH SIGNATURE-----", *lines, b"-----END SSH SIGNATURE-----", b""])


def _content(place: Path) -> bytes:
    if is_folder(place):
        raise InputError(f"{shown(place)} is a folder; give the file of an OpenSSH private key")
    with reading(place):
        with place.open("rb") as file:
            content = file.read(LARGEST)
        if b"PRIVATE KEY" in content:
            check_private(place, "a private key")
    return content


def _check_format(content: bytes, name: str) -> None:
    if content.startswith((b"ssh-", b"ecdsa-", b"sk-")):
        raise InputError(f"{name} is a public key; sign with the private one, which has no .pub at its end")
    if b"PRIVATE KEY" not in content:
        raise InputError(f"{name} is not an OpenSSH private key; {MAKE_ONE}")
    if not content.startswith(b"-----BEGIN OPENSSH PRIVATE KEY-----"):
        raise InputError(f"{name} is a private key, but not in OpenSSH's own format; {MAKE_ONE}")


def _strings(*contents: bytes) -> bytes:
    """As OpenSSH writes strings: each after its length."""
    return b"".join(len(content).to_bytes(4, "big") + content for content in contents)


def sign(
    folder: str | os.PathLike[str],
    key: str | os.PathLike[str] | SigningKey,
    passphrase: Passphrase = None,
    force: bool = False,
) -> str:
    """Sign the certificate of a release, whatever is in it, and return the seal that is vouched for.

    The release is verified first: nobody should vouch for what does not hold. `key` is an Ed25519 private key as
    OpenSSH keeps it, such as ~/.ssh/id_ed25519; `force` replaces an earlier signature.

    >>> from shoal import sign
    >>> sign("release", key="~/.ssh/id_ed25519")  # doctest: +SKIP
    'b0c1…'
    """
    signing = key if isinstance(key, SigningKey) else SigningKey.read(key, passphrase)
    release = Path(folder)
    if (release / SIGNATURE).is_symlink():
        raise InputError(f"{shown(release / SIGNATURE)} is a link, not a file; remove it")
    if (release / SIGNATURE).exists() and not force:
        raise InputError(f"{shown(release / SIGNATURE)} exists; pass {{option}} to sign anew", "force")
    # An earlier signature may be of another certificate, and is replaced.
    broken = [claim for claim in verify(release).broken if claim.file != SIGNATURE]
    if broken:
        where = f"{broken[0].file}: " if broken[0].file else ""
        raise InputError(
            f"{shown(release)} does not hold what it promises ({where}{broken[0].detail}), so it is not signed; "
            "see: shoal verify"
        )
    certificate = (release / CERTIFICATE).read_bytes()
    write_signature(release, signing, certificate)
    return str(json.loads(certificate)["seal"])


def write_signature(release: Path, key: SigningKey, certificate: bytes) -> None:
    """The signature beside the certificate: whole or not at all, and never a stray file in the release."""
    content = key.signature_of(certificate)
    try:
        descriptor, aside = tempfile.mkstemp(dir=release.resolve().parent, prefix=f".{release.name}-unfinished-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            os.chmod(aside, (release / CERTIFICATE).stat().st_mode & 0o777)
            os.utime(aside, (EPOCH, EPOCH))
            with uninterrupted():
                os.replace(aside, release / SIGNATURE)
        except BaseException:
            Path(aside).unlink(missing_ok=True)
            raise
    except OSError as problem:
        reason = (problem.strerror or "it cannot be written").lower()
        raise InputError(f"{shown(release / SIGNATURE)} cannot be written: {reason}; check the folder") from None
