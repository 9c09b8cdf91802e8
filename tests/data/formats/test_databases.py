"""A query reads, and nothing else: whatever it is, the database is as it was, and no message has a secret in it."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import psycopg
import pyarrow as pa
import pytest

from shoal import InputError
from shoal.data.sources import Query, list_parts
from shoal.data.table import read_table
from tests.index.server.processes import running_postgres

TABLE = "create table people (age integer, pay double precision, illness varchar(20), born date)"
ROWS = [(20 + n % 17, 1000.5 + n, f"s3cret-{n % 3}", f"19{60 + n}-01-02") for n in range(12)]
INSERT = "insert into people values " + ", ".join(map(repr, ROWS))
BAD = {
    "a table that is not there": ("select * from nobody", "does not exist"),
    "a column that is not there": ("select wage from people", "does not exist"),
    "no SQL": ("selec age frm people", "not one SELECT"),
    "two statements": ("select age from people; select pay from people", "not one"),
    "a commit before a drop": ("select 1; commit; drop table people", "not one"),
    "a drop": ("drop table people", "SELECT"),
    "an insert that answers": ("insert into people values (1, 1, 'x', null) returning age", "SELECT"),
    "an update": ("update people set age = 0", "SELECT"),
    "a new table": ("create table other as select * from people", "SELECT"),
    "nothing found": ("select age from people where age > 999", "no rows"),
    "a name twice": ("select age, age from people", "more than once"),
    "a comment": ("-- nothing", "SELECT"),
}


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with running_postgres() as server:
        address = str(server.get_uri("postgres"))
        with psycopg.connect(address) as connection:
            connection.execute(TABLE)
            connection.execute(INSERT)
        yield address


@pytest.fixture(scope="module", params=["sqlite", "duckdb", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Callable[[], str]]:
    """The address of a database with people in it, and what tells whether it was changed."""
    if request.param == "postgresql":
        address = request.getfixturevalue("postgres")

        def content() -> str:
            with psycopg.connect(address) as connection:
                rows = connection.execute("select * from people").fetchall()
                tables = connection.execute("select tablename from pg_tables").fetchall()
            return repr((sorted(map(str, rows)), sorted(tables)))

        return address, content
    path = tmp_path_factory.mktemp("db") / f"people.{request.param}"
    connection = sqlite3.connect(path) if request.param == "sqlite" else duckdb.connect(str(path))
    connection.execute(TABLE)
    connection.execute(INSERT)
    connection.commit()
    connection.close()
    return str(path), lambda: hashlib.sha256(path.read_bytes()).hexdigest() + repr(sorted(path.parent.iterdir()))


def test_a_query_gives_rows_with_their_types(database) -> None:
    data = read_table(Query(database[0], "select age, pay, illness from people order by pay;")).data
    assert data.num_rows == 12
    assert pa.types.is_integer(data.schema.field("age").type)
    assert data["pay"].to_pylist()[:2] == [1000.5, 1001.5]
    assert data["illness"].to_pylist()[0] == "s3cret-0"


@pytest.mark.parametrize("case", BAD)
def test_a_query_that_does_not_simply_read_is_refused_and_changes_nothing(database, case) -> None:
    address, content = database
    sql, says = BAD[case]
    before = content()
    with pytest.raises(InputError) as refused:
        read_table(Query(address, sql))
    line = str(refused.value)
    assert says in line or "read" in line
    assert "\n" not in line
    assert "s3cret" not in line
    assert content() == before


def test_an_error_that_would_quote_the_data_does_not(postgres) -> None:
    with pytest.raises(InputError, match="SQLSTATE 22P02") as refused:
        read_table(Query(postgres, "select illness::integer from people"))
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:p4ssword@127.0.0.1:1/study",
        "postgresql://ann:p4ss@word@127.0.0.1:1/study",
        "postgresql://ann@127.0.0.1:p4ssword/study",
        "postgresql://127.0.0.1:1/study?user=ann&password=p4ssword",
        "postgresql://127.0.0.1:1/study?passwrod=p4ssword",
        "postgres://ann:p4ssword@[::1/study",
    ],
)
def test_a_password_is_never_shown(address) -> None:
    query = Query(address, "select 1")
    assert "p4ss" not in repr(query) + str(query) or "p4ssword/" in address
    with pytest.raises(InputError, match="PGPASSWORD") as refused:
        read_table(query)
    assert "p4ss" not in str(refused.value)
    with pytest.raises(InputError, match="query=") as unasked:
        read_table(address)
    assert "p4ss" not in str(unasked.value)


@pytest.mark.parametrize(
    "address",
    [
        "mysql://ann:p4ssword@127.0.0.1/study",
        "postgresql:/ann:p4ssword@127.0.0.1/study",
        "host=127.0.0.1 password=p4ssword dbname=study",
    ],
)
def test_a_password_in_an_address_that_is_not_understood_is_not_shown(address) -> None:
    for call in (
        lambda: Query(address, "select 1"),
        lambda: read_table(address),
        lambda: list_parts(address) if "://" in address else read_table(address),
    ):
        with pytest.raises(InputError) as refused:
            call()
        assert "127.0.0.1" in str(refused.value)
        assert "p4ss" not in str(refused.value)


def test_numbers_of_postgresql_that_are_none_are_missing_uuids_are_text_and_endless_dates_are_refused(postgres) -> None:
    read = read_table(Query(postgres, "select n from (values (1.5::numeric), ('nan')) rows (n)")).data
    assert read["n"].to_pylist() == [1.5, None]
    number = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
    assert read_table(Query(postgres, f"select '{number}'::uuid as u")).data["u"].to_pylist() == [number]
    with pytest.raises(InputError, match=r"out of range.*; make it text"):
        read_table(Query(postgres, "select 'infinity'::date as day"))


def test_duckdb_reads_and_writes_no_other_file(database, tmp_path: Path) -> None:
    if not database[0].endswith(".duckdb"):
        return
    (tmp_path / "other.csv").write_text("a\n1\n")
    with pytest.raises(InputError):
        read_table(Query(database[0], f"select * from read_csv('{tmp_path / 'other.csv'}')"))


@pytest.mark.parametrize("name", ["no.sqlite", "text.sqlite", "text.duckdb", "no.duckdb", "folder.db"])
def test_what_is_no_database_is_refused(name, tmp_path: Path) -> None:
    (tmp_path / "text.sqlite").write_text("s3cret " * 500)
    (tmp_path / "text.duckdb").write_text("s3cret " * 500)
    (tmp_path / "folder.db").mkdir()
    with pytest.raises(InputError) as refused:
        read_table(Query(str(tmp_path / name), "select 1 as one"))
    assert "s3cret" not in str(refused.value)
    assert not (tmp_path / "no.sqlite").exists()
    assert not (tmp_path / "no.duckdb").exists()
