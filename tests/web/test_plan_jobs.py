"""The command that a page shows and the Python beside it make the same release."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from shoal import load, verify
from shoal.cli import app
from shoal.data.formats import subprocess_reader as apart
from shoal.errors import InputError
from shoal.request.plan import write_plan
from shoal.request.request import Request
from shoal.sample import letters
from shoal.web.commands import PLAN, protect_command
from shoal.web.form import edited
from shoal.web.judging import estimate
from shoal.web.look import look_at, values_of
from shoal.web.plan_jobs import check_plan, lent
from shoal.web.plans import hierarchy_pairs, proposed_plan, read_groups, write_groups
from shoal.web.requests import Fields
from shoal.web.workspace import Workspace

TOWNS = ("Saltmere", "Wexcombe", "Osmerby", "Harrock")
QUICK = {"refine": False, "attack": False}


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "upload").mkdir()
    monkeypatch.chdir(tmp_path / "upload")
    draw = random.Random(0)
    lines = ["id,age,height,town,diagnosis,own_k,area"]
    for number in range(60):
        row = (f"P{number}", draw.randint(20, 90), draw.randint(150, 200), draw.choice(TOWNS), draw.choice("ABC"))
        lines.append(",".join(map(str, (*row, 9 if number == 7 else 5, draw.choice((1, 2))))))
    Path("people.csv").write_text("\n".join(lines), encoding="utf-8")
    return Path("people.csv")


def proposed(source: Path, **given: Any) -> Request:
    """The plan that the page proposes, with these options."""
    plan = proposed_plan(source, look_at(source))
    return plan.with_options(**{**QUICK, **given})


def seals(plan: Request) -> tuple[str, str]:
    """Of the release that the command makes, and of the one that the Python makes."""
    command = protect_command(plan)
    if PLAN in command.words:
        write_plan(plan, PLAN)
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
        {"k": 3, "l": None},
        {"quasi": ["age"], "insensitive": ["town"], "confidential": ["diagnosis"], "categorical": None},
        {"round": ["age"], "t": 0.5, "person": "id", "drop": None, "missing": "group"},
        {"l": 1.5, "diversity": "entropy", "k_column": "own_k", "quasi": ["age", "height", "town"]},
        {"categorical": {"town": "set", "area": "most frequent"}, "round": ["age"]},
        {"diversity": "recursive", "c": 4.0, "id_column": "id", "drop": None},
    ],
)
def test_shell_and_python_make_the_same_release_of_a_table(table: Path, given: dict[str, Any]) -> None:
    plan = proposed(table, **given)
    if not given:
        pairs = hierarchy_pairs("town", values_of(table, ["town"])["town"], {"by the sea": ["Saltmere", "Wexcombe"]})
        write_groups(Path("groups.csv"), pairs)
        plan = plan.with_options(ontology={"town": "groups.csv"}, categorical=None)
    first, second = seals(plan)
    assert first == second


def test_shell_and_python_make_the_same_release_of_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"name": one.id, "note": one.text, "kind": one.speciality}) for one in letters()[:40]]
    (tmp_path / "letters.jsonl").write_text("\n".join(lines), encoding="utf-8")
    look = look_at(Path("letters.jsonl"))
    assert look.column_names == ("name", "note", "kind") and look.text == "note" and look.inspection.rows == 40
    first, second = seals(proposed(Path("letters.jsonl"), id_column="name", label_column="kind", k=3, l=2))
    assert first == second


def test_shell_and_python_read_documents_in_their_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("Husten", "Fieber", "Arm", "Bein", "Herz", "Lunge")
    texts = [f"Die Patientin hat {one} und {other}" for one in words for other in words if one != other]
    (tmp_path / "briefe.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts), encoding="utf-8")
    german = proposed(Path("briefe.jsonl"), k=3, language="german")
    assert "--language german" in protect_command(german).line
    first, second = seals(german)
    assert first == second
    terms = load("release").terms.tolist()
    assert "und" not in terms and "lung" in terms
    with pytest.raises(InputError, match="estimated for English texts only"):
        estimate(german, 30)


def test_names_with_commas_are_listed_as_json_and_give_the_same_seal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{TOWNS[row % 3]},{1 + row % 2},{('low', 'medium', 'high')[row % 3]}" for row in range(30))
    header = '"town, or city 🏙",area=1/2,"pain, today"'
    (tmp_path / "odd.csv").write_text(f"{header}\n{rows}\n", encoding="utf-8")
    plan = proposed(Path("odd.csv"))
    assert plan.columns.order == {"pain, today": ("low", "medium", "high")}
    assert any(word.startswith('["town, or city') for word in protect_command(plan).words)
    first, second = seals(plan)
    assert first == second


def read_here(path: Any, format: str, verbatim: Any, given: Any) -> Any:
    """Instead of in a process of its own, which takes a second to start."""
    asked = {"skip_rows": given.skip_rows, "header_rows": given.header_rows, "verbatim": sorted(verbatim)}
    return apart._read({"path": str(path), "format": format, "sheet": given.sheet, **asked})


def test_a_sheet_that_was_chosen_is_read_by_shell_and_python(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("shoal.data.formats.subprocess_reader", "shoal.data.table"):
        monkeypatch.setattr(f"{place}.read_in_subprocess", read_here)
    frame = pd.read_csv(table)[["age", "height"]]
    with pd.ExcelWriter("book.xlsx", engine="xlsxwriter") as book:
        pd.DataFrame({"note": ["see the next sheet"]}).to_excel(book, sheet_name="Cover", index=False)
        frame.to_excel(book, sheet_name="People ", index=False)
    assert look_at(Path("book.xlsx")).reading == {"sheet": "Cover"}
    look = look_at(Path("book.xlsx"), reading={"sheet": "People "})
    assert look.sheets == ("Cover", "People ") and look.first[0] == tuple(map(str, frame.iloc[0]))
    plan = proposed_plan(Path("book.xlsx"), look)
    command = protect_command(plan)
    assert "--sheet 'People '" in command.line and "sheet='People '" in command.python


def test_a_dialect_that_was_chosen_is_read_by_shell_and_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{20 + row},5|{150 + row % 7}" for row in range(30))
    (tmp_path / "odd.csv").write_bytes(f"Größe|height\n{rows}\n".encode("cp850"))
    reading = {"delimiter": "bar", "decimal": "comma", "encoding": "cp850"}
    look = look_at(Path("odd.csv"), reading=reading)
    assert look.header == ("Größe", "height") and look.columns[0].kind == "number"
    plan = proposed_plan(Path("odd.csv"), look)
    first, second = seals(plan.with_options(quasi=["Größe", "height"], insensitive=None, **QUICK))
    assert first == second


def test_what_cannot_be_done_is_said_before_anything_runs(table: Path) -> None:
    look = look_at(table)
    with pytest.raises(InputError, match="no column is protected"):
        check_plan(Request.of("people.csv", {"drop": ["age"]}), look)
    with pytest.raises(InputError, match="enter it in per cent"):
        check_plan(proposed(table, method="noise"), look)
    for fields, line in (
        ({"l": ["1.5"]}, "l=1.5 must be a whole number of at least 2"),
        ({"l": ["2"], "diversity": ["recursive"]}, "needs c"),
        ({"diversity": ["<b>"]}, "What l counts: <b> is not known"),
        ({"k": ["1"]}, "1 must be a whole number of at least 2"),
    ):
        with pytest.raises(InputError, match=line):
            edited(proposed(table), Fields(fields), look, Path)


def test_a_release_follows_one_that_was_saved_as_zips(table: Path, tmp_path: Path) -> None:
    first = Request.of("people.csv", {"quasi": ["age", "height"], "id_column": "id", **QUICK})
    made = CliRunner().invoke(app, protect_command(first).words)
    assert made.exit_code == 0, made.output
    workspace = Workspace(tmp_path / "workbench")
    uploads = {"after": workspace.new_upload(), "earlier_private": workspace.new_upload()}
    for upload, name in zip(uploads.values(), ("release", "release-private"), strict=True):
        shutil.make_archive(str(upload.folder / f"saved-{name}"), "zip", ".", name)
    with workspace.new_job() as job:
        pass
    with pytest.raises(InputError, match="needs that release and its private part; choose both"):
        lent(first.with_options(after=str(uploads["after"].path)), workspace, job)
    chosen = first.with_options(**{option: str(upload.path) for option, upload in uploads.items()})
    with pytest.raises(InputError, match="choose the column that names the records"):
        lent(chosen.with_options(id_column=None), workspace, job)
    ready = lent(chosen, workspace, job)
    assert ready.publication.after == "earlier/release"
    assert ready.publication.earlier_private == "earlier-private/release-private"
    with contextlib.chdir(job / "work"):
        command = protect_command(ready)
        followed = CliRunner().invoke(app, command.words)
        assert followed.exit_code == 0, followed.output
        assert verify("release", after="earlier/release")
        assert "after='earlier/release'" in command.python


def test_a_value_stands_below_its_group_and_every_group_below_the_top(tmp_path: Path) -> None:
    pairs = hierarchy_pairs("town", ["b", "a", "c"], {"sea": ["a", "gone"], "empty": []})
    assert pairs == [("a", "sea"), ("b", "any town"), ("c", "any town"), ("sea", "any town")]
    write_groups(tmp_path / "groups.csv", pairs)
    assert read_groups(tmp_path / "groups.csv", ["a", "b", "c"]) == {"sea": ["a"]}


def test_the_top_is_called_like_nothing_else() -> None:
    assert hierarchy_pairs("town", ["any town"], {}) == [("any town", "(any town)")]
