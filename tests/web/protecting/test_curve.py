"""The curve of the page: an estimate for what people have, dates and gaps included."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from shoal import load
from shoal.errors import InputError
from shoal.web.protecting.choices import Choices
from shoal.web.protecting.command import protect_command
from shoal.web.protecting.curve import estimate
from shoal.web.protecting.look import look_at


def test_dates_are_averaged_and_rows_with_gaps_left_out_unless_gaps_are_refused(tmp_path: Path) -> None:
    table = tmp_path / "stays.csv"
    rows = [f"{'' if row == 3 else 20 + row},{'' if row == 5 else f'2024-03-{row + 1:02d}'}" for row in range(30)]
    table.write_text("\n".join(["age,admitted", *rows]) + "\n", encoding="utf-8")
    look = look_at(table)
    chosen = Choices.suggested(look)
    found = estimate(table, look, chosen)
    assert found["records"] == 28 and found["withheld"] == 2
    assert [point["k"] for point in found["points"]] == [2, 3, 5, 7, 10, 15, 20]
    assert found["points"][0]["loss"] < found["points"][-1]["loss"]
    assert estimate(table, look, replace(chosen, missing="group"))["withheld"] == 0
    with pytest.raises(InputError, match="age: 1 missing value"):
        estimate(table, look, replace(chosen, missing="refuse"))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_numbers_that_are_codes_are_compared_and_their_gaps_leave_no_row_out(tmp_path: Path, suffix: str) -> None:
    table = tmp_path / f"areas.{suffix}"
    rows = pa.table(
        {
            "area": [None if row == 3 else 1 + row % 3 for row in range(30)],
            "pain": [None if row == 4 else ("low", "medium", "high")[row % 3] for row in range(30)],
            "age": [None if row == 5 else 20 + row for row in range(30)],
        }
    )
    pa.csv.write_csv(rows, table) if suffix == "csv" else pq.write_table(rows, table)
    look = look_at(table)
    amounts = replace(Choices.suggested(look), roles=dict.fromkeys(range(3), "quasi"), refine=False, attack=False)
    codes = replace(amounts, kinds={0: "code"})
    averaged, compared = (estimate(table, look, one) for one in (amounts, codes))
    assert (averaged["withheld"], compared["withheld"]) == (3, 2)
    assert averaged["points"] != compared["points"]
    command = protect_command(codes, look, str(table), {}, tmp_path)
    assert command.words[command.words.index("--categorical") + 1] == "area"
    assert "categorical=['area']" in command.python
    exec(command.python.replace("'release'", repr(str(tmp_path / "release"))), {})
    made = load(tmp_path / "release").table
    assert made.num_rows == compared["records"] - 1 == 28  # the curve does not rank pain, and the release does
    assert set(map(str, made["area"].to_pylist())) <= {"1", "2", "3", "", "None"}
