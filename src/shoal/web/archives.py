"""Archives that somebody sent: unpacked only if nothing in them leads elsewhere, and no larger than they may be."""

from __future__ import annotations

import lzma
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from shoal.data.private_files import PRIVATE_FOLDER, private_file
from shoal.errors import InputError
from shoal.web.workspace import ROOM_LEFT, Workspace, inside, is_litter

LARGEST = 20 << 30  # bytes, unpacked
MOST_FILES = 100_000
CHUNK = 1 << 20
# What reading a broken archive may raise: of the archive, of its compression, and of names that are used twice.
BROKEN = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, lzma.LZMAError, struct.error, NotImplementedError),
    *(RuntimeError, EOFError, ValueError, OSError),
)


def lend_unpacked(
    workspace: Workspace, path: Path, job: Path, part: str, unpacking: Callable[[Path, Path], Path]
) -> str:
    """Put a folder, or what an archive holds, into a folder of its own where the job works; the path it has there."""
    if path.is_dir():
        return workspace.lend_apart(path, job, part)
    folder = job / "work" / part
    folder.mkdir(mode=PRIVATE_FOLDER)
    return unpacking(path, folder).relative_to(job / "work").as_posix()


def unpack_release(archive: Path, folder: Path) -> Path:
    """The folder of a release, from a zip that holds it or its files; made below `folder`."""
    unpack(archive, folder)
    releases = sorted(path.parent for path in folder.rglob("certificate.json"))
    if not releases:
        raise InputError(f"{archive.name} holds no release: there is no certificate.json in it; choose another file")
    return min(releases, key=lambda path: len(path.parts))


def unpack(archive: Path, folder: Path) -> Path:
    """The one folder that a zip holds, or the folder that its files were put into."""
    try:
        with zipfile.ZipFile(archive) as packed:
            _unpack(packed, folder)
    except BROKEN as why:
        if isinstance(why, InputError):
            raise
        raise InputError(f"{archive.name} is no zip, is broken, or is encrypted; send the zip as you got it") from None
    content = list(folder.iterdir())
    return content[0] if len(content) == 1 and content[0].is_dir() else folder


def _unpack(packed: zipfile.ZipFile, folder: Path) -> None:
    entries = [entry for entry in packed.infolist() if not entry.is_dir() and not is_litter(entry.filename)]
    size = sum(entry.file_size for entry in entries)
    if len(entries) > MOST_FILES or size > LARGEST:
        raise InputError(
            f"the zip holds {len(entries):,} files of {size:,} bytes; at most {MOST_FILES:,} files and "
            f"{LARGEST:,} bytes are unpacked"
        )
    free = shutil.disk_usage(folder).free - ROOM_LEFT
    if size > free:
        raise InputError(
            f"unpacked, the zip has {size:,} bytes and the disk has room for {max(free, 0):,}; make room for it"
        )
    left = size
    for entry in entries:
        path = inside(folder, entry.filename)
        path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        with packed.open(entry) as source, open(path, "xb", opener=private_file) as target:
            while chunk := source.read(CHUNK):
                left -= len(chunk)
                if left < 0:
                    raise InputError("the zip holds more than it says; do not trust it")
                target.write(chunk)
