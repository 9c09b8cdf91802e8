"""Labels, missing codes and types of SPSS, Stata and SAS files, and spreadsheets; and files that are none."""

from __future__ import annotations

import datetime
import sys
import zipfile
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyreadstat
import pytest
import xlsxwriter

from shoal import InputError
from shoal.data.formats.spreadsheet import read_spreadsheet
from shoal.data.formats.statistical import read_statistical
from shoal.data.formats.subprocess_reader import read_in_subprocess, sheet_names_in_subprocess
from shoal.data.sources import TableFile
from shoal.data.table import read_table
from shoal.errors import MissingExtra
from tests.data.formats.files import ROWS, people, write

KEPT = frozenset(("sex", "score", "note", "born"))


def test_codes_with_labels_become_labels_and_missing_codes_stay_in_kept_columns(tmp_path: Path) -> None:
    data, about = read_statistical(str(write(tmp_path / "p.sav")), "sav", KEPT, None)
    assert data.schema.field("sex").type.value_type == pa.string()
    assert data["sex"].to_pylist()[:3] == ["refused", "female", "male"]
    assert about["sex"].label == "Sex of the person"
    assert about["sex"].values == ((1.0, "male"), (2.0, "female"), (9.0, "refused"))
    assert about["sex"].missing == ((9.0, 9.0),)
    assert about["sex"].measure == "nominal"
    assert data["score"].to_pylist()[:3] == [99, 1, 2]
    assert about["score"].missing == ((98.0, 99.0),)
    assert data["born"].to_pylist()[0] == datetime.date(1980, 1, 1)
    assert (data.schema.field("age").type, data.schema.field("pay").type) == (pa.int64(), pa.float64())


def test_a_missing_code_is_a_missing_value_in_a_column_that_is_protected(tmp_path: Path) -> None:
    for name in ("p.sav", "p.dta"):
        data, _ = read_statistical(str(write(tmp_path / name)), name[2:], frozenset(), None)
        assert data["score"].to_pylist()[:3] == [None, 1, 2]


def test_missing_letters_of_stata_stay_in_kept_columns(tmp_path: Path) -> None:
    data, about = read_statistical(str(write(tmp_path / "p.dta")), "dta", KEPT, None)
    assert data["score"].to_pylist()[:3] == [".a", "1", "2"]
    assert about["score"].letters
    assert about["score"].values == (("a", "no answer"),)


def test_two_codes_with_one_label_are_told_apart(tmp_path: Path) -> None:
    frame = pd.DataFrame({"job": [1.0, 2.0, 3.0]})
    pyreadstat.write_sav(frame, tmp_path / "j.sav", variable_value_labels={"job": {1: "other", 2: "other", 3: "none"}})
    data, _ = read_statistical(str(tmp_path / "j.sav"), "sav", frozenset(), None)
    assert data["job"].to_pylist() == ["other (1)", "other (2)", "none"]


def test_a_spreadsheet_of_polars_and_one_of_pandas_keep_types(tmp_path: Path) -> None:
    frame = people()
    frame.insert(0, "known", [n % 2 == 0 for n in range(ROWS)])
    frame.loc[3, "age"] = None
    frame.to_excel(tmp_path / "pandas.xlsx", index=False, engine="xlsxwriter")
    pl.from_pandas(frame).write_excel(tmp_path / "polars.xlsx")
    for name in ("pandas.xlsx", "polars.xlsx"):
        data = read_spreadsheet(str(tmp_path / name), None)
        types = [data.schema.field(column).type for column in ("known", "age", "pay", "note", "born")]
        assert types == [pa.bool_(), pa.int64(), pa.float64(), pa.string(), pa.date32()]
        assert data["age"].null_count == 1
        assert data["note"].to_pylist() == frame["note"].tolist()


def test_one_of_several_sheets_must_be_named(tmp_path: Path) -> None:
    path = str(tmp_path / "two.xlsx")
    with pd.ExcelWriter(path, engine="xlsxwriter") as book:
        for sheet in ("first", "second"):
            pd.DataFrame({sheet: [1, 2]}).to_excel(book, sheet_name=sheet, index=False)
    assert sheet_names_in_subprocess(path) == ["first", "second"]
    assert read_spreadsheet(path, "second").column_names == ["second"]
    for sheet, says in ((None, "2 sheets .first, second.; name one with sheet"), ("third", "no sheet third")):
        with pytest.raises(InputError, match=says):
            read_spreadsheet(path, sheet)


def test_merged_cells_and_a_locked_workbook_are_refused_and_years_are_names(tmp_path: Path) -> None:
    path = str(tmp_path / "p.xlsx")
    for merged in (False, True):
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet()
            for row, cells in enumerate([["town", 2020, 2020.5], ["Reus", 1, 2], ["", 3, 4]]):
                sheet.write_row(row, 0, cells)
            if merged:
                sheet.merge_range(1, 0, 2, 0, "Reus")
        if not merged:
            assert read_spreadsheet(path, None).column_names == ["town", "2020", "2020.5"]
    with pytest.raises(InputError, match=r"1 area of merged cells \(first in row 2\).*unmerge"):
        read_spreadsheet(path, None)
    Path(path).write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(1000))
    with pytest.raises(InputError, match="locked with a password"):
        read_spreadsheet(path, None)


def zipped(path: Path, **members: bytes) -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return str(path)


def test_a_spreadsheet_that_unpacks_to_far_more_is_refused_before_it_is(tmp_path: Path) -> None:
    bomb = zipped(tmp_path / "bomb.xlsx", sheet=b"<row/>" * 20_000_000)
    with pytest.raises(InputError, match="would unpack to 120,000,000 bytes"):
        read_spreadsheet(bomb, None)


def test_entities_of_a_hostile_spreadsheet_are_not_expanded(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret")
    sound, hostile = tmp_path / "sound.xlsx", tmp_path / "hostile.xlsx"
    pd.DataFrame({"a": ["word"]}).to_excel(sound, index=False, engine="xlsxwriter")
    entity = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{tmp_path / "secret"}">]>'.encode()
    with zipfile.ZipFile(sound) as source, zipfile.ZipFile(hostile, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name.endswith("sharedStrings.xml"):
                content = content.replace(b"?>", b"?>" + entity, 1).replace(b"word", b"&e;")
            target.writestr(name, content)
    try:
        cells = repr(read_spreadsheet(str(hostile), None).to_pydict())
    except InputError as refused:
        cells = str(refused)
    assert "s3cret" not in cells


@pytest.mark.parametrize("format", ["sav", "dta", "xpt", "sas7bdat"])
@pytest.mark.parametrize("damage", ["empty", "text", "cut", "almost whole", "noise"])
def test_a_broken_file_is_refused_in_one_line(format: str, damage: str, tmp_path: Path) -> None:
    path = tmp_path / f"p.{format}"
    sound = write(tmp_path / "q.sav" if format == "sas7bdat" else path).read_bytes()
    content = {"empty": b"", "text": b"s3cret,1\n" * 50, "cut": sound[: len(sound) // 3], "noise": sound[::-1]}
    content["almost whole"] = sound[:-7]
    path.write_bytes(content[damage])
    with pytest.raises(InputError, match=r"cannot be read as what its name says|is cut off") as refused:
        read_statistical(str(path), format, frozenset(), None)
    assert "s3cret" not in str(refused.value)


def test_a_reader_that_dies_is_an_error_and_not_our_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "p.sav")
    (tmp_path / "decimal.py").write_text("raise SystemExit(1)")  # which a hostile folder may bring along
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    table, about = read_in_subprocess(path, "sav", KEPT, TableFile(path))
    assert table.num_rows == ROWS
    assert about["sex"].values[0] == (1.0, "male")
    monkeypatch.setattr("shoal.data.formats.subprocess_reader.ROOM", 1 << 20)  # too little to start
    monkeypatch.setattr("shoal.data.formats.subprocess_reader.TIMES", 1)
    with pytest.raises(InputError, match="its reader gave up"):
        read_in_subprocess(path, "sav", KEPT, TableFile(path))


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("pyreadstat", "python_calamine"):
        monkeypatch.setitem(sys.modules, library, None)
    path = tmp_path / "p.sav"
    path.write_bytes(b"")
    for call in (
        lambda: read_statistical(str(path), "sav", frozenset(), None),
        lambda: read_spreadsheet(str(path), None),
    ):
        with pytest.raises(MissingExtra, match=r"shoal\[formats\]"):
            call()


def test_a_folder_or_nothing_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.sav").mkdir()
    for name, says in (("folder.sav", "is a folder"), ("absent.xlsx", "does not exist")):
        with pytest.raises(InputError, match=says):
            read_table(TableFile(tmp_path / name))
