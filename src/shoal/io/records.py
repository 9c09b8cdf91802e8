"""Records of a text or a basket, an id and a label, streamed from a file of them, or a folder of files or texts."""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path

from shoal.errors import InputError
from shoal.io.files import broken_unicode, decode, is_folder, kind_of, read_bytes, reading, shown, unsupported
from shoal.io.record_files import COLLECTIONS, Fields, Record, Skipped, items_column, read_file

__all__ = ["collection_kind", "column_of_items", "list_folder", "read_records"]


def read_records(path: Path, fields: Fields) -> Iterator[Record | Skipped]:
    """Everything at `path`, in order, a piece at a time."""
    if is_folder(path):
        yield from _read_folder(path, fields)
        return
    kind = kind_of(path)
    if kind == "text":
        raise InputError(f"{shown(path)} is a single text file; give a folder of text files, JSONL, CSV or Parquet")
    if kind is None:
        raise unsupported(path)
    yield from read_file(path, kind, fields, "")


def column_of_items(path: Path, text: str | None) -> str | None:
    """The column that holds baskets; None for texts. Of a folder, the first file decides."""
    if not is_folder(path):
        return items_column(path, kind_of(path) or "", text)
    names, _ = list_folder(path)
    kind = collection_kind(names)
    first = next((path / name for name in names if not _is_marker(name)), path)
    return None if kind is None or is_folder(first) else items_column(first, kind, text)


def list_folder(folder: Path) -> tuple[list[str], list[Skipped]]:
    """The visible files below a folder, sorted, as paths relative to it; and the sub-folders that cannot be opened."""
    names: list[str] = []
    closed: list[Skipped] = []

    def note(problem: OSError) -> None:
        if Path(problem.filename) == folder:
            raise problem
        name = Path(problem.filename).relative_to(folder).as_posix()
        closed.append(Skipped(shown(name), "folder cannot be opened"))

    with reading(folder):
        for parent, folders, files in os.walk(folder, onerror=note):
            folders[:] = [name for name in folders if not name.startswith(".")]
            inside = Path(parent).relative_to(folder)
            names.extend((inside / name).as_posix() for name in files if not name.startswith("."))
    if not names and not closed:
        raise InputError(f"{shown(folder)} is an empty folder; put text files, JSONL, CSV or Parquet into it")
    return sorted(names), closed


def collection_kind(names: list[str]) -> str | None:
    """The kind of a folder in which all files are JSONL, or all CSV, TSV, Parquet or .dat; None: texts."""
    kinds = {kind_of(name) for name in names if not _is_marker(name)}
    return next(iter(kinds)) if len(kinds) == 1 and kinds <= set(COLLECTIONS) else None


def _is_marker(name: str) -> bool:
    return Path(name).name.startswith("_")  # Spark writes _SUCCESS and the like beside its parts.


def _read_folder(folder: Path, fields: Fields) -> Iterator[Record | Skipped]:
    names, closed = list_folder(folder)
    yield from closed
    kind = collection_kind(names)
    if kind is not None:
        for name in names:
            if _is_marker(name):
                yield Skipped(shown(name), f"not {kind}")
            elif not is_folder(folder / name):
                yield from read_file(folder / name, kind, fields, shown(name))
        return
    if fields.text is not None or fields.id is not None:
        raise InputError(f"{shown(folder)} is a folder of text files, which has no columns; leave out the column names")
    if fields.label not in (None, "folder"):
        raise InputError(
            f"{shown(folder)} is a folder of text files, its only label is the sub-folder's name; "
            f"use the label column 'folder' instead of {shown(fields.label or '')}"
        )
    for name in names:
        yield _read_text(folder, name)


def _read_text(folder: Path, name: str) -> Record | Skipped:
    """One text file; its label is the sub-folder it lies in."""
    path = folder / name
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return Skipped(shown(name), "not a regular file")
        content = read_bytes(path)
        text = decode(content)
    except PermissionError:
        return Skipped(shown(name), "no permission to read it")
    except UnicodeError:
        return Skipped(shown(name), "binary, not text" if b"\0" in content else "not UTF-8 text")
    except (EOFError, zlib.error):
        return Skipped(shown(name), "broken gzip")
    except OSError:  # BadGzipFile among them
        return Skipped(shown(name), "broken gzip" if name.lower().endswith(".gz") else "cannot be read")
    if broken_unicode(name):
        return Skipped(shown(name), "name is not UTF-8")
    parent = Path(name).parent.as_posix()
    return Record(shown(name), name, text, None if parent == "." else parent)
