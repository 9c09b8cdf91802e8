"""The curve of the page: an estimate for what people have, dates and gaps included."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

from shoal.errors import InputError
from shoal.request.request import Request
from shoal.web.judging import estimate


def test_dates_are_averaged_and_rows_with_gaps_left_out_unless_gaps_are_refused(tmp_path: Path) -> None:
    table = tmp_path / "stays.csv"
    rows = [f"{'' if row == 3 else 20 + row},{'' if row == 5 else f'2024-03-{row + 1:02d}'}" for row in range(30)]
    table.write_text("\n".join(["age,admitted", *rows]) + "\n", encoding="utf-8")
    plan = Request.of(table, {"quasi": ["age", "admitted"], "missing": "withhold"})
    found = estimate(plan, 30)
    assert found["records"] == 28 and found["withheld"] == 2
    assert [point["k"] for point in found["points"]] == [2, 3, 5, 7, 10, 15, 20]
    assert found["points"][0]["loss"] < found["points"][-1]["loss"]
    assert estimate(plan.with_options(missing="group"), 30)["withheld"] == 0
    with pytest.raises(InputError, match="age: 1 missing value"):
        estimate(plan.with_options(missing=None), 30)


def test_numbers_that_are_codes_are_compared(tmp_path: Path) -> None:
    table = tmp_path / "areas.csv"
    rows = pa.table({"area": [1 + row % 3 for row in range(30)], "age": [20 + row for row in range(30)]})
    pa.csv.write_csv(rows, table)
    codes = Request.of(table, {"quasi": ["area", "age"]})
    averaged, compared = (estimate(one, 30) for one in (codes.with_options(kinds={"area": "number"}), codes))
    assert averaged["points"] != compared["points"]
