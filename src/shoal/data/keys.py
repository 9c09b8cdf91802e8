"""Keys, and files that only the holders of keys can open, in the age format (https://age-encryption.org/v1).

Any age tool opens what is sealed here. Needs pyrage, which comes with the extras `sanitize` and `service`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.data.files import PathLike, check_private, reading, shown
from shoal.data.private_files import PRIVATE_FOLDER, private_file
from shoal.errors import InputError, MissingExtra

try:
    import pyrage
except ImportError:
    raise MissingExtra("sanitize", "sealing with a key") from None

AGE = b"age-encryption.org/v1"
SECRET = "AGE-SECRET-KEY-1"
PADDING = b" "  # which JSON and most texts do not mind at their end


@dataclass(frozen=True)
class Keys:
    """A secret key to read with, and the public keys of all readers of what is written.

    The owner of the secret key is always among them: nobody locks themselves out.

    >>> keys = Keys.draw()
    >>> keys.decrypt(keys.encrypt(b"a letter"))
    b'a letter'
    """

    recipients: tuple[str, ...]  # public keys, age1…
    identity: Any = field(repr=False)  # the secret key

    @classmethod
    def draw(cls) -> Keys:
        """A new key, from the system's randomness."""
        identity = pyrage.x25519.Identity.generate()
        return cls((str(identity.to_public()),), identity)

    @classmethod
    def read(cls, path: PathLike, passphrase: Callable[[], str] | None = None) -> Keys:
        """The key in a file. `passphrase` is asked if the file is locked with one."""
        with reading(path):
            check_private(Path(path), "a secret key")
            content = Path(path).read_bytes()
        if content.startswith(AGE):
            content = _unlocked(content, path, passphrase)
        lines = [line.strip() for line in content.decode("ascii", "replace").splitlines()]
        secrets = [line for line in lines if line.startswith(SECRET)]
        try:
            identity = pyrage.x25519.Identity.from_str(*secrets)
        except (pyrage.IdentityError, TypeError):
            raise InputError(
                f"{shown(path)} is no key file: it has {len(secrets)} secret keys, and 1 is needed; make one with: "
                "shoal index keys --new"
            ) from None
        return cls((str(identity.to_public()),), identity)

    def write(self, path: PathLike, passphrase: str | None = None) -> None:
        """Into a new file that only its owner can read, locked with a passphrase if there is one."""
        content = f"# public key: {self.public}\n{self.identity}\n".encode()
        if passphrase == "":
            raise InputError(
                "an empty passphrase locks nothing; give one, or make the key without {option}", "passphrase"
            )
        if passphrase is not None:
            content = pyrage.passphrase.encrypt(content, passphrase)
        try:
            Path(path).absolute().parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
            with open(path, "xb", opener=private_file) as file:
                file.write(content)
                os.fsync(file.fileno())
        except FileExistsError:
            raise InputError(f"{shown(path)} exists, and a lost key cannot be made again; name a new file") from None
        except OSError as error:
            raise InputError(f"{shown(path)} cannot be written ({error.strerror}); name another file") from None

    @property
    def public(self) -> str:
        """The owner's public key, to give to others."""
        return str(self.identity.to_public())

    def shared_with(self, recipients: Sequence[str]) -> Keys:
        """The same secret key; these may read as well."""
        for recipient in recipients:
            check_recipient(recipient)
        return Keys(tuple(dict.fromkeys((*self.recipients, *recipients))), self.identity)

    def encrypt(self, content: bytes) -> bytes:
        """For all recipients."""
        return bytes(pyrage.encrypt(content, [pyrage.x25519.Recipient.from_str(key) for key in self.recipients]))

    def decrypt(self, content: bytes) -> bytes:
        """What was encrypted for this key, unchanged."""
        try:
            return bytes(pyrage.decrypt(content, [self.identity]))
        except pyrage.DecryptError:
            raise InputError(
                "this document cannot be decrypted: it was not encrypted for your key, or it was changed; give the "
                "right key with {option}",
                "key",
            ) from None


def check_recipient(key: str) -> None:
    """Refuse anything that is not a public key."""
    try:
        pyrage.x25519.Recipient.from_str(key)
    except (pyrage.RecipientError, UnicodeError):
        given = "a secret key" if key.startswith(SECRET) else shown(key[:20] + "…" * (len(key) > 20))
        raise InputError(
            f"{given} is no public key of age; give one that begins with age1, as `shoal index keys` shows it"
        ) from None


def _unlocked(content: bytes, path: PathLike, passphrase: Callable[[], str] | None) -> bytes:
    if passphrase is None:
        raise InputError(f"{shown(path)} is locked with a passphrase; give it in SHOAL_PASSPHRASE, or type it")
    try:
        return bytes(pyrage.passphrase.decrypt(content, passphrase()))
    except pyrage.DecryptError:
        raise InputError(f"the passphrase does not open {shown(path)}; try again") from None


def sealed(content: bytes, recipients: Sequence[str] = (), passphrase: str | None = None) -> bytes:
    """For all recipients (public keys, age1…), or for those who know the passphrase; the content is padded with spaces.

    >>> keys = Keys.draw()
    >>> opened(sealed(b"a letter", keys.recipients), [str(keys.identity)]).rstrip()
    b'a letter'
    """
    if bool(recipients) == bool(passphrase):
        raise InputError("sealing needs either public keys or a passphrase; give one of the two")
    for recipient in recipients:
        check_recipient(recipient)
    if passphrase:
        return bytes(pyrage.passphrase.encrypt(padded(content), passphrase))
    return bytes(pyrage.encrypt(padded(content), [pyrage.x25519.Recipient.from_str(key) for key in recipients]))


def opened(content: bytes, identities: Sequence[str] = (), passphrase: str | None = None) -> bytes:
    """What was sealed, with its padding."""
    if bool(identities) == bool(passphrase):
        raise InputError("opening needs either secret keys or a passphrase; give one of the two")
    try:
        if passphrase:
            return bytes(pyrage.passphrase.decrypt(content, passphrase))
        return bytes(pyrage.decrypt(content, [pyrage.x25519.Identity.from_str(key) for key in identities]))
    except pyrage.IdentityError:
        raise InputError("a secret key cannot be read; give keys that begin with AGE-SECRET-KEY-1") from None
    except pyrage.DecryptError:
        what = "this passphrase" if passphrase else "these keys"
        raise InputError(f"{what} cannot open the file, or it was changed; give those it was sealed with") from None


def padded(content: bytes) -> bytes:
    """The content with spaces up to the next of few lengths: at most 12 % more (Padmé, Nikitin et al. 2019)."""
    exponent = max(len(content), 1).bit_length() - 1
    step = 1 << max(exponent - exponent.bit_length(), 0)
    return content + PADDING * (-len(content) % step)
