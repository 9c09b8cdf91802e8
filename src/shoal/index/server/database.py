"""The database: SQLite or PostgreSQL, behind the same two kinds of transaction.

A reading transaction sees one moment. A writing one holds the only writer's lock from its start to its commit.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Executable,
    Row,
    create_engine,
    event,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from shoal.data.files import shown
from shoal.data.private_files import private_file
from shoal.errors import InputError
from shoal.index.server import tables

WAIT = 30  # seconds for another process's lock
CONNECT = 5  # seconds for a connection
SERVER_NAME = "shoal-"  # followed by a random name of this process
# A server that lost its machine or its network while it held the lock must not keep the others waiting for ever.
POSTGRESQL = {
    "connect_timeout": CONNECT,
    "prepare_threshold": None,  # a connection pool in between may not keep prepared statements
    "application_name": f"{SERVER_NAME}{secrets.token_hex(4)}",
    "options": f"-c lock_timeout={WAIT}s -c idle_in_transaction_session_timeout={2 * WAIT}s",
}
RESERVE = 8 << 20  # bytes
LEAST_ROOM = 64 << 20  # bytes
SQLITE = b"SQLite format 3\0"  # the first bytes of its files
ASKED_AT_ONCE = 500  # values in a query
CONNECTIONS = 20  # of one process; at most twice as many under load


class Database:
    """The only durable copy of the index. `address` is the path of an SQLite file, or postgresql://user@host/name.

    A missing file is created, unless the database `must_exist`.
    """

    def __init__(self, address: str, *, must_exist: bool = False) -> None:
        self.url = _url(address)
        if must_exist and self.file is not None and not self.file.is_file():
            raise InputError(f"there is no database {shown(self.file)}; name the server's with {{option}}", "database")
        self._engine = _engine(self.url)
        self._writer = Lock()  # threads of one process queue here, fairly; processes queue at the database's own lock

    @property
    def file(self) -> Path | None:
        """The file of an SQLite database."""
        return Path(self.url.database or "") if self.url.get_backend_name() == "sqlite" else None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one moment, and changes nothing."""
        level: Any = {} if self.file else {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self._engine.connect().execution_options(**level) as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """The only writing transaction: it commits at the end of the block or before, or leaves no trace."""
        with self._writer, self._engine.connect().execution_options(shoal_writes=True) as connection:
            if self.file is None:
                connection.execute(select(tables.state.c.id).with_for_update())
            yield connection
            connection.commit()

    def create_tables(self) -> None:
        """Create the tables if there are none. Two processes may start at once."""
        with self._engine.connect().execution_options(shoal_writes=True) as connection, connection.begin():
            if self.file is None:
                connection.execute(text("SELECT pg_advisory_xact_lock(7362501)"))
            if not inspect(connection).has_table("accounts"):
                tables.metadata.create_all(connection)
                connection.execute(insert(tables.state).values(id=1, schema=tables.SCHEMA))
        self.check_version()

    def check_version(self) -> None:
        """Refuse tables of another version of Shoal, which its servers may be using."""
        with self.reading() as connection:
            known = inspect(connection)
            has_schema = known.has_table("state") and any(c["name"] == "schema" for c in known.get_columns("state"))
            if not has_schema or connection.execute(select(tables.state.c.schema)).scalar_one() != tables.SCHEMA:
                raise InputError(
                    "the database has no tables of this version of Shoal; start `shoal serve` on a new one, or install "
                    "the version that made it"
                )

    def lacks_connections(self) -> str | None:
        """A warning if all servers together may open more connections than PostgreSQL allows."""
        if self.file is not None:
            return None
        with self.reading() as connection:
            allowed = int(connection.execute(text("SHOW max_connections")).scalar_one())
            others = text(
                "SELECT count(DISTINCT application_name) FROM pg_stat_activity WHERE application_name LIKE :like"
            )
            servers = connection.execute(others, {"like": f"{SERVER_NAME}%"}).scalar_one()
        wanted = servers * 2 * CONNECTIONS
        if wanted <= allowed:
            return None
        return (
            f"{servers} servers may open {wanted} connections, and the database allows {allowed}; raise its "
            "max_connections, or run fewer servers"
        )

    def keep_reserve(self) -> None:
        """Keep a file beside SQLite's, whose room deletions get when the disk is full."""
        reserve = self._reserve
        if reserve is None or reserve.exists() or not self.has_room():
            return
        with suppress(OSError), open(reserve, "wb", opener=private_file) as file:
            os.posix_fallocate(file.fileno(), 0, RESERVE)

    def use_reserve(self) -> bool:
        """Give up that file; False if there is none."""
        reserve = self._reserve
        if reserve is None or not reserve.exists():
            return False
        reserve.unlink(missing_ok=True)
        return True

    def has_room(self) -> bool:
        """Whether the disk of an SQLite file has room for more documents. PostgreSQL's disk is not seen from here."""
        return self.file is None or shutil.disk_usage(self.file.absolute().parent).free > LEAST_ROOM

    @property
    def _reserve(self) -> Path | None:
        return None if self.file is None else self.file.with_name(f"{self.file.name}.reserve")

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def execute_for_each(connection: Connection, statement: Executable, rows: list[dict[str, Any]]) -> None:
    """Execute a statement once per row, if there is any."""
    if rows:
        connection.execute(statement, rows)


def rows_where_in(connection: Connection, query: Any, column: Column[Any], values: Iterable[Any]) -> Iterator[Row[Any]]:
    """The rows of a query whose column has one of many values."""
    listed = sorted(set(values))
    for start in range(0, len(listed), ASKED_AT_ONCE):
        yield from connection.execute(query.where(column.in_(listed[start : start + ASKED_AT_ONCE])))


def _url(address: str) -> URL:
    if "://" not in address:
        return URL.create("sqlite", database=address)
    try:
        url = make_url(address)
    except ArgumentError:
        raise InputError("the database's address is not valid; give a file, or postgresql://user@host/name") from None
    if url.drivername in ("postgresql", "postgres"):
        url = url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise InputError(f"a database of kind {url.drivername!r} is not supported; use an SQLite file or PostgreSQL")
    if url.get_backend_name() == "sqlite" and not url.database:
        raise InputError("the database's address names no file; give one")
    return url


def _engine(url: URL) -> Engine:
    # Parameters are ciphertexts and sealed vectors: no error and no log may quote them.
    quiet: Any = {"hide_parameters": True, "pool_size": CONNECTIONS, "max_overflow": CONNECTIONS}
    try:
        if url.get_backend_name() != "sqlite":
            return create_engine(url, pool_pre_ping=True, connect_args=POSTGRESQL, **quiet)
    except NoSuchModuleError:
        raise InputError("this kind of database is not supported; use an SQLite file or PostgreSQL") from None
    _make_private(Path(url.database or ""))
    engine = create_engine(url, connect_args={"timeout": WAIT}, **quiet)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_private(file: Path) -> None:
    """Create the file if it is missing, readable by its owner alone; SQLite copies the mode to the files beside it."""
    try:
        if file.is_file() and file.stat().st_size and not _begins_as_sqlite(file):
            raise InputError(f"{shown(file)} is not a database; name an SQLite file, or one that does not exist yet")
        with open(file, "ab", opener=private_file):
            pass
    except OSError as problem:
        raise InputError(f"the database {file} cannot be opened: {os.strerror(problem.errno or 0)}") from None


def _begins_as_sqlite(file: Path) -> bool:
    with open(file, "rb") as opened:
        return opened.read(len(SQLITE)) == SQLITE


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # the driver would begin transactions by its own rules
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", f"busy_timeout = {WAIT * 1000}"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("shoal_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
