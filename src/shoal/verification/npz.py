"""vectors.npz: the members of a SciPy matrix, read beside the rows that they must hold.

Members are streams: never more is unpacked than the rows call for.
"""

from __future__ import annotations

import zipfile
import zlib
from typing import IO, Any

import numpy as np

from shoal.verification.release_files import Refused, ReleaseFolder

MEMBERS = ("indices", "indptr", "format", "shape", "data", "_is_array")
HEADER = 128  # bytes at most of the header of an array of one dimension or none
MOST_MEMBERS = 100_000  # bytes of an archive's list of members; six take far fewer


class Matrix:
    """The arrays of the file: what each is, and its bytes, read side by side."""

    def __init__(self, release: ReleaseFolder, name: str) -> None:
        self._name = name
        self._file = release.open(name)
        try:
            archive = zipfile.ZipFile(self._file)
            if sorted(archive.namelist()) != sorted(f"{member}.npy" for member in MEMBERS):
                raise ValueError("other members")
            self._streams: dict[str, IO[bytes]] = {name: archive.open(f"{name}.npy") for name in MEMBERS}
            self.arrays = {name: self._array(stream) for name, stream in self._streams.items()}  # type and shape
        except (ValueError, OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError):
            raise Refused("same data", "is not a matrix as SciPy writes one", name) from None

    def _array(self, stream: IO[bytes]) -> tuple[str, tuple[int, ...]]:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ValueError("another version")
        shape, in_columns, kind = np.lib.format.read_array_header_1_0(stream, max_header_size=HEADER)
        if in_columns and len(shape) > 1:
            raise ValueError("another order")
        return kind.str, shape

    def is_next(self, member: str, values: Any) -> bool:
        """Whether the next bytes of a member are those of the values."""
        try:
            expected: bytes = values.tobytes()
            return self._streams[member].read(len(expected)) == expected
        except (ValueError, OSError, EOFError, zlib.error, zipfile.BadZipFile):
            raise Refused("same data", f"{member} cannot be unpacked", self._name) from None

    def ends(self) -> bool:
        """Whether all of every member was read."""
        return not any(stream.read(1) for stream in self._streams.values())
