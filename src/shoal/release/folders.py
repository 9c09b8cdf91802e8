"""Folders that appear whole or not at all: written aside, then renamed."""

from __future__ import annotations

import csv
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from shoal.data.files import shown
from shoal.data.private_files import PRIVATE_FOLDER, close_to_others
from shoal.errors import InputError
from shoal.release.aside import REPLACED, Aside, folder_aside, make_aside, warn_of_leftovers
from shoal.release.uninterrupted import uninterrupted

Writer = Callable[[Path], None]  # writes one file at the path it is given

CERTIFICATE = "certificate.json"
MAPPING = "mapping.parquet"
MAPPING_FOLDER = "mapping"  # of a release in parts
GONE = "gone.csv"  # of a table that followed another: who may not come back
LOSS = "loss.json"  # of a table that followed another: its figures are not published
SEAL = "seal.txt"  # of the release that a mapping with ids belongs to
VAULT = "vault.age"  # of sanitized documents
PUBLIC_FOLDER = 0o777  # as far as the umask allows


def private_beside(release: Path) -> Path:
    """Where the private side goes unless said otherwise: next to the release, never in it."""
    return _named(release).with_name(release.name + "-private")


def check_places(source: Path | None, release: Path, private: Path, force: bool) -> None:
    """Refuse places that would overwrite something or put one folder inside another."""
    places = {"the release": _resolved(_named(release)), "the private folder": _resolved(_named(private))}
    if source is not None:
        places["the input"] = _resolved(source)
    for name, place in places.items():
        for other, container in places.items():
            if name != other and (place == container or container in place.parents):
                raise InputError(f"{name} ({place.name}) must not be inside {other} ({container.name}); choose another")
    warn_of_leftovers(release, private)
    _check_free(release, force, lambda content: CERTIFICATE in content)
    _check_free(private, force, lambda content: not {MAPPING, MAPPING_FOLDER, VAULT}.isdisjoint(content))


def check_free(folder: Path, force: bool, is_ours: Callable[[list[str]], bool]) -> None:
    """Refuse a folder that cannot be made or holds something, unless it is ours (by its content) and `force` is set."""
    warn_of_leftovers(folder)
    _check_free(folder, force, is_ours)


def _check_free(folder: Path, force: bool, is_ours: Callable[[list[str]], bool]) -> None:
    _named(folder)
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
        raise InputError(f"{folder} exists; choose another name or pass --force to replace it")
    if content and not is_ours(content):
        raise InputError(f"{folder} was not made by Shoal, so --force does not replace it; choose another name")


def _named(folder: Path) -> Path:
    """The folder, if it can be made and renamed, which takes a name: "." and ".." have none."""
    if folder.name in ("", "..") or "\0" in str(folder):
        raise InputError(f"{str(folder)!r} is no name for a new folder; give one, such as release")
    return folder


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # a link that leads to itself, a NUL
        raise InputError(f"{shown(path)} leads nowhere; check the links in the path") from None


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
    begun: list[tuple[Path, Path, Aside]] = []
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
            aside.let_go()
        raise
    for _, _, aside in begun:
        aside.remove()


def write_files(folder: Path, files: Mapping[str, Writer]) -> None:
    """Write each file into the folder."""
    for name, write in files.items():
        write(folder / name)


def write_text(text: str) -> Writer:
    """A page, the same on every system."""

    def write(path: Path) -> None:
        path.write_text(text, encoding="utf-8", newline="\n")

    return write


def write_csv(header: tuple[str, ...], rows: list[Any]) -> Writer:
    """A small table for people."""

    def write(path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *rows])

    return write


def _reason(problem: Exception) -> str:
    return (getattr(problem, "strerror", None) or str(problem)).lower()
