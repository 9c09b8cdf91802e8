"""A release comes in the format that came in: labels, missing codes and types survive, and the copy is checked."""

from __future__ import annotations

import datetime
import tempfile
import warnings
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import InputError, Microaggregation, Roles, load, protect, verify
from shoal.data.formats.statistical import read_statistical
from shoal.data.sources import Query
from shoal.data.table import read_table
from shoal.release.tables.copies import copied
from shoal.results.summary import ColumnDictionary
from tests.data.formats.files import VALUE_LABELS, write
from tests.release.releases import certificate_of, copy_of, reseal

pytestmark = pytest.mark.usefixtures("without_attack")

FORMATS = ["sav", "dta", "xpt", "xlsx", "feather", "csv"]
ROLES = Roles(quasi=("age", "pay"), confidential=("sex", "note"), insensitive=("score", "born"))


def released(folder: Path, source: object) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method, allow = Microaggregation(refine=False), ("score", "born")
        return protect(source, 3, folder, roles=ROLES, allow=allow, method=method, attack=False).folder


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("formats")
    return {name: released(folder / name, write(folder / f"p.{name}")) for name in FORMATS}


def rows_of(path: Path) -> pd.DataFrame:
    """The copy as people would read it, without Shoal."""
    readers = {
        ".sav": lambda: pyreadstat.read_sav(path, user_missing=True)[0],
        ".dta": lambda: pyreadstat.read_dta(path, user_missing=True)[0],
        ".xpt": lambda: pyreadstat.read_xport(path)[0],
        ".xlsx": lambda: pd.read_excel(path, engine="calamine"),
        ".feather": lambda: pyarrow.feather.read_feather(path),
        ".csv": lambda: pd.read_csv(path, sep=";", decimal=",", encoding="windows-1252"),
    }
    return readers[path.suffix]()


@pytest.mark.parametrize("format", FORMATS)
def test_the_copy_has_the_released_rows_and_verifies(releases, format) -> None:
    release = releases[format]
    assert verify(release), verify(release).broken
    copy, rows = rows_of(release / f"table.{format}"), load(release).table.to_pydict()
    assert list(copy.columns) == list(rows)
    for name in ("age", "pay"):
        assert copy[name].tolist() == rows[name]
    assert copy["note"].tolist() == rows["note"]
    assert [str(day)[:10] for day in copy["born"]] == [str(day) for day in rows["born"]]
    assert copy.groupby(["age", "pay"]).size().min() >= 3


@pytest.mark.parametrize("format", ["sav", "dta"])
def test_labels_and_missing_codes_survive(releases, format) -> None:
    release = releases[format]
    read = pyreadstat.read_sav if format == "sav" else pyreadstat.read_dta
    frame, facts = read(release / f"table.{format}", user_missing=True)
    assert facts.variable_value_labels["sex"] == VALUE_LABELS["sex"]
    assert facts.column_names_to_labels["sex"] == "Sex of the person"
    labels = [VALUE_LABELS["sex"][code] for code in frame["sex"]]
    assert labels == load(release).table["sex"].to_pylist()
    if format == "sav":
        assert facts.missing_ranges == {"sex": [{"lo": 9.0, "hi": 9.0}], "score": [{"lo": 98.0, "hi": 99.0}]}
        assert facts.variable_measure["sex"] == "nominal"
        assert (frame["score"] == 99).sum() == 4
    else:
        assert facts.missing_user_values["score"] == ["a"]
        assert (frame["score"] == "a").sum() == 4


def test_a_label_of_a_value_that_nobody_has_is_not_published(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [1.0] * 6, "pay": [2.0] * 6, "sex": [1.0, 2.0] * 3})
    labels = {"sex": {1: "male", 2: "female", 3: "s3cret"}}
    pyreadstat.write_sav(frame, tmp_path / "p.sav", variable_value_labels=labels)
    roles = Roles(quasi=("age", "pay"), confidential=("sex",))
    release = protect(tmp_path / "p.sav", 3, tmp_path / "out", roles=roles, attack=False).folder
    assert not any(b"s3cret" in path.read_bytes() for path in release.iterdir())


@pytest.mark.parametrize("format", FORMATS)
def test_a_copy_tells_nothing_of_when_and_by_whom_it_was_written(releases, format, tmp_path) -> None:
    """Written at another time, it is the same to the last byte."""
    again = released(tmp_path / "again", write(tmp_path / f"p.{format}"))
    name = f"table.{format}"
    assert (again / name).read_bytes() == (releases[format] / name).read_bytes()
    assert certificate_of(again)["seal"] == certificate_of(releases[format])["seal"]


@pytest.mark.parametrize("format", FORMATS)
def test_a_changed_copy_is_found_even_when_it_is_sealed_anew(releases, format, tmp_path) -> None:
    release = copy_of(releases[format], tmp_path / "copy")
    path = release / f"table.{format}"
    sound = path.read_bytes()
    for content in (sound + b"\n", sound[:-1], sound[: len(sound) // 2] + b"x" + sound[len(sound) // 2 + 1 :], b""):
        path.write_bytes(content)
        reseal(release)
        assert [(claim.promise, claim.file) for claim in verify(release).broken] == [("copy", path.name)]
    path.unlink()
    reseal(release)
    assert not verify(release)


def test_a_copy_that_is_not_promised_or_other_labels_are_found(releases, tmp_path) -> None:
    release = copy_of(releases["sav"], tmp_path / "copy")
    content = certificate_of(release)
    content["promises"]["copy"]["columns"][0]["values"].append({"code": 4.0, "label": "Ann lives here"})
    reseal(release, content)
    assert [claim.promise for claim in verify(release).broken] == ["same data"]
    del content["promises"]["copy"]
    reseal(release, content)
    assert ("files", "table.sav") in [(claim.promise, claim.file) for claim in verify(release).broken]
    (release / "table.parquet").unlink()
    reseal(release)
    assert not verify(release)


def test_a_query_gives_a_release_in_parquet(tmp_path: Path) -> None:
    query = Query(write(tmp_path / "p.sqlite"), "select age, pay, sex, note, score, born from people")
    release = released(tmp_path / "out", query)
    assert verify(release)
    assert (release / "table.parquet").is_file()
    private = tmp_path / "out-private"
    everything = b"".join(path.read_bytes() for path in [*release.iterdir(), *private.iterdir()])
    assert b"select age" not in everything
    assert b"sqlite" not in everything


def test_a_labelled_missing_letter_of_stata_and_an_open_range_of_spss_survive(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [20.0 + n % 17 for n in range(24)], "pay": 1.0, "sex": 1.0, "note": "a", "born": 1.0})
    frame["score"] = [["a", 1.0, 2.0][n % 3] for n in range(24)]
    labels = {"score": {1: "yes", 2: "no", "a": "refused"}}
    pyreadstat.write_dta(frame, tmp_path / "p.dta", variable_value_labels=labels, missing_user_values={"score": ["a"]})
    release = released(tmp_path / "dta", tmp_path / "p.dta")
    copy, facts = pyreadstat.read_dta(release / "table.dta", user_missing=True)
    assert sorted(map(str, copy["score"])) == ["1.0"] * 8 + ["2.0"] * 8 + ["a"] * 8
    assert facts.variable_value_labels == labels
    assert set(load(release).table["score"].to_pylist()) == {"yes", "no", "refused"}

    frame["score"] = [[-9.0, -5.0, 2.0][n % 3] for n in range(24)]
    below_zero = {"score": [{"lo": float("-inf"), "hi": -1}]}
    pyreadstat.write_sav(frame, tmp_path / "p.sav", missing_ranges=below_zero)
    release = released(tmp_path / "sav", tmp_path / "p.sav")
    _, facts = pyreadstat.read_sav(release / "table.sav", user_missing=True)
    assert facts.missing_ranges == {"score": [{"lo": -9, "hi": -5}]}  # as far as the values go
    assert verify(release)


def test_a_copy_is_in_the_version_that_most_programs_read(releases) -> None:
    assert (releases["dta"] / "table.dta").read_bytes().startswith(b"<stata_dta><header><release>118<")
    assert pd.read_sas(releases["xpt"] / "table.xpt", encoding="utf-8").shape == (24, 6)  # version 5
    _, facts = pyreadstat.read_sav(releases["sav"] / "table.sav")
    assert facts.original_variable_types["sex"] == "F8.0"  # 1, not 1.00


def test_a_transport_file_that_needs_room_is_of_version_8() -> None:
    for column, cell, label, version in [
        ("n", "é" * 100, "x" * 40, b"LIBRARY"),
        ("n" * 9, "a", "", b"LIBV8"),
        ("n", "é" * 101, "", b"LIBV8"),
        ("n", "a", "x" * 41, b"LIBV8"),
    ]:
        rows = pa.table({column: [cell]})
        assert version in copied(rows, "table.xpt", {column: ColumnDictionary(label=label)}, None)[:80]


def test_a_time_of_day_stays_one_in_a_sheet_and_a_text_without_room_is_refused(tmp_path: Path) -> None:
    rows = pa.table({"at": [datetime.time(3, 4)]})
    (tmp_path / "table.xlsx").write_bytes(copied(rows, "table.xlsx", {}, None))
    assert read_table(tmp_path / "table.xlsx").data.to_pydict() == rows.to_pydict()
    with pytest.raises(InputError, match="no cell of a sheet has room"):
        copied(pa.table({"text": ["x" * 32_768]}), "table.xlsx", {}, None)


CELLS = {
    "whole": (pa.int64(), st.integers(-(2**31) + 1, 2**31 - 200)),
    "number": (pa.float64(), st.none() | st.floats(-1e6, 1e6).map(lambda cell: round(cell, 3) + 0.0)),
    "text": (pa.string(), st.text("aé漢 €'", min_size=1).map(lambda cell: f"x{cell}x")),
    "day": (pa.date32(), st.none() | st.dates(datetime.date(1850, 1, 1), datetime.date(2150, 1, 1))),
    "at": (pa.time64("us"), st.none() | st.times().map(lambda cell: cell.replace(microsecond=0))),
}


@pytest.mark.parametrize("format", ["sav", "dta", "xpt"])
@settings(max_examples=5, deadline=None)
@given(cells=st.lists(st.tuples(*(cell for _, cell in CELLS.values())), min_size=1, max_size=4))
def test_whatever_a_copy_holds_is_read_again(format, cells) -> None:
    columns = zip(CELLS, CELLS.values(), zip(*cells, strict=True), strict=True)
    rows = pa.table({name: pa.array(column, kind) for name, (kind, _), column in columns})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"table.{format}")
        path.write_bytes(copied(rows, path.name, {}, None))
        read, _ = read_statistical(str(path), format, frozenset(CELLS), None)
    assert read.to_pydict() == rows.to_pydict()
