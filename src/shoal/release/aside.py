"""Folders aside: made beside their target and locked, so that the next run can tell which a killed one left behind."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from shoal.release.uninterrupted import uninterrupted

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows; there leftovers are not named
    fcntl = None

REPLACED = "old"  # in a folder aside: what the target was before
RANDOM = 8  # characters that mkdtemp adds
TRIES, PAUSE = 3, 0.1  # seconds


@dataclass(frozen=True)
class Aside:
    """A folder beside its target, its owner's alone; locked until it is let go or the process ends, however it ends."""

    folder: Path
    lock: int | None  # None where folders cannot be locked

    def let_go(self) -> None:
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
        self.let_go()


def make_aside(target: Path) -> Aside:
    """An empty folder aside."""
    folder = Path(tempfile.mkdtemp(prefix=_prefix(target), dir=target.parent))
    return Aside(folder, _lock(folder))


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


def _prefix(target: Path) -> str:
    return f".{target.name[:40]}-unfinished-"


def _all_aside(target: Path) -> list[Path]:
    """Folders aside that we made for this target, in this run or in others."""
    prefix = _prefix(target)
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


def _lock(folder: Path) -> int | None:
    """A lock that ends with the process; None where folders cannot be locked."""
    if fcntl is None:
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


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
