"""Tables: reading, roles, and the matrix of quasi-identifiers."""

from __future__ import annotations

import contextlib
import datetime
import gzip
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal.data import delimited
from shoal.data.columns import check_no_gaps, column_numbers
from shoal.data.roles import Roles, resolve_roles
from shoal.data.table import Table, read_table
from shoal.errors import InputError

Write = Callable[[str, bytes | str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, content: bytes | str) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    return write


def refusal(call: Callable[..., object], *arguments: Any) -> str:
    with pytest.raises(InputError) as caught:
        call(*arguments)
    message = str(caught.value)
    assert "\n" not in message
    return message


def in_memory(**columns: Any) -> Table:
    return Table(pa.table(columns), "memory")


# Reading


def test_csv_columns_get_their_types_and_the_format_is_remembered(write: Write) -> None:
    table = read_table(write("a.csv", "\ufeffage,pay,name\n31,1.5,Ann\n40,2,Bob\n"))
    assert table.format == "csv"
    assert table.data.to_pydict() == {"age": [31, 40], "pay": [1.5, 2.0], "name": ["Ann", "Bob"]}


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.csv", b"a;b\n1;2\n", "csv"),
        ("a.csv", b"a\tb\n1\t2\n", "csv"),
        ("a.TSV", b"a\tb\n1\t2\n", "tsv"),
        ("a.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0), "csv.gz"),
        ("a.tsv.gz", gzip.compress(b"a\tb\n1\t2\n", mtime=0), "tsv.gz"),
        ("a.csv", "a,b\n1,2\n".encode("utf-16"), "csv"),
        ("a.csv", b"\n\na,b\r\n\r\n1,2\r\n", "csv"),
        ("a.csv", b"a,b\r1,2\r", "csv"),
        ("a.csv", b'"a","b"\n"1","2"', "csv"),
    ],
)
def test_other_delimiters_encodings_and_line_ends_are_understood(
    write: Write, name: str, content: bytes, format: str
) -> None:
    table = read_table(write(name, content))
    assert (table.data.to_pydict(), table.format) == ({"a": [1], "b": [2]}, format)


def test_missing_values_are_missing_in_numbers_and_kept_as_they_are_in_text(write: Write) -> None:
    table = read_table(write("a.csv", 'n,country\n1,NA\nNA,DE\nNaN,\n,null\nnull,FR\n"",IT\n'))
    assert table.data["n"].to_pylist() == [1, None, None, None, None, None]
    assert table.data["country"].to_pylist() == ["NA", "DE", "", "null", "FR", "IT"]


@pytest.mark.parametrize("sign", [".", "?"])
def test_a_point_and_a_question_mark_are_missing_in_columns_of_numbers_and_text_elsewhere(write, sign) -> None:
    table = read_table(write("a.csv", f"n,word\n1,{sign}\n{sign},x\n2.5,y\n"))
    assert table.data["n"].to_pylist() == [1.0, None, 2.5]
    assert table.data["word"].to_pylist() == [sign, "x", "y"]


def test_integers_that_no_int64_holds_keep_all_their_digits(write: Write) -> None:
    table = read_table(write("a.csv", "account,x\n12345678901234567890,1e300\n2,inf\n"))
    assert table.data["account"].to_pylist() == ["12345678901234567890", "2"]
    assert table.data["x"].to_pylist() == [1e300, float("inf")]


def test_a_cell_larger_than_a_block_is_read(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_BLOCK", 1 << 16)
    table = read_table(write("a.csv", "a,b\n1," + "x" * (40 << 10) * 4 + "\n2,y\n"))
    assert table.data["a"].to_pylist() == [1, 2]


def test_ragged_rows_are_counted_and_the_first_is_named(write: Write) -> None:
    message = refusal(read_table, write("a.csv", 'a,b\n1,"x\ny"\n\n1\n2,2\n1,2,3\n'))
    assert "2 rows not as wide as the header (first: row 2 has 1 field where the header has 2)" in message


def test_a_row_that_is_not_utf8_is_named(write: Write) -> None:
    assert "row 2 is not UTF-8 text (column b)" in refusal(read_table, write("a.csv", b"a,b\n1,x\n2,\xff\n"))
    assert "header is not UTF-8" in refusal(read_table, write("b.csv", b"a,\xff\n1,x\n"))


def test_quotes_that_do_not_fit_are_refused_before_they_swallow_rows(write: Write) -> None:
    assert "quote opened in row 2 never closes" in refusal(read_table, write("a.csv", 'a,b\n1,2\n3,"4\n5,6\n'))
    assert "quotes in row 1 are unbalanced" in refusal(read_table, write("a.csv", 'a,b\n1,"2"x\n5,6\n'))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"\n\n", "is empty"),
        ("a.csv", b"a,b", "has a header and no rows"),
        ("a.csv", b"a,b\n", "has a header and no rows"),
        ("a.csv", b'"a","b"\n\n', "has a header and no rows"),
        ("a.csv", b"a,b,a\n1,2,3\n", "1 column name given more than once (a)"),
        ("a.csv", b"a,,b\n1,2,3\n", "1 column without a name (number 2)"),
        ("a.csv", b"a,b\n1,\x002\n", "is binary, not text (a NUL byte in line 2)"),
        ("a.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "truncated gzip"),
        ("a.csv.gz", b"a,b\n1,2\n", "not a sound gzip"),
        ("a.parquet", b"PAR1 no PAR1", "cannot be read"),
        ("a.jsonl", b"{}", "is JSONL, which holds documents"),
        ("a.xlsx", b"", "cannot be read as a spreadsheet"),
        ("a.ods", b"", "of no known kind"),
    ],
)
def test_bad_files_are_refused(write: Write, name: str, content: bytes, message: str) -> None:
    assert message in refusal(read_table, write(name, content))


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    assert "does not exist" in refusal(read_table, tmp_path / "a.csv")
    (tmp_path / "x.csv").mkdir()
    assert "is a folder" in refusal(read_table, tmp_path / "x.csv")
    assert "not a regular file" in refusal(read_table, "/dev/null")


def test_parquet_is_read_without_the_metadata_its_writer_left(tmp_path: Path) -> None:
    pd.DataFrame({"a": [1, 2]}, index=["Ann", "Bob"]).reset_index(drop=True).to_parquet(tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    assert (table.data.schema.metadata, table.format) == (None, "parquet")


@pytest.mark.parametrize(
    "frame",
    [
        pa.table({"a": [1, 2], "b": ["x", "y"]}),
        pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=["Ann", "Bob"]),
        pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
        pl.LazyFrame({"a": [1, 2], "b": ["x", "y"]}),
    ],
)
def test_dataframes_of_any_library_are_taken_without_their_index(frame: Any) -> None:
    table = read_table(frame)
    assert (table.data.to_pydict(), table.format) == ({"a": [1, 2], "b": ["x", "y"]}, "memory")
    assert table.data.schema.metadata is None


def test_dataframes_that_cannot_be_used_are_refused() -> None:
    assert "column names occur more than once" in refusal(read_table, pd.DataFrame([[1, 2]], columns=["a", "a"]))
    assert "given more than once" in refusal(read_table, pa.Table.from_arrays([[1], [2]], names=["a", "a"]))
    assert "column b: values of several types" in refusal(read_table, pd.DataFrame({"a": [1, 2], "b": [1, "secret"]}))
    assert "a list is no table" in refusal(read_table, [1, 2])
    assert "a Series is no table" in refusal(read_table, pd.Series([1]))
    assert "1 columns and 0 rows" in refusal(read_table, pl.DataFrame({"a": []}))


# Roles


def test_without_roles_a_table_of_numbers_is_all_quasi_identifiers() -> None:
    table = in_memory(a=[1, 2], b=[0.5, None])
    assert resolve_roles(table, None) == Roles(quasi=("a", "b"))


def test_without_roles_other_columns_are_named_with_the_remedy() -> None:
    message = refusal(resolve_roles, in_memory(a=[1], city=["x"], ok=[True]), None)
    assert message.startswith("2 columns not numeric (city, ok); ")
    assert "quasi, confidential and drop" in message


def test_roles_must_fit_the_table() -> None:
    table = in_memory(age=[1], zip=[2])
    assert resolve_roles(table, Roles(quasi=("age",))) == Roles(quasi=("age",))
    assert "did you mean age?" in refusal(resolve_roles, table, Roles(quasi=("agee",)))
    twice = Roles(quasi=("age",), confidential=("age",))
    assert "column age is listed twice (quasi and confidential)" in refusal(resolve_roles, table, twice)
    assert "listed twice" in refusal(resolve_roles, table, Roles(quasi=("age", "age")))
    assert "no column is a quasi-identifier" in refusal(resolve_roles, table, Roles(quasi=()))
    double = Table(pa.Table.from_arrays([[1], [2]], names=["a", "a"]), "memory")
    assert "given more than once" in refusal(resolve_roles, double, Roles(quasi=("a",)))


# Numbers


def test_all_kinds_of_numbers_become_float64() -> None:
    table = in_memory(
        a=pa.array([1, None, 3], pa.uint8()),
        b=[Decimal("1.5"), Decimal("2.5"), Decimal("3.5")],
        c=pa.array([1.0, float("nan"), 2.0], pa.float32()),
        d=pa.array([7, 8, 7]).dictionary_encode(),
        e=pa.array([1.0, 2.0, 3.0], pa.float16()),
        f=pa.nulls(3),
    )
    numbers = {name: column_numbers(table.data[name], name) for name in table.data.column_names}
    assert {column.dtype for column in numbers.values()} == {np.dtype(np.float64)}
    np.testing.assert_array_equal(numbers["a"], [1, np.nan, 3])
    np.testing.assert_array_equal(numbers["b"], [1.5, 2.5, 3.5])
    np.testing.assert_array_equal(numbers["c"], [1, np.nan, 2])
    np.testing.assert_array_equal(numbers["d"], [7, 8, 7])
    np.testing.assert_array_equal(numbers["e"], [1, 2, 3])
    assert np.isnan(numbers["f"]).all()


def test_missing_values_are_counted_by_column() -> None:
    age, zip, pay = [1, 2, 3, np.nan, np.nan, np.nan], [1, np.nan, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]
    assert refusal(check_no_gaps, ("age", "zip", "pay"), np.column_stack([age, zip, pay]), ", or withhold them") == (
        "column age: 3 missing values (first in row 4), zip: 1; fill them, drop the rows, or withhold them"
    )


def test_a_complete_table_passes() -> None:
    check_no_gaps(("age",), np.array([[1.0], [2.0]]), "")


def test_text_among_numbers_is_counted_and_never_quoted(write: Write) -> None:
    table = read_table(write("a.csv", "age,b\n31,1\nNA,1\nsecret,1\n1e5,1\n12a,1\n"))
    message = refusal(column_numbers, table.data["age"], "age")
    assert "column age is text, which cannot be averaged: 2 of 5 values not numbers (first in row 3)" in message
    assert "secret" not in message


def test_a_decimal_comma_between_quotes_makes_a_column_text(write: Write) -> None:
    table = read_table(write("a.csv", 'a,b\n"1,5",2\n'))
    assert "1 of 1 value not numbers" in refusal(column_numbers, table.data["a"], "a")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, float("inf"), float("-inf")], "2 infinite values (first in row 2)"),
        ([1, 2**53, -(2**60)], "2 integers of 2^53 or more (first in row 2)"),
        ([Decimal(1), Decimal(2**60)], "1 integer of 2^53 or more (first in row 2)"),
        ([True, False], "recode it as 0 and 1"),
        ([datetime.date(2020, 1, 1)], "holds dates or times"),
        ([datetime.datetime(2020, 1, 1)], "holds dates or times"),
        ([[1], [2]], "not numbers"),
        (["1", "2"], "is text, though no value is anything but a number"),
        (["x", None], "1 of 2 values not numbers (first in row 1)"),
    ],
)
def test_columns_that_cannot_be_averaged_are_refused_with_a_remedy(values: list[Any], message: str) -> None:
    found = refusal(column_numbers, in_memory(q=values).data["q"], "q")
    assert message in found
    assert "column q" in found
    assert ";" in found


@pytest.mark.parametrize("text", ["age,town\n31,Ely\n44,Bath\n", "age,town\n31,Ely,7\n44,Bath\n"])
def test_no_thread_of_arrow_ever_holds_a_python_object(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # It would ask for the interpreter's lock to let go of it: at exit that ends the process with 134 in place of 2.
    content = text.encode()
    place = pa.py_buffer(content).address
    read_csv, calls = delimited.arrow_csv.read_csv, []

    def watched(source: Any, read: Any, parse: Any, convert: Any) -> Any:
        memory = source.read_buffer()
        calls.append((place <= memory.address < place + len(content), read.use_threads, parse.invalid_row_handler))
        source.seek(0)
        return read_csv(source, read, parse, convert)

    monkeypatch.setattr(delimited.arrow_csv, "read_csv", watched)
    with contextlib.suppress(InputError):
        delimited.parse_table(content, "csv", "people.csv", verbatim=["town"])
    assert calls
    assert not any(of_python for of_python, _, _ in calls)
    assert not any(threads and handler is not None for _, threads, handler in calls)


def test_one_name_is_a_role_of_one_column() -> None:
    assert Roles(quasi="age", confidential=["ill"]) == Roles(quasi=("age",), confidential=("ill",))  # type: ignore[arg-type]
