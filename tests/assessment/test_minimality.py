"""assess repeats the grouping of a release that promises l, and tries to conclude values from joined groups."""

from __future__ import annotations

import hashlib
import json
import warnings

import numpy as np
import pandas as pd
import pytest

from shoal import Microaggregation, Roles, assess, protect
from shoal.release.writing import dump

pytestmark = pytest.mark.usefixtures("without_attack")

ROLES = Roles(quasi=("age", "hours"), confidential=("income",))


@pytest.fixture
def people(tmp_path):
    """Forty people in two towns of the plane; only the old are rich, and many rows are alike."""
    random = np.random.default_rng(3)
    age = np.concatenate([random.integers(18, 24, 20), random.integers(50, 60, 20)])
    rich = (age > 40) & (random.random(40) < 0.5)
    table = pd.DataFrame({"age": age, "hours": random.integers(1, 4, 40) * 10, "income": np.where(rich, "high", "low")})
    table.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


@pytest.mark.parametrize(
    "method",
    [
        Microaggregation(refine=False),
        Microaggregation(time_budget=0.05),
        Microaggregation(method="z-scores"),
    ],
    ids=["mdav", "refined", "z-scores"],
)
def test_the_attack_repeats_the_grouping_and_is_certain_of_nobody(people, tmp_path, method):
    protect(people, 3, tmp_path / "release", roles=ROLES, method=method, l=2)
    found = assess(people, tmp_path / "release", tmp_path / "assessment")
    ((column, inferred),) = found.minimality
    assert column == "income"
    assert inferred.joined >= 20  # nobody among the young is rich
    assert inferred.certain == 0
    assert inferred.guess.low <= inferred.guess.baseline <= inferred.guess.high
    assert "What joined groups reveal" in (tmp_path / "assessment" / "report.html").read_text()
    told = json.loads((tmp_path / "assessment" / "assessment.json").read_text())
    assert told["minimality"][0][1]["certain"] == 0


def test_the_grouping_is_repeated_with_the_columns_in_the_order_given(tmp_path):
    """On a grid many rows are equally far, and are taken by hours first, as the columns were given."""
    grid = pd.DataFrame([(age, hours) for age in range(6) for hours in range(6)], columns=["age", "hours"])
    grid["income"] = np.where((grid["age"] + 2 * grid["hours"]) % 5 == 0, "high", "low")
    roles = Roles(quasi=("hours", "age"), confidential=("income",))
    numbers = {"age": "number", "hours": "number"}
    protect(grid, 3, tmp_path / "release", roles=roles, kinds=numbers, method=Microaggregation(refine=False), l=2)
    assert assess(grid, tmp_path / "release").minimality


def test_without_l_there_is_nothing_to_conclude(people, tmp_path):
    protect(people, 3, tmp_path / "release", roles=ROLES, method=Microaggregation(refine=False))
    assert assess(people, tmp_path / "release").minimality == ()


def test_a_release_that_does_not_say_how_l_was_reached_is_remarked(people, tmp_path):
    made = protect(people, 3, tmp_path / "release", roles=ROLES, method=Microaggregation(refine=False), l=2)
    earlier = json.loads((made.folder / "certificate.json").read_text())
    del earlier["stated"]["parameters"]["diversity"]
    del earlier["seal"]
    earlier["seal"] = hashlib.sha256(dump(earlier)).hexdigest()
    (made.folder / "certificate.json").write_bytes(dump(earlier))
    with pytest.warns(UserWarning, match="joined only where values were lacking"):
        assert assess(people, made.folder).minimality == ()


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"treat": {"town": "keep"}},
        {"treat": {"town": "generalise", "age": "generalise"}},
        {"treat": {"age": "blank", "town": "average"}, "recode": {"age": "18-39,40-69"}},
        {"treat": {"town": "keep", "age": "keep"}, "recode": {"age": "18-39,40-69"}, "l": None},
        {"keep_visible": {"town": "Wick"}},
    ],
    ids=["default", "kept", "generalised", "blanked", "kept without l", "visible"],
)
def test_treated_columns_are_attacked_too_and_nobody_is_certain(people, tmp_path, asked):
    table = pd.read_csv(people)
    table["town"] = np.where(table["hours"] > 15, "Wick", "Deal")
    table.drop(columns="hours").to_csv(people, index=False)
    options = {"quasi": ["age", "town"], "confidential": ["income"], "l": 2, "refine": False} | asked
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        protect(people, 3, tmp_path / "release", **options)
        found = assess(people, tmp_path / "release")
    assert bool(found.minimality) == (options["l"] is not None), found.notes
    for _, inferred in found.minimality:
        assert inferred.certain == 0
