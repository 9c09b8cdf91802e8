"""The operator's key: vectors that wait are sealed with it, and tokens of repeated requests derived from it."""

from __future__ import annotations

import hmac
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyrage
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.io.files import check_private, shown
from shoal.io.private_files import private_file

__all__ = ["OperatorKey"]

Ints = NDArray[np.int64]


class OperatorKey:
    """An age identity in a file that is the operator's alone. All servers of one database need the same."""

    def __init__(self, identity: str) -> None:
        self._identity = pyrage.x25519.Identity.from_str(identity)
        self._recipient = self._identity.to_public()
        self._secret = sha256(b"shoal tokens" + identity.encode()).digest()

    @classmethod
    def read_or_make(cls, path: Path) -> OperatorKey:
        """The key of this file. A file that is not there is made."""
        try:
            if not path.exists():
                _make(path)
            check_private(path, "the key of a server")
            return cls(path.read_text(encoding="ascii").strip())
        except OSError as problem:
            raise InputError(f"the key file {shown(path)} cannot be used: {problem.strerror}") from None
        except (UnicodeDecodeError, pyrage.IdentityError):
            raise InputError(f"{shown(path)} holds no key of a server; give its key file") from None

    def seal(self, counts: sp.csr_matrix) -> bytes:
        """The counts of a document, so that only this key opens them."""
        content = np.concatenate((counts.indices, counts.data)).astype("<i8").tobytes()
        return bytes(pyrage.encrypt(content, [self._recipient]))

    def open(self, sealed: bytes) -> tuple[Ints, Ints]:
        """The terms and counts that were sealed."""
        try:
            content = np.frombuffer(pyrage.decrypt(sealed, [self._identity]), dtype="<i8").astype(np.int64)
        except pyrage.DecryptError:
            raise InputError(
                "the waiting documents were sealed with another key; give the key file of before"
            ) from None
        terms, counts = np.split(content, 2)
        return terms, counts

    def secret_of(self, name: str) -> bytes:
        """32 bytes that nobody can compute who lacks either the key or the name."""
        return hmac.new(self._secret, name.encode(), sha256).digest()


def _make(path: Path) -> None:
    """A new key. Of two servers that start at once, the second takes the first one's."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    with open(unfinished, "w", opener=private_file, encoding="ascii") as file:
        file.write(f"{pyrage.x25519.Identity.generate()}\n")
    with suppress(FileExistsError):
        os.link(unfinished, path)
    unfinished.unlink()
