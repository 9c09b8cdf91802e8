"""The command that a page shows and the Python beside it make the same release."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from shoal import load, verify
from shoal.cli import app
from shoal.data.formats import subprocess_reader as apart
from shoal.errors import InputError
from shoal.sample import letters
from shoal.web.protecting.choices import BY_GROUPS, PLAIN, Choices
from shoal.web.protecting.command import protect_command
from shoal.web.protecting.curve import estimate
from shoal.web.protecting.job_files import earlier_release, hierarchy_pairs, write_hierarchy
from shoal.web.protecting.look import look_at, values_of
from shoal.web.workspace import Workspace

TOWNS = ("Saltmere", "Wexcombe", "Osmerby", "Harrock")


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    draw = random.Random(0)
    lines = ["id,age,height,town,diagnosis,own_k,area"]
    for number in range(60):
        row = (f"P{number}", draw.randint(20, 90), draw.randint(150, 200), draw.choice(TOWNS), draw.choice("ABC"))
        lines.append(",".join(map(str, (*row, 9 if number == 7 else 5, draw.choice((1, 2))))))
    (tmp_path / "people.csv").write_text("\n".join(lines), encoding="utf-8")
    return Path("people.csv")


def seals(
    source: Path, choices: Choices, hierarchies: dict[str, str], reading: dict[str, str] | None = None
) -> tuple[str, str]:
    """Of the release that the command makes, and of the one that the Python makes."""
    command = protect_command(choices, look_at(source, reading=reading), str(source), hierarchies, Path())
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
        {"roles": {0: "identifier", 1: "identifier", 2: "identifier", 3: "quasi", 4: "insensitive"}, "l": None},
        {"labels": {3: PLAIN}, "whole": True, "t": 0.5, "person": "id", "missing": "group"},
        {"labels": {3: PLAIN}, "l": 1.5, "diversity": "entropy", "k_column": "own_k", "whole": True, "refine": False},
        {"labels": {3: PLAIN}, "kinds": {6: "code"}, "whole": True, "refine": False},
        {"labels": {3: PLAIN}, "diversity": "recursive", "c": 4.0, "identity": "id", "refine": False},
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


def test_shell_and_python_read_documents_in_their_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("Husten", "Fieber", "Arm", "Bein", "Herz", "Lunge")
    texts = [f"Die Patientin hat {one} und {other}" for one in words for other in words if one != other]
    (tmp_path / "briefe.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts), encoding="utf-8")
    look = look_at(Path("briefe.jsonl"))
    german = replace(Choices.suggested(look), k=3, refine=False, attack=False, language="german")
    command = protect_command(german, look, "briefe.jsonl", {}, tmp_path)
    assert command.words[-3:-1] == ("--language", "german")
    first, second = seals(Path("briefe.jsonl"), german, {})
    assert first == second
    terms = load("release").terms.tolist()
    assert "und" not in terms and "lung" in terms
    with pytest.raises(InputError, match="only English words have a meaning here"):
        protect_command(replace(german, method="semantic"), look, "briefe.jsonl", {}, tmp_path)
    with pytest.raises(InputError, match="estimated for English texts only"):
        estimate(Path("briefe.jsonl"), look, german)


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


def test_categories_and_scales_with_names_that_no_option_can_list_are_protected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{TOWNS[row % 3]},{1 + row % 2},{('low', 'medium', 'high')[row % 3]}" for row in range(30))
    header = '"town, or city 🏙",area=1/2,"pain, today"'
    (tmp_path / "odd.csv").write_text(f"{header}\n{rows}\n", encoding="utf-8")
    source = Path("odd.csv")
    choices = Choices(roles=dict.fromkeys(range(3), "quasi"), kinds={1: "code"}, refine=False, attack=False)
    command = protect_command(choices, look_at(source), "odd.csv", {}, tmp_path)
    assert "--roles" in command.words and "--categorical" not in command.words and "--order" not in command.words
    first, second = seals(source, choices, {})
    assert first == second
    released = Path("release/table.csv").read_text(encoding="utf-8")
    assert "1.5" not in released
    with pytest.raises(InputError, match="area=1/2 has a comma or = in its name and cannot stay whole; rename it"):
        protect_command(replace(choices, kinds={}, whole=True), look_at(source), "odd.csv", {}, tmp_path)


def read_here(path: Any, format: str, verbatim: Any, encoding: str | None, sheet: str | None) -> Any:
    """Instead of in a process of its own, which takes a second to start."""
    return apart._read({"path": str(path), "format": format, "sheet": sheet})


def test_a_sheet_that_was_chosen_is_read_by_shell_and_python(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("shoal.data.formats.subprocess_reader", "shoal.data.table"):
        monkeypatch.setattr(f"{place}.read_in_subprocess", read_here)
    frame = pd.read_csv(table)[["age", "height"]]
    with pd.ExcelWriter(tmp_path / "book.xlsx", engine="xlsxwriter") as book:
        pd.DataFrame({"note": ["see the next sheet"]}).to_excel(book, sheet_name="Cover", index=False)
        frame.to_excel(book, sheet_name="People ", index=False)
    assert look_at(Path("book.xlsx")).reading == {"sheet": "Cover"}
    look = look_at(Path("book.xlsx"), reading={"sheet": "People "})
    assert look.sheets == ("Cover", "People ") and look.first[0] == tuple(map(str, frame.iloc[0]))
    command = protect_command(Choices.suggested(look), look, "book.xlsx", {}, Path())
    assert "--sheet 'People '" in command.line and "TableFile('book.xlsx', sheet='People ')" in command.python


def test_a_dialect_that_was_chosen_is_read_by_shell_and_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{20 + row},5|{150 + row % 7}" for row in range(30))
    (tmp_path / "odd.csv").write_bytes(f"Größe|height\n{rows}\n".encode("cp850"))
    reading = {"delimiter": "bar", "decimal": "comma", "encoding": "cp850"}
    look = look_at(Path("odd.csv"), reading=reading)
    assert look.header == ("Größe", "height") and look.columns[0].kind == "number"
    chosen = Choices(roles={0: "quasi", 1: "quasi"}, refine=False, attack=False)
    first, second = seals(Path("odd.csv"), chosen, {}, reading)
    assert first == second


def test_what_cannot_be_done_is_said_before_anything_runs(table: Path) -> None:
    look = look_at(table)
    nothing = Choices(roles=dict.fromkeys(range(6), "identifier"))
    with pytest.raises(InputError, match="no column is protected"):
        protect_command(nothing, look, "people.csv", {}, Path())
    suggested = Choices.suggested(look)
    for given, line in (
        ({"method": "noise"}, "enter the strength"),
        ({"l": 1.5}, "l=1.5 counts values; enter a whole number, or choose entropy"),
        ({"l": 2, "diversity": "recursive"}, "enter c, such as 3"),
        ({"diversity": "<b>"}, "diversity=<b> is not known"),
    ):
        with pytest.raises(InputError, match=line):
            protect_command(replace(suggested, **given), look, "people.csv", {}, Path())


def test_a_column_that_is_not_released_is_neither_protected_nor_listed(table: Path) -> None:
    look = look_at(table)
    roles = dict.fromkeys(range(6), "quasi")
    chosen = Choices(roles=roles, identity="id", person="town", k_column="own_k", whole=True)
    words = protect_command(chosen, look, "people.csv", {}, Path()).words
    assert words[words.index("--quasi") + 1] == "age,height,diagnosis"
    assert words[words.index("--round") + 1] == "age,height"
    assert chosen.columns(look, "quasi") == ("age", "height", "diagnosis")  # what the curve is estimated on


def test_a_release_follows_one_that_was_saved_as_zips(table: Path, tmp_path: Path) -> None:
    look = look_at(table)
    roles = {1: "quasi", 2: "quasi"}
    first = Choices(roles=roles, identity="id", refine=False, attack=False)
    made = CliRunner().invoke(app, protect_command(first, look, "people.csv", {}, Path()).words)
    assert made.exit_code == 0, made.output
    workspace = Workspace(tmp_path / "workbench")
    uploads = {"after": workspace.new_upload(), "earlier_private": workspace.new_upload()}
    for upload, name in zip(uploads.values(), ("release", "release-private"), strict=True):
        shutil.make_archive(str(upload.folder / "saved"), "zip", tmp_path, name)
    with workspace.new_job() as job:
        pass
    with pytest.raises(InputError, match="needs that release and its private part; choose both"):
        earlier_release(replace(first, after=uploads["after"].id), workspace, job)
    chosen = replace(first, **{option: upload.id for option, upload in uploads.items()})
    with pytest.raises(InputError, match="choose the column that names the records"):
        earlier_release(replace(chosen, identity=""), workspace, job)
    earlier = earlier_release(chosen, workspace, job)
    assert earlier == {"after": "earlier/release", "earlier_private": "earlier-private/release-private"}
    with contextlib.chdir(job / "work"):
        shutil.copy(tmp_path / "people.csv", "people.csv")
        command = protect_command(chosen, look, "people.csv", {}, Path(), earlier)
        followed = CliRunner().invoke(app, command.words)
        assert followed.exit_code == 0, followed.output
        assert verify("release", after="earlier/release")
        assert "after='earlier/release'" in command.python


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
