"""Text files as many programs write them: what is recognised is said, and what is not clear is refused."""

from __future__ import annotations

import warnings

import pyarrow as pa
import pytest

from shoal import InputError, inspect
from shoal.data.sources import TableFile
from shoal.data.table import read_table
from shoal.results.summary import Dialect


def read(folder, content: bytes, name: str = "t.csv", **given: str):
    """The table, its dialect, and what was said."""
    path = folder / name
    path.write_bytes(content)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        table = read_table(TableFile(path, **given) if given else path)
    return table.data, table.dialect, [str(one.message) for one in said]


@pytest.mark.parametrize(
    ("content", "dialect"),
    [
        (b"a;b\n1,5;x\n2;y\n", Dialect(";", ",")),
        (b"a;b\n1.5;x\n2;y\n", Dialect(";")),
        (b"a\tb\n1,5\tx\n2\ty\n", Dialect("\t", ",")),
        (b"a|b\n1.5|x\n2|y\n", Dialect("|")),
        (b"a,b\n1.5,caf\xe9\n2,y\n", Dialect(encoding="windows-1252")),
        (b"a;b\n1,5;\x80 caf\xe9\n2;y\n", Dialect(";", ",", "windows-1252")),
        ("a,b\n1.5,é\n2,y\n".encode("utf-16"), Dialect(encoding="utf-16")),
        (b'"x;y",b\n1.5,x\n2,y\n', None),
        ("a,b\n1.5,é\n2,y\n".encode(), None),
    ],
)
def test_a_dialect_is_recognised_and_said_once(tmp_path, content, dialect) -> None:
    data, found, said = read(tmp_path, content)
    assert found == dialect
    assert data.schema.types[0] == pa.float64()
    assert data.column(0).to_pylist() == [1.5, 2.0]
    assert len(said) == (dialect is not None)
    assert all("delimiter" in one and "t.csv" in one for one in said)


@pytest.mark.parametrize(
    ("content", "dialect"),
    [
        (b"a;b\n1;x\n2;y\n", Dialect(";", ",")),
        (b"a;b\n1;31.12.1980\n2;1.2.3\n", Dialect(";", ",")),
        (b"a;b\n1;2.5\n2;y\n", Dialect(";", ",")),
        (b"a;b\n1;2.5\n2;3\n", Dialect(";")),
        (b"a\tb\n1\tx\n2\ty\n", Dialect("\t")),
    ],
)
@pytest.mark.parametrize("verbatim", [(), ("b",)])
def test_whole_numbers_between_semicolons_become_means_with_a_decimal_comma(
    tmp_path, content, dialect, verbatim
) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.warns(UserWarning, match="decimal commas" if dialect.decimal == "," else "between cells; if"):
        table = read_table(tmp_path / "t.csv", verbatim)
    assert table.dialect == dialect
    assert table.data["a"].to_pylist() == [1, 2]


def test_a_mark_of_utf_8_is_kept_without_a_word(tmp_path) -> None:
    _, dialect, said = read(tmp_path, "a,b\n1,é\n".encode("utf-8-sig"))
    assert dialect == Dialect(encoding="utf-8-sig")
    assert said == []


def test_what_is_given_is_not_guessed_and_not_said(tmp_path) -> None:
    given = {"delimiter": "semicolon", "decimal": "comma", "encoding": "cp850"}
    data, dialect, said = read(tmp_path, "a;b\n1,234;ü\n2,345;y\n".encode("cp850"), **given)
    assert dialect == Dialect(";", ",", "cp850")
    assert data.to_pydict() == {"a": [1.234, 2.345], "b": ["ü", "y"]}
    assert said == []


@pytest.mark.parametrize(
    ("content", "option"),
    [
        (b"a,b;c,d\n1,2;3,4\n5,6;7,8\n", "delimiter"),
        (b"a;b\n1,234;x\n2,345;y\n", "decimal"),
    ],
)
def test_what_may_be_read_in_two_ways_is_refused_with_the_option_that_settles_it(tmp_path, content, option) -> None:
    with pytest.raises(InputError, match=option):
        read(tmp_path, content)


@pytest.mark.parametrize("content", [b"a,b\n1,K\x94nig\n", b"a,b\n1,\x81\n", "a,b\n1,é".encode() + b"\xff\n"])
def test_letters_of_an_unknown_code_page_are_refused(tmp_path, content) -> None:
    with pytest.raises(InputError, match="UTF-8"):
        read(tmp_path, content)


def test_codes_and_dates_stay_text_beside_decimal_commas(tmp_path) -> None:
    data, _, _ = read(tmp_path, b"zip;born;pay\n01005;31.12.1980;1,5\n02134;01.01.1990;2,5\n")
    assert data.to_pydict() == {
        "zip": ["01005", "02134"],
        "born": ["31.12.1980", "01.01.1990"],
        "pay": [1.5, 2.5],
    }


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"delimiter": "x"}, "comma, semicolon, tab or bar"),
        ({"decimal": ";"}, "point or comma"),
        ({"encoding": "klingon"}, "is not known"),
        ({"encoding": "base64"}, "is not known"),
        ({"delimiter": ",", "decimal": ","}, "both a comma"),
    ],
)
def test_an_option_that_means_nothing_is_refused(given, says) -> None:
    with pytest.raises(InputError, match=says):
        TableFile("t.csv", **given)


@pytest.mark.parametrize(
    ("content", "amounts"),
    [
        ("a;b;c\n1.234,56;3,5;1.234\n999,00;4;12\n1.234.567,10;1;2.000.000\n", [1234.56, 999.0, 1234567.1]),
        ("a;b;c\n1 234,56;3,5;1\n999,00;4;2\n", [1234.56, 999.0]),
        ("a;b;c\n1\u202f234,56;3,5;1\n999,00;4;2\n", [1234.56, 999.0]),
        ("a;b;c\n1'234.56;3.5;1\n999.00;4;2\n", [1234.56, 999.0]),
        ('a,b,c\n"$1,234.56",3.5,1\n$999,4,2\n', [1234.56, 999.0]),
        ('a,b,c\n"1.234,56","3,5",1\n"999,00",4,2\n', [1234.56, 999.0]),
    ],
)
def test_marks_between_thousands_and_signs_of_money_are_left_out_and_said(tmp_path, content: str, amounts) -> None:
    data, _, said = read(tmp_path, content.encode())
    assert data["a"].to_pylist() == amounts and data["b"].to_pylist()[:2] == [3.5, 4.0]
    assert any(": a" in one and "read as plain numbers" in one for one in said)


def test_a_column_of_thousands_stands_beside_one_whose_commas_divide_none(tmp_path) -> None:
    data, _, _ = read(tmp_path, b"a;b\n137,17;2.521\n103,49;4.452\n98,5;950\n")
    assert data.to_pydict() == {"a": [137.17, 103.49, 98.5], "b": [2521, 4452, 950]}


@pytest.mark.parametrize("given", [{}, {"decimal": "comma"}])
def test_columns_with_commas_and_columns_with_points_are_each_read_by_their_own_sign(tmp_path, given) -> None:
    data, _, said = read(tmp_path, b"a;b\n2345,67;26.1\n103,49;4.4\n", **given)
    assert data.to_pydict() == {"a": [2345.67, 103.49], "b": [26.1, 4.4]}
    assert "but a point in b" in said[0]


def test_points_that_may_divide_thousands_beside_decimal_commas_are_refused_until_said(tmp_path) -> None:
    content = b"a;b\n137,17;2.521\n103,49;4.452\n98,5;9.500\n"
    with pytest.raises(InputError, match="may be a decimal sign or divide thousands"):
        read(tmp_path, content)
    data, _, _ = read(tmp_path, content, decimal="comma")
    assert data["b"].to_pylist() == [2521, 4452, 9500]


def test_points_between_thousands_of_another_column_are_read_where_one_shows_the_decimal_comma(tmp_path) -> None:
    data, _, _ = read(tmp_path, b"a;b\n1.234,56;1.234\n9,50;12\n2,50;2.000.000\n")
    assert data["b"].to_pylist() == [1234, 12, 2000000]


@pytest.mark.parametrize("rent", ["1.204,50 €", "1204,50"])
def test_words_among_numbers_with_decimal_commas_stay_until_they_are_declared(tmp_path, rent) -> None:
    rows = "".join(f"{n};{rent.replace('50', str(n))}\n" for n in range(11, 31))
    data, _, _ = read(tmp_path, f"a;b\n{rows}31;k.A.\n".encode())
    assert data["b"].to_pylist() == [*(f"1204.{n}" for n in range(11, 31)), "k.A."]
    with pytest.warns(UserWarning, match="decimal commas"):
        column = inspect(tmp_path / "t.csv").columns[1]
    assert (column.kind.value, column.missing_codes) == ("number", ("k.A.",))


@pytest.mark.parametrize("number", ["12.345.678", "552 100 554"])
def test_numbers_of_people_and_firms_stay_text(tmp_path, number: str) -> None:
    data, _, _ = read(tmp_path, f"a;b\n{number};1,5\n{number[:-1]}9;2,5\n".encode())
    assert data["a"].to_pylist()[0] == number
