"""Readers in C and Rust run in a process of their own: a hostile file may end that one, or fill it, but not ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.data.files import shown
from shoal.data.sources import TableFile
from shoal.errors import InputError, MissingExtra, Note
from shoal.results.summary import ColumnDictionary

ROOM = 8 << 30  # bytes of memory that a reader may take at least; and so many times its file:
TIMES = 60
SECONDS = 3600
SHEETS = "xlsx, its sheets"  # instead of a format: not the rows but the names of the sheets
REFUSED, MISSING = 3, 4  # exit codes of the reader


def read_in_subprocess(
    path: str | os.PathLike[str], format: str, verbatim: Iterable[str], given: TableFile
) -> tuple[pa.Table, dict[str, ColumnDictionary]]:
    """Rows and dictionary of a file, read by another process and handed over through a pipe."""
    name = os.fspath(path)
    asked: dict[str, Any] = {"path": name, "format": format, "encoding": given.encoding, "sheet": given.sheet}
    asked |= {"skip_rows": given.skip_rows, "header_rows": given.header_rows}
    asked |= {"verbatim": sorted(verbatim), "room": max(ROOM, TIMES * os.stat(path).st_size)}
    root = str(Path(__file__).parents[3])
    # -P: nothing is imported from the folder with the data, which may contain a decimal.py.
    done = subprocess.run(
        [sys.executable, "-P", "-c", "from shoal.data.formats.subprocess_reader import serve; serve()"],
        input=json.dumps(asked).encode(),
        capture_output=True,
        timeout=SECONDS,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))},
    )
    if done.returncode == REFUSED:
        message, options = json.loads(done.stdout)
        raise InputError(message, options)
    if done.returncode == MISSING:
        raise MissingExtra("formats", f"reading .{format}")
    if done.returncode != 0:
        raise InputError(f"{shown(name)} cannot be read: its reader gave up; save the file again, or as CSV or Parquet")
    table = pa.ipc.open_stream(done.stdout).read_all()
    facts = json.loads(table.schema.metadata[b"dictionary"])
    for note in json.loads(table.schema.metadata[b"notes"]):
        warnings.warn(Note(note), stacklevel=4)
    return table.replace_schema_metadata(None), {column: _dictionary(fact) for column, fact in facts.items()}


def sheet_names_in_subprocess(path: str | os.PathLike[str]) -> list[str]:
    """The names of a spreadsheet's sheets."""
    names, _ = read_in_subprocess(path, SHEETS, (), TableFile(path))
    return [str(name) for name in names["name"].to_pylist()]


def _dictionary(facts: dict[str, Any]) -> ColumnDictionary:
    values, missing = (tuple((first, second) for first, second in facts[name]) for name in ("values", "missing"))
    return ColumnDictionary(**facts | {"values": values, "missing": missing})


def serve() -> None:
    """In the other process: read what is asked for on stdin, write it to stdout."""
    asked = json.loads(sys.stdin.buffer.read())
    _limit(asked["room"])
    try:
        with warnings.catch_warnings(record=True) as notes:
            table, dictionary = _read(asked)
    except MissingExtra:
        sys.exit(MISSING)
    except InputError as problem:
        sys.stdout.buffer.write(json.dumps([problem.message, problem.options]).encode())
        sys.exit(REFUSED)
    facts = {name: asdict(column) for name, column in dictionary.items()}
    said = [str(note.message) for note in notes if isinstance(note.message, Note)]
    table = table.replace_schema_metadata({"dictionary": json.dumps(facts), "notes": json.dumps(said)})
    with pa.ipc.new_stream(sys.stdout.buffer, table.schema) as stream:
        stream.write_table(table)


def _read(asked: dict[str, Any]) -> tuple[pa.Table, dict[str, ColumnDictionary]]:
    from shoal.data.formats.spreadsheet import read_spreadsheet, sheet_names
    from shoal.data.formats.statistical import read_statistical

    if asked["format"] == SHEETS:
        return pa.table({"name": sheet_names(asked["path"])}), {}
    if asked["format"] == "xlsx":
        rows = asked["skip_rows"], asked["header_rows"]
        return read_spreadsheet(asked["path"], asked["sheet"], *rows), {}
    return read_statistical(asked["path"], asked["format"], frozenset(asked["verbatim"]), asked["encoding"])


def _limit(room: int) -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (room, resource.getrlimit(resource.RLIMIT_AS)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # what is left of a crash has the data in it
