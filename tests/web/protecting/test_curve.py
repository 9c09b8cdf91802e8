"""The curve of the page: an estimate for what people have, dates and gaps included."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.web.protecting.choices import Choices
from shoal.web.protecting.curve import estimate
from shoal.web.protecting.look import look_at


def test_dates_are_averaged_and_rows_with_gaps_left_out_unless_gaps_are_refused(tmp_path: Path) -> None:
    table = tmp_path / "stays.csv"
    rows = [f"{'' if row == 3 else 20 + row},{'' if row == 5 else f'2024-03-{row + 1:02d}'}" for row in range(30)]
    table.write_text("\n".join(["age,admitted", *rows]) + "\n", encoding="utf-8")
    look = look_at(table)
    chosen = Choices.suggested(look)
    found = estimate(table, look, chosen)
    assert found["records"] == 28
    assert [point["k"] for point in found["points"]] == [2, 3, 5, 7, 10, 15, 20]
    assert found["points"][0]["loss"] < found["points"][-1]["loss"]
    with pytest.raises(InputError, match="age: 1 missing value"):
        estimate(table, look, replace(chosen, missing="refuse"))
