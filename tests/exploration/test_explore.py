"""explore: every trial judged once, a recommendation within the limits, and going on after an interruption."""

from __future__ import annotations

import csv
import json
import shlex
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import shoal.exploration.explore as module
from shoal import Hierarchy, InputError, Roles, explore
from shoal.exploration.explore import pareto_front, recommend
from shoal.exploration.limits import Limits
from shoal.exploration.trials import number_trials
from shoal.pages.exploration import exploration_html
from shoal.results.exploration import Exploration, Outcome, Trial
from tests.cli.run import run

RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame(
    RANDOM.multivariate_normal([40, 60, 80], [[9, 5, 0], [5, 9, 0], [0, 0, 9]], 40), columns=list("abc")
)


def outcome(name: str, loss: float, risk: float, alike: int = 1) -> Outcome:
    return Outcome(Trial(name, k=2), loss, risk, alike, {})


SOME = [outcome("w", 1, 90), outcome("x", 10, 30, 3), outcome("y", 20, 12, 5), outcome("z", 25, 31, 9)]


def test_the_front_has_what_nothing_beats_in_both() -> None:
    assert [one.trial.method for one in pareto_front(SOME)] == ["y", "x", "w"]


@pytest.mark.parametrize(
    ("limits", "best"),
    [
        ({"max_risk": 35}, "x"),  # the least loss of those that keep it
        ({"max_loss": 22}, "y"),  # the least risk
        ({"max_risk": 35, "max_loss": 22}, "y"),  # the best score, 16 against 20
        ({}, "y"),
        ({"max_risk": 35, "min_k": 9}, "z"),
        ({"max_risk": 1}, None),
    ],
)
def test_the_recommendation_keeps_the_limits(limits: dict[str, Any], best: str | None) -> None:
    found = recommend(SOME, Limits(**limits))
    assert (found.trial.method if found else None) == best


def test_thirteen_columns_are_tried_in_more_than_forty_ways() -> None:
    trials = number_trials(1080, 13)
    assert len(trials) >= 40
    assert len({trial.name for trial in trials}) == len(trials)


def test_every_trial_is_judged_and_kept_and_the_rest_is_done_after_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    real = module.try_out

    def interrupted(trial: Trial, *rest: Any) -> Outcome:
        if len(tried) == 5:
            raise KeyboardInterrupt
        tried.append(trial.name)
        return real(trial, *rest)

    monkeypatch.setattr(module, "try_out", interrupted)
    monkeypatch.setattr(module, "number_trials", lambda *_: number_trials(40, 3)[:9])
    with pytest.raises(KeyboardInterrupt):
        explore(TABLE, tmp_path / "out", refine=False, workers=1)
    assert len(json.loads((tmp_path / "out" / "runs.json").read_text())["runs"]) == 5
    tried.clear()
    tried_before = 5
    monkeypatch.setattr(module, "try_out", lambda trial, *rest: tried.append(trial.name) or real(trial, *rest))
    found = explore(TABLE, tmp_path / "out", refine=False, workers=1)
    assert len(tried) == 9 - tried_before
    assert len(found.outcomes) == 9
    with (tmp_path / "out" / "results.csv").open() as lines:
        assert [row["method"] for row in csv.DictReader(lines)] == [one.trial.name for one in found.outcomes]
    assert [one.score for one in found.outcomes] == sorted(one.score for one in found.outcomes)
    with pytest.raises(InputError, match="results of another table"):
        explore(TABLE + 1, tmp_path / "out", refine=False, workers=1)


def test_the_command_makes_the_recommended_release(tmp_path: Path) -> None:
    TABLE.assign(secret=["x", "y"] * 20).to_csv(tmp_path / "people.csv", index=False)
    source = tmp_path / "people.csv"
    roles = Roles(quasi=("a", "b", "c"), confidential=("secret",))
    found = explore(source, tmp_path / "out", roles=roles, refine=False, max_risk=40, min_k=3)
    assert found.recommended is not None
    assert found.recommended.risk <= 40
    words = shlex.split(found.command.replace("-o release", f"-o {tmp_path / 'release'}"))
    ran = run(tmp_path, *words[1:])
    assert ran.code == 0, ran.err
    assert (tmp_path / "release" / "certificate.json").is_file()
    page = (tmp_path / "out" / "report.html").read_text()
    assert found.recommended.trial.name in page


def test_names_that_no_list_can_hold_go_by_a_file_of_roles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "number_trials", lambda *_: [Trial("mdav", k=3)])
    odd = ["age, in years", ' "b" ', "c\nd\x7f\\é"]
    TABLE.set_axis(odd, axis=1).assign(**{"why, o why": "x"}).to_csv(tmp_path / "-people.csv", index=False)
    monkeypatch.chdir(tmp_path)
    roles = Roles(quasi=tuple(odd), confidential=("why, o why",))
    found = explore("-people.csv", "out folder", roles=roles, refine=False, workers=1)
    assert found.command == (
        "shoal protect ./-people.csv -o release --roles 'out folder/roles.toml' --method mdav -k 3"
    )
    assert Roles.from_toml("out folder/roles.toml") == roles
    ran = run(tmp_path, *shlex.split(found.command)[1:])
    assert ran.code == 0, ran.err
    assert explore("-people.csv", "out folder", roles=roles, refine=False, workers=1).command == found.command


def test_the_folder_is_closed_to_others_and_its_files_are_whole_or_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "number_trials", lambda *_: [Trial("mdav", k=3)])
    folder = tmp_path / "out"
    folder.mkdir(mode=0o755)
    explore(TABLE, folder, refine=False, workers=1)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name for path in folder.iterdir()} == {"runs.json", "results.csv", "report.html"}
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\)"):
        explore(TABLE, folder, refine=False, workers=1)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_page_says_in_words_what_is_recommended_and_draws_the_limits_that_lie_within(tmp_path: Path) -> None:
    tried = tuple(Outcome(Trial("rank-swap", percent=p), 2.0 * p, 40.0 - p, 1, {}) for p in (5.0, 10.0))

    def page(**limits: Any) -> str:
        found = {"max_risk": None, "max_loss": None, "min_k": None} | limits
        return exploration_html(Exploration(tried, tried, tried[0], "shoal protect", kind="numbers", **found))

    assert "Recommended: rank swapping, 5 %." in page()
    assert "No limits were set" in page()
    assert "Limits: risk at most 33 %, at least 4 records alike" in page(max_risk=33.0, min_k=4)
    assert "The dashed line is the limit." in page(max_risk=33.0)
    assert "stroke-dasharray" in page(max_risk=33.0)
    assert "The dashed lines are the limits." in page(max_risk=33.0, max_loss=10.0)
    assert "The dashed" not in page(max_risk=90.0)
    assert "stroke-dasharray" not in page(max_risk=90.0)
    assert "some are one of a kind" in page()


def test_the_terminal_says_when_the_recommended_protection_promises_no_crowd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    TABLE.to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.setattr(module, "number_trials", lambda *_: [Trial("rank-swap", percent=5.0), Trial("mdav", k=3)])
    monkeypatch.setattr(module.os, "cpu_count", lambda: 1)
    asked = ("explore", "people.csv", "-o", "out", "--quasi", "a,b,c", "--no-refine")
    swapped = run(tmp_path, *asked, "--max-risk", "99")
    assert "recommended  rank-swap, 5 %:" in swapped.out
    assert "promise      NO crowd: a record may be one of a kind; --min-k 3 recommends a crowd" in swapped.out
    grouped = run(tmp_path, *asked, "--min-k", "3")
    assert "recommended  mdav, k=3:" in grouped.out
    assert "promise      each looks like at least 2 others" in grouped.out


@pytest.mark.parametrize(
    ("trial", "promised"),
    [
        (Trial("mdav", k=3), True),
        (Trial("sa-mdav", k=3), True),
        (Trial("mdav", k=3, attribute_groups=2), False),  # each few columns have crowds of their own
        (Trial("ranking", k=3), False),
        (Trial("noise", percent=5.0), False),
    ],
)
def test_only_microaggregation_of_all_columns_together_promises_a_crowd(trial: Trial, promised: bool) -> None:
    assert trial.promises_crowd == promised


def test_labels_are_explored_by_meaning(tmp_path: Path) -> None:
    sports = Hierarchy.from_pairs(
        [("golf", "sport"), ("rugby", "football"), ("soccer", "football"), ("football", "sport")]
    )
    table = pd.DataFrame({"sport": ["golf", "rugby", "soccer", "golf"] * 5})
    found = explore(table, tmp_path / "out", roles=Roles(quasi=("sport",)), ontology=sports, refine=False, workers=1)
    assert found.kind == "labels"
    assert {"L", "RL"} == set(found.outcomes[0].figures)


def test_labels_of_digits_are_explored_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "label_trials", lambda *_: [Trial("sa-mdav", k=3)])
    (tmp_path / "people.csv").write_text("post\n" + "\n".join(["0101", "0102", "0201", "0202"] * 5) + "\n")
    posts = Hierarchy.from_pairs(
        [("0101", "01"), ("0102", "01"), ("0201", "02"), ("0202", "02"), ("01", "all"), ("02", "all")]
    )
    roles = Roles(quasi=("post",))
    found = explore(tmp_path / "people.csv", tmp_path / "out", roles=roles, ontology={"post": posts}, workers=1)
    assert found.kind == "labels"
    with pytest.raises(InputError, match="the mapping: values for column pots, which the table does not have; did you"):
        explore(tmp_path / "people.csv", tmp_path / "no", roles=roles, mapping={"pots": {"0101": "01"}}, workers=1)


@pytest.mark.parametrize(
    ("table", "options", "says"),
    [
        (TABLE.assign(d="x"), {"roles": Roles(quasi=("a", "d"))}, "cannot be explored together"),
        (TABLE, {"max_risk": -1}, "max_risk=-1 must be"),
        (TABLE, {"max_risk": 200}, "max_risk=200 must be a number of per cent, from 0 to 100"),
        (TABLE, {"max_loss": float("nan")}, "max_loss=nan must be"),
        (TABLE.assign(a=np.nan), {}, "missing"),
    ],
)
def test_what_cannot_be_explored_is_refused(tmp_path: Path, table: pd.DataFrame, options: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        explore(table, tmp_path / "out", workers=1, **options)


@pytest.mark.parametrize("content", ["[]", "{}", "no JSON", '{"fingerprint": 1}'])
def test_runs_that_cannot_be_read_are_refused_and_what_a_crash_leaves_is_not(tmp_path: Path, content: str) -> None:
    for name in ("runs.json", "results.csv", "report.html"):
        (tmp_path / f"{name}.part").write_text("half")
    (tmp_path / "runs.json").write_text(content)
    with pytest.raises(InputError, match=r"cannot be used|results of another table"):
        explore(TABLE, tmp_path, workers=1)


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("keep me")
    with pytest.raises(InputError, match="holds other files"):
        explore(TABLE, tmp_path, workers=1)
