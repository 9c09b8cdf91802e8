"""The files of a release, read once: what is hashed is what is counted, whoever changes the folder meanwhile."""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
from pathlib import Path

import pyarrow as pa

from shoal.results.claims import Claim

FOLDER_OF_PARTS = {"documents": "vectors", "sketches": "sketches", "table": "table"}
FOLDERS = (*FOLDER_OF_PARTS.values(), "documents")  # that a release may have
LARGEST_IN_MEMORY = 16_000_000  # bytes of a file that is kept after it was hashed
MEMORY = 256_000_000  # bytes of all files that are kept
NOT_PLAIN = "is not a plain file"
FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Refused(Exception):
    """A promise that does not hold, found where reading on would make no sense or do harm."""

    def __init__(self, promise: str, detail: str, file: str) -> None:
        super().__init__(detail)
        self.claim = Claim(promise, False, detail, file)


class ReleaseFolder:
    """The files of a release by their names. No link is followed, and nothing but plain files is opened.

    A file is read from the disk once if it is small. A large one is read again only as long as it is the same one.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.path = Path(folder)
        self.names = _names(self.path)
        self._content: dict[str, bytes] = {}
        self._identity: dict[str, tuple[int, ...]] = {}
        self._memory_left = MEMORY

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def size(self, name: str) -> int:
        """Bytes of a file."""
        if name in self._content:
            return len(self._content[name])
        with self.open(name) as file:
            return file.seek(0, os.SEEK_END)

    def read(self, name: str, largest: int) -> bytes:
        """The whole file; refused if it has more bytes than `largest`."""
        if self.size(name) > largest:
            raise Refused("size", f"is larger than {largest:,} bytes", name)
        with self.open(name) as file:
            return file.read()

    def open(self, name: str) -> io.BufferedIOBase:
        """The file as it was when it was first opened; refused if it is another one now."""
        if name in self._content:
            return io.BytesIO(self._content[name])
        if (self.path / name).is_symlink():
            raise Refused("files", NOT_PLAIN, name)
        try:
            descriptor = os.open(self.path / name, FLAGS)
        except OSError:
            raise Refused("files", "is missing, or cannot be read", name) from None
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            os.close(descriptor)
            raise Refused("files", NOT_PLAIN, name)
        file = os.fdopen(descriptor, "rb")
        if about.st_size <= min(LARGEST_IN_MEMORY, self._memory_left) and name not in self._identity:
            with file:
                self._content[name] = file.read(LARGEST_IN_MEMORY)
            self._memory_left -= len(self._content[name])
            return io.BytesIO(self._content[name])
        identity = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
        if self._identity.setdefault(name, identity) != identity:
            file.close()
            raise Refused("files", "was changed while it was read", name)
        return file

    def sha256(self, name: str) -> str:
        """Of the file that is counted."""
        with self.open(name) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self.check_unchanged(name)
        return digest

    def check_unchanged(self, *names: str) -> None:
        """Refuse files that became others since they were first opened."""
        for name in names or tuple(self._identity):
            self.open(name).close()

    def parts(self, kind: str) -> list[str]:
        """The parts of the rows in their order; none when the rows are in one file."""
        folder = FOLDER_OF_PARTS[kind]
        inside = [name for name in self.names if name.startswith(f"{folder}/")]
        return [part_name(kind, number) for number in range(len(inside))]


def _names(folder: Path) -> list[str]:
    """What is in the folder; of a folder of parts or texts, what is in that."""
    names = []
    for name in os.listdir(folder):
        parts = folder / name
        inside = name in FOLDERS and parts.is_dir() and not parts.is_symlink()
        names += ([f"{name}/{part}" for part in os.listdir(parts)] if inside else []) or [name]
    return sorted(names)


def part_name(kind: str, number: int) -> str:
    """The file of a part, in the release."""
    return f"{FOLDER_OF_PARTS[kind]}/part-{number:05}.parquet"


def is_part(kind: str, name: str) -> bool:
    """Whether a file of this name is a part of the rows."""
    return kind in FOLDER_OF_PARTS and bool(re.fullmatch(FOLDER_OF_PARTS[kind] + r"/part-[0-9]{5,}\.parquet", name))


def parts_of(release: Path, kind: str) -> list[str]:
    """The parts of the rows in their order; none when the rows are in one file."""
    return ReleaseFolder(release).parts(kind) if release.is_dir() else []


def owned_by_arrow(content: bytes) -> pa.Buffer:
    """A copy with no Python object behind it: an Arrow thread that lets go of one late would end in a crash at exit."""
    stream = pa.BufferOutputStream()
    stream.write(content)
    return stream.getvalue()
