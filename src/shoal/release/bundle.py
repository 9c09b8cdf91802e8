"""Folders that appear whole or not at all: written aside, then renamed."""

from __future__ import annotations

import csv
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from shoal.errors import InputError

__all__ = [
    "Writer",
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


def private_beside(release: Path) -> Path:
    """Where the private side goes unless said otherwise: next to the release, never in it."""
    return release.with_name(release.name + "-private")


def check_places(source: Path | None, release: Path, private: Path, force: bool) -> None:
    """Refuse places that would overwrite something or put one folder inside another."""
    places = {"the release": release.resolve(), "the private folder": private.resolve()}
    if source is not None:
        places["the input"] = source.resolve()
    for name, place in places.items():
        for other, container in places.items():
            if name != other and (place == container or container in place.parents):
                raise InputError(f"{name} ({place.name}) must not be inside {other} ({container.name}); choose another")
    for folder, mark in ((release, CERTIFICATE), (private, MAPPING)):
        _check_free(folder, mark, force)


def _check_free(folder: Path, mark: str, force: bool) -> None:
    try:
        if not folder.exists() and not folder.is_symlink():
            nearest = next(parent for parent in folder.absolute().parents if parent.exists())
            if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
                raise InputError(f"{folder} cannot be made: {nearest} is not a folder you can write to")
            return
        if not folder.is_dir() or folder.is_symlink():
            raise InputError(f"{folder} exists and is not a folder; choose another name")
        content = os.listdir(folder)
    except (OSError, ValueError) as problem:
        raise InputError(f"{str(folder)!r} cannot be used: {_reason(problem)}; choose another") from None
    if content and not force:
        raise InputError(f"{folder} exists; choose another name or pass --force to replace it")
    if content and mark not in content:
        raise InputError(f"{folder} was not made by Shoal (it has no {mark}), so --force does not replace it")


@contextmanager
def folders_written_aside(*targets: tuple[Path, int]) -> Iterator[tuple[Path, ...]]:
    """Empty folders beside the targets (path, permissions); each takes its target's place when the block succeeds."""
    aside: list[Path] = []
    try:
        for target, _ in targets:
            target.parent.mkdir(parents=True, exist_ok=True)
            aside.append(Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent)))
        yield tuple(aside)
        for folder, (target, mode) in zip(aside, targets, strict=True):
            folder.chmod(mode)
            _replace(target, folder)
    except OSError as problem:
        raise InputError(f"the output cannot be written: {_reason(problem)}") from None
    finally:
        for folder in aside:
            shutil.rmtree(folder, ignore_errors=True)


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


def _replace(target: Path, folder: Path) -> None:
    if not target.exists():
        folder.rename(target)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}-old-", dir=target.parent))
    target.rename(old / "old")
    folder.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _reason(problem: Exception) -> str:
    return (getattr(problem, "strerror", None) or str(problem)).lower()
