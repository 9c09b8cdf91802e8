"""The private folder of the workbench: what was uploaded, and what jobs made of it. Nothing outside is read or written.

- uploads/ID/: the files of an upload, under the names they came with; uploads/ID.toml: the plan for them
- jobs/ID/: what a job was told, and in work/ the files it works on

Archives that somebody sent are unpacked only if nothing in them leads elsewhere, and no larger than they may be.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import secrets
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from shoal.data.files import shown
from shoal.data.private_files import PRIVATE_FOLDER, private_file
from shoal.errors import InputError

LONGEST_NAME = 200  # bytes; file systems allow 255
DEEPEST = 8  # folders
ROOM_LEFT = 100 << 20  # bytes of the disk that an upload leaves free
LITTER = (".DS_Store", "Thumbs.db", "desktop.ini")
_ID = re.compile(r"[0-9a-f]{16}")


def inside(folder: Path, name: str) -> Path:
    """A file below the folder. Names that lead elsewhere, or that a shell would stumble on, are refused."""
    parts = PurePosixPath(name).parts
    sound = 0 < len(parts) <= DEEPEST and all(map(_is_sound, parts))
    path = folder.joinpath(*parts) if sound else folder
    if not sound or folder.resolve() not in path.resolve().parents:
        raise InputError("this name of a file cannot be used here; rename the file")
    return path


def _is_sound(part: str) -> bool:
    return (
        part not in (".", "..", "/")
        and not part.startswith(("-", "."))
        and not set(part) & set("\\/:")
        and part.isprintable()
        and len(part.encode("utf-8", "replace")) <= LONGEST_NAME
    )


def is_litter(name: str) -> bool:
    """What file managers leave in folders and archives, and nobody means to send."""
    parts = PurePosixPath(name).parts
    return bool(parts) and (parts[0] == "__MACOSX" or parts[-1] in LITTER or parts[-1].startswith("._"))


class Upload:
    """Files that came together: one, or those of a folder."""

    def __init__(self, folder: Path) -> None:
        self.id = folder.name
        self.folder = folder
        self.plan = folder.with_name(f"{folder.name}.toml")  # what its pages show and change

    @property
    def path(self) -> Path:
        """The one file or folder that was uploaded."""
        files = sorted(self.folder.iterdir()) if self.folder.is_dir() else []
        if len(files) != 1:
            raise InputError("nothing was uploaded, or it was closed; choose the file again")
        return files[0]

    @property
    def name(self) -> str:
        return self.path.name

    @contextmanager
    def receiving(self, name: str, size: int | None) -> Iterator[Any]:
        """A file to write what comes; it appears under its name only when all has come."""
        path = inside(self.folder, name)
        free = shutil.disk_usage(self.folder).free - ROOM_LEFT
        if size is not None and size > free:
            raise InputError(
                f"the file has {size:,} bytes and the disk has room for {max(free, 0):,}; make room for it"
            )
        path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        aside = self.folder.parent / f"{self.id}-{secrets.token_hex(4)}.part"
        try:
            with open(aside, "wb", opener=private_file) as file:
                yield file
            os.replace(aside, path)
        finally:
            aside.unlink(missing_ok=True)


class Workspace:
    """A folder of the owner's alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for part in (folder, self.uploads, self.jobs):
            part.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            part.chmod(PRIVATE_FOLDER)
        for unfinished in self.uploads.glob("*.part"):
            unfinished.unlink()

    @property
    def uploads(self) -> Path:
        return self.folder / "uploads"

    @property
    def jobs(self) -> Path:
        return self.folder / "jobs"

    def new_upload(self) -> Upload:
        return Upload(self._new(self.uploads))

    def upload(self, name: str) -> Upload:
        return Upload(self._known(self.uploads, name, "this upload"))

    def all_uploads(self) -> list[Upload]:
        """What was uploaded and not closed, from the newest to the oldest."""
        folders = [folder for folder in self.uploads.iterdir() if _ID.fullmatch(folder.name)]
        whole = [Upload(folder) for folder in folders if len(list(folder.iterdir())) == 1]
        return sorted(whole, key=lambda upload: -upload.folder.stat().st_mtime)

    @contextmanager
    def new_job(self) -> Iterator[Path]:
        """The folder of a job that is prepared within this block; nothing stays of it if that fails."""
        folder = self._new(self.jobs)
        try:
            (folder / "work").mkdir(mode=PRIVATE_FOLDER)
            yield folder
        except BaseException:
            self.remove(folder)
            raise

    def job(self, name: str) -> Path:
        return self._known(self.jobs, name, "this job")

    def job_folders(self) -> list[Path]:
        """From the oldest to the newest."""
        started = [folder for folder in self.jobs.iterdir() if (folder / "job.json").is_file()]
        return sorted(started, key=lambda folder: (folder / "job.json").stat().st_mtime)

    def remove(self, folder: Path) -> None:
        """An upload or a job, and all of its files."""
        shutil.rmtree(folder, ignore_errors=True)
        Upload(folder).plan.unlink(missing_ok=True)

    def lend(self, upload: Upload, job: Path) -> str:
        """Put what was uploaded where the job works, without a copy if the disk can; the name it has there."""
        return self.link(upload.path, job / "work")

    def lend_apart(self, path: Path, job: Path, part: str) -> str:
        """The same in a folder of its own, since several parts of a job may have one name."""
        folder = job / "work" / part
        folder.mkdir(mode=PRIVATE_FOLDER)
        return f"{part}/{self.link(path, folder)}"

    @staticmethod
    def link(source: Path, folder: Path) -> str:
        """The file or folder under its name in another folder, without a copy if the disk can."""
        target = folder / source.name
        if source.is_dir():
            shutil.copytree(source, target, copy_function=_linked)
        else:
            _linked(str(source), str(target))
        return target.name

    @staticmethod
    def _new(folder: Path) -> Path:
        made = folder / secrets.token_hex(8)
        made.mkdir(mode=PRIVATE_FOLDER)
        return made

    @staticmethod
    def _known(folder: Path, name: str, what: str) -> Path:
        path = folder / name
        if not _ID.fullmatch(name) or not path.is_dir():
            raise LookupError(f"{what} was closed, or never was here")
        return path


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except FileExistsError:
        raise InputError(f"two files are named {shown(Path(target).name)} here; rename one of them") from None
    except OSError:  # another disk
        shutil.copyfile(source, target)


def write_json(path: Path, content: Any) -> None:
    """The whole file or none of it."""
    aside = path.with_name(f"{path.name}.part")
    with open(aside, "w", encoding="utf-8", opener=private_file) as file:
        json.dump(content, file)
    os.replace(aside, path)


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
