"""assess matches confidential values to the members of groups, intersects people, and says what it did not use."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from shoal import InputError, Roles, assess, protect

pytestmark = pytest.mark.usefixtures("without_attack")


@pytest.fixture
def visits(tmp_path):
    """Forty people with three visits each, at ages far apart; pay goes with age, and the birth place is constant."""
    random = np.random.default_rng(5)
    person = np.repeat(np.arange(40), 3)
    age = random.integers(18, 80, 120)
    table = pd.DataFrame(
        {
            "who": [f"p{number}" for number in person],
            "age": age,
            "hours": random.integers(10, 50, 120),
            "pay": age * 100 + random.integers(0, 90, 120),
            "birth": np.array(["Ulm", "Bonn", "Kiel", "Trier"])[random.integers(0, 4, 40)][person],
            "wave": random.integers(0, 3, 120),
        }
    )
    table.to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path / "visits.csv"


def released(visits, out, **options):
    roles = Roles(quasi=("age", "hours"), confidential=("pay", "birth"), insensitive=("wave",))
    protect(visits, 4, out, roles=roles, refine=False, **options)
    return out


def test_rows_of_people_are_intersected_and_pay_is_matched_by_age(visits, tmp_path):
    found = assess(visits, released(visits, tmp_path / "rows"), tmp_path / "assessment", person="who")
    pay, birth = found.confidential
    assert pay.about == "matching of pay within groups"
    assert pay.low > pay.baseline
    assert birth.low <= birth.baseline <= birth.high
    assert found.people.smallest == 1
    assert found.people.exposed.rate > 0.9
    (constant,) = found.people.constants
    assert constant.low > constant.baseline
    assert found.unattacked == ("wave",)
    page = (tmp_path / "assessment" / "report.html").read_text()
    assert "Rows of a person give them away" in page
    assert "used by no attack: wave" in page
    written = json.loads((tmp_path / "assessment" / "assessment.json").read_text())
    assert written["confidential"][0]["baseline"] == pay.baseline
    assert written["people"]["sentence"] == found.people.sentence


def test_people_as_units_are_never_fewer_than_k_behind_all_their_rows(visits, tmp_path):
    found = assess(visits, released(visits, tmp_path / "people", person="who"), person="who")
    assert found.people.smallest >= 4
    assert found.people.exposed.rate == 0.0
    (constant,) = found.people.constants
    assert constant.low <= constant.baseline


def test_without_a_column_of_people_nobody_is_intersected(visits, tmp_path):
    assert assess(visits, released(visits, tmp_path / "rows")).people is None


def test_an_unknown_column_of_people_is_refused(visits, tmp_path):
    with pytest.raises(InputError, match="nobody"):
        assess(visits, released(visits, tmp_path / "rows"), person="nobody")
