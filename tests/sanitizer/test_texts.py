"""Texts in memory and in a column, masked by a rule and put back to the last character."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.errors import InputError
from shoal.sanitizer.texts import sanitize_table

NOTES = ["Ann Trelawny was born on 3 May 1961.", None, "", "Trelawny paid; the weather was fine."]


def test_texts_are_masked_and_put_back() -> None:
    made = shoal.sanitize(NOTES, scope="collection")
    assert made.texts == (made.texts[0], None, "", "Pers1 paid; the weather was fine.")
    assert made.texts[0] is not None and made.texts[0].startswith("Pers1 was born on Date1")
    assert made.unmask() == tuple(NOTES)
    assert "Trelawny" not in repr(made)


def test_a_text_in_another_language_is_held_back() -> None:
    german = "Der Patient ist im Jahr 1961 in Graz geboren und wird von der Klinik mit einer Fraktur betreut."
    made = shoal.sanitize(pd.Series([german, float("nan")]))
    assert (made.texts, made.held) == ((None, None), (0,))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_of_a_table_comes_back_in_the_same_form(tmp_path: Path, kind: str) -> None:
    source, out = tmp_path / f"notes.{kind}", tmp_path / f"masked.{kind}"
    frame = pd.DataFrame({"code": ["007", "008"], "note": ["Ann Trelawny left,\nthen came back.", "Nothing happened."]})
    if kind == "csv":
        frame.to_csv(source, index=False)
    else:
        pq.write_table(pa.Table.from_pandas(frame), source)
    sanitize_table(source, out, "note")
    back = pd.read_csv(out, dtype=str) if kind == "csv" else pq.read_table(out).to_pandas()
    assert back["code"].tolist() == ["007", "008"]
    assert back["note"].tolist() == ["Pers1 left,\nthen came back.", "Nothing happened."]


def test_what_is_no_text_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a text is a string, not int"):
        shoal.sanitize([3])  # type: ignore[list-item]
    (tmp_path / "a.csv").write_text("note\nAnn\n")
    with pytest.raises(InputError, match="has no column"):
        sanitize_table(tmp_path / "a.csv", tmp_path / "b.csv", "text")
    with pytest.raises(InputError, match=r"must be \.csv or \.parquet"):
        sanitize_table(tmp_path / "a.csv", tmp_path / "b.xlsx", "note")
