"""Bytes that only the holders of keys, or of a passphrase, can open. Their length tells little of the content's."""

from __future__ import annotations

from collections.abc import Sequence

import pyrage

from shoal.errors import InputError
from shoal.io.sealing.keys import check_recipient

__all__ = ["opened", "padded", "sealed"]

PADDING = b" "  # which JSON and most texts do not mind at their end


def sealed(content: bytes, recipients: Sequence[str] = (), passphrase: str | None = None) -> bytes:
    """For all recipients (public keys, age1…), or for who knows the passphrase; the content is padded with spaces.

    >>> from shoal.io.sealing.keys import Keys
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
