"""Folders that appear whole or not at all: written aside, then renamed."""

from __future__ import annotations

import csv
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.io.files import shown

__all__ = [
    "Writer",
    "check_free",
    "check_places",
    "folders_written_aside",
    "private_beside",
    "write_csv",
    "write_files",
    "write_mapping",
]

Writer = Callable[[Path], None]  # writes one file at the path it is given

CERTIFICATE = "certificate.json"
MAPPING = "mapping.parquet"
MAPPING_FOLDER = "mapping"  # of a release in parts


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
    check_free(release, force, lambda content: CERTIFICATE in content)
    check_free(private, force, lambda content: MAPPING in content or MAPPING_FOLDER in content)


def check_free(folder: Path, force: bool, is_ours: Callable[[list[str]], bool]) -> None:
    """Refuse a folder that cannot be made or holds something, unless it is ours (by its content) and `force` is set."""
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
    """Empty folders beside the targets (path, permissions); all take their targets' places, or none does."""
    aside: list[Path] = []
    parents: list[Path] = []  # made on the way
    try:
        for target, _ in targets:
            missing = [parent for parent in target.absolute().parents if not parent.exists()]
            parents.extend(reversed(missing))
            target.parent.mkdir(parents=True, exist_ok=True)
            aside.append(Path(tempfile.mkdtemp(prefix=f".{target.name[:40]}-", dir=target.parent)))
        yield tuple(aside)
        for folder, (_, mode) in zip(aside, targets, strict=True):
            folder.chmod(mode)
        _put_in_place(aside, [target for target, _ in targets])
    except OSError as problem:
        raise InputError(f"the output cannot be written: {_reason(problem)}; choose another place") from None
    finally:
        for folder in aside:
            shutil.rmtree(folder, ignore_errors=True)
        for parent in reversed(parents):
            with suppress(OSError):  # holds the output
                parent.rmdir()


def _put_in_place(folders: list[Path], targets: list[Path]) -> None:
    """Rename each folder to its target; when one cannot be, everything goes back to where it was."""
    begun: list[tuple[Path, Path, Path]] = []
    try:
        for folder, target in zip(folders, targets, strict=True):
            old = Path(tempfile.mkdtemp(prefix=f".{target.name[:40]}-", dir=target.parent)) / "old"
            begun.append((folder, target, old))
            if target.exists():
                target.rename(old)
            folder.rename(target)
    except BaseException:  # Ctrl-C among them
        for folder, target, old in reversed(begun):
            if not folder.exists():
                target.rename(folder)
            if old.exists():
                old.rename(target)
            old.parent.rmdir()
        raise
    for _, _, old in begun:
        shutil.rmtree(old.parent, ignore_errors=True)


def write_files(folder: Path, files: Mapping[str, Writer]) -> None:
    """Write each file into the folder."""
    for name, write in files.items():
        write(folder / name)


def write_mapping(ids: list[str], groups: NDArray[np.int64]) -> Writer:
    """The private table: which record became which released row (from 1)."""
    table = pa.table({"id": ids, "released_row": np.arange(1, len(ids) + 1), "group": groups})
    return lambda path: pq.write_table(table, path)


def write_csv(header: tuple[str, ...], rows: list[Any]) -> Writer:
    """A small table for people."""

    def write(path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *rows])

    return write


def _reason(problem: Exception) -> str:
    return (getattr(problem, "strerror", None) or str(problem)).lower()
