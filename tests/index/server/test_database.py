"""Migrations, and backups made while a server writes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from sqlalchemy import func, select, text

from shoal.errors import InputError
from shoal.index.server.backup import back_up, restore_from
from shoal.index.server.database import Database
from shoal.index.server.tables import blobs, documents, metadata, representatives, state
from tests.index.server.api import LAND, SEA, Api, id_of


def test_tables_are_created_once(address: str) -> None:
    database = Database(address)
    for _ in range(2):  # a second start finds nothing to do
        database.create_tables()
        with database.reading() as connection:
            row = connection.execute(select(state)).one()
            assert (row.id, row.recorded, row.k) == (1, 0, None)
    database.close()


def test_two_servers_may_create_tables_at_once(address: str) -> None:
    databases = [Database(address) for _ in range(4)]
    threads = [Thread(target=database.create_tables) for database in databases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with databases[0].reading() as connection:
        assert len(connection.execute(select(state)).all()) == 1
    for database in databases:
        database.close()


@pytest.mark.parametrize("change", ["UPDATE state SET schema = 9", "ALTER TABLE state DROP COLUMN schema"])
def test_a_database_of_another_version_is_refused_and_stays_as_it_is(sqlite: str, change: str) -> None:
    database = Database(sqlite)
    database.create_tables()
    with database.writing() as connection:
        connection.execute(text(change))
    with pytest.raises(InputError, match="no tables of this version"):
        database.create_tables()
    database.close()


@pytest.mark.parametrize("address", ["mysql://x@y/z", "nonsense://x", "sqlite://", "://"])
def test_an_address_that_is_none_is_refused_in_one_line(address: str) -> None:
    with pytest.raises(InputError):
        Database(address)


def test_an_error_never_shows_the_password_of_the_database() -> None:
    database = Database("postgresql://shoal:hidden@127.0.0.1:9/none")
    with pytest.raises(Exception) as refused:
        database.create_tables()
    assert "hidden" not in str(refused.value) and "hidden" not in repr(database.url)


def test_a_backup_of_a_server_that_writes_is_of_one_moment_and_restores_into_either_kind(
    address: str, tmp_path: Path, postgres: Callable[[], str]
) -> None:
    with Api.on(address) as api:
        api.create()
        name, _ = api.group(SEA)
        api.group(LAND)
        api.keep()
        ended = Event()
        writer = Thread(target=_write_until, args=(ended, api, name))
        writer.start()
        assert api.store is not None
        for number in range(3):
            back_up(api.store.database, tmp_path / f"{number}.backup")
        ended.set()
        writer.join()
        back_up(api.store.database, tmp_path / "last.backup")
        last = _content(api.store.database)
    for number in range(3):
        _check_moment(tmp_path / f"{number}.backup")
    assert (tmp_path / "last.backup").stat().st_mode & 0o777 == 0o600
    for target in (str(tmp_path / "restored.db"), postgres()):
        database = Database(target)
        database.create_tables()
        restore_from(database, tmp_path / "last.backup")
        restored = _content(database)
        assert restored["state"][0].index_id != last["state"][0].index_id  # caches of clients are of another index
        for table in last:
            if table != "state":
                assert restored[table] == last[table]
        database.close()
        with Api.on(target) as again:
            again.tokens = api.tokens
            assert sorted(again.sizes()) == sorted(_sizes(last))
            assert again.join(name).status_code == 201


def _write_until(ended: Event, api: Api, name: str) -> None:
    mine: list[str] = []
    while not ended.is_set():
        mine.append(id_of(api.join(name)))
        if len(mine) > 3:
            api.ask("DELETE", f"/v1/documents/{mine.pop(0)}")


def _content(database: Database) -> dict[str, list[Any]]:
    with database.reading() as connection:
        tables = [table for table in metadata.sorted_tables if table.name != "changes"]
        return {table.name: sorted(connection.execute(select(table)).all(), key=repr) for table in tables}


def _sizes(content: dict[str, list[Any]]) -> list[int]:
    groups = [row.representative for row in content["documents"] if row.representative is not None]
    return [groups.count(group) for group in set(groups)]


def _check_moment(file: Path) -> None:
    """Every document has its ciphertext, every group k documents, and the accounts' figures add up."""
    database = Database(str(file))
    content = _content(database)
    database.close()
    assert {row.id for row in content["documents"]} == {row.document for row in content["blobs"]}
    assert min(_sizes(content)) >= 3
    assert sum(row.documents for row in content["accounts"]) == len(content["documents"])
    assert sum(row.bytes for row in content["accounts"]) == sum(row.bytes for row in content["documents"])


def test_a_backup_replaces_no_file_and_a_restore_no_database(api: Api, tmp_path: Path) -> None:
    assert api.store is not None
    backup = tmp_path / "backup"
    backup.write_text("mine")
    with pytest.raises(InputError, match="exists"):
        back_up(api.store.database, backup)
    assert backup.read_text() == "mine"
    back_up(api.store.database, backup, force=True)
    with pytest.raises(InputError, match="in use"):
        restore_from(api.store.database, backup)
    assert sorted(path.name for path in tmp_path.glob(".*")) == []


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0 but no more"])
def test_what_is_no_backup_is_refused_and_the_database_stays_empty(sqlite: str, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "backup").write_bytes(content)
    database = Database(sqlite)
    database.create_tables()
    with pytest.raises(InputError, match="is not a backup"):
        restore_from(database, tmp_path / "backup")
    with database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(blobs)).scalar_one() == 0
    database.close()


def test_a_backup_can_be_looked_at_with_any_sqlite(api: Api, tmp_path: Path) -> None:
    api.group()
    assert api.store is not None
    assert back_up(api.store.database, tmp_path / "backup") == 3
    assert sorted(path.name for path in tmp_path.glob("backup*")) == ["backup"]  # one file
    looked_at = sqlite3.connect(tmp_path / "backup")
    count = looked_at.execute(f"SELECT count(*) FROM {documents.name}, {representatives.name}").fetchone()
    looked_at.close()
    assert count == (3,)
