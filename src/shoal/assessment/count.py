"""count: crowds counted where the table lives, by one SELECT: PostgreSQL, SQLite, DuckDB, Parquet files.

A gap is a value of its own in a key, as GROUP BY has it; among confidential values it does not count.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from shoal.data.files import is_folder, shown
from shoal.data.formats.databases import read_query
from shoal.data.sources import Query, format_of
from shoal.errors import InputError, MissingExtra
from shoal.results.audit import LIMITS

MEMORY = "1GB"  # of DuckDB; what does not fit goes to a folder that is removed afterwards


@dataclass(frozen=True)
class Counted:
    """Crowds of a table, and the fewest different confidential values that share a key."""

    rows: int
    keys: int
    k: int
    below: tuple[int, ...]  # records in crowds below 2, 3 and 5
    values: tuple[tuple[str, int], ...]  # by confidential column: l
    sql: str  # that counted it

    def data(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


def count(
    source: str | os.PathLike[str],
    *,
    quasi: Sequence[str],
    confidential: Sequence[str] = (),
    table: str | None = None,
) -> Counted:
    """Count k, records in small crowds and l in a database or a Parquet file, without reading it into memory.

    Parameters
    ----------
    source : address of a PostgreSQL database, file of SQLite or DuckDB, Parquet file, or folder of such files
    quasi, confidential : sequences of str
        Columns that others may know, and columns that nobody should learn.
    table : str
        The table of a database, such as people or study.people.
    """
    sql = counting_sql(source_sql(source, table), quasi, confidential)
    row = _in_duckdb(Path(source), sql) if table is None else read_query(Query(source, sql)).to_pylist()[0]
    if not row["n_rows"]:
        raise InputError(f"{shown(os.fspath(source))} has no rows; there is nothing to count")
    below = tuple(int(row[f"below_{limit}"]) for limit in LIMITS)
    values = tuple((name, int(row[f"l_{number}"])) for number, name in enumerate(confidential, 1))
    return Counted(int(row["n_rows"]), int(row["n_keys"]), int(row["k"]), below, values, sql)


def source_sql(source: str | os.PathLike[str], table: str | None) -> str:
    """What to count from, as SQL names it."""
    if format_of(source) == "database":
        if table is None:
            raise InputError(f"{Query(source, '…')} is a database; name the table to count: {{option}}", "table")
        return ".".join(map(_quoted, table.split(".")))  # with its schema before a point
    if table is not None:
        raise InputError("{option} is for databases, and this is a file; leave it out", "table")
    path = Path(source)
    pattern = path / "*.parquet" if is_folder(path) else path
    if pattern.suffix != ".parquet":
        raise InputError(f"{shown(str(path))} is no Parquet file and no database; count it with shoal audit")
    text = str(pattern).replace("'", "''")
    return f"read_parquet('{text}')"


def counting_sql(source: str, quasi: Sequence[str], confidential: Sequence[str] = ()) -> str:
    """The SELECT that counts, in plain SQL; another engine may want other quotes around names.

    >>> print(counting_sql("people", ["age"]))
    WITH crowds AS (
      SELECT COUNT(*) AS n
      FROM people
      GROUP BY "age"
    )
    SELECT SUM(n) AS n_rows, COUNT(*) AS n_keys, MIN(n) AS k,
      SUM(CASE WHEN n < 2 THEN n ELSE 0 END) AS below_2,
      SUM(CASE WHEN n < 3 THEN n ELSE 0 END) AS below_3,
      SUM(CASE WHEN n < 5 THEN n ELSE 0 END) AS below_5
    FROM crowds
    """
    if not quasi:
        raise InputError("no column is named that others may know; give {option}", "quasi")
    values = [f"COUNT(DISTINCT {_quoted(name)}) AS l_{number}" for number, name in enumerate(confidential, 1)]
    least = [f"MIN(l_{number}) AS l_{number}" for number in range(1, len(values) + 1)]
    small = [f"SUM(CASE WHEN n < {limit} THEN n ELSE 0 END) AS below_{limit}" for limit in LIMITS]
    return "\n".join(
        (
            "WITH crowds AS (",
            f"  SELECT {', '.join(['COUNT(*) AS n', *values])}",
            f"  FROM {source}",
            f"  GROUP BY {', '.join(map(_quoted, quasi))}",
            ")",
            "SELECT SUM(n) AS n_rows, COUNT(*) AS n_keys, MIN(n) AS k,",
            "  " + ",\n  ".join([*small, *least]),
            "FROM crowds",
        )
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _in_duckdb(path: Path, sql: str) -> Mapping[str, Any]:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("databases", "counting in a Parquet file") from None
    with TemporaryDirectory() as aside:
        settings = {"memory_limit": MEMORY, "temp_directory": aside, "autoinstall_known_extensions": "false"}
        try:
            with duckdb.connect(":memory:", config=settings) as connection:
                answer: list[dict[str, Any]] = connection.sql(sql).to_arrow_table().to_pylist()
        except duckdb.BinderException:
            raise InputError(f"{shown(str(path))} lacks a column that was named; check the names") from None
        except duckdb.Error:  # its message may quote data
            raise InputError(f"{shown(str(path))} cannot be counted as Parquet; is it whole?") from None
    return answer[0]
