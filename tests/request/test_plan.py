"""Plans: a request as a TOML file, read, written, won over by options, and refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shoal import InputError, Roles, protect
from shoal.request.plan import PROPOSAL, plan_text, read_plan, request_of, write_plan
from shoal.request.request import OPTIONS, Request
from tests.cli.run import run

ROWS = [f"P{row},{20 + row * 7 % 50},0{1005 + row % 2},{row * 37 % 90},{('flu', 'gout')[row % 2]}" for row in range(40)]
PEOPLE = "\n".join(["name,age,zip,income,illness", *ROWS]) + "\n"
PLAN = """
[source]
file = "people.csv"
missing = "withhold"

[columns]
age = { role = "protect", round = true }
zip = { role = "protect", kind = "code" }
income = { role = "protect", coarsen = 8, importance = 2 }
illness = { role = "confidential", kind = "label" }
name = { role = ["drop", "id"] }

[promise]
k = 4
l = 2

[method]
refine = false
ontology = "wordnet"

[release]
attack = false
out = "out"
sign = "~/keys/id"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    return tmp_path


def planned(folder: Path, text: str) -> Path:
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return folder / "plan.toml"


def test_a_plan_is_the_request_it_stands_for(folder: Path) -> None:
    request = read_plan(planned(folder, PLAN))
    assert request.source == str(folder / "people.csv")
    assert request.given == {
        "k": 4,
        "attack": False,
        "quasi": ("age", "zip", "income"),
        "confidential": ("illness",),
        "drop": ("name",),
        "id_column": "name",
        "kinds": {"zip": "code"},  # that of a column that is not protected only describes it
        "round": ("age",),
        "coarsen": {"income": 8},
        "missing": "withhold",
        "l": 2,
        "refine": False,
        "ontology": "wordnet",
        "importance": {"income": 2},
        "out": str(folder / "out"),
        "sign": str(Path("~/keys/id").expanduser()),
    }


def test_a_request_that_was_written_is_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    odd = ["age, in years", ' "b" ', "c\nd\x7f\\é", "e=f"]
    options: dict[str, Any] = {"quasi": odd, "confidential": ["g"], "order": {odd[0]: ("low", "high")}, "t": 0.25}
    options |= {"categorical": {"e=f": "set"}, "recode": {odd[2]: "year"}, "ontology": {' "b" ': "b.csv"}}
    options |= {
        "delimiter": "tab",
        "person": "h",
        "private": "hidden",
        "method": "mdav",
        "out": "o",
        "text_column": "n",
    }
    request = Request.of("people.csv", options)
    (folder / "plans").mkdir()
    write_plan(request, "plans/plan.toml")
    read = read_plan("plans/plan.toml")
    paths = {"ontology": {' "b" ': "plans/../b.csv"}, "private": "plans/../hidden", "out": "plans/../o"}
    assert read.given == {**request.given, **paths}
    assert Path(read.source).samefile("people.csv")
    with pytest.raises(InputError, match="exists already; give another name, or force"):
        write_plan(request, "plans/plan.toml")
    write_plan(request, "plans/plan.toml", force=True)


def test_every_option_of_the_command_line_has_a_place_in_a_plan_or_none_for_a_reason() -> None:
    somewhere = {known.name for known in OPTIONS.values() if known.section or known.about.role or known.about.column}
    assert OPTIONS.keys() - somewhere == {"roles", "force", "space"}


def test_options_win_over_a_plan_column_by_column(folder: Path) -> None:
    plan = planned(folder, PLAN)
    request = read_plan(plan, {"k": 5, "confidential": ("illness", "income"), "kinds": {"age": "whole"}, "l": 3})
    assert (request.k, request.promises.l) == (5, 3)
    assert request.columns.quasi == ("age", "zip")
    assert request.columns.confidential == ("illness", "income")
    assert request.columns.kinds == {"zip": "code", "age": "whole"}
    with_roles = read_plan(plan, {"roles": Roles(quasi=("age",))}).columns
    assert (with_roles.quasi, with_roles.confidential, with_roles.round) == (None, None, ("age",))
    assert read_plan(plan, source="other.csv").source == "other.csv"
    assert request_of(plan, {}).k == 4


WRONG = {
    "broken TOML": ("[promise\nk = 2", "is not TOML (Expected"),
    "no plan": ('quasi = ["age"]', "has none of [source], [columns] and [promise]"),
    "an unknown section": ("[promise]\n[colums]", "there is no section colums; did you mean columns?"),
    "a section that is none": ("source = 3", "source must be a section; write [source]"),
    "an unknown key": ("[promise]\nkk = 2", "[promise]: there is no key kk; did you mean k?"),
    "a key of another section": ("[source]\nrefine = true", "[source]: there is no key refine"),
    "an option that is no part of a plan": ("[release]\nforce = true\n[promise]", "there is no key force"),
    "a role that is none": ('[columns]\nage = { role = "protekt" }', "no role protekt; did you mean protect?"),
    "a role that is not there yet": ('[columns]\nage = { role = "pseudonym" }', "use one of protect, confidential"),
    "a role that is a list of numbers": ("[columns]\nage = { role = [3] }", "there is no role 3"),
    "a role that is a table": ("[columns]\nage = { role = { a = 1 } }", "there is no role {'a': 1}"),
    "a column without a table": ('[columns]\nage = "protect"', 'write { role = "protect" }'),
    "an unknown key of a column": ("[columns]\nage = { rond = true }", "there is no key rond; did you mean round?"),
    "two columns of a kind that has one": (
        '[columns]\na = { role = "id" }\nb = { role = "id" }',
        "a is the id already",
    ),
    "a word for a number": ('[promise]\nk = "five"', "[promise]: k = five must be a whole number of at least 2"),
    "a k of 1": ("[promise]\nk = 1", "k = 1 must be a whole number of at least 2"),
    "a number for a word": ("[source]\nsheet = 3", "sheet = 3 must be text"),
    "a number for a switch": ("[promise]\n[method]\nrefine = 3", "refine = 3 must be True or False"),
    "a number for a path": ("[promise]\n[release]\nsign = 3", "sign must be a path, between quotes"),
    "a list for a file": ("[source]\nfile = []", "file must be the name of a file"),
    "no file": ("[promise]\nk = 3", 'names no file; write file = "people.csv" below [source]'),
    "a word for true": ("[columns]\nage = { round = 1.5 }", "round must be true or false"),
    "a coarsening to 1": ("[columns]\nage = { coarsen = 1 }", "coarsen = 1 must be a whole number of at least 2"),
    "a password": ('[source]\nfile = "postgresql://ann:s3cret@host/study"', "has a password in it; leave it out"),
    "two kinds of hierarchies": (
        '[source]\n[method]\nontology = "a.csv"\n[columns]\nage = { ontology = "b.csv" }',
        "a file for all columns is given, too",
    ),
    "a k without a crowd": (
        '[source]\nfile = "people.csv"\n[promise]\nk = 3\n[method]\nmethod = "delta-sketch"',
        "k is not for delta-sketch",
    ),
}


@pytest.mark.parametrize(("text", "says"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_plan_is_refused_in_one_line(text: str, says: str, folder: Path) -> None:
    with pytest.raises(InputError) as refused:
        read_plan(planned(folder, text))
    assert says in str(refused.value)
    assert "\n" not in str(refused.value) and "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[source]\nfile = "gone.csv"\n', "gone.csv does not exist"),
        ('[source]\nfile = "people.csv"\n[columns]\nagge = { role = "protect" }\n', "did you mean age?"),
        ("[promise]\nk = 3\nk = 4\n", "is not TOML"),
        ('[source]\nfile = "people.csv"\n[columns]\nage = { role = ["protect", "drop"] }\n', "listed twice"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_refused_in_one_line(text: str, says: str, folder: Path) -> None:
    planned(folder, text)
    ran = run(folder, "protect", "plan.toml", "--no-attack")
    assert (ran.code, len(ran.complaints), ran.out) == (2, 1, ""), ran
    assert says in ran.complaints[0]
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv", "plan.toml"]


def test_what_is_no_file_is_refused(folder: Path) -> None:
    assert "cannot be read" in run(folder, "protect", "--plan", "gone.toml").err
    (folder / "odd.toml").write_bytes(b"\xff[source]")
    assert "is not TOML (not UTF-8)" in run(folder, "protect", "odd.toml").err
    for source in ("postgresql://ann:s3cret@host/study", "people.csv"):
        with pytest.raises(InputError, match=r"password|an object") as refused:
            plan_text(Request.of(source, {"method": object()}), folder, {})
        assert "s3cret" not in str(refused.value)


def test_a_plan_and_its_command_line_make_the_same_release(folder: Path) -> None:
    ran = run(folder, "inspect", "people.csv", "--plan", "plan.toml", "--no-values")
    assert ran.code == 0 and "plan written to plan.toml: check each line" in ran.err
    text = (folder / "plan.toml").read_text(encoding="utf-8")
    assert text.startswith(PROPOSAL)
    assert 'zip = { role = "protect", kind = "code" }  # code; by its name others may know it of a person' in text
    assert run(folder, "inspect", "people.csv", "--plan", "plan.toml").code == 2
    words = ["--quasi", "age,zip", "--kind", "age=whole,zip=code", "--confidential", "income,illness", "--l", "2"]
    seals = []
    for given in (
        ["plan.toml"],
        ["--plan", "plan.toml"],
        ["people.csv", *words],
        ["people.csv", "--plan", "plan.toml"],
    ):
        out = ["-k", "4", "-o", "out", "--no-attack", "--no-refine", "--json", "--force"]
        ran = run(folder, "protect", *given, *out)
        assert ran.code == 0, ran.err
        seals.append(json.loads(ran.out)["certificate"]["seal"])
    made = protect(folder / "plan.toml", k=4, out=folder / "out", attack=False, refine=False, force=True)
    assert {*seals, made.certificate["seal"]} == {seals[0]}
    assert made.certificate["promises"]["anonymity"]["k"] == 4
