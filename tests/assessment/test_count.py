"""Crowds counted by SQL are those that an audit counts, in every database and in Parquet files."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal import InputError, audit, count
from shoal.assessment.count import counting_sql
from tests.cli.run import run

PEOPLE = pd.DataFrame(
    {
        "to'wn": ["A", "A", "A", "B", "B", None],
        "age": [30, 30, 30, 41, 41, 50],
        "ill": ["flu", "gout", "flu", "flu", "flu", None],
    }
)


@pytest.mark.parametrize("kind", ["parquet", "folder", "sqlite", "duckdb"])
def test_every_engine_counts_the_same(tmp_path: Path, kind: str) -> None:
    path, table = tmp_path / f"people.{kind}", "people"
    if kind == "parquet":
        PEOPLE.to_parquet(path)
    elif kind == "folder":
        path.mkdir()
        PEOPLE[:2].to_parquet(path / "1.parquet")
        PEOPLE[2:].to_parquet(path / "2.parquet")
    elif kind == "sqlite":
        with closing(sqlite3.connect(path)) as connection:
            PEOPLE.to_sql(table, connection, index=False)
    else:
        with duckdb.connect(path) as connection:
            connection.register("given", pa.Table.from_pandas(PEOPLE))
            connection.execute("create table people as select * from given")
    named = table if kind in ("sqlite", "duckdb") else None
    found = count(path, quasi=["to'wn", "age"], confidential=["ill"], table=named)
    # Crowds of 3, 2 and 1 with 2, 1 and no different illness.
    assert (found.rows, found.keys, found.k, found.below) == (6, 3, 1, (1, 3, 6))
    assert found.values == (("ill", 0),)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3), st.sampled_from("xyz")), min_size=1, max_size=30)
)
def test_an_audit_counts_the_same(tmp_path: Path, rows: Sequence[tuple[str, int, str]]) -> None:
    table = pa.table(dict(zip(("town", "age", "ill"), map(list, zip(*rows, strict=True)), strict=True)))
    pq.write_table(table, tmp_path / "t.parquet")
    found = count(tmp_path / "t.parquet", quasi=["town", "age"], confidential=["ill"])
    audited = audit(table, quasi=["town", "age"], confidential=["ill"])
    assert (found.rows, found.keys, found.k, found.below) == (audited.rows, audited.keys, audited.k, audited.below)
    assert found.values == (("ill", audited.values[0].distinct_l),)


def test_the_command_counts_prints_sql_and_fails_below_a_k(tmp_path: Path) -> None:
    PEOPLE.to_parquet(tmp_path / "people.parquet")
    ran = run(tmp_path, "count", "people.parquet", "--quasi", "age", "--min-k", "2")
    assert ran.code == 1
    assert "k = 1, and 2 was asked for" in ran.err
    assert "6 in 3 crowds; k = 1" in ran.out
    shown = run(
        tmp_path, "count", "postgresql://ann:s3cret@host/study", "--table", "study.people", "--quasi", "age", "--sql"
    )
    assert (shown.code, shown.out.strip()) == (0, counting_sql('"study"."people"', ["age"]))
    (tmp_path / "people.csv").write_text("age\n30\n")
    for words, said in {
        "nowhere.parquet --quasi age": "nowhere.parquet",
        "people.parquet --quasi agee": "lacks a column",
        "people.parquet --quasi ,": "--quasi",
        "people.parquet --quasi age --table people": "--table is for databases",
        "postgresql://ann:s3cret@host/study --quasi age": "--table",
        "people.csv --quasi age": "shoal audit",
    }.items():
        wrong = run(tmp_path, "count", *words.split())
        assert wrong.code == 2, words
        assert len(wrong.complaints) == 1
        assert said in wrong.complaints[0]
        assert "s3cret" not in wrong.err


def test_an_empty_table_has_nothing_to_count(tmp_path: Path) -> None:
    PEOPLE[:0].to_parquet(tmp_path / "none.parquet")
    with pytest.raises(InputError, match="no rows"):
        count(tmp_path / "none.parquet", quasi=["age"])
