"""Confidential columns that are recoded, codes that nobody averages, and households that are called so."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from shoal import load, protect, verify
from shoal.errors import InputError
from tests.release.releases import quietly

pytestmark = pytest.mark.usefixtures("without_attack")

# Two crowds of four ages. In the first all diagnoses are of chapter I, though each is another one.
AGES = [20, 20, 21, 21, 60, 60, 61, 61]
DIAGNOSES = ["A00", "A01", "A02", "A03", "A04", "C50", "A05", "C51"]


def made_of(columns: dict[str, Any], folder: Path, **options: Any) -> Any:
    source = folder / "rows.csv"
    pd.DataFrame(columns).to_csv(source, index=False)
    options = {"k": 2, "refine": False, "force": True} | options
    return quietly(protect, source, options.pop("k"), folder / "release", **options)


def test_l_counts_the_chapters_that_are_released_and_not_the_diagnoses_behind_them(tmp_path: Path) -> None:
    made = made_of(
        {"age": AGES, "diagnosis": DIAGNOSES},
        tmp_path,
        quasi=["age"],
        confidential=["diagnosis"],
        recode={"diagnosis": "icd10 chapter"},
        l=2,
    )
    rows = load(made.folder).table.to_pylist()
    groups = {row["age"]: set() for row in rows}
    for row in rows:
        groups[row["age"]].add(row["diagnosis"])
    # By diagnoses, pairs of ages would do; by chapters, those aged 20 and 21 need company.
    assert all(chapters == {"chapter I", "chapter II"} for chapters in groups.values())
    assert verify(made.folder)
    assert made.certificate["promises"]["diversity"]["columns"][0]["values"] == 2


def test_t_counts_the_bands_of_an_income(tmp_path: Path) -> None:
    incomes = [1000, 1001, 3000, 3001, 1002, 1003, 3002, 3003]
    made = made_of(
        {"age": AGES, "income": incomes},
        tmp_path,
        k=4,
        quasi=["age"],
        confidential=["income"],
        recode={"income": "<2000,2000+"},
        t=0.1,
    )
    assert verify(made.folder)
    # Both halves have each band twice: as all have.
    assert made.certificate["promises"]["closeness"]["columns"][0]["t"] == 0
    assert {row["income"] for row in load(made.folder).table.to_pylist()} == {"<2000", "2000+"}


def test_certificate_and_pages_say_that_a_confidential_column_was_recoded(tmp_path: Path) -> None:
    seen = [f"20{11 + row}-0{1 + row}-03" for row in range(8)]
    made = made_of({"age": AGES, "seen": seen}, tmp_path, quasi=["age"], confidential=["seen"], recode={"seen": "year"})
    assert made.certificate["stated"]["parameters"]["recoded"] == {"seen": "year"}
    assert {str(row["seen"]) for row in load(made.folder).table.to_pylist()} == {str(2011 + row) for row in range(8)}
    readme, report = ((made.folder / name).read_text() for name in ("README.md", "report.html"))
    assert "`seen` is confidential and released recoded (year), before anything was counted" in readme
    assert "but for columns that were recoded before anything was counted: seen (year)" in report
    assert verify(made.folder)


def test_a_confidential_column_takes_no_other_treatment(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not protected"):
        made_of({"age": AGES, "d": DIAGNOSES}, tmp_path, quasi=["age"], confidential=["d"], treat={"d": "blank"})


@pytest.mark.parametrize("role", ["quasi", "insensitive"])
def test_no_code_that_is_kept_gets_a_mean(tmp_path: Path, role: str) -> None:
    source = pa.table({"age": AGES, "ward": [101, 101, 205, 205, 101, 101, 205, 205], "w": [1.5, 2.5] * 4})
    kept = {"quasi": ["age", "ward"], "treat": {"ward": "keep"}} if role == "quasi" else {"insensitive": ["ward"]}
    options: dict[str, Any] = {"quasi": ["age"], "weight": "w", "kinds": {"ward": "code"}} | kept
    made = quietly(protect, source, 2, tmp_path / "release", refine=False, **options)
    with open(made.private / "estimates.csv") as file:
        lines = list(csv.DictReader(file))
    of_ward = [line["statistic"] for line in lines if line["of"].startswith("ward")]
    assert set(of_ward) == {"share"}, "a code has shares, and neither mean nor total"


def test_crowds_of_households_are_called_so(tmp_path: Path) -> None:
    columns = {"age": AGES, "house": [1, 1, 2, 2, 3, 3, 4, 4], "d": DIAGNOSES}
    made = made_of(columns, tmp_path, quasi=["age"], confidential=["d"], household="house")
    assert made.certificate["promises"]["unit"] == "household"
    for name in ("README.md", "report.html"):
        text = (made.folder / name).read_text()
        assert "other household" in text and "2 different households" in text
        assert "people" not in text.replace("of people", "")
    said = [claim.detail for claim in verify(made.folder).claims if claim.promise == "people"]
    assert said == ["groups are of the sizes stated; the owner's word: each has at least 2 different households (k=2)"]
