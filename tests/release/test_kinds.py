"""Dates, codes, categories, ordered labels, whole numbers and gaps as quasi-identifiers: released, verified, loaded."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal import (
    Roles,
    assess,
    load,
    protect,
    verify,
)
from tests.release.releases import certificate_of, copy_of, quietly, reseal

pytestmark = pytest.mark.usefixtures("without_attack")


def release(rows: Any, folder: Path, k: int = 2, **options: Any) -> Any:
    """The rows released with every column a quasi-identifier, unless roles say otherwise."""
    names = tuple(rows) if isinstance(rows, dict) else tuple(rows.columns)
    source: Any = rows
    if isinstance(rows, dict):  # a CSV file
        source = folder / "rows.csv"
        lines = [",".join(map(str, line)) for line in zip(*rows.values(), strict=True)]
        source.write_text("\n".join([",".join(names), *lines]) + "\n")
    search = {} if "method" in options else {"refine": False}
    options = {"roles": Roles(quasi=names), "attack": False} | search | options
    made = quietly(protect, source, k, folder / "release", force=True, **options)
    assert verify(made.folder), verify(made.folder).broken
    return made


def cells(made: Any, column: str) -> list[Any]:
    return load(made.folder).table[column].to_pylist()


def test_dates_are_averaged_as_dates_in_the_form_they_came_in(tmp_path: Path) -> None:
    made = release({"born": ["01.01.1980", "05.01.1950", "03.01.1980", "01.01.1950"]}, tmp_path)
    assert cells(made, "born") == ["02.01.1980", "02.01.1980", "03.01.1950", "03.01.1950"]
    assert made.certificate["stated"]["parameters"]["dates"] == {"born": {"form": "%d.%m.%Y"}}


@pytest.mark.parametrize(
    ("given_dates", "released"),
    [
        (["1850-12-30", "1851-01-01"], "1850-12-31"),
        (["2199-02-28", "2199-03-02"], "2199-03-01"),
        (["3/7/1980", "3/19/1980"], "3/13/1980"),
        (["1980-01", "1980-03"], "1980-02"),
        (["2020-05-12T10:00:00+02:00", "2020-05-12T12:00:00+02:00"], "2020-05-12T11:00:00+02:00"),
        (["2020-05-12T10:00:00Z", "2020-05-12T12:00:02+02:00"], "2020-05-12T10:00:01+00:00"),
        (["2020-01-01 08:30", "2020-01-01 09:30"], "2020-01-01 09:00"),
    ],
)
def test_every_form_of_dates_is_kept(given_dates: list[str], released: str, tmp_path: Path) -> None:
    assert cells(release({"seen": given_dates}, tmp_path), "seen") == [released] * 2


@pytest.mark.parametrize("stored", [pa.date32(), pa.timestamp("ns"), pa.timestamp("us", tz="UTC")])
def test_dates_keep_the_type_they_are_stored_as(stored: pa.DataType, tmp_path: Path) -> None:
    days = pa.array([datetime.date(1880, 1, 1), datetime.date(1880, 1, 3)] * 2).cast(pa.timestamp("s")).cast(stored)
    pq.write_table(pa.table({"day": days}), tmp_path / "rows.parquet")
    made = quietly(protect, tmp_path / "rows.parquet", 2, tmp_path / "release", roles=Roles(quasi="day"), attack=False)
    assert verify(made.folder)
    column = load(made.folder).table["day"]
    assert column.type == stored and {str(one)[:10] for one in column.to_pylist()} <= {"1880-01-01", "1880-01-03"}


@pytest.mark.parametrize(("period", "released"), [("month", "1980-01"), ("year", "1980"), ("decade", "1980s")])
def test_dates_are_generalised_to_the_period_of_their_mean(period: str, released: str, tmp_path: Path) -> None:
    made = release({"born": ["1980-01-01", "1980-01-21"]}, tmp_path, recode={"born": period})
    assert cells(made, "born") == [released] * 2
    years = release({"birth_year": [1981, 1984]}, tmp_path, recode={"birth_year": "decade"})
    assert cells(years, "birth_year") == ["1980s"] * 2


def test_dates_of_eight_digits_are_dates_without_a_word(tmp_path: Path) -> None:
    made = release({"seen": [19800131, 19800202, 20200229, 20200302]}, tmp_path)
    # As numbers the first two would become 19800166.5; as days, 31 January and 2 February are 1 February.
    assert cells(made, "seen") == ["19800201", "19800201", "20200301", "20200301"]
    assert assess(tmp_path / "rows.csv", made.folder, tmp_path / "assessment").loss.mean_change < 1.0


def test_what_looks_like_something_else_is_said(tmp_path: Path) -> None:
    rows = {"case id": [*range(100, 300, 2)], "pain": [*["high", "low", "medium", "low"] * 25]}
    made = tmp_path / "rows.csv"
    made.write_text("case id,pain\n" + "\n".join(f"{a},{b}" for a, b in zip(*rows.values(), strict=True)))
    with pytest.warns(UserWarning) as heard:
        protect(made, 5, tmp_path / "release", roles=Roles(quasi=tuple(rows)), refine=False, attack=False)
    said = [str(one.message) for one in heard]
    assert any(one.startswith("case id has a different whole number for every record and is averaged") for one in said)
    assert any(
        one.startswith("pain holds the steps of a scale, and its values are taken for plain categories") for one in said
    )


def test_years_stay_years(tmp_path: Path) -> None:
    made = release({"birth_year": [1950, 1953, 1990, 1990]}, tmp_path)
    assert Counter(cells(made, "birth_year")) == {1952: 2, 1990: 2}


def test_a_code_is_never_averaged_and_keeps_its_zeros(tmp_path: Path) -> None:
    made = release({"zip": ["01005"] * 3 + ["09990"] * 3, "age": [20, 21, 22, 60, 61, 62]}, tmp_path, k=3)
    assert Counter(cells(made, "zip")) == {"01005": 3, "09990": 3}
    frame = pd.DataFrame({"area": pd.Categorical([1, 1, 2, 2, 2]), "age": [20, 21, 60, 61, 62]})
    assert Counter(cells(release(frame, tmp_path), "area")) == {"1": 2, "2": 3}


def test_the_set_of_its_categories_stands_for_a_group_or_the_most_frequent(tmp_path: Path) -> None:
    rows = {"roof": ["tile", "tile", "slate"], "age": [30, 30, 30]}
    sets = release(rows, tmp_path, k=3)
    assert cells(sets, "roof") == ["*"] * 3
    assert sets.certificate["stated"]["parameters"]["treated"] == {"roof": "generalise"}
    averaged = release(rows, tmp_path, k=3, treat={"roof": "average"})
    assert cells(averaged, "roof") == ["tile"] * 3
    assert averaged.certificate["stated"]["parameters"]["categories"] == ["roof"]


def test_of_equally_frequent_categories_the_one_that_more_records_have_is_taken(tmp_path: Path) -> None:
    rows = {"roof": ["a", "b", "b", "b"], "age": [20, 20, 90, 90]}
    assert cells(release(rows, tmp_path, treat={"roof": "average"}), "roof") == ["b"] * 4


def test_ordered_labels_get_the_lower_median(tmp_path: Path) -> None:
    rows = {"risk": ["high", "low", "medium", "high"], "age": [30, 30, 30, 30]}
    made = release(rows, tmp_path, k=4, order={"risk": ["low", "medium", "high"]})
    assert cells(made, "risk") == ["medium"] * 4
    steps = pd.Categorical(["c", "a", "c"], categories=["a", "b", "c"], ordered=True)
    assert cells(release(pd.DataFrame({"step": steps, "age": [1, 1, 1]}), tmp_path, k=3), "step") == ["c"] * 3


def test_rounded_numbers_are_whole_and_stay_in_their_range(tmp_path: Path) -> None:
    ages = np.random.default_rng(0).integers(17, 91, 200)
    made = release({"age": ages, "pay": ages * 1.5}, tmp_path, k=5, round=["age"])
    released = load(made.folder).table["age"]
    assert pa.types.is_integer(released.type)
    assert min(released.to_pylist()) >= ages.min() and max(released.to_pylist()) <= ages.max()
    crowds = Counter(zip(released.to_pylist(), cells(made, "pay"), strict=True))
    assert min(cells(made, "pay")) >= 25.5 and min(crowds.values()) >= 5


GAPS = {"age": [20, 21, 22, 23, 60, 61, 62, 63], "hours": [30, 32, 34, "", "", "", "", 50]}


def test_a_gap_stands_for_a_whole_group_or_for_none_of_it(tmp_path: Path) -> None:
    made = release(GAPS, tmp_path, k=4, missing="group")
    assert sorted(map(str, cells(made, "hours"))) == ["32.0"] * 4 + ["None"] * 4
    assert {column["name"]: column.get("gaps") for column in made.certificate["promises"]["columns"]} == {
        "age": None,
        "hours": 4,
    }


def test_gaps_are_filled_with_the_mean_of_the_group(tmp_path: Path) -> None:
    made = release(GAPS, tmp_path, k=4, missing="impute")
    # Of the young, three have hours: 32. Of the old, one has; the others count as the column's mean, 36.5.
    assert sorted(cells(made, "hours"))[:4] == [32.0] * 4
    assert sorted(cells(made, "hours"))[4:] == pytest.approx([(50 + 3 * 36.5) / 4] * 4, abs=1.0)


def test_rows_that_lack_a_label_are_withheld_like_those_that_lack_a_number(tmp_path: Path) -> None:
    rows = {"age": ["", 21, 22, 23, 24, 25], "roof": ["tin", "", "tin", "tin", "tile", "tile"]}
    made = release(rows, tmp_path, k=2, missing="withhold")
    assert made.certificate["stated"]["withheld"] == [{"count": 2, "reason": "a quasi-identifier is missing"}]
    assert len(cells(made, "roof")) == 4 and not {"", None} & set(cells(made, "roof"))


def test_a_number_recoded_to_bands_shows_no_false_band(tmp_path: Path) -> None:
    rows = {"age": [*range(20, 60)], "pay": [*range(100, 140)]}
    made = release(rows, tmp_path, k=3, recode={"age": "20-29,30-39,40+"})
    age = next(shares for shares in made.cells if shares.name == "age")
    assert (age.coarser, age.changed) == (1.0, 0.0)


def test_a_period_is_true_of_the_dates_in_it(tmp_path: Path) -> None:
    made = release({"born": [f"19{year}-06-15" for year in (31, 33, 52, 58)] * 30}, tmp_path, recode={"born": "decade"})
    (cells,) = made.certificate["stated"]["report"]["figures"]["cells"]
    assert cells == {"name": "born", "true": 0.0, "coarser": 1.0, "changed": 0.0, "blank": 0.0}


def test_median_and_spread_are_of_the_values_that_are_there(tmp_path: Path) -> None:
    # 40 have hours: 30 of them 10, the others 20; their mean is 12.5. 60 have none, and do not count.
    rows = {"age": [*range(40), *range(100, 160)], "hours": [*[10] * 30, *[20] * 10, *[""] * 60]}
    made = release(rows, tmp_path, k=2, missing="group")
    assert Counter(cells(made, "hours"))[None] == 60
    readme = (made.folder / "README.md").read_text()
    assert re.search(r"`hours` was protected.*: median 10, spread 4.33 \(before: 4.33\)", readme)


def test_a_column_of_which_no_group_shows_a_value_has_no_figures(tmp_path: Path) -> None:
    # All are one group, of which a third has hours: their mean, 30, is nobody's business.
    rows = {"age": [*range(100, 160)], "hours": [*[10, "", ""] * 10, *[50, "", ""] * 10]}
    made = release(rows, tmp_path, k=50, missing="group")
    assert set(cells(made, "hours")) == {None}
    for page in ("README.md", "report.html"):
        assert "no group shows a value" in (made.folder / page).read_text()
    assert "median 30" not in (made.folder / "README.md").read_text()


def test_the_only_label_among_gaps_is_not_shown_for_its_group(tmp_path: Path) -> None:
    # Of the old, one has a risk: "high". With the others at the column's mean, rank 1 of 0 to 3, the middle is "some".
    rows = {
        "age": [20, 20, 20, 20, 60, 60, 60, 60],
        "risk": ["none", "none", "none", "none", "high", "", "", ""],
    }
    order = {"risk": ["none", "some", "much", "high"]}
    made = release(rows, tmp_path, k=4, missing="impute", order=order)
    assert Counter(cells(made, "risk")) == {"none": 4, "some": 4}


def test_pages_speak_of_dates_ranks_gaps_and_categories_as_such(tmp_path: Path) -> None:
    draw = np.random.default_rng(0).integers
    rows = {
        "born": [f"19{year}-01-01" for year in draw(50, 99, 160)],
        "risk": [("low", "mid", "high")[place] for place in draw(0, 3, 160)],
        "hours": ["" if place < 10 else 20 + place % 31 for place in range(160)],
        "roof": [("tile", "slate", "reed")[place] for place in draw(0, 3, 160)],
        "wall": [("brick", "stone")[place] for place in draw(0, 2, 160)],
        "zip": [f"01{place % 25:03d}" for place in range(160)],
    }
    options: Any = {"order": {"risk": ["low", "mid", "high"]}, "treat": {"wall": "generalise"}}
    made = release(rows, tmp_path, k=5, missing="group", **options)
    readme, report = ((made.folder / name).read_text() for name in ("README.md", "report.html"))
    assert re.search(
        r"`born` was protected, to multiples of [\d,]+ days: median 19\d\d-\d\d-\d\d, spread [\d,]+ d", readme
    )
    assert "`risk` was protected" in readme
    assert re.search("`hours` has a gap in \\d+ records: where too few of a group have a value", readme)
    assert "`wall` is true and as coarse as its group needs it" in readme and "more general" not in readme
    assert "more general" not in report
    # Which value of a set is the frequent one is nowhere: neither counted in the release nor in its report.
    assert "brick" not in report and "stone" not in report


def test_gaps_in_dates_and_ranks_are_gaps_in_the_release(tmp_path: Path) -> None:
    rows = {
        "born": ["1980-01-01", "1980-01-03", "", ""],
        "risk": ["low", "low", "", "?"],
        "age": [20, 20, 60, 60],
    }
    made = release(rows, tmp_path, missing="group", order={"risk": ["low", "high"]})
    assert Counter(cells(made, "born")) == {"1980-01-02": 2, "": 2}
    assert Counter(cells(made, "risk")) == {"low": 2, "": 2}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 99) | st.none(), st.integers(-9000, 9000) | st.none(), st.sampled_from("abc")),
        min_size=12,
        max_size=30,
    ),
    missing=st.sampled_from(["group", "impute"]),
)
def test_whatever_is_missing_every_row_is_shared_by_k(rows: Any, missing: str, tmp_path: Path) -> None:
    columns = list(zip(*rows, strict=True))
    if any(all(cell is None for cell in column) for column in columns[:2]):
        return
    days = [None if day is None else np.datetime64(day, "D").item() for day in columns[1]]
    table = pd.DataFrame({"age": pa.array(columns[0]).to_pandas(), "group": columns[2]})
    table["day"] = pd.Series(days, dtype="object")
    made = release(table, tmp_path, k=3, missing=missing, categorical=["group"], round=["age"])
    released = load(made.folder).table
    counts = Counter(zip(*(column.to_pylist() for column in released.columns), strict=True))
    assert released.num_rows == len(rows) and min(counts.values()) >= 3
    ages = [age for age in released["age"].to_pylist() if age is not None]
    given_ages = [age for age in columns[0] if age is not None]
    assert all(min(given_ages) <= age <= max(given_ages) for age in ages)
    assert missing == "group" or len(ages) == len(rows)


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (lambda text: text.replace(",\n", ',"33"\n', 1), "schema"),  # a gap filled in, in quotes
        (lambda text: text.replace(",\n", ",40\n", 1), "k-anonymity"),
        (lambda text: text.replace("32\n", "\n", 1), "k-anonymity"),
        (lambda text: re.sub(r"\n(\d+),", r"\n\1.5,", text, count=1), "schema"),
    ],
)
def test_a_changed_gap_or_whole_number_breaks_a_promise(change: Any, broken: str, tmp_path: Path) -> None:
    made = release(GAPS, tmp_path, k=4, missing="group", round=["age"])
    folder = copy_of(made.folder, tmp_path / "changed")
    text = (folder / "table.csv").read_text()
    assert change(text) != text
    (folder / "table.csv").write_text(change(text))
    reseal(folder)
    assert broken in {claim.promise for claim in verify(folder).broken}


@pytest.mark.parametrize("figure", [{"equally_frequent": 9.0}, {"ratio": 0.1}])
def test_a_figure_of_diversity_that_nobody_counts_is_refused(figure: dict[str, float], tmp_path: Path) -> None:
    rows = {"age": [20, 21, 60, 61], "ill": ["flu", "gout", "flu", "gout"]}
    folder = release(rows, tmp_path, roles=Roles(quasi=("age",), confidential=("ill",))).folder
    certificate = certificate_of(folder)
    certificate["promises"]["diversity"]["columns"][0].update(figure)
    reseal(folder, certificate)
    assert "l-diversity" in {claim.promise for claim in verify(folder).broken}


def test_a_wrong_number_of_gaps_breaks_a_promise(tmp_path: Path) -> None:
    folder = release(GAPS, tmp_path, k=4, missing="group").folder
    content = certificate_of(folder)
    content["promises"]["columns"][1]["gaps"] = 3
    reseal(folder, content)
    assert [claim.promise for claim in verify(folder).broken] == ["gaps"]
    del content["promises"]["columns"][1]["gaps"]
    reseal(folder, content)
    assert [claim.promise for claim in verify(folder).broken] == ["k-anonymity"]


def test_a_changed_date_breaks_the_crowd(tmp_path: Path) -> None:
    folder = release({"born": ["1980-01-01", "1980-01-03"] * 2}, tmp_path, k=4).folder
    path = folder / "table.csv"
    path.write_text(path.read_text().replace("1980-01-02", "1980-01-09", 1))
    reseal(folder)
    assert "k-anonymity" in {claim.promise for claim in verify(folder).broken}


def test_few_whole_numbers_are_categories_unless_they_are_said_to_be_numbers(tmp_path: Path) -> None:
    rows = pd.DataFrame({"area": [1, 2] * 20, "age": range(40)})
    roles = Roles(quasi=("area", "age"))
    made = protect(rows, 5, tmp_path / "codes", roles=roles, refine=False, attack=False)
    assert made.certificate["stated"]["parameters"]["treated"] == {"area": "generalise"}
    assert set(pd.read_parquet(made.folder / "table.parquet")["area"]) <= {"1", "2", "*"}
    made = protect(rows, 5, tmp_path / "amounts", roles=roles, kinds={"area": "number"}, refine=False, attack=False)
    assert "treated" not in made.certificate["stated"]["parameters"]


def test_a_suspected_code_that_would_be_averaged_is_named_and_a_declared_one_is_a_gap(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("bmi\n" + "".join(f"{20 + i % 15}.5\n" for i in range(60)) + "999\n" * 4)
    with pytest.warns(UserWarning, match="column bmi holds 999 far from its other values"):
        protect(path, 5, tmp_path / "averaged", quasi=["bmi"], refine=False, attack=False)
    given = {"missing_codes": {"bmi": [999]}, "missing": "withhold"}
    made = protect(path, 5, tmp_path / "coded", quasi=["bmi"], refine=False, attack=False, **given)
    assert made.certificate["promises"]["rows"] == 60
    assert pd.read_csv(made.folder / "table.csv")["bmi"].max() < 35


def test_parts_agree_on_dates_codes_and_gaps(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    for part in range(2):
        lines = [
            f"{day:02d}.{1 + day % 12:02d}.19{50 + day},0{1000 + day % 4},{day % 7 * day or ''},{'ab'[day % 2]}"
            for day in random.integers(1, 29, 60).tolist()
        ]
        (tmp_path / f"people-{part}.csv").write_text("\n".join(["born,zip,hours,risk", *lines]) + "\n")
    made = quietly(
        protect,
        str(tmp_path / "people-*.csv"),
        4,
        tmp_path / "release",
        roles=Roles(quasi=("born", "zip", "hours", "risk")),
        refine=False,
        order={"risk": ["a", "b"]},
        missing="group",
    )
    assert verify(made.folder)
    table = load(made.folder).table
    assert {born[2] for born in table["born"].to_pylist()} == {"."}
    zips = {code for codes in table["zip"].to_pylist() for code in codes.split(" | ")}
    assert zips <= {"01000", "01001", "01002", "01003"} and table["hours"].null_count


@pytest.mark.parametrize("options", [{}, {"recode": {"born": "year"}}])
def test_a_release_of_dates_codes_and_gaps_is_assessed(options: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    rows = {
        "born": (np.datetime64("1950-01-01") + random.integers(0, 9000, 60)).astype(str).tolist(),
        "zip": [f"0{code}" for code in random.integers(100, 103, 60).tolist()],
        "hours": ["" if hours < 10 else hours for hours in random.integers(0, 60, 60).tolist()],
    }
    made = release(rows, tmp_path, k=4, missing="group", **options)
    found = quietly(assess, tmp_path / "rows.csv", made.folder)
    assert (found.numbers, found.labels, found.smallest_group >= 4) == (("born", "hours"), ("zip",), True)


@pytest.mark.parametrize("quasi", ["zip", "risk"])
def test_codes_and_ranks_that_were_joined_for_diversity_are_assessed(quasi: str, tmp_path: Path) -> None:
    rows = {"zip": ["01", "02", "03", "04"] * 6, "risk": ["s", "m", "l", "m"] * 6, "ill": ["flu", "gout", "cold"] * 8}
    order = {"risk": ["s", "m", "l"]} if quasi == "risk" else None
    roles = Roles(quasi=(quasi,), confidential=("ill",))
    treat = {"zip": "average"} if quasi == "zip" else None
    made = release(rows, tmp_path, k=3, l=3, roles=roles, order=order, treat=treat)
    found = quietly(assess, tmp_path / "rows.csv", made.folder)
    tried = [column for column, _ in found.minimality]
    assert tried == (["ill"] if quasi == "zip" else [])
    assert found.labels == (quasi,)
