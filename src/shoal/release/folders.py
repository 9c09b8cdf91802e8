"""Folders that appear whole or not at all: written aside, then renamed.

A folder aside is made beside its target and locked, so that the next run can tell which a killed one left behind.
"""

from __future__ import annotations

import csv
import io
import os
import shlex
import shutil
import signal
import stat
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any
from uuid import uuid4

from shoal.data.files import shown
from shoal.data.private_files import PRIVATE_FILE, PRIVATE_FOLDER
from shoal.errors import InputError

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows; there leftovers are not named
    fcntl = None

Content = str | Callable[[Path], None]  # of a file: its text, or what writes it at the path it is given

CERTIFICATE = "certificate.json"
MAPPING = "mapping.parquet"
MAPPING_FOLDER = "mapping"  # of a release in parts
GONE = "gone.csv"  # of a table that followed another: who may not come back
LOSS = "loss.json"  # of a table that followed another: its figures are not published
SEAL = "seal.txt"  # of the release that a mapping with ids belongs to
VAULT = "vault.age"  # of sanitized documents
PUBLIC_FOLDER = 0o777  # as far as the umask allows
REPLACED = "old"  # in a folder aside: what the target was before
ASIDE = ".{}-unfinished-"  # begins the name of a folder aside, after which mkdtemp adds 8 characters
RANDOM = 8
LONGEST_NAME = 40
TRIES, PAUSE = 3, 0.1  # seconds
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # by name: Windows has no SIGHUP


def private_beside(release: Path) -> Path:
    """Where the private side goes unless said otherwise: next to the release, never in it."""
    _check_name(release)
    return release.with_name(release.name + "-private")


def check_places(source: Path | None, release: Path, private: Path, force: bool) -> None:
    """Refuse places that would overwrite something or put one folder inside another."""
    folders = {"the release": release, "the private folder": private}
    for folder in folders.values():
        _check_name(folder)
    if source is not None:
        folders["the input"] = source
    resolved = {}
    for name, folder in folders.items():
        try:
            resolved[name] = folder.resolve()
        except (OSError, RuntimeError, ValueError):  # a link that leads to itself, a NUL
            raise InputError(f"{shown(folder)} leads nowhere; check the links in the path") from None
    for name, folder in resolved.items():
        for other, container in resolved.items():
            if name != other and (folder == container or container in folder.parents):
                raise InputError(
                    f"{name} ({folder.name}) must not be inside {other} ({container.name}); choose another"
                )
    warn_of_leftovers(release, private)
    _check_free(release, force, lambda content: CERTIFICATE in content)
    _check_free(private, force, lambda content: not {MAPPING, MAPPING_FOLDER, VAULT}.isdisjoint(content))


def check_free(folder: Path, force: bool, is_ours: Callable[[list[str]], bool]) -> None:
    """Refuse a folder that cannot be made or holds something, unless it is ours (by its content) and `force` is set."""
    warn_of_leftovers(folder)
    _check_free(folder, force, is_ours)


def _check_free(folder: Path, force: bool, is_ours: Callable[[list[str]], bool]) -> None:
    _check_name(folder)
    try:
        if not folder.exists() and not folder.is_symlink():
            nearest = next(parent for parent in folder.absolute().parents if parent.exists())
            if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
                raise InputError(f"{folder} cannot be made: {nearest} is not a folder you can write to; choose another")
            return
        if not folder.is_dir() or folder.is_symlink():
            raise InputError(f"{folder} exists and is not a folder; choose another name")
        content = os.listdir(folder)
    except OSError as problem:
        raise InputError(f"{shown(folder)} cannot be used: {_reason(problem)}; choose another") from None
    if content and not force:
        raise InputError(f"{folder} exists; choose another name or pass {{option}} to replace it", "force")
    if content and not is_ours(content):
        raise InputError(
            f"{folder} was not made by Shoal, so {{option}} does not replace it; choose another name", "force"
        )


def _check_name(folder: Path) -> None:
    """A folder that is made and renamed takes a name: "." and ".." have none."""
    if folder.name in ("", "..") or "\0" in str(folder):
        raise InputError(f"{str(folder)!r} is no name for a new folder; give one, such as release")


@contextmanager
def folders_written_aside(*targets: tuple[Path, int]) -> Iterator[tuple[Path, ...]]:
    """Empty folders beside the targets (path, permissions); all take their targets' places, or none does.

    Everything in a folder that is its owner's alone is closed to others as well. Other folders get the permissions that
    the system would give to a new folder: those asked for, without what the umask takes away.
    """
    parents: list[Path] = []  # made on the way
    try:
        with ExitStack() as stack:
            aside: list[Path] = []
            for target, _ in targets:
                missing = [parent for parent in target.absolute().parents if not parent.exists()]
                parents.extend(reversed(missing))
                target.parent.mkdir(parents=True, exist_ok=True)
                aside.append(stack.enter_context(folder_aside(target)))
            yield tuple(aside)
            for folder, (_, mode) in zip(aside, targets, strict=True):
                if mode == PRIVATE_FOLDER:
                    close_to_others(folder)
                else:
                    folder.chmod(_without_umask(folder, mode))
            with uninterrupted():
                _put_in_place(aside, [target for target, _ in targets])
    except OSError as problem:
        raise InputError(f"the output cannot be written: {_reason(problem)}; choose another place") from None
    finally:
        for parent in reversed(parents):
            with suppress(OSError):  # holds the output
                parent.rmdir()


def close_to_others(folder: Path) -> None:
    """The folder and everything in it. What is closed already stays untouched: another's worker may have written it."""
    for path in (folder, *folder.rglob("*")):
        mode = PRIVATE_FOLDER if path.is_dir() else PRIVATE_FILE
        if path.stat().st_mode & 0o777 != mode:
            path.chmod(mode)


def _without_umask(folder: Path, mode: int) -> int:
    """What the system makes of the permissions of a new folder. `os.umask` would change the umask of all threads."""
    made = Path(tempfile.mkdtemp(dir=folder)) / "new"
    made.mkdir(mode)
    allowed = stat.S_IMODE(made.stat().st_mode) & 0o777
    made.rmdir()
    made.parent.rmdir()
    return allowed


def _put_in_place(folders: list[Path], targets: list[Path]) -> None:
    """Rename each folder to its target; when one cannot be, everything goes back to where it was."""
    begun: list[tuple[Path, Path, StagingFolder]] = []
    try:
        for folder, target in zip(folders, targets, strict=True):
            begun.append((folder, target, make_aside(target)))
            if target.exists():
                target.rename(begun[-1][2].folder / REPLACED)
            folder.rename(target)
    except BaseException:
        for folder, target, aside in reversed(begun):
            if not folder.exists():
                target.rename(folder)
            if (aside.folder / REPLACED).exists():
                (aside.folder / REPLACED).rename(target)
            aside.folder.rmdir()
            aside.unlock()
        raise
    for _, _, aside in begun:
        aside.remove()


def write_files(folder: Path, files: Mapping[str, Content]) -> None:
    """Write each file into the folder; texts are the same on every system."""
    for name, content in files.items():
        if isinstance(content, str):
            (folder / name).write_text(content, encoding="utf-8", newline="\n")
        else:
            content(folder / name)


def csv_text(header: tuple[str, ...], rows: Iterable[Any]) -> str:
    """A small table for people."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows([header, *rows])
    return text.getvalue()


def _reason(problem: Exception) -> str:
    return (getattr(problem, "strerror", None) or str(problem)).lower()


@dataclass(frozen=True)
class StagingFolder:
    """A folder beside its target, its owner's alone; locked until `unlock`, or until the process ends, however."""

    folder: Path
    lock: int | None  # None where folders cannot be locked

    def unlock(self) -> None:
        """Leave the folder as it is."""
        if self.lock is not None:
            os.close(self.lock)

    def remove(self) -> None:
        """Also when a thread that could not be stopped is still writing there."""
        for _ in range(TRIES):
            shutil.rmtree(self.folder, ignore_errors=True)
            if not self.folder.exists():
                break
            time.sleep(PAUSE)
        self.unlock()


def make_aside(target: Path) -> StagingFolder:
    """An empty folder aside."""
    folder = Path(tempfile.mkdtemp(prefix=ASIDE.format(target.name[:LONGEST_NAME]), dir=target.parent))
    if fcntl is None:
        return StagingFolder(folder, None)
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError:
        os.close(lock)
        return StagingFolder(folder, None)
    return StagingFolder(folder, lock)


@contextmanager
def folder_aside(target: Path) -> Iterator[Path]:
    """An empty folder aside, gone afterwards unless it was renamed."""
    aside = None
    try:
        with uninterrupted():
            aside = make_aside(target)
        yield aside.folder
    finally:
        with uninterrupted():
            if aside is not None:
                aside.remove()


def warn_of_leftovers(*targets: Path) -> None:
    """Name the folders that a killed run left beside the targets, and say how to remove them."""
    found = dict.fromkeys(folder for target in targets for folder in _all_aside(target) if _is_abandoned(folder))
    replaced = [folder for folder in found if (folder / REPLACED).exists()]
    unfinished = [folder for folder in found if folder not in replaced]
    if unfinished:
        where = _quoted(unfinished)
        warnings.warn(f"an earlier run was killed and left private data behind; remove it: rm -r {where}", stacklevel=3)
    if replaced:
        where = _quoted(replaced)
        warnings.warn(
            "an earlier run was killed while it replaced a folder, and what was there before is in "
            f"{_quoted([folder / REPLACED for folder in replaced])}; move it back, or remove it: rm -r {where}",
            stacklevel=3,
        )


def _quoted(folders: list[Path]) -> str:
    return " ".join(shlex.quote(str(folder.absolute())) for folder in folders)


def _all_aside(target: Path) -> list[Path]:
    """Folders aside that we made for this target, in this run or in others."""
    prefix = ASIDE.format(target.name[:LONGEST_NAME])
    try:
        with os.scandir(target.parent) as entries:
            return sorted(
                Path(entry.path)
                for entry in entries
                if entry.name.startswith(prefix)
                and len(entry.name) == len(prefix) + RANDOM
                and entry.is_dir(follow_symlinks=False)
            )
    except OSError:  # the folder does not exist yet, or cannot be listed
        return []


def _is_abandoned(folder: Path) -> bool:
    """Whether no process holds the folder's lock. Asked twice: a run may have made it and not locked it yet."""
    for pause in (0.0, PAUSE):
        time.sleep(pause)
        if not _can_be_locked(folder):
            return False
    return True


def _can_be_locked(folder: Path) -> bool:
    if fcntl is None:
        return False
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # another's, or gone by now
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Within this short block a second Ctrl-C does not end what the first one began, such as cleaning up."""
    if threading.current_thread() is not threading.main_thread():  # others are never interrupted
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    # What is not handled in Python needs no delay: it is ignored, or it ends the process at once.
    numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    handlers = {number: handler for number in numbers if callable(handler := signal.getsignal(number))}
    for number in handlers:
        signal.signal(number, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number, frame in came[:1]:
            handlers[number](number, frame)


@contextmanager
def replacing(target: str | Path) -> Iterator[Path]:
    """A file aside that takes the target's place when it is whole.

    A worker that a cluster gave up may still be writing when another does its work again.
    """
    path = Path(target)
    aside = path.with_name(f".{uuid4().hex}-{path.name}")
    try:
        yield aside
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)
