"""The board's page: from the release alone it says nothing more; with the original it says what was before."""

from __future__ import annotations

import pandas as pd
import pytest

from shoal import InputError, assess, audit, board, protect


@pytest.fixture
def people() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [20 + row // 2 for row in range(60)],
            "town": ["Saltmere", "Wexcombe", "Osmerby"] * 20,
            "ill": ["flu", "gout", "cold", "asthma"] * 15,
            "w": [10.0, 20.0] * 30,
        }
    )


@pytest.fixture
def release(people, tmp_path):
    protect(people, 5, tmp_path / "release", quasi=["age", "town"], confidential=["ill"], l=2, attack=False)
    return tmp_path / "release"


def test_the_public_version_needs_the_release_alone(release, tmp_path) -> None:
    found = board(release, tmp_path / "board")
    page = (tmp_path / "board" / "report.html").read_text(encoding="utf-8")
    assert found.audit is None
    assert "The public version" in page
    assert "How risky was the table before?" not in page
    assert found.seal in page
    assert f"All {found.promises} promises" in page


def test_the_owners_version_says_what_was_before_and_which_analyses_hold(people, release, tmp_path) -> None:
    found = board(release, tmp_path / "board", original=people, weight="w", model=["age ~ town"])
    page = (tmp_path / "board" / "report.html").read_text(encoding="utf-8")
    assert found.audit is not None
    assert found.assessment is not None
    # Every age is had by two records, and their towns differ: all 60 are one of a kind.
    assert found.audit.below[0] == 60
    assert "60 records are one of a kind" in page
    assert found.assessment.survey is not None
    assert found.assessment.survey.sentence.replace("'", "&#39;") in page
    assert (tmp_path / "board").stat().st_mode & 0o077 == 0


def test_bands_that_are_averaged_show_the_middle_one_not_a_mean(people, tmp_path) -> None:
    bands = {"recode": {"age": "20-29,30-39,40+"}, "treat": {"age": "average"}}
    protect(people, 5, tmp_path / "bands", quasi=["age", "town"], attack=False, **bands)
    board(tmp_path / "bands", tmp_path / "board")
    page = (tmp_path / "board" / "report.html").read_text(encoding="utf-8")
    assert "the middle label of its group" in page
    assert "the mean of its group" not in page


def test_what_is_about_the_original_needs_it(release) -> None:
    with pytest.raises(InputError, match="is about the original"):
        board(release, weight="w")


def test_a_release_that_does_not_hold_has_no_page(release, tmp_path) -> None:
    table = release / "table.parquet"
    table.write_bytes(table.read_bytes() + b" ")
    with pytest.raises(InputError, match="does not hold its promises"):
        board(release, tmp_path / "board")
    assert not (tmp_path / "board").exists()


def test_whoever_judges_a_release_takes_the_plan_that_it_was_made_by(tmp_path):
    rows = "\n".join(f"{20 + row % 40},{999 if row % 4 == 0 else 50 + row % 9},{row % 3}" for row in range(80))
    (tmp_path / "people.csv").write_text(f"age,weight_kg,ill\n{rows}\n")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        '[source]\nfile = "people.csv"\nmissing = "group"\n'
        '[columns.age]\nrole = "protect"\n'
        '[columns.weight_kg]\nrole = "protect"\nmissing_codes = [999]\n'
        '[columns.ill]\nrole = "confidential"\n'
    )
    release = tmp_path / "release"
    protect(plan, 4, release, attack=False)

    codes = {"weight_kg": [999]}
    assert assess(plan, release).data() == assess(tmp_path / "people.csv", release, missing_codes=codes).data()
    named = audit(tmp_path / "people.csv", quasi=["age", "weight_kg"], confidential=["ill"], missing_codes=codes)
    assert audit(plan).data() == named.data()
    assert audit(plan, quasi=["age"]).quasi == ("age",)
    assert board(release, original=plan).audit.data() == named.data()
