"""Backups: all tables as they are at one moment, as an SQLite file, whatever the database is.

So a backup can be inspected, served, and restored into either kind of database.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import Connection, func, insert, select, update

from shoal import progress
from shoal.data.files import shown
from shoal.errors import InputError
from shoal.index.server.database import Database
from shoal.index.server.tables import accounts, blobs, documents, metadata, state

ROWS_AT_ONCE, BLOBS_AT_ONCE = 5_000, 16
COPIED = [table for table in metadata.sorted_tables if table is not state]  # whose one row is updated


def back_up(database: Database, out: Path, force: bool = False) -> int:
    """Write a backup while servers run; the file appears whole or not at all. Returns its number of documents."""
    if out.exists() and not force:
        raise InputError(f"{shown(out)} exists; name another file, or replace it with {{option}}", "force")
    if not out.parent.is_dir():
        raise InputError(f"the folder of {shown(out)} does not exist; create it, or name another")
    with TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as folder:
        unfinished = Path(folder, "unfinished")
        with _opened(unfinished) as copy, database.reading() as source, copy.writing() as target:
            count = _copy(source, target)
        with closing(sqlite3.connect(unfinished)) as file:
            file.execute("PRAGMA journal_mode = DELETE")  # one file, none beside it
        os.replace(unfinished, out)
    return count


def restore_from(database: Database, backup: Path) -> int:
    """Fill an empty database from a backup, in one transaction. Returns its number of documents."""
    if not backup.is_file():
        raise InputError(f"{shown(backup)} does not exist; give a file that `shoal backup` wrote")
    with TemporaryDirectory(prefix="shoal-restore-") as folder:
        copied = shutil.copyfile(backup, Path(folder, "backup"))  # opening it would change the original
        _check(copied, backup)
        with _opened(copied) as kept, kept.reading() as source, database.writing() as target:
            if target.execute(select(func.count()).select_from(accounts)).scalar_one() or _has_index(target):
                raise InputError("the database is in use already; restore into a new one")
            count = _copy(source, target)
            # Numbers of representatives will be used again: what clients keep belongs to another index.
            target.execute(update(state).where(state.c.k.is_not(None)).values(index_id=secrets.token_hex(16)))
    return count


@contextmanager
def _opened(file: Path) -> Iterator[Database]:
    database = Database(str(file))
    try:
        database.create_tables()
        yield database
    finally:
        database.close()


def _check(file: Path, backup: Path) -> None:
    try:
        with closing(sqlite3.connect(file)) as opened:
            opened.execute("SELECT k FROM state").fetchone()
    except sqlite3.DatabaseError:
        raise InputError(f"{shown(backup)} is not a backup; give a file that `shoal backup` wrote") from None


def _has_index(connection: Connection) -> bool:
    return connection.execute(select(state.c.k)).scalar_one() is not None


def _copy(source: Connection, target: Connection) -> int:
    """Copy all rows of one moment into an empty database."""
    target.execute(update(state).values(source.execute(select(state)).mappings().one()))
    count = source.execute(select(func.count()).select_from(documents)).scalar_one()
    for table in COPIED:
        at_once = BLOBS_AT_ONCE if table is blobs else ROWS_AT_ONCE
        done = 0
        for rows in source.execute(select(table).execution_options(yield_per=at_once)).mappings().partitions():
            target.execute(insert(table), [dict(row) for row in rows])
            done += len(rows)
            progress.step(table.name, done, count if table in (documents, blobs) else None)
    return count
