"""The form comes from the option table, and what it says becomes the plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.request.option import BASKETS, DOCUMENTS, TABLES
from shoal.request.request import OPTIONS, Request
from shoal.web.form import BESIDE_K, OF_COLUMNS, ROLES, PlanForm, edited
from shoal.web.look import Look, look_at
from shoal.web.plans import keep_plan, kept_plan, opened_plan, proposed_plan, saved_plan
from shoal.web.requests import Fields
from shoal.web.workspace import Upload, Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "private")


@pytest.fixture
def upload(workspace: Workspace) -> Upload:
    upload = workspace.new_upload()
    lines = [f"{20 + row},{150 + row % 9},{('Saltmere', 'Osmerby')[row % 2]},{'ABC'[row % 3]}" for row in range(30)]
    (upload.folder / "people.csv").write_text("\n".join(["age,height,town,illness", *lines]), encoding="utf-8")
    return upload


@pytest.fixture
def look(upload: Upload) -> Look:
    return look_at(upload.path)


@pytest.fixture
def plan(upload: Upload, look: Look) -> Request:
    return proposed_plan(upload.path, look)


def test_every_option_with_a_label_has_a_field_and_every_option_of_columns_has_one_beside_a_column(
    plan: Request, look: Look
) -> None:
    form = PlanForm(plan, look)
    shown = {field.option.name for field in form.beside_k} | {
        field.option.name for fields in form.folds.values() for field in fields
    }
    said = {field.option.name for place in range(4) for field in form.column_fields(place)}
    for name, known in OPTIONS.items():
        if name in ROLES or TABLES not in known.about.of or known.about.heading == "Reading files":
            continue
        if name in OF_COLUMNS:
            assert name in said, name
        else:
            assert (name in shown) == bool(known.about.label), name
    assert [field.option.name for field in form.beside_k] == list(BESIDE_K)
    assert "Gain of confidential values (β)" in {field.label for field in form.folds["Promises"]}
    assert {DOCUMENTS, BASKETS} >= set(OPTIONS["language"].about.of)


def test_bounds_and_choices_are_those_of_the_table(plan: Request, look: Look) -> None:
    fields = {field.name: field for fields in PlanForm(plan, look).folds.values() for field in fields}
    fields |= {field.name: field for field in PlanForm(plan, look).beside_k}
    assert fields["k"].bounds == {"min": "2", "step": "1"} and fields["k"].text == "5"
    assert fields["t"].bounds == {"min": "0", "step": "any", "max": "1"}
    assert [value for value, _ in fields["missing"].choices] == ["refuse", "withhold", "group", "impute"]
    assert [value for value, _ in fields["person"].choices] == ["", "age", "height", "town", "illness"]
    assert fields["percent"].needs == ("method", "rank-swap noise correlated-noise")


def test_what_a_form_says_becomes_the_plan_and_what_it_does_not_say_stays(plan: Request, look: Look) -> None:
    sent = {"k": ["7"], "role-1": ["drop"], "round-0": ["", "yes"], "attack": [""], "allow-3": ["", "yes"]}
    changed = edited(plan, Fields(sent), look, Path)
    assert changed.k == 7 and not changed.attack
    assert changed.columns.quasi == ("age", "town") and changed.columns.drop == ("height",)
    assert changed.columns.round == ("age",) and changed.columns.allow == ("illness",)
    assert changed.promises.l == 2
    again = edited(changed, Fields({"role-0": ["insensitive"], "allow-3": [""]}), look, Path)
    assert again.columns.round is None and again.columns.allow is None and again.k == 7


def test_a_column_with_a_part_of_its_own_is_in_no_list(plan: Request, look: Look) -> None:
    changed = edited(plan, Fields({"person": ["height"]}), look, Path)
    assert changed.promises.person == "height" and changed.columns.quasi == ("age", "town")
    assert PlanForm(changed, look).role_of("height") == "person"


def test_what_is_said_of_a_column_goes_when_its_role_has_no_use_for_it(plan: Request, look: Look) -> None:
    sets = edited(plan, Fields({"treat-2": ["blank"], "missing_codes-3": ["9,x"]}), look, Path)
    assert sets.columns.treat == {"town": "blank"} and sets.reading.missing_codes == {"illness": (9, "x")}
    fields = {field.name: field.text for field in PlanForm(sets, look).column_fields(3)}
    assert fields["missing_codes-3"] == "9,x"
    dropped = edited(sets, Fields({"role-2": ["drop"]}), look, Path)
    assert dropped.columns.treat is None and dropped.reading.missing_codes
    meant = edited(sets, Fields({"ontology-2": ["wordnet"]}), look, Path)
    assert meant.method.ontology == {"town": "wordnet"} and meant.columns.categorical is None
    assert PlanForm(meant, look).said_of(2).endswith("Labels are compared wordnet")
    nobody = edited(plan, Fields({f"role-{place}": ["drop"] for place in range(4)}), look, Path)
    assert nobody.columns.quasi is None


def test_a_plan_is_kept_beside_its_file_and_goes_with_it(plan: Request, upload: Upload, workspace: Workspace) -> None:
    assert kept_plan(upload) is None
    keep_plan(upload, plan.with_options(k=9, t=0.4))
    kept = kept_plan(upload)
    assert kept is not None and kept.given == {**plan.given, "k": 9, "t": 0.4}
    assert kept.source == str(upload.path)
    workspace.remove(upload.folder)
    assert not upload.plan.exists()


def test_a_plan_that_was_saved_is_opened_elsewhere(
    plan: Request, upload: Upload, look: Look, workspace: Workspace, tmp_path: Path
) -> None:
    towns = workspace.new_upload()
    (towns.folder / "towns.csv").write_text("child,parent\nSaltmere,sea\nOsmerby,land\n")
    plan = plan.with_options(ontology={"town": str(towns.path)}, categorical=None, k=8)
    saved = tmp_path / "plan.toml"
    saved.write_text(saved_plan(plan, upload))
    assert str(tmp_path) not in saved.read_text() and 'file = "people.csv"' in saved.read_text()
    opened, lost = opened_plan(saved, upload, look, workspace)
    assert opened.given == plan.given and lost == ()
    workspace.remove(towns.folder)
    opened, lost = opened_plan(saved, upload, look, workspace)
    assert lost == ("towns.csv",) and opened.method.ontology is None and opened.k == 8


def test_a_plan_for_another_table_is_refused_and_none_leads_out_of_the_workbench(
    upload: Upload, look: Look, workspace: Workspace, tmp_path: Path
) -> None:
    brought = tmp_path / "plan.toml"
    brought.write_text('[columns]\nages = { role = "protect" }\n')
    with pytest.raises(InputError, match=r"ages.*did you mean|no column ages"):
        opened_plan(brought, upload, look, workspace)
    brought.write_text(
        '[source]\nfile = "/etc/passwd"\n[columns]\nage = { role = "protect", ontology = "/etc/passwd" }\n'
        '[release]\nout = "/tmp/elsewhere"\nsign = "/etc/passwd"\n'
    )
    opened, lost = opened_plan(brought, upload, look, workspace)
    assert opened.source == str(upload.path) and lost == ("passwd",)
    assert opened.given == {"quasi": ("age",)}


def test_a_weight_is_shown_as_the_weight_until_it_gets_another_role(plan: Request, look: Look) -> None:
    weighed = edited(plan, Fields({"weight": ["height"], "role-1": ["quasi"]}), look, Path)
    assert PlanForm(weighed, look).role_of("height") == "weight" and "height" not in (weighed.columns.quasi or ())
    same = edited(weighed, Fields({"role-1": ["weight"], "weight": ["height"]}), look, Path)
    assert same.columns.weight == "height" and same.columns.drop is None
    dropped = edited(weighed, Fields({"role-1": ["drop"]}), look, Path)
    assert dropped.columns.weight is None and dropped.columns.drop == ("height",)
