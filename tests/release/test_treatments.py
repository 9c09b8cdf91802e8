"""Treatments of columns: kept, generalised, blanked, averaged and recoded, in any mixture; what is shown is counted."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal import load, protect, verify
from shoal.errors import InputError
from tests.release.releases import certificate_of, copy_of, quietly, reseal

pytestmark = pytest.mark.usefixtures("without_attack")


def release(data: pd.DataFrame, folder: Path, k: int = 2, **options: Any) -> Any:
    source = folder / "rows.csv"
    data.to_csv(source, index=False)
    options = {"quasi": [name for name in data if name not in options.get("confidential", ())]} | options
    made = quietly(protect, source, k, folder / "release", force=True, refine=False, **options)
    assert verify(made.folder), verify(made.folder).broken
    return made


def original_and_released(data: pd.DataFrame, made: Any) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Each record beside the row that was made of it."""
    released = load(made.folder).table.to_pylist()
    pairs = pq.read_table(made.private / "mapping.parquet").to_pylist()
    return [(data.iloc[pair["id"] - 1].to_dict(), released[pair["released_row"] - 1]) for pair in pairs]


def holds(shown: Any, value: Any) -> bool:
    """Whether what is shown is true of a value: the value itself, a band that it is in, or a set."""
    if shown is None or shown == "" or (isinstance(shown, float) and math.isnan(shown)):
        return True
    text = str(shown)
    if text in ("*", "...") or text == str(value):
        return True
    if " | " in text:
        return str(value) in text.split(" | ")
    if " to " in text:
        low, high = text.split(" to ")
        number = isinstance(value, int | float)
        return float(low) <= value <= float(high) if number else low <= str(value) <= high
    if text.endswith("+"):
        return bool(value >= float(text[:-1]))
    if text.startswith("<"):
        return bool(value < float(text[1:]))
    if "-" in text and isinstance(value, int | float):
        low, high = text.split("-")
        return float(low) <= value < float(high) + 1
    return isinstance(shown, int | float) and shown == value


def test_kept_values_are_true_and_rare_ones_are_withheld(tmp_path: Path) -> None:
    data = pd.DataFrame({"region": ["a", "a", "b", "b", "b", "c"], "age": [20, 30, 40, 50, 60, 70]})
    made = release(data, tmp_path, treat={"region": "keep"})
    rows = load(made.folder).table.to_pydict()
    assert Counter(rows["region"]) == {"a": 2, "b": 3}
    assert rows["age"] == [25.0, 25.0, 50.0, 50.0, 50.0]
    assert certificate_of(made.folder)["stated"]["withheld"] == [
        {"reason": "fewer than k records have these values of the kept columns", "count": 1}
    ]


def test_a_kept_region_without_diversity_is_refused_for_withholding_it_would_tell_its_illness(tmp_path: Path) -> None:
    data = pd.DataFrame(
        {
            "region": list("aaabbb"),
            "age": [20, 21, 22, 40, 41, 42],
            "illness": ["flu", "flu", "flu", "flu", "gout", "flu"],
        }
    )
    with pytest.raises(InputError, match="1 of the 2 combinations of kept values"):
        release(data, tmp_path, confidential=["illness"], l=2, treat={"region": "keep"})


def test_generalised_columns_show_the_smallest_band_and_set_of_their_group(tmp_path: Path) -> None:
    data = pd.DataFrame(
        {"age": [20, 24, 60, 67], "job": ["cook", "baker", "smith", "smith"], "pay": [1.0, 3.0, 7.0, 7.0]}
    )
    made = release(data, tmp_path, treat={"age": "generalise", "job": "generalise"})
    rows = load(made.folder).table.to_pylist()
    assert rows == [
        {"age": "20 to 24", "job": "baker | cook", "pay": 2.0},
        {"age": "20 to 24", "job": "baker | cook", "pay": 2.0},
        {"age": "60 to 67", "job": "smith", "pay": 7.0},
        {"age": "60 to 67", "job": "smith", "pay": 7.0},
    ]
    shares = {cells.name: (cells.true, cells.coarser, cells.changed, cells.blank) for cells in made.cells}
    assert shares == {"age": (0, 1, 0, 0), "job": (0.5, 0.5, 0, 0), "pay": (0.5, 0, 0.5, 0)}


def test_bands_are_merged_and_a_hierarchy_of_arx_gives_what_is_above(tmp_path: Path) -> None:
    (tmp_path / "towns.csv").write_text("81667;8166*;816**;*****\n81669;8166*;816**;*****\n20095;2009*;200**;*****\n")
    data = pd.DataFrame({"age": [3, 8, 44, 61], "zip": [81667, 81669, 20095, 20095]})
    made = release(
        data,
        tmp_path,
        kinds={"zip": "code"},
        recode={"age": "0-4,5-9,...,60+"},
        treat={"age": "generalise", "zip": "generalise"},
        ontology={"zip": str(tmp_path / "towns.csv")},
    )
    rows = load(made.folder).table.to_pydict()
    assert rows == {"age": ["0-9", "0-9", "40+", "40+"], "zip": ["8166*", "8166*", "20095", "20095"]}


def test_a_person_with_rows_in_two_kept_regions_is_refused(tmp_path: Path) -> None:
    data = pd.DataFrame({"who": [1, 1, 2, 2], "region": list("abab"), "age": [20, 21, 40, 41]})
    with pytest.raises(InputError, match="same in all rows of a person"):
        release(data, tmp_path, quasi=["region", "age"], person="who", treat={"region": "keep"})


def test_methods_without_groups_keep_nothing(tmp_path: Path) -> None:
    data = pd.DataFrame({"region": [1, 1, 2, 2], "age": [20, 21, 40, 41]})
    with pytest.raises(InputError, match="needs groups"):
        release(data, tmp_path, method="noise", percent=5, treat={"region": "keep"})


def two_regions(illnesses: str) -> pd.DataFrame:
    return pd.DataFrame({"region": list("aaaabbbb"), "age": range(20, 28), "illness": list(illnesses)})


@pytest.mark.parametrize("promise", [{"t": 0.2}, {"beta": 0.5}])
@pytest.mark.parametrize("person", [None, "who"])
def test_promises_that_a_kept_region_cannot_hold_are_refused(tmp_path: Path, promise: Any, person: str | None) -> None:
    options: dict[str, Any] = {"quasi": ["region", "age"], "confidential": ["illness"], "treat": {"region": "keep"}}
    options["person"] = person
    like, unlike = (two_regions(ills).assign(who=range(8)) for ills in ("fgfgfgfg", "ffffgggg"))
    release(like, tmp_path, **options, **promise)
    with pytest.raises(InputError, match="cannot be held for 2 of the 2 combinations of kept values"):
        release(unlike, tmp_path, **options, **promise)  # each region is 0.5 from all records


def test_records_that_ask_for_more_company_than_their_kept_region_has_are_withheld(tmp_path: Path) -> None:
    data = two_regions("fgfgfgfg").assign(least=[2, 2, 2, 2, 4, 5, 2, 2])  # without the 5, the 4 has too few
    made = release(data, tmp_path, quasi=["region", "age"], k_column="least", treat={"region": "keep"})
    assert Counter(load(made.folder).table["region"].to_pylist()) == {"a": 4, "b": 2}


@pytest.mark.parametrize("treatment", ["keep", "generalise", "blank"])
def test_gaps_of_numbers_are_refused_or_withheld_whatever_becomes_of_the_column(tmp_path: Path, treatment: str) -> None:
    data = pd.DataFrame({"age": [20, 20, 20, None, 30, 30], "sex": list("ffmmmm")})
    options: dict[str, Any] = {"treat": {"age": treatment}, "kinds": {"age": "number"}}
    with pytest.raises(InputError, match="column age: 1 missing value "):
        release(data, tmp_path, **options)
    with pytest.raises(InputError, match="only averaged columns can be filled"):
        release(data, tmp_path, missing="impute", **options)
    made = release(data, tmp_path, missing="withhold", **options)
    assert {"reason": "a quasi-identifier is missing", "count": 1} in certificate_of(made.folder)["stated"]["withheld"]


def test_a_table_of_three_rows_can_be_averaged_though_rounding_costs_more_than_there_was(tmp_path: Path) -> None:
    data = pd.DataFrame({"age": [3, 70, 71], "job": ["cook", "smith", "cook"]})
    made = release(data, tmp_path, treat={"age": "average", "job": "average"})
    assert len(load(made.folder).table) == 3


@pytest.mark.parametrize("treatment", ["keep", "blank"])
def test_dates_that_are_kept_or_blanked_are_released_as_periods(tmp_path: Path, treatment: str) -> None:
    data = pd.DataFrame({"born": ["1980-01-03", "1980-07-09", "1991-02-02", "1991-11-30"], "age": [40, 41, 30, 31]})
    made = release(data, tmp_path, recode={"born": "year"}, treat={"born": treatment})
    assert list(map(str, load(made.folder).table["born"].to_pylist())) == ["1980", "1980", "1991", "1991"]


def test_a_hierarchy_may_serve_only_to_recode_a_kept_column(tmp_path: Path) -> None:
    (tmp_path / "towns.csv").write_text("81667;8166*;*\n81669;8166*;*\n")
    data = pd.DataFrame({"age": [20, 30], "zip": ["81667", "81669"]})
    ontology = {"zip": str(tmp_path / "towns.csv")}
    made = release(data, tmp_path, ontology=ontology, recode={"zip": "level 1"}, treat={"zip": "keep"})
    assert load(made.folder).table["zip"].to_pylist() == ["8166*", "8166*"]


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("0-4,5-9,...,90000000+", "makes more than 10,000 bands"),
        ("round 0", "a step above 0"),
        ("top 50 top 60", "says the same twice"),
    ],
)
def test_rules_that_make_no_sense_are_refused(tmp_path: Path, rule: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        release(pd.DataFrame({"age": [20, 30, 40]}), tmp_path, recode={"age": rule})


def test_a_column_of_words_has_no_bands_and_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="column job holds texts that are no numbers"):
        release(pd.DataFrame({"age": [20, 30], "job": ["cook", "smith"]}), tmp_path, recode={"job": "0-4,5+"})


@pytest.mark.parametrize("treatment", ["generalise", "blank"])
def test_a_column_of_spaces_is_refused(tmp_path: Path, treatment: str) -> None:
    data = pd.DataFrame({"age": [20, 20, 30, 30], "job": " "})
    with pytest.raises(InputError, match="column job holds no value at all"):
        release(data, tmp_path, treat={"job": treatment})


RULES = {"age": ("0-17,18-64,65+", "top 70", "round 10"), "pay": ("bottom 500", "0-999,1000+"), "zip": ("prefix 1",)}


@st.composite
def plans(draw: Any) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A table and a plan for it: any treatment and recoding of each column."""
    n = draw(st.integers(12, 40))
    columns = {
        "age": st.integers(0, 90),
        "pay": st.integers(0, 3000),
        "zip": st.sampled_from(["10", "11", "20", "21", "30"]),
        "job": st.sampled_from(["cook", "baker", "smith", "clerk"]),
        "ill": st.sampled_from(["flu", "gout", "cold"]),
    }
    data = pd.DataFrame({name: draw(st.lists(values, min_size=n, max_size=n)) for name, values in columns.items()})
    protected = draw(st.lists(st.sampled_from(["age", "pay", "zip", "job"]), min_size=1, max_size=4, unique=True))
    treat = {name: draw(st.sampled_from(["keep", "generalise", "blank", "average"])) for name in protected}
    rules = {name: draw(st.sampled_from(RULES[name])) for name in protected if name in RULES and draw(st.booleans())}
    options: dict[str, Any] = {"quasi": protected, "confidential": ["ill"], "treat": treat, "kinds": {}}
    if rules:
        options["recode"] = rules
    options["kinds"] = {name: kind for name, kind in (("zip", "code"),) if name in protected}
    options["categorical"] = [name for name in protected if name == "job"] or None
    options["k"] = draw(st.integers(2, 4))
    options["l"] = draw(st.sampled_from([None, 2]))
    return data, options


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], max_examples=15)
@given(plan=plans())
def test_any_plan_is_verified_and_true_where_it_says_so(
    plan: tuple[pd.DataFrame, dict[str, Any]], tmp_path: Path
) -> None:
    data, options = plan
    k, l = options.pop("k"), options["l"]
    try:
        made = release(data, tmp_path, k, **{name: value for name, value in options.items() if value is not None})
    except InputError as refused:  # everything was withheld, or no grouping has l values
        assert "needs at least" in str(refused) or "needs 2 different values" in str(refused)
        return
    pairs = original_and_released(data, made)
    protected, treat, rules = options["quasi"], options["treat"], options.get("recode", {})
    crowds = Counter(tuple(str(row[name]) for name in protected) for _, row in pairs)
    assert min(crowds.values()) >= k
    if l is not None:
        seen: dict[tuple[str, ...], set[str]] = {}
        for _, row in pairs:
            seen.setdefault(tuple(str(row[name]) for name in protected), set()).add(row["ill"])
        assert min(map(len, seen.values())) >= l
    for name in protected:
        if treat[name] == "average" or rules.get(name, "").split()[:1] in (["top"], ["bottom"], ["round"], ["prefix"]):
            continue
        assert all(holds(row[name], before[name]) for before, row in pairs), name


def test_a_value_that_stays_visible_is_shown_by_all_who_have_it_and_in_no_set(tmp_path):
    data = pd.DataFrame({"people": ["a", "b", "c", "d"] * 9 + ["Sami"] * 4, "age": np.arange(40) % 7 * 9})
    options = {"quasi": ["people", "age"], "k": 3, "attack": False, "refine": False}
    vanished = quietly(protect, data, out=tmp_path / "usual", **options)
    made = quietly(protect, data, out=tmp_path / "release", keep_visible={"people": "Sami"}, **options)
    shown = load(made.folder).table["people"].to_pylist()
    assert shown.count("Sami") == 4
    assert not [text for text in shown if "Sami" in text and text != "Sami"]
    assert load(vanished.folder).table["people"].to_pylist().count("Sami") < 4
    assert "visible" in {claim.promise for claim in verify(made.folder).claims}
    assert verify(made.folder)
    forged = copy_of(made.folder, tmp_path / "forged")
    content = certificate_of(forged)
    content["promises"]["visible"][0]["rows"] = 5
    reseal(forged, content)
    assert "visible" in {claim.promise for claim in verify(forged).broken}


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"people": "Saami"}, "none has it, or fewer than k do; check how it is spelt"),
        ({"age": "9"}, "is averaged"),
        ({"pay": "1"}, "is not protected"),
    ],
)
def test_a_value_that_cannot_stay_visible_is_refused(tmp_path, asked, problem):
    data = pd.DataFrame({"people": ["a", "b"] * 20, "age": np.arange(40) % 7 * 9})
    with pytest.raises(InputError, match=problem):
        options = {"quasi": ["people", "age"], "keep_visible": asked, "refine": False, "attack": False}
        quietly(protect, data, k=3, out=tmp_path / "release", **options)


def test_more_than_all_households_have_is_refused_by_name(tmp_path):
    data = pd.DataFrame({"home": np.arange(40) // 2, "region": np.arange(40) // 20, "smokes": ["yes", "no"] * 20})
    options = {"quasi": ["region"], "treat": {"region": "keep"}, "household": "home", "confidential": ["smokes"]}
    with pytest.raises(InputError, match="k=21 needs at least 21 households, column home has 20"):
        quietly(protect, data, k=21, out=tmp_path / "release", **options)
    with pytest.raises(InputError, match="l=3 needs 3 different values, column smokes has 2"):
        quietly(protect, data, k=3, l=3, out=tmp_path / "release", **options)
