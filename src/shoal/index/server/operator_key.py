"""The operator's key: it seals vectors of waiting documents, and tokens of repeated requests are derived from it."""

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

from shoal.data.files import check_private, shown
from shoal.data.private_files import PRIVATE_FOLDER, private_file
from shoal.errors import InputError

Ints = NDArray[np.int64]


class OperatorKey:
    """An age identity in a file that only the operator can read. All servers of one database need the same one."""

    def __init__(self, identity: str) -> None:
        self._identity = pyrage.x25519.Identity.from_str(identity)
        self._recipient = self._identity.to_public()
        self._secret = sha256(b"shoal tokens" + identity.encode()).digest()

    @classmethod
    def read_or_make(cls, path: Path) -> OperatorKey:
        """The key in this file, which is created if it does not exist."""
        try:
            if not path.exists():
                path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
                _create(path)
            check_private(path, "the key of a server")
            return cls(path.read_text(encoding="ascii").strip())
        except OSError as problem:
            raise InputError(f"the key file {shown(path)} cannot be used: {problem.strerror}") from None
        except (UnicodeDecodeError, pyrage.IdentityError):
            raise InputError(f"{shown(path)} is not the key file of a server; give its key file") from None

    def seal(self, counts: sp.csr_matrix) -> bytes:
        """Encrypt the counts of a document, so that only this key opens them."""
        content = np.concatenate((counts.indices, counts.data)).astype("<i8").tobytes()
        return bytes(pyrage.encrypt(content, [self._recipient]))

    def open(self, sealed: bytes) -> tuple[Ints, Ints]:
        """Terms and counts that were sealed."""
        try:
            content = np.frombuffer(pyrage.decrypt(sealed, [self._identity]), dtype="<i8").astype(np.int64)
        except pyrage.DecryptError:
            raise InputError("the waiting documents were sealed with another key; give the earlier key file") from None
        terms, counts = np.split(content, 2)
        return terms, counts

    def secret_of(self, name: str) -> bytes:
        """32 bytes that cannot be computed without both the key and the name."""
        return hmac.new(self._secret, name.encode(), sha256).digest()


def _create(path: Path) -> None:
    """Create a key file. Of two servers that start at once, the second uses the first one's."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    with open(unfinished, "w", opener=private_file, encoding="ascii") as file:
        file.write(f"{pyrage.x25519.Identity.generate()}\n")
    with suppress(FileExistsError):
        os.link(unfinished, path)
    unfinished.unlink()
