"""The secret behind the signs: terms and components are hashed with it, so that new terms need no table."""

from __future__ import annotations

import os
import secrets
import unicodedata
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.files import shown
from shoal.data.private_files import private_file
from shoal.errors import InputError
from shoal.kernels.sketching.sketches import sign_table

LENGTH = 32  # bytes
MODULUS = (1 << 61) - 1


@dataclass(frozen=True)
class SketchKey:
    """32 secret bytes. Whoever has them can estimate what is in a record; products of sketches need no key.

    A pickled estimator contains its key: keep it as you keep the key.

    >>> SketchKey(bytes(32))
    SketchKey()
    """

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.secret, bytes) or len(self.secret) != LENGTH:
            size = f"{len(self.secret)} bytes" if isinstance(self.secret, bytes) else type(self.secret).__name__
            raise InputError(f"a sketch key has {LENGTH} bytes, got {size}; make one with SketchKey.draw()")

    @classmethod
    def draw(cls) -> SketchKey:
        """A new key from the system's randomness."""
        return cls(secrets.token_bytes(LENGTH))

    @classmethod
    def from_seed(cls, seed: int) -> SketchKey:
        """The same key for the same number: for experiments, since it can be guessed."""
        return cls(blake2b(str(seed).encode(), digest_size=LENGTH, person=b"shoal seed").digest())

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> SketchKey:
        """The key in a file: 64 hexadecimal digits."""
        try:
            text = Path(path).read_bytes()[: 4 * LENGTH].decode("ascii").strip()
            secret = bytes.fromhex(text)
        except OSError as error:
            raise InputError(f"{shown(path)} cannot be read ({error.strerror}); name a file with a key") from None
        except ValueError:
            raise InputError(f"{shown(path)} is no sketch key; give a file with {2 * LENGTH} hex digits") from None
        if len(secret) != LENGTH:
            digits = f"{len(text)} hex digits"
            raise InputError(f"{shown(path)} has {digits}, and a sketch key {2 * LENGTH}; give the right file")
        return cls(secret)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Into a new file that only its owner can read."""
        try:
            with open(path, "x", encoding="ascii", opener=private_file) as file:
                file.write(self.secret.hex() + "\n")
        except FileExistsError:
            raise InputError(f"{shown(path)} exists, and a lost key cannot be made again; name a new file") from None
        except OSError as error:
            raise InputError(f"{shown(path)} cannot be written ({error.strerror}); name another file") from None

    def hashed(self, terms: Sequence[str]) -> NDArray[np.uint64]:
        """A number below 2^61 - 1 for each term, the same however its letters are composed."""
        start = blake2b(digest_size=8, key=self.secret, person=b"shoal term")
        digests = []
        for term in terms:
            hashed = start.copy()
            hashed.update((term if term.isascii() else unicodedata.normalize("NFC", term)).encode())
            digests.append(hashed.digest())
        return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64) % np.uint64(MODULUS)

    def coefficients(self, first: int, count: int) -> NDArray[np.uint64]:
        """Of the cubic polynomials of components `first` to `first` + `count`, (count, 4)."""
        coefficients = np.empty((count, 4), dtype=np.uint64)
        for row in range(count):
            number = (first + row).to_bytes(8, "little")
            digest = blake2b(number, digest_size=64, key=self.secret, person=b"shoal component").digest()
            parts = (digest[start : start + 16] for start in range(0, 64, 16))
            coefficients[row] = [int.from_bytes(part, "little") % MODULUS for part in parts]
        return coefficients

    def signs(self, terms: Sequence[str], components: int, first: int = 0) -> NDArray[np.int8]:
        """+1 or -1 for every term and component, (terms, components)."""
        table: NDArray[np.int8] = sign_table(self.hashed(terms), self.coefficients(first, components))
        return table


def key_of(key: Any, random_state: Any) -> SketchKey:
    """The key given, one made from a seed, with a warning, or a new secret one."""
    if key is not None:
        if not isinstance(key, SketchKey):
            raise InputError(
                f"key must be a SketchKey, got {type(key).__name__}; use SketchKey(bytes) or SketchKey.draw()"
            )
        return key
    if random_state is None:
        return SketchKey.draw()
    if not isinstance(random_state, int | np.integer) or isinstance(random_state, bool):
        raise InputError(f"random_state={random_state!r} must be a whole number or None")
    warnings.warn(
        f"a key made from random_state={random_state} can be guessed: for experiments only; give key=SketchKey.draw()",
        stacklevel=4,
    )
    return SketchKey.from_seed(int(random_state))
