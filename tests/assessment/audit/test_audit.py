"""An audit of one table from end to end."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from shoal import InputError, Roles, audit, protect

# sdcMicro's example: Key1 to Key4 and sampling weights; frequencies, sums of weights and risks are published with it.
FRANCDAT = pd.DataFrame(
    {
        "Key1": [1, 1, 1, 3, 4, 4, 6, 1],
        "Key2": [2, 2, 2, 3, 3, 3, 2, 2],
        "Key3": [5, 1, 1, 1, 1, 1, 1, 5],
        "Key4": [1, 1, 1, 5, 4, 1, 5, 1],
        "w": [18.0, 45.5, 39.0, 17.0, 541.0, 8.0, 5.0, 92.0],
    }
)
KEYS = ["Key1", "Key2", "Key3", "Key4"]
PEOPLE = pd.DataFrame(
    {
        "town": ["A", "A", "A", "B", "B", None],
        "age": [30, 30, 41, 30, 30, 30],
        "home": [1, 1, 2, 3, 4, 4],
        "who": ["p", "p", "q", "r", "s", "t"],
        "ill": ["flu", "flu", "gout", "flu", None, "gout"],
    }
)


def test_individual_risks_of_francdat_are_the_published_ones() -> None:
    found = audit(FRANCDAT, quasi=KEYS, weight="w")
    published = [0.01714426, 0.02204233, 0.02204233, 0.17707583, 0.01165448, 0.29706308, 0.40235948, 0.01714426]
    assert found.risks == pytest.approx(published, abs=1e-6)
    assert found.individual.expected == pytest.approx(sum(published), abs=1e-6)
    assert found.individual.above == 2
    assert (found.k, found.below) == (1, (4, 8, 8))
    journalist = found.attacker("journalist")
    assert journalist is not None
    assert journalist.highest == pytest.approx(1 / 5)


def test_crowds_and_households() -> None:
    found = audit(PEOPLE, quasi=["town", "age"], confidential=["ill"], household="home")
    assert (found.k, found.keys, found.below) == (1, 4, (2, 6, 6))
    assert found.crowds[:2] == ((1, 1, 2), (2, 2, 4))
    assert found.household is not None
    assert found.household.expected == pytest.approx(0.75 + 0.75 + 1 + 0.5 + 1 + 1)
    assert found.values[0].missing == 1
    assert found.known_from == "nowhere"
    assert found.population is None


def test_a_gap_is_a_value_or_stands_for_every_value() -> None:
    alone = audit(PEOPLE, quasi=["town", "age"])
    assert alone.below[0] == 2
    matching = audit(PEOPLE, quasi=["town", "age"], missing="match")
    assert matching.below[0] == 1  # only the one of 41
    assert matching.risks.tolist() == pytest.approx([1 / 3, 1 / 3, 1, 1 / 3, 1 / 3, 1 / 5])


def test_people_are_counted_where_records_have_owners() -> None:
    found = audit(PEOPLE, quasi=["town", "age"], person="who")
    assert found.people == 5
    assert found.below[0] == 4  # the two records of p are those of one person
    assert found.individual.expected == pytest.approx(1 + 1 + 0.5 + 0.5 + 1)  # a person once, by the riskier record


def test_a_weight_that_adds_up_to_no_population_is_named_and_left_out() -> None:
    rows = np.arange(300)
    table = pd.DataFrame({"age": rows % 60 + 18, "sex": rows % 2, "hv005": (rows % 97 + 20) * 10_000})
    found = audit(table)
    assert found.known_from == "nowhere" and "hv005 is like a sampling weight" in found.notes[0]


def test_the_size_of_the_population_stands_for_equal_weights() -> None:
    by_size = audit(FRANCDAT, quasi=KEYS, population=80)
    by_weights = audit(FRANCDAT.assign(w=10.0), quasi=KEYS, weight="w")
    assert by_size.risks == pytest.approx(by_weights.risks)
    assert by_size.population == by_weights.population
    complete = audit(FRANCDAT, quasi=KEYS, population=8)
    assert complete.risks.tolist() == [0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0, 0.5]
    assert complete.population is None


def test_figures_of_an_original_are_published_in_steps_of_ten_records() -> None:
    table = pa.table({"age": [*range(37), *[99] * 463], "town": ["A"] * 500})
    found = audit(table, quasi=["age", "town"])
    assert found.step == 0.02
    assert found.publishable["share in crowds below 2"] == 0.08  # of .074
    assert "k" not in found.publishable
    data = json.loads(json.dumps(found.data(), allow_nan=False))
    assert data["publishable"]["step"] == 0.02
    assert data["owner"]["below"] == [37, 37, 37]
    assert "risks" not in data["owner"]


def test_a_tiny_original_publishes_nothing() -> None:
    found = audit(FRANCDAT, quasi=KEYS)
    assert found.step is None
    assert found.publishable == {}


@pytest.mark.usefixtures("without_attack")
def test_a_release_is_audited_by_its_own_roles_and_everything_may_be_published(tmp_path) -> None:
    table = pd.DataFrame({"age": range(20, 50), "pay": range(30), "ill": ["flu", "gout", "cold"] * 10})
    protect(table, 5, tmp_path / "release", quasi=["age", "pay"], confidential=["ill"])
    found = audit(tmp_path / "release", tmp_path / "audit")
    assert (found.quasi, found.confidential, found.release) == (("age", "pay"), ("ill",), True)
    assert found.k >= 5
    assert found.publishable["share in crowds below 5"] == 0.0
    assert "All figures may be published" in (tmp_path / "audit" / "report.html").read_text(encoding="utf-8")


def test_the_folder_has_page_figures_combinations_columns_and_records(tmp_path) -> None:
    audit(FRANCDAT, tmp_path / "audit", quasi=KEYS, weight="w")
    files = {file.name for file in (tmp_path / "audit").iterdir()}
    assert files == {"report.html", "audit.json", "combinations.csv", "columns.csv", "records.csv"}
    with (tmp_path / "audit" / "combinations.csv").open(encoding="utf-8") as file:
        combinations = list(csv.DictReader(file))
    assert len(combinations) == 4 + 6 + 4
    assert combinations[0] == {"columns": "Key1", "size": "1", "below_2": "2", "below_3": "4", "below_5": "8"}
    with (tmp_path / "audit" / "records.csv").open(encoding="utf-8") as file:
        assert [float(row["risk"]) for row in csv.DictReader(file)][3] == 0.177076
    with pytest.raises(InputError, match="force"):
        audit(FRANCDAT, tmp_path / "audit", quasi=KEYS)


def test_roles_are_proposed_where_nobody_gives_them() -> None:
    table = pd.DataFrame({"age": [30, 30, 41, 52], "diagnosis": ["flu", "gout", "flu", "flu"], "weight": [9.0] * 4})
    found = audit(table, weight="weight")
    assert found.proposed
    assert (found.quasi, found.confidential) == (("age",), ("diagnosis",))


MISTAKES = {
    "an unknown column": ({"quasi": ["Key1", "Kye2"]}, "did you mean Key2"),
    "an unknown weight": ({"quasi": KEYS, "weight": "v"}, "has no column v"),
    "a weight that is a quasi-identifier": (
        {"quasi": ["Key1", "w"], "weight": "w"},
        "column w is weight and has a role",
    ),
    "no quasi-identifier": ({"confidential": ["w"]}, "no column is a quasi-identifier"),
    "two sizes of the population": ({"quasi": KEYS, "weight": "w", "population": 900}, "leave out population"),
    "a population that is too small": ({"quasi": KEYS, "population": 7}, "population=7 must be from 8"),
    "a threshold above 1": ({"quasi": KEYS, "threshold": 20}, "must be a number above 0 and at most 1"),
    "an unknown way to read gaps": ({"quasi": KEYS, "missing": "skip"}, "use one of group, match"),
    "gaps that match and people": (
        {"quasi": KEYS[:3], "missing": "match", "person": "Key4"},
        "counts records, not people",
    ),
    "roles given twice": ({"quasi": KEYS, "roles": Roles(quasi=("Key1",))}, "roles are given twice"),
    "combinations of no columns": ({"quasi": KEYS, "max_size": 0}, "must be a whole number of at least 1"),
}


@pytest.mark.parametrize(("given", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line_that_says_what_to_do(given, said) -> None:
    with pytest.raises(InputError, match=said) as raised:
        audit(FRANCDAT, **given)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1.0, -2.0, 3, 4, 5, 6, 7, 8], r"1 weight missing or not above 0 \(first in row 2\)"),
        ([None, 0.0, 3, 4, 5, 6, 7, 8], r"2 weights missing or not above 0 \(first in row 1\)"),
        ([0.5] * 8, "add up to 4 for 8 records; scale"),
        (list("abcdefgh"), "text"),
    ],
)
def test_weights_that_cannot_be_are_refused(weights, said) -> None:
    with pytest.raises(InputError, match=said):
        audit(FRANCDAT.assign(w=weights), quasi=KEYS, weight="w")
