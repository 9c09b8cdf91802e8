"""The answer of a database to one SELECT: PostgreSQL, SQLite or DuckDB, opened so that nothing can be written.

Messages of a database may quote data, and those of a connection the address with its password: neither is passed on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa

from shoal.data.files import check_names, is_folder
from shoal.data.sources import Query
from shoal.errors import InputError, MissingExtra

AT_ONCE = 50_000  # rows
SECONDS = 20  # to wait for a connection
READS = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
# What goes wrong by SQLSTATE, or the first two signs of it.
REASONS = {
    "42P01": "a table of the query does not exist",
    "42703": "a column of the query does not exist",
    "42883": "a function of the query does not exist, or not for these types",
    "42601": "the query is not one SELECT in the SQL of the database",
    "42501": "you may not read what the query asks for",
    "25006": "the query would write, and only reading is allowed",
    "28": "the user or the password is wrong",
    "3D000": "there is no database of that name",
    "08": "the connection failed",
    "53": "the server is busy",
    "57": "the server ended the query",
}
ONE_SELECT = "give one SELECT that only reads"
REFUSED = "the database refuses the query"
OUT_OF_RANGE = "a value is out of range, such as a date that is infinite or not in the years 1 to 9999"
REMEDIES = {
    REASONS["42P01"]: "check the names in it",
    REASONS["42703"]: "check the names in it",
    OUT_OF_RANGE: "make it text in the query, or leave it out",
}


def read_query(query: Query) -> pa.Table:
    """All rows of the answer."""
    readers = {"postgresql": _postgresql, "sqlite": _sqlite, "duckdb": _duckdb}
    data = readers[query.kind](query)
    if data.num_columns == 0 or data.num_rows == 0:
        raise InputError(f"{query}: the query gives no rows; check its conditions")
    return data


def _refused(query: Query, reason: str, remedy: str | None = None) -> InputError:
    if reason.startswith(REFUSED):  # it would say why, and may quote data
        remedy = "try it in a client of the database"
    return InputError(f"{query}: {reason}; {remedy or REMEDIES.get(reason, ONE_SELECT)}")


def _file(query: Query) -> str:
    if is_folder(query.file):
        raise _refused(query, "is a folder", "give the file of a database")
    return str(query.file)


def _sqlite(query: Query) -> pa.Table:
    path = query.file
    _file(query)

    def allowed(action: int, *_: Any) -> int:
        return sqlite3.SQLITE_OK if action in READS else sqlite3.SQLITE_DENY

    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=SECONDS)) as connection:
            connection.execute("select count(*) from sqlite_master")  # is it a database at all?
            connection.set_authorizer(allowed)
            cursor = connection.execute(query.sql)
            if cursor.description is None:
                raise _refused(query, "the query gives no table")
            names = [str(column[0]) for column in cursor.description]
            return _table(query, names, iter(lambda: cursor.fetchmany(AT_ONCE), []))
    except (sqlite3.ProgrammingError, sqlite3.Warning):  # two statements, or parameters
        raise _refused(query, "the query is not one statement") from None
    except sqlite3.DatabaseError as problem:
        raise _refused(query, _sqlite_reason(str(problem))) from None
    except (sqlite3.Error, ValueError, OverflowError) as problem:
        if isinstance(problem, InputError):
            raise
        raise _refused(query, "the query failed") from None


def _sqlite_reason(message: str) -> str:
    for part, reason in (
        ("no such table", REASONS["42P01"]),
        ("no such column", REASONS["42703"]),
        ("syntax error", REASONS["42601"]),
        ("incomplete input", REASONS["42601"]),
        ("not authorized", REASONS["25006"]),
        ("prohibited", REASONS["25006"]),
        ("readonly", REASONS["25006"]),
        ("locked", "the database is locked by another program"),
        ("not a database", "the file is not an SQLite database"),
        ("malformed", "the file is damaged"),
    ):
        if part in message:
            return reason
    return REFUSED


def _duckdb(query: Query) -> pa.Table:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("databases", "reading a DuckDB database") from None
    path = _file(query)
    # Nothing outside of the file may be read or written, and no extension fetched.
    settings = dict.fromkeys(("enable_external_access", "autoinstall_known_extensions"), "false")
    try:
        with closing(duckdb.connect(path, read_only=True, config=settings)) as connection:
            statements = connection.extract_statements(query.sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise _refused(query, "the query is not one SELECT")
            data = connection.sql(query.sql).to_arrow_table()
            check_names(data.column_names, str(query))
            return data
    except duckdb.Error as problem:
        kinds = {
            "CatalogException": REASONS["42P01"],
            "BinderException": REASONS["42703"],
            "ParserException": REASONS["42601"],
            "PermissionException": "the query would reach outside of the database",
            "InvalidInputException": "the query would write, or cannot be run",
            "IOException": "the file is not a DuckDB database that can be opened",
        }
        raise _refused(query, kinds.get(type(problem).__name__, REFUSED)) from None


def _postgresql(query: Query) -> pa.Table:
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("databases", "reading a PostgreSQL database") from None
    try:
        connection = psycopg.connect(str(query.database), connect_timeout=SECONDS, application_name="shoal")
    except (psycopg.Error, UnicodeError, ValueError) as problem:
        reason = _reason(getattr(problem, "sqlstate", None) or "", "no connection to the database")
        raise _refused(query, reason, "check address, user and password (PGPASSWORD or ~/.pgpass)") from None
    try:
        with closing(connection):
            connection.read_only = True
            # A cursor of the server takes one SELECT and nothing else, and gives the rows piece by piece.
            with connection.cursor(name="shoal") as cursor:
                cursor.execute(query.sql.rstrip().rstrip(";").encode())
                names = [column.name for column in cursor.description or ()]
                return _table(query, names, iter(lambda: cursor.fetchmany(AT_ONCE), []))
    except (psycopg.Error, UnicodeError) as problem:
        state = getattr(problem, "sqlstate", None) or ""
        unread = isinstance(problem, psycopg.DataError) and not state  # by Python, not by the database
        raise _refused(query, OUT_OF_RANGE if unread else _reason(state, REFUSED)) from None


def _reason(state: str, otherwise: str) -> str:
    return REASONS.get(state) or REASONS.get(state[:2]) or (f"{otherwise} (SQLSTATE {state})" if state else otherwise)


def _table(query: Query, names: list[str], pieces: Iterator[Sequence[tuple[Any, ...]]]) -> pa.Table:
    """Rows as Arrow has them, each column of one type."""
    check_names(names, str(query))
    columns: list[list[Any]] = [[] for _ in names]
    for piece in pieces:
        for column, values in zip(columns, zip(*piece, strict=True), strict=True):
            column.extend(values)
    return pa.table([_typed(column) for column in columns], names=names)


def _typed(values: list[Any]) -> pa.Array:
    """A column of one type; text where values are of several, or of one that Arrow has not or cannot sort."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return pa.array(values, pa.float64())
    if kinds != {UUID}:
        with suppress(pa.ArrowException, TypeError, OverflowError):
            return pa.array(values)
    if kinds == {Decimal}:  # not a number, or infinite
        return pa.array([None if value is None else float(value) for value in values], from_pandas=True)
    return pa.array([None if value is None else str(value) for value in values], pa.string())
