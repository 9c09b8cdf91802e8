"""The command that a page shows and the Python beside it make the same release."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from shoal.cli import app
from shoal.errors import InputError
from shoal.sample import letters
from shoal.web.protecting.choices import BY_GROUPS, PLAIN, Choices
from shoal.web.protecting.command import protect_command
from shoal.web.protecting.hierarchies import hierarchy_pairs, write_hierarchy
from shoal.web.protecting.look import look_at, values_of

TOWNS = ("Saltmere", "Wexcombe", "Osmerby", "Harrock")


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    draw = random.Random(0)
    lines = ["id,age,height,town,diagnosis"]
    for number in range(60):
        row = (f"P{number}", draw.randint(20, 90), draw.randint(150, 200), draw.choice(TOWNS), draw.choice("ABC"))
        lines.append(",".join(map(str, row)))
    (tmp_path / "people.csv").write_text("\n".join(lines), encoding="utf-8")
    return Path("people.csv")


def seals(source: Path, choices: Choices, hierarchies: dict[str, str]) -> tuple[str, str]:
    """Of the release that the command makes, and of the one that the Python makes."""
    command = protect_command(choices, look_at(source), str(source), hierarchies, Path())
    made = CliRunner().invoke(app, [*command.words, "--json", "--force"])
    assert made.exit_code == 0, made.output
    first = json.loads(made.stdout)["certificate"]["seal"]
    Path("release").rename("by-command")
    Path("release-private").rename("by-command-private")
    exec(command.python, {})
    return first, json.loads(Path("release/certificate.json").read_bytes())["seal"]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"k": 3, "l": None, "refine": False},
        {"roles": {0: "identifier", 1: "quasi", 2: "quasi", 3: "insensitive", 4: "confidential"}, "refine": False},
        {"roles": {0: "identifier", 1: "quasi", 2: "quasi", 3: "identifier", 4: "identifier"}, "l": None},
        {"roles": {0: "identifier", 1: "insensitive", 2: "identifier", 3: "quasi", 4: "identifier"}, "l": None},
        {"labels": {3: PLAIN}, "whole": True, "t": 0.5, "person": "id", "missing": "group"},
    ],
)
def test_shell_and_python_make_the_same_release_of_a_table(table: Path, given: dict[str, Any]) -> None:
    look = look_at(table)
    choices = replace(Choices.suggested(look), attack=False, **given)
    hierarchies = {}
    if choices.roles[3] == "quasi" and choices.labels.get(3) != PLAIN:
        choices = replace(choices, labels={3: BY_GROUPS})
        groups = {"by the sea": ["Saltmere", "Wexcombe"]}
        pairs = hierarchy_pairs("town", values_of(table, ["town"])["town"], groups)
        hierarchies["town"] = write_hierarchy(Path(), 3, pairs)
    first, second = seals(table, choices, hierarchies)
    assert first == second


def test_shell_and_python_make_the_same_release_of_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"name": one.id, "note": one.text, "kind": one.speciality}) for one in letters()[:40]]
    (tmp_path / "letters.jsonl").write_text("\n".join(lines), encoding="utf-8")
    look = look_at(Path("letters.jsonl"))
    assert look.fields == ("name", "note", "kind") and look.text == "note" and look.inspection.rows == 40
    more = {"identity": "name", "label": "kind", "k": 3, "l": 2, "refine": False, "attack": False}
    choices = replace(Choices.suggested(look), **more)
    first, second = seals(Path("letters.jsonl"), choices, {})
    assert first == second


def test_names_that_no_list_can_hold_go_into_a_roles_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{number},{number % 7}" for number in range(30))
    (tmp_path / "odd.csv").write_text(f'"age, in years"," height\n"\n{rows}\n', encoding="utf-8")
    source = Path("odd.csv")
    choices = Choices(roles={0: "quasi", 1: "quasi"}, refine=False, attack=False)
    command = protect_command(choices, look_at(source), "odd.csv", {}, tmp_path)
    assert "--roles" in command.words
    first, second = seals(source, choices, {})
    assert first == second


def test_what_cannot_be_done_is_said_before_anything_runs(table: Path) -> None:
    look = look_at(table)
    nothing = Choices(roles=dict.fromkeys(range(5), "identifier"))
    with pytest.raises(InputError, match="no column is protected"):
        protect_command(nothing, look, "people.csv", {}, Path())
    with pytest.raises(InputError, match="enter the strength"):
        protect_command(replace(Choices.suggested(look), method="noise"), look, "people.csv", {}, Path())


def test_choices_survive_being_kept_with_a_job(table: Path) -> None:
    look = look_at(table)
    chosen = replace(
        Choices.suggested(look), k=9, labels={3: BY_GROUPS}, groups={3: {"by the sea": ("Saltmere",)}}, refine=False
    )
    kept = Choices.from_data(json.loads(json.dumps(chosen.as_data())), look)
    assert kept.k == 9 and kept.roles == chosen.roles and not kept.refine
    assert kept.groups[3]["by the sea"] == ["Saltmere"]


def test_a_value_stands_below_its_group_and_every_group_below_the_top() -> None:
    pairs = hierarchy_pairs("town", ["b", "a", "c"], {"sea": ["a", "gone"], "empty": []})
    assert pairs == [("a", "sea"), ("b", "any town"), ("c", "any town"), ("sea", "any town")]


def test_the_top_is_called_like_nothing_else() -> None:
    assert hierarchy_pairs("town", ["any town"], {}) == [("any town", "(any town)")]
