"""inspect: kinds are recognised by what columns hold, and said before anything is done."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal.data.kinds import sampling
from shoal.data.kinds.inspection import proposed_request
from shoal.data.kinds.recognition import recognise
from shoal.data.roles import Kind, Role
from shoal.request.request import Request
from tests.cli.run import run

N = 40
NUMBERS = np.arange(N)


def text(*values: str) -> pa.Array:
    return pa.array([values[place % len(values)] for place in range(N)])


@pytest.mark.parametrize(
    ("name", "column", "kind"),
    [
        ("pay", pa.array(NUMBERS / 8), Kind.NUMBER),
        ("age", pa.array(NUMBERS % 17), Kind.WHOLE),
        ("hours", pa.array([None, 3.0, 7.0] * 10), Kind.CODE),
        ("area", pa.array([1, 2] * 20), Kind.CODE),
        ("age", pa.array([6, 7, 8, 14] * 10), Kind.WHOLE),  # few, and an amount by its name
        ("age", pa.array([1, 2, 3, 4] * 10), Kind.CODE),  # bands
        ("x", pa.array([1, 2, 3, 4, 5, 6, 7]), Kind.WHOLE),  # of few records all columns have few values
        ("region", pa.array(NUMBERS % 20), Kind.CODE),
        ("ISCO08", pa.array(1110 + NUMBERS), Kind.CODE),
        ("plz", pa.array(10115 + NUMBERS % 7), Kind.CODE),
        ("place", text("01005", "12005"), Kind.CODE),
        ("place", text("SW1A 1AA", "E1 6AN"), Kind.CODE),
        ("area", pa.array([1, 2] * 20).dictionary_encode(), Kind.CODE),
        ("town", text("Rome", "Oslo").dictionary_encode(), Kind.LABEL),
        ("town", text("Rome", "Oslo", "Bern"), Kind.LABEL),
        ("smokes", pa.array([True, False] * 20), Kind.YES_NO),
        ("smokes", text("Yes", "no"), Kind.YES_NO),
        ("risk", text("high", "low", "medium"), Kind.ORDERED),
        ("birth", pa.array(NUMBERS.astype("datetime64[D]")), Kind.DATE),
        ("seen", pa.array(NUMBERS.astype("datetime64[us]")), Kind.DATE),
        ("birth", text("12.05.1980", "31.01.1890"), Kind.DATE),
        ("seen", text("2020-05-12T10:00:00+02:00", "2020-05-12T10:00:01Z"), Kind.DATE),
        ("birth_year", pa.array(1950 + NUMBERS % 30), Kind.DATE),
        ("customer id", pa.array(NUMBERS * 7), Kind.IDENTIFIER),
        ("mail", pa.array([f"p{number}@example.org" for number in NUMBERS]), Kind.IDENTIFIER),
        ("note", pa.array([f"came in with a cough on day {number}" for number in NUMBERS]), Kind.TEXT),
        ("empty", pa.nulls(N), Kind.LABEL),
        ("admitted", pa.array(19800101 + NUMBERS % 28), Kind.DATE),
        ("admitted", pa.array([19800101.0, 20211231.0, None] * 12), Kind.DATE),
        ("admitted", text("19800101", "20211231"), Kind.DATE),
        ("balance", pa.array(19800101 + NUMBERS), Kind.WHOLE),  # no calendar has a 32nd of January
        ("household_id", pa.array(1000 + NUMBERS // 2), Kind.CODE),
        ("hhId", pa.array(1000 + NUMBERS // 2), Kind.CODE),
        ("number of rooms", pa.array(NUMBERS // 2), Kind.WHOLE),
        ("born", text("31/12/99", "1/2/03"), Kind.DATE),
        ("born", text("31 Dec 1999", "1. März 2003"), Kind.DATE),
        ("born", text("Dec 31, 1999", "March 1, 2003"), Kind.DATE),
        ("share", text("12 %", "7.5%"), Kind.NUMBER),
        ("pay", text("1.234,50 €", "800 €"), Kind.NUMBER),
        ("pay", text("$1,200", "$900"), Kind.NUMBER),
        ("pay", text("1,200", "900"), Kind.NUMBER),
        ("age", text("31", "45", "58", "90+"), Kind.LABEL),
        ("version", text("1.2.3", "1.10.0"), Kind.CODE),
        ("week", text("2024-W01", "2024-W52"), Kind.CODE),
    ],
)
def test_the_kind_of_a_column_is_recognised(name: str, column: pa.Array, kind: Kind) -> None:
    assert recognise(name, column).kind == kind


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (text("31", "45", "58", "90+"), "holds numbers, but 1 value is none"),
        (text("12 %", "7 %"), "signs such as %"),
        (text("31/12/99", "01/02/03"), "years 00 to 29 are taken as 20.."),
        (text("31/12/99", "01/02/03", "02.03.04"), "holds dates, but"),
        (text(*(f"{hour:02d}:15" for hour in range(24))), "most of them for one or two records"),
        (pa.array(NUMBERS * 7), "a different whole number for every record: if it names the record, drop it"),
        (pa.array([5] * N), "one whole number, the same for every record"),
    ],
)
def test_the_reason_says_what_is_odd(column: pa.Array, reason: str) -> None:
    (found,) = shoal.inspect(pa.table({"x": column})).columns
    assert reason in found.kind_reason


def test_whole_numbers_are_shown_in_whole_bands() -> None:
    (found,) = shoal.inspect(pa.table({"age": pa.array([*range(17, 40), 90])})).columns
    assert [band.label for band in found.bands][:2] == ["17 to 24", "25 to 32"]
    assert found.bands[-1].label == "89 to 90" and sum(band.count for band in found.bands) == 24
    (large,) = shoal.inspect(pa.table({"x": pa.array([n * 2**59 - 2**62 for n in range(16)])})).columns
    assert sum(band.count for band in large.bands) == 16


def test_intervals_and_periods_of_pandas_are_categories_and_months() -> None:
    months = pd.period_range("2020-01", periods=N, freq="M")
    ages, month = shoal.inspect(pd.DataFrame({"ages": pd.cut(NUMBERS, 3), "month": months})).columns
    assert (ages.kind, ages.order) == (Kind.ORDERED, ("(-0.039, 13.0]", "(13.0, 26.0]", "(26.0, 39.0]"))
    assert (month.kind, month.kind_reason) == (Kind.DATE, "holds dates written as %Y-%m")


def test_the_order_of_a_scale_is_found_whatever_the_rows_say_first() -> None:
    assert recognise("risk", text("high", "low", "medium")).order == ("low", "medium", "high")
    ordered = pd.DataFrame({"step": pd.Categorical(["b", "a"] * 20, categories=["b", "a", "c"], ordered=True)})
    (column,) = shoal.inspect(ordered).columns
    assert (column.kind, column.order) == (Kind.ORDERED, ("b", "a", "c"))


def test_a_csv_is_inspected_column_by_column(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    rows = "".join(f"{i},{20 + i % 5},0{i % 3}100,flu\n" for i in range(1, 31))
    path.write_text("id,age,zip,diagnosis\n" + rows + "31,,?,\n")
    found = shoal.inspect(path)
    assert (found.kind, found.format, found.rows, found.sampled) == ("table", "csv", 31, None)
    shown = {
        column.name: (column.kind.value, column.missing, column.distinct, column.role.value) for column in found.columns
    }
    assert shown == {
        "id": ("identifier", 0, 31, "identifier"),
        "age": ("whole", 1, 5, "quasi"),
        "zip": ("code", 1, 3, "quasi"),
        "diagnosis": ("label", 1, 1, "confidential"),
    }
    assert [(band.label, band.count) for band in found.columns[1].bands] == [(str(age), 6) for age in range(20, 25)]


@pytest.mark.parametrize("name", ["large.csv", "large.csv.gz", "large.parquet"])
def test_a_large_file_is_counted_whole_and_judged_by_a_sample(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "LARGE", 1000)
    rows = pd.DataFrame({"zip": [f"{place:05d}" for place in range(5000)], "age": [None, *range(4999)]})
    rows.to_parquet(tmp_path / name) if name.endswith("parquet") else rows.to_csv(tmp_path / name, index=False)
    sample = sampling.sample_table(tmp_path / name, most=100)
    assert (sample.rows, sample.missing) == (5000, {"zip": 0, "age": 1})
    assert 100 <= sample.data.num_rows <= 200
    zips = sample.data["zip"].to_pylist()
    assert zips[0] == "00000" and len({int(b) - int(a) for a, b in pairwise(zips)}) == 1


def test_documents_and_baskets_are_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "letters.jsonl").write_text('{"text": "a sea"}\n{"text": "a tide"}\n')
    (tmp_path / "baskets.dat").write_text("1 2 3\n2 3\n3\n")
    assert shoal.inspect(tmp_path / "letters.jsonl").kind == "documents"
    baskets = shoal.inspect(tmp_path / "baskets.dat")
    assert (baskets.kind, baskets.rows, baskets.columns) == ("baskets", 3, ())


def test_a_plan_has_the_roles_kinds_and_orders_proposed() -> None:
    rows = pd.DataFrame(
        {
            "age": [*range(15)] * 2,
            'a "quoted" name': ["x y"] * 30,
            "risk": ["low", "high", "medium"] * 10,
            "pay": [1.5, 2.5] * 15,
        }
    )
    columns = proposed_request(shoal.inspect(rows), Request.of(rows, {}))[0].columns
    assert (columns.quasi, columns.confidential, columns.drop) == (("age", "risk"), ("pay",), ('a "quoted" name',))
    assert columns.kinds["risk"] == Kind.ORDERED and columns.order == {"risk": ("low", "medium", "high")}


def test_the_command_shows_columns_and_writes_the_file(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,zip\n" + "31,01005\n45,01007\n" * 10)
    ran = run(tmp_path, "inspect", "people.csv", "--plan", "plan.toml")
    assert ran.code == 0 and "code: holds digits with leading zeros" in ran.out and (tmp_path / "plan.toml").exists()
    data = json.loads(run(tmp_path, "inspect", "people.csv", "--json", "--no-values").out)
    assert [column["kind"] for column in data["columns"]] == ["whole", "code"] and "bands" not in data["columns"][0]
    assert run(tmp_path, "inspect", "people.csv", "--plan", "plan.toml").code == 2


def test_a_header_with_umlauts_in_the_encoding_of_windows_is_read(tmp_path: Path) -> None:
    lines = ["Größe_cm;Straße", *(f"{150 + row},5;Weg {row % 3}" for row in range(30))]
    (tmp_path / "t.csv").write_bytes("\n".join(lines).encode("windows-1252"))
    with pytest.warns(UserWarning, match="windows-1252, semicolons between cells, decimal commas"):
        found = shoal.inspect(tmp_path / "t.csv")
    assert [column.name for column in found.columns] == ["Größe_cm", "Straße"]
    assert found.columns[0].kind is Kind.NUMBER


def test_numbers_of_people_are_no_quasi_identifiers_and_units_are_named() -> None:
    people = pa.array([f"{person:05d}" for person in range(40) for _ in range(2)])
    weights = pa.array([f"{50 + row % 30} kg" for row in range(80)])
    number, weight = shoal.inspect(pa.table({"pat_no": people, "weight": weights})).columns
    assert number.role is Role.PERSON
    assert weight.role is Role.QUASI
    assert weight.notes == (
        "numbers with a unit are names here: to have them averaged, write them in the file without it",
    )


def test_whole_numbers_under_a_name_that_says_nothing_get_the_remedy_for_codes() -> None:
    """They spread as amounts do, so nothing but their owner can tell that they are codes."""
    values = [int(number) for number in np.random.default_rng(1).normal(500, 60, 600)]
    inspection = shoal.inspect(pa.table({"V4010": values, "blood pressure": values}))
    columns = {column.name: column for column in inspection.columns}
    assert any('kind = "code"' in note for note in columns["V4010"].notes)
    assert not any('kind = "code"' in note for note in columns["blood pressure"].notes)
