"""Files as offices have them: the plan that `inspect` proposes runs, and averages no code, weight or id."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.data.kinds.inspection import Inspection, proposed_request
from shoal.release.protect import make_release
from shoal.request.plan import read_plan, write_plan
from shoal.request.request import Request
from tests.release import survey_files as files

pytestmark = pytest.mark.usefixtures("without_attack")


def carried_out(path: Path, folder: Path) -> tuple[Inspection, Any]:
    """The file inspected, and the release that the proposed plan makes, as it stands but for the search."""
    found = shoal.inspect(path)
    proposed, notes = proposed_request(found, Request.of(path, {}))
    write_plan(proposed, folder / "plan.toml", notes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = make_release(read_plan(folder / "plan.toml", {"refine": False, "out": folder / "release"}))
    assert shoal.verify(made.folder).holds
    return found, made


def averaged(certificate: Any) -> set[str]:
    """The protected columns of which means are released: numbers and dates."""
    quasi = [column for column in certificate["promises"]["columns"] if column["role"] == "quasi"]
    return {one["name"] for one in quasi if one["type"] != "string"} | {
        *certificate["stated"]["parameters"].get("dates", ())
    }


@pytest.mark.parametrize("make", files.MAKERS, ids=lambda make: make.__name__)
def test_a_proposed_plan_runs_and_averages_no_code_weight_or_id(
    make: Callable[[Path], tuple[Path, set[str]]], tmp_path: Path
) -> None:
    path, never = make(tmp_path)
    _, made = carried_out(path, tmp_path)
    assert not averaged(made.certificate) & never


def test_adult_runs_as_proposed(data_folder: Path, tmp_path: Path) -> None:
    path, never = files.adult(tmp_path, data_folder / "adult_train.csv.gz")
    found, made = carried_out(path, tmp_path)
    assert averaged(made.certificate) == {"age", "hours-per-week"}
    assert not averaged(made.certificate) & never
    assert {column.name: column.role for column in found.columns}["fnlwgt"] == "weight"


@pytest.mark.parametrize(
    ("make", "roles", "codes"),
    [
        (
            files.household_survey,
            {"hhid": "household", "hhweight": "weight"},
            {"age": [-9], "bmi": [999], "smokes": [9]},
        ),
        (files.labour_survey, {"person_no": "identifier", "fexp": "weight"}, {"hours": [99], "wage": [99999]}),
        (files.hospital_file, {"patient_id": "person", "note": "identifier"}, {"days": [-9], "glucose": [999]}),
        (files.demographic_survey, {"caseid": "identifier", "v005": "weight"}, {"v438": [9999, 9998], "hivtest": [8]}),
        (
            files.german_labour_survey,
            {"hhnr": "household", "hrf": "weight"},
            {"arbeitszeit": [-2], "nettoeinkommen": [-1]},
        ),
        (files.school_census, {"upn": "identifier"}, {"maths_score": [-1]}),
        (files.tax_returns, {"lfd_nr": "identifier", "tax_year": "insensitive"}, {"property_value": [9999999]}),
        (files.living_conditions, {"HX030": "household", "RX030": "identifier", "DB090": "weight"}, {"PH020": [-1]}),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_every_trap_is_named(make: Callable[[Path], Any], roles: dict[str, str], codes: Any, tmp_path: Path) -> None:
    columns = {column.name: column for column in shoal.inspect(make(tmp_path)[0]).columns}
    assert {name: columns[name].role.value for name in roles} == roles
    assert {name: list(columns[name].missing_codes) for name in codes} == codes
    assert all("missing_codes = [" in " ".join(columns[name].notes) for name in codes)


def test_titles_remarks_groups_of_columns_and_named_months_are_read(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="1 remark left out, from row 426"):
        found = shoal.inspect(files.tumour_registry(tmp_path)[0])
    assert found.reading == {"skip_rows": 3} and found.rows == 420
    kinds = {column.name: column.kind.value for column in found.columns}
    assert (kinds["Born"], kinds["Diagnosed"], kinds["Centre"]) == ("date", "date", "code")
