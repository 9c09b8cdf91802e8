"""Arrays that took a while to make, kept in a file of the user's cache folder.

The folder is SHOAL_CACHE, or the platform's cache folder. A file is written aside and renamed, so it is whole or not
there; it is made again when its source or its layout has changed, or when it cannot be read. Without a folder to write
to, everything works and takes longer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.io.private_files import cache_folder

__all__ = ["Arrays", "kept"]

Arrays = dict[str, NDArray[Any]]

_MARK = "fingerprint"


def kept(name: str, fingerprint: str, make: Callable[[], Arrays]) -> Arrays:
    """The arrays kept as `name` with this fingerprint, or those that `make` makes, which are kept from then on."""
    try:
        path = cache_folder() / f"{name}.npz"
    except RuntimeError:  # the user has no home folder
        return make()
    found = _read(path, fingerprint)
    if found is not None:
        return found
    made = make()
    with suppress(OSError):
        _write(path, fingerprint, made)
    return made


def _read(path: Path, fingerprint: str) -> Arrays | None:
    """The arrays in the file; None when it is missing, broken (it has checksums), or has another fingerprint."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            names = [name for name in stored.files if name != _MARK]
            if bytes(stored[_MARK]) != _mark(fingerprint, names):
                return None
            return {name: stored[name] for name in names}
    except Exception:  # A broken archive fails in a dozen ways, and the remedy is always the same.
        return None


def _mark(fingerprint: str, names: Iterable[str]) -> bytes:
    """What the file was made from, and which arrays it has."""
    return f"{fingerprint} {sorted(names)}".encode()


def _write(path: Path, fingerprint: str, arrays: Arrays) -> None:
    import tempfile  # takes a while to load, and is needed once

    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=".npz")
    try:
        with os.fdopen(handle, "wb") as stream:
            mark: NDArray[Any] = np.frombuffer(_mark(fingerprint, arrays), np.uint8)
            np.savez(stream, allow_pickle=False, **arrays, **{_MARK: mark})
        os.replace(aside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(aside)
        raise
