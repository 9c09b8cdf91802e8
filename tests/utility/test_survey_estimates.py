"""Estimates before and after: chosen columns, tables and models, whatever the release wrote into its cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from shoal import assess
from shoal.errors import InputError
from shoal.results.survey import MODELS, TABLES, TOTALS, ComparedEstimate, Estimate, SurveyUtility
from shoal.utility.column_values import paired_column
from shoal.utility.survey_estimates import SurveyOptions, survey_utility

BEFORE = pa.table(
    {
        "region": ["north", "north", "south", "south", "south", "north"],
        "sex": ["f", "m", "f", "m", "f", "m"],
        "pay": [10.0, 20.0, 30.0, 50.0, 20.0, 30.0],
        "age": [20, 30, 40, 50, 60, 70],
        "w": [1.0, 1.0, 2.0, 2.0, 1.0, 1.0],
    }
)


def estimates(after: pa.Table, **options: object) -> dict[tuple[str, str], object]:
    found = survey_utility(BEFORE, after, SurveyOptions(**options))
    return {(one.statistic, one.about): one for one in found.estimates}


def test_a_table_beside_itself_overlaps_fully_and_keeps_every_conclusion() -> None:
    found = survey_utility(BEFORE, BEFORE, SurveyOptions(weight="w", model=["pay ~ age + sex"]))
    assert {one.part for one in found.estimates} == {TOTALS, TABLES, MODELS}
    assert all(one.overlap == pytest.approx(1) and one.kept for one in found.estimates)
    assert found.within == len(found.estimates)
    assert found.design == "weighted by w; standard errors as of records drawn with replacement"
    assert "w" not in {one.about for one in found.estimates}


def test_a_sign_counts_only_where_a_coefficient_is_significant_and_the_sentence_says_so() -> None:
    pairs = [(Estimate(1, 5), Estimate(-1, 5)), (Estimate(9, 1), Estimate(-9, 1)), (Estimate(9, 1), Estimate(8, 1))]
    found = SurveyUtility("", tuple(ComparedEstimate(MODELS, "coefficient", "x", *pair) for pair in pairs))
    assert [one.kept for one in found.estimates] == [True, False, True]
    assert "2 of 3 coefficients keep their significance at 5 %, and their sign if significant" in found.sentence


def test_weights_count_and_are_taken_from_the_release_where_it_has_them() -> None:
    found = estimates(BEFORE.set_column(4, "w", pa.array([2.0] * 6)), weight="w")
    assert found["mean", "pay"].before.value == pytest.approx((10 + 20 + 60 + 100 + 20 + 30) / 8)
    assert found["mean", "pay"].after.value == pytest.approx(160 / 6)
    assert found["share", "region = north"].before.value == pytest.approx(3 / 8)
    without = survey_utility(BEFORE, BEFORE.drop_columns("w"), SurveyOptions(weight="w"))
    assert without.design.startswith("weighted by w (the original's: it is not released)")


def test_tables_have_shares_of_cells_or_means_by_label() -> None:
    wide = BEFORE.set_column(2, "pay", pa.array(np.arange(6.0) * 7))
    found = estimates(wide, tabulate=["region:sex"])
    assert found["share", "region = south, sex = f"].before.value == pytest.approx(2 / 6)
    many = pa.concat_tables([BEFORE.set_column(2, "pay", pa.array(np.arange(6.0) + 6 * part)) for part in range(3)])
    means = survey_utility(many, many, SurveyOptions(tabulate=["region:pay"]))
    north = next(one for one in means.estimates if one.about == "pay, region = north")
    assert north.before.value == pytest.approx(np.mean([0, 1, 5, 6, 7, 11, 12, 13, 17]))


def test_a_record_that_shows_a_set_is_shared_evenly_by_its_values() -> None:
    regions = pa.array(["north", "north | south", "north | south", "south", "south", "east | north"])
    found = estimates(BEFORE.set_column(0, "region", regions), tabulate=["region:sex"])
    assert found["share", "region = north"].after.value == pytest.approx((1 + 0.5 + 0.5 + 0.5) / 6)
    assert found["share", "region = south, sex = f"].after.value == pytest.approx((0.5 + 1) / 6)


def test_models_take_categories_and_events() -> None:
    found = estimates(BEFORE, model=["pay ~ sex", "sex=m ~ age", "pay ~ C(age)"])
    # Men earn 100 / 3, women 20.
    assert found["coefficient", "pay ~ sex: m"].before.value == pytest.approx(100 / 3 - 20)
    assert ("coefficient", "sex=m ~ age") in found
    assert ("coefficient", "pay ~ age: 70") in found


def test_a_term_that_the_release_cannot_give_is_lost() -> None:
    found = estimates(BEFORE.set_column(1, "sex", pa.array(["f | m"] * 6)), model=["pay ~ sex"])
    lost = found["coefficient", "pay ~ sex: m"]
    assert (lost.after, lost.overlap, lost.kept) == (None, 0.0, False)
    assert found["share", "sex = f"].after.value == 0.5  # what an analyst assumes of a set of two


def test_bands_count_by_their_middle_and_other_text_is_equal_or_not() -> None:
    bands = BEFORE.set_column(3, "age", pa.array(["20-39", "20-39", "40-59", "40-59", "60+", None]))
    found = survey_utility(BEFORE, bands, SurveyOptions(weight="w"))
    mean = next(one for one in found.estimates if (one.statistic, one.about) == ("mean", "age"))
    assert mean.after.value == pytest.approx((29.5 * 2 + 49.5 * 4 + 60) / 7)
    assert found.skipped == ("column age: released bands of numbers are compared by their middles",)
    column = paired_column("age", BEFORE["age"], pa.chunked_array([["young"] * 6]))
    assert (column.is_number, column.note[:38]) == (False, "column age: released text is not compa")
    codes = paired_column("age", BEFORE["age"], pa.chunked_array([["20", "30", "40", "50", "60", "*"]]), coded=True)
    assert (codes.is_number, codes.note, codes.after.tolist()[-1]) == (False, "", None)
    as_text = pa.chunked_array([["23", "31", "47"]])  # the original's file, read as the release has the column
    banded = paired_column("age", as_text, pa.chunked_array([["20-29", "30-39", "40-49"]]), coded=True)
    assert (banded.is_number, banded.before.tolist(), banded.after.tolist()) == (True, [23, 31, 47], [24.5, 34.5, 44.5])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"weight": "weight"}, "the original has no column weight"),
        ({"weight": "sex"}, "sex is no column of weights"),
        ({"tabulate": ["region"]}, "region is no table; write two columns"),
        ({"model": ["pay"]}, "pay is no model; write it like"),
        ({"model": ["region=west ~ age"]}, "no record of the original has west in region"),
        ({"tabulate": ["region:height"]}, "the original has no column height"),
    ],
)
def test_what_cannot_be_estimated_is_refused(options: dict, says: str) -> None:
    with pytest.raises(InputError, match=says):
        survey_utility(BEFORE, BEFORE, SurveyOptions(**options))


def test_assess_writes_the_estimates_and_reads_bands_and_gaps(tmp_path: Path) -> None:
    people = pd.DataFrame({"age": np.arange(20, 80), "pay": np.arange(60) * 3.0 + 7, "w": 2.0})
    masked = people.assign(age=[f"{10 * (age // 10)}-{10 * (age // 10) + 9}" for age in people.age])
    masked.loc[:4, "pay"] = np.nan
    with pytest.warns(UserWarning, match="gaps"):
        found = assess(people, masked, tmp_path / "out", columns=["age", "pay"], weight="w")
    assert found.numbers == ("age", "pay")
    assert found.notes == (
        "column age: released bands of numbers are compared by their middles",
        "column pay: gaps (0 before, 5 after) count as the mean of the original",
    )
    assert (tmp_path / "out" / "estimates.csv").read_text().startswith("part,statistic,of,original")
    assert "What a survey estimates from it" in (tmp_path / "out" / "report.html").read_text()
