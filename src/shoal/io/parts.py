"""A collection in parts: files that are read one by one, here or on other machines."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob
from pathlib import Path

from pyarrow import fs
from pyarrow.lib import ArrowInvalid

from shoal.errors import InputError
from shoal.io.files import PathLike, shown
from shoal.io.formats.sources import is_address_of_database

__all__ = ["in_parts", "list_parts", "local_copy"]


def in_parts(source: object) -> bool:
    """Whether the source is a pattern or the address of a store, which stand for any number of files."""
    if not isinstance(source, str | os.PathLike) or os.path.exists(source) or is_address_of_database(source):
        return False
    return "*" in os.fspath(source) or "://" in os.fspath(source)


def list_parts(source: PathLike) -> list[str]:
    """The files of a folder, of a pattern such as letters/*.parquet, or at an address such as s3://bucket/letters."""
    pattern = os.fspath(source)
    try:
        files = _listed(pattern) if "://" in pattern else _globbed(pattern)
    except (OSError, ArrowInvalid) as problem:
        raise InputError(f"{shown(source)} cannot be listed ({shown(str(problem))}); check the address") from None
    if not files:
        raise InputError(f"{shown(source)} has 0 files; give a folder or a pattern that has some")
    return sorted(files)


@contextmanager
def local_copy(part: str) -> Iterator[Path]:
    """The part as a file on this machine, for as long as it is needed."""
    if "://" not in part:
        yield Path(part)
        return
    system, path = fs.FileSystem.from_uri(part)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / Path(path).name
        with system.open_input_stream(path) as there, copy.open("wb") as here:
            while chunk := there.read(1 << 24):
                here.write(chunk)
        yield copy


def _globbed(pattern: str) -> list[str]:
    if os.path.isdir(pattern):
        pattern = os.path.join(pattern, "*")
    return [os.path.abspath(path) for path in glob(pattern) if os.path.isfile(path) and _is_data(path)]


def _listed(address: str) -> list[str]:
    folder, _, pattern = address.rpartition("/") if "*" in address else (address, "", "")
    system, path = fs.FileSystem.from_uri(folder)
    info = system.get_file_info(path)
    found = [info] if info.is_file else system.get_file_info(fs.FileSelector(path))
    scheme = address.partition("://")[0]
    names = [file.path for file in found if file.is_file and _is_data(file.path)]
    return [f"{scheme}://{name.lstrip('/') if scheme != 'file' else name}" for name in names if _fits(name, pattern)]


def _fits(path: str, pattern: str) -> bool:
    return not pattern or Path(path).match(pattern)


def _is_data(path: str) -> bool:
    """Marks such as _SUCCESS and hidden files are no parts."""
    return not os.path.basename(path).startswith(("_", "."))
