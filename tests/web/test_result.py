"""What the page of a release calls open, and what mends it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.release.protect import protect
from shoal.request.plan import plan_text
from shoal.request.request import Request
from shoal.web.result import OpenPoint, attack_in_words, figures, mended, open_points

pytestmark = pytest.mark.usefixtures("without_attack")
ROWS = 24


@pytest.fixture
def people() -> pa.Table:
    """Two groups of ages; everybody in the first has the same income, and a code names each."""
    return pa.table(
        {
            "age": [20 + row % 2 for row in range(12)] + [60 + row % 2 for row in range(12)],
            "pay": ["low"] * 12 + ["low", "low", "high", "high"] * 3,
            "code": [f"x{row}" for row in range(ROWS)],
        }
    )


def certificate(people: pa.Table, folder: Path, **options: Any) -> dict[str, Any]:
    plan = Request.of(people, {"quasi": ["age"], "confidential": ["pay"], "drop": ["code"], "refine": False})
    given = plan.with_options(**options).given
    return dict(protect(people, out=folder / "release", **given).certificate)


def left_open(people: pa.Table, folder: Path, **options: Any) -> list[OpenPoint]:
    made = certificate(people, folder, **options)
    return open_points(folder / "release", made)


def test_a_confidential_column_without_a_promise_is_open_and_asking_for_two_values_mends_it(
    people: pa.Table, tmp_path: Path
) -> None:
    (point,) = left_open(people, tmp_path)
    assert point.words.startswith("In 1 group of 3 all records have the same pay")  # that of the young
    assert point.button == "Ask for 2 different values of pay in every group"
    plan = mended(Request.of(people, {"quasi": ["age"], "confidential": ["pay"], "drop": ["code"]}), "l", "2")
    assert plan.promises.l == 2
    assert left_open(people, tmp_path / "mended", l=2) == []


def test_a_column_that_singles_out_and_a_method_without_a_crowd_are_open(people: pa.Table, tmp_path: Path) -> None:
    (point,) = left_open(people, tmp_path, l=2, drop=None, insensitive=["code"], allow=["code"])
    assert point.words == "code is released unchanged and singles records out."
    plan = Request.of(people, {"quasi": ["age"], "insensitive": ["code"], "allow": ["code"]})
    assert mended(plan, point.option, point.value).given == {"quasi": ("age",), "drop": ("code",)}
    (point,) = left_open(people, tmp_path / "noise", method="noise", percent=5.0, confidential=None)
    assert point.words.startswith("No crowd is promised")
    assert mended(plan.with_options(method="noise", percent=5.0), point.option, "").method.method is None


def test_a_confidential_column_that_all_but_names_its_records_is_open_and_protecting_it_mends_it(
    people: pa.Table, tmp_path: Path
) -> None:
    people = people.set_column(1, "pay", pa.array(range(1000, 1000 + ROWS)))
    (point,) = left_open(people, tmp_path, l=2)
    assert point.words == (
        "pay is released unchanged: 24 of 24 records have a value that no other has. Whoever knows it finds them."
    )
    plan = Request.of(people, {"quasi": ["age"], "confidential": ["pay"], "drop": ["code"], "l": 2})
    better = mended(plan, point.option, point.value)
    assert better.given == {"quasi": ("age", "pay"), "drop": ("code",)}
    assert left_open(people, tmp_path / "mended", **better.given | {"confidential": None}) == []


def test_one_income_that_nobody_else_has_is_open(people: pa.Table, tmp_path: Path) -> None:
    people = people.set_column(1, "pay", pa.array([*people["pay"].to_pylist()[:-1], "highest"]))
    (point,) = left_open(people, tmp_path, l=2)
    assert point.words.startswith("pay is released unchanged: 1 of 24 records have a value that no other has")


def test_a_household_number_that_is_kept_is_open_since_few_records_share_it(people: pa.Table, tmp_path: Path) -> None:
    people = people.append_column("household", pa.array([row // 2 for row in range(ROWS)]))
    (point,) = left_open(people, tmp_path, k=3, l=2, insensitive=["household"])
    assert point.words == (
        "household is released unchanged: 24 of 24 records share their value with fewer than 2 others."
    )
    assert (point.option, point.value) == ("quasi", "household")


def test_an_attack_that_finds_more_than_the_crowd_allows_is_open(people: pa.Table, tmp_path: Path) -> None:
    made = certificate(people, tmp_path, l=2)
    attack = {"about": "distance-based linkage, euclidean", "n": 24, "low": 0.2, "high": 0.6, "baseline": 0.04}
    made["stated"] = {**made["stated"], "attacks": [attack | {"rate": 0.4}]}
    assert open_points(tmp_path / "release", made) == []  # k = 5 allows a fifth, which may be the truth
    made["stated"]["attacks"] = [attack | {"rate": 0.5, "low": 0.4}]
    (point,) = open_points(tmp_path / "release", made)
    assert point.words == "An attack finds 50.0% of the records, more than the one in 5 that the crowd allows."
    plan = Request.of(people, {"quasi": ["age"], "k": 5})
    assert mended(plan, point.option, point.value).k == 10


def test_the_owner_sees_the_loss_as_it_was_measured_and_the_attack_as_a_headline() -> None:
    stated = {
        "withheld": [],
        "information_loss": None,
        "method": "microaggregation",
        "loss_range": {"low": 0.0, "high": 0.1},
        "attacks": [],
    }
    promises = {
        "anonymity": {"k": 5, "whole_rows": True, "smallest_group": 5},
        "rows": 24,
        "diversity": {"columns": []},
    }
    made = {"kind": "table", "promises": promises, "stated": stated}
    lost = figures(made, 0.034)[-1]
    assert (lost.title, lost.value) == ("Information lost", "3.4%") and "The report says 0% to 10%" in lost.words
    assert figures(made)[-1].value == "0% to 10%" and attack_in_words(made) == ""
    stated["attacks"] = [
        {"about": "interval disclosure, 2 of 5 columns", "rate": 0.9, "baseline": 0.1},
        {"about": "linkage", "rate": 0.037, "baseline": 0.001},
    ]
    assert attack_in_words(made) == (
        "An attacker who knows the originals finds 3.7% of the records; guessing finds 0.1%."
    )
    stated["attacks"] = [{"about": "documents recovered nearly", "rate": 0.0, "baseline": 0.0, "n": 80}]
    assert attack_in_words(made) == "Of 80 documents, an attacker recovers 0% nearly."


def test_a_bound_so_loose_that_groups_with_one_value_keep_it_is_open(people: pa.Table, tmp_path: Path) -> None:
    (point,) = left_open(people, tmp_path, t=1.0)
    assert point.words.startswith("In 1 group of 3 all records have the same pay")
    assert (point.option, point.value) == ("l", "2")


def test_two_kept_columns_that_single_records_out_together_are_open(people: pa.Table, tmp_path: Path) -> None:
    people = people.append_column("admitted", pa.array([f"2023-0{1 + row % 4}-01" for row in range(ROWS)]))
    people = people.append_column("left", pa.array([f"2023-1{row // 6 % 4}-01" for row in range(ROWS)]))
    kept = {"insensitive": ["admitted", "left"], "l": 2}
    (point,) = left_open(people, tmp_path, **kept)
    assert point.words == (
        "admitted and left are released unchanged: 8 of 24 records have a pair of values that no other has. "
        "Whoever knows both finds them."
    )
    assert (point.option, point.value) == ("quasi", "admitted")


def test_one_gap_in_a_kept_column_is_open(people: pa.Table, tmp_path: Path) -> None:
    people = people.append_column("ward", pa.array([None, *["general"] * (ROWS - 1)]))
    (point,) = left_open(people, tmp_path, l=2, insensitive=["ward"])
    assert point.words == "ward is released unchanged: 1 of 24 records share their value with fewer than 4 others."


def test_a_kept_value_of_many_records_of_few_people_is_open(people: pa.Table, tmp_path: Path) -> None:
    people = people.append_column("person", pa.array([row // 2 for row in range(ROWS)]))
    people = people.append_column("ward", pa.array(["burns"] * 6 + ["general"] * (ROWS - 6)))
    asked = {"l": 2, "k": 4, "person": "person", "insensitive": ["ward"]}
    made = certificate(people, tmp_path, **asked)
    assert open_points(tmp_path / "release", made) == []  # six rows
    pq.write_table(people, tmp_path / "people.parquet")
    plan = Request.of(
        str(tmp_path / "people.parquet"), {"quasi": ["age"], "confidential": ["pay"], "drop": ["code"], **asked}
    )
    (tmp_path / "plan.toml").write_text(plan_text(plan, tmp_path, {}), encoding="utf-8")
    (point,) = open_points(tmp_path / "release", made, tmp_path / "plan.toml")
    assert (
        point.words == "ward is released unchanged: 6 of 24 records share their value with fewer than 3 other people."
    )
