"""Sampling weights in a release: one for each group, means or calibrated; they belong to the key that is counted."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from shoal import Roles, assess, protect, verify
from shoal.errors import InputError
from shoal.release.tables.weights import released_weights
from tests.release.releases import reseal

pytestmark = pytest.mark.usefixtures("without_attack")


def test_a_weight_that_splits_a_group_becomes_its_mean_and_totals_hold() -> None:
    released, figures = released_weights("w", np.array([1.0, 3.0, 10.0, 10.0]), np.array([0, 0, 1, 1]), 2, {})
    assert released.tolist() == [2.0, 2.0, 10.0, 10.0]
    assert (figures.constant, figures.total_change) == (False, 0.0)
    assert released_weights("w", np.array([2.0, 2.0, 5.0]), np.array([0, 0, 1]), 1, {})[1].constant


def test_calibrated_weights_hold_the_totals_of_numbers_and_categories_and_stay_positive() -> None:
    """Two groups of three: ages 10 and 20 are released where 30 weights by hand add up to 470 years of 30 people."""
    weights, crowds = np.array([2.0, 4.0, 6.0, 6.0, 6.0, 6.0]), np.array([0, 0, 0, 1, 1, 1])
    before, after = np.array([9.0, 10.0, 12.0, 18.0, 21.0, 21.0]), np.array([10.0] * 3 + [20.0] * 3)
    released, figures = released_weights("w", weights, crowds, 2, {"age": (before, after)})
    assert weights @ before == 490.0 and weights.sum() == 30.0
    # 3 a + 3 b = 30 and 30 a + 60 b = 490 give a = 11 / 3 and b = 19 / 3.
    assert released == pytest.approx([11 / 3] * 3 + [19 / 3] * 3, abs=2e-3)
    assert figures.calibrated == ("age",)
    towns = pa.array(["a"] * 4 + ["b"] * 2), pa.array(["a"] * 3 + ["b"] * 3)
    held, _ = released_weights("w", np.ones(6), crowds, 2, {"town": towns})
    assert held == pytest.approx([4 / 3] * 3 + [2 / 3] * 3, abs=2e-3)


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights that give the region away."""
    rng = np.random.default_rng(5)
    region = rng.integers(0, 4, 120)
    weights = np.array([10.25, 20.5, 40.125, 80.0625])[region]
    rows = pd.DataFrame({"age": rng.integers(18, 90, 120), "pay": rng.integers(1, 9, 120) * 100, "w": weights})
    path = tmp_path_factory.mktemp("survey") / "survey.csv"
    rows.to_csv(path, index=False)
    return path


def test_a_release_has_one_weight_for_each_group_and_verify_counts_it_with_the_key(
    survey: Path, tmp_path: Path
) -> None:
    made = protect(survey, 5, tmp_path / "r", quasi=["age", "pay"], kinds={"pay": "number"}, weight="w", refine=False)
    assert {column["name"]: column["role"] for column in made.certificate["promises"]["columns"]}["w"] == "weight"
    rows = pd.read_csv(made.folder / "table.csv")
    assert (rows.groupby(["age", "pay"])["w"].nunique() == 1).all()
    assert rows["w"].sum() == pytest.approx(pd.read_csv(survey)["w"].sum(), rel=1e-3)
    assert verify(made.folder).holds
    assert "are the means of their groups" in (made.folder / "report.html").read_text()
    table = made.folder / "table.csv"
    lines = table.read_text().splitlines()
    lines[1] = lines[1].rpartition(",")[0] + ",9.5"  # the attack: one row's own weight
    table.write_text("\n".join(lines) + "\n")
    reseal(made.folder)
    assert "k-anonymity" in {claim.promise for claim in verify(made.folder).broken}


def test_weighted_totals_of_named_columns_hold(survey: Path, tmp_path: Path) -> None:
    options = {"weight": "w", "calibrate": ["pay"], "refine": False}
    made = protect(survey, 5, tmp_path / "r", quasi=["age", "pay"], kinds={"pay": "number"}, **options)
    before, after = pd.read_csv(survey), pd.read_csv(made.folder / "table.csv")
    assert after["w"] @ after["pay"] == pytest.approx(before["w"] @ before["pay"], rel=2e-3)
    assert after["w"].sum() == pytest.approx(before["w"].sum(), rel=2e-3) and (after["w"] > 0).all()
    assert verify(made.folder).holds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": "w", "method": "noise", "percent": 5}, "a weight stands for a group"),
        ({"weight": "w", "calibrate": ["height"]}, "column height is not released"),
        ({"calibrate": ["age"]}, "calibrated weights need weights"),
        ({"weight": "age"}, "listed twice"),
    ],
)
def test_what_weights_cannot_do_is_refused(survey: Path, tmp_path: Path, options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        protect(survey, 5, tmp_path / "r", quasi=["age", "pay"], kinds={"pay": "number"}, refine=False, **options)


def test_households_are_the_unit_where_people_are_named_too(tmp_path: Path) -> None:
    rows = pd.DataFrame({"hh": np.arange(60) // 2, "pid": np.arange(60), "age": np.arange(60) % 37})
    with pytest.warns(UserWarning, match="households are counted, not people"):
        made = protect(rows, 5, tmp_path / "r", quasi=["age"], household="hh", person="pid", refine=False)
    assert made.certificate["promises"]["columns"] == [{"name": "age", "role": "quasi", "type": "double"}]
    assert all(crowd["people"] <= 30 for crowd in made.certificate["promises"]["crowds"])
    assert verify(made.folder).holds
    with pytest.raises(InputError, match="would be released, too"):
        protect(rows, 5, tmp_path / "s", roles=Roles(quasi=("age",), insensitive=("hh",)), household="hh")


def test_the_owner_finds_survey_estimates_before_and_after_and_assess_needs_no_option(tmp_path: Path) -> None:
    data = pd.DataFrame({"age": [20, 22, 24, 60, 62, 64] * 5, "sex": ["f", "m"] * 15, "w": [1.0, 2.0, 3.0] * 10})
    data.to_csv(tmp_path / "people.csv", index=False)
    made = protect(tmp_path / "people.csv", 3, tmp_path / "release", quasi=["age", "sex"], weight="w", refine=False)
    read = csv.DictReader((made.private / "estimates.csv").read_text().splitlines())
    lines = {line["of"] + " " + line["statistic"]: line for line in read}
    # Weights 1, 2, 3 go round with ages 20, 22, 24 and 60, 62, 64: (1·40 + 2·42 + 3·44 + …) / 12 a round of six.
    assert float(lines["age mean"]["original"]) == pytest.approx((20 + 44 + 72 + 60 + 124 + 192) / 12)
    assert 0 <= float(lines["age mean"]["overlap"]) <= 1
    assert float(lines["sex = f share"]["original"]) == pytest.approx(0.5)
    assert "estimates.csv" not in {path.name for path in made.folder.iterdir()}
    found = assess(tmp_path / "people.csv", made.folder)
    assert found.survey is not None
    assert found.survey.design.startswith("weighted by w")
