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

from shoal import Hierarchy, InputError, Roles, explore, load
from shoal.assessment.exploration import documents as of_documents
from shoal.assessment.exploration import trials as trying
from shoal.assessment.exploration.curve import curve_over_k
from shoal.assessment.exploration.explore import trials
from shoal.assessment.exploration.tables import ExploredTable, trial_request
from shoal.assessment.exploration.trials import Limits, recommend
from shoal.assessment.exploration.ways import Ways, number_trials
from shoal.pages.exploration import exploration_html
from shoal.release.protect import make_release
from shoal.request.plan import read_plan
from shoal.request.request import Request
from shoal.results.exploration import Exploration, Outcome, Trial, pareto_front
from tests.cli.run import run

pytestmark = pytest.mark.usefixtures("without_attack")

RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame(
    RANDOM.multivariate_normal([40, 60, 80], [[9, 5, 0], [5, 9, 0], [0, 0, 9]], 40), columns=list("abc")
)


def outcome(name: str, loss: float, risk: float, alike: int = 1) -> Outcome:
    return Outcome(Trial(name, k=2), loss, risk, alike, {})


def only(monkeypatch: pytest.MonkeyPatch, tried: list[Trial]) -> None:
    """Try only these."""
    monkeypatch.setattr(Ways, "first", lambda _: tried)
    monkeypatch.setattr(Ways, "next_to", lambda *_: [])


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
        ({"max_loss": 5}, None),  # rank swapping would keep it, but promises no crowd
        ({"max_loss": 5, "crowd": False}, "rank-swap"),
    ],
)
def test_the_recommendation_keeps_the_limits(limits: dict[str, Any], best: str | None) -> None:
    swapped = Outcome(Trial("rank-swap", percent=2.0), 1.5, 89.0, 1, {})
    found = recommend([*SOME[1:], swapped], Limits(**limits))
    assert (found.trial.method if found else None) == best


def test_thirteen_columns_are_tried_in_more_than_forty_ways() -> None:
    trials = number_trials(1080, 13, 3)
    assert len(trials) >= 40
    assert len({trial.name for trial in trials}) == len(trials)


def test_every_trial_is_judged_and_kept_and_the_rest_is_done_after_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    real = ExploredTable.try_out

    def interrupted(explored: ExploredTable, trial: Trial) -> Outcome | None:
        if len(tried) == 5:
            raise KeyboardInterrupt
        tried.append(trial.name)
        return real(explored, trial)

    monkeypatch.setattr(ExploredTable, "try_out", interrupted)
    only(monkeypatch, number_trials(40, 3, 3)[:9])
    with pytest.raises(KeyboardInterrupt):
        explore(TABLE, tmp_path / "out", refine=False, workers=1)
    assert len(json.loads((tmp_path / "out" / "runs.json").read_text())["runs"]) == 5
    tried.clear()
    tried_before = 5
    monkeypatch.setattr(ExploredTable, "try_out", lambda one, trial: tried.append(trial.name) or real(one, trial))
    found = explore(TABLE, tmp_path / "out", refine=False, workers=1)
    assert len(tried) == 9 - tried_before
    assert len(found.outcomes) == 9
    with (tmp_path / "out" / "results.csv").open() as lines:
        assert [row["method"] for row in csv.DictReader(lines)] == [one.trial.name for one in found.outcomes]
    assert [one.score for one in found.outcomes] == sorted(one.score for one in found.outcomes)
    with pytest.raises(InputError, match="results of another table"):
        explore(TABLE + 1, tmp_path / "out", refine=False, workers=1)


def test_the_command_makes_the_recommended_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, number_trials(40, 3, 3)[::5])
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


def test_names_that_no_list_can_hold_stand_in_the_command_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, [Trial("mdav", k=3)])
    odd = ["age, in years", ' "b" ', "c\nd\x7f\\é"]
    TABLE.set_axis(odd, axis=1).assign(**{"why, o why": "x"}).to_csv(tmp_path / "-people.csv", index=False)
    monkeypatch.chdir(tmp_path)
    roles = Roles(quasi=tuple(odd), confidential=("why, o why",))
    found = explore("-people.csv", "out folder", roles=roles, refine=False, workers=1)
    words = shlex.split(found.command)
    assert json.loads(words[words.index("--quasi") + 1]) == odd
    planned = read_plan("out folder/plan.toml").columns
    assert (planned.quasi, planned.confidential) == (tuple(odd), ("why, o why",))
    ran = run(tmp_path, *words[1:])
    assert ran.code == 0, ran.err
    assert explore("-people.csv", "out folder", roles=roles, refine=False, workers=1).command == found.command


def test_the_command_repeats_roles_kinds_and_orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, [Trial("mdav", k=3)])
    monkeypatch.chdir(tmp_path)
    steps = {"school": ["basic", "middle!", "upper"] * 13 + ["basic"], "area": [7, 8] * 20}
    TABLE.assign(**steps).to_csv("people.csv", index=False)
    kinds, order = {"area": "code", "a": "whole"}, {"school": ("basic", "middle!", "upper")}
    roles = Roles(quasi=("a", "school", "area"))
    found = explore("people.csv", "out", roles=roles, kinds=kinds, order=order, refine=False, workers=1)
    assert "--kind area=code,a=whole --order 'school=basic<middle!<upper'" in found.command
    planned = read_plan("out/plan.toml")
    assert (planned.columns.kinds, planned.columns.order) == (kinds, order)
    ran = run(tmp_path, *shlex.split(found.command)[1:], "--no-attack")
    assert ran.code == 0, ran.err
    assert "ordered      school" in ran.out and "categories   area" in ran.out


@pytest.mark.parametrize(("missing", "rows"), [("withhold", 38), ("group", 40), ("impute", 40)])
def test_gaps_are_tried_as_they_are_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, rows: int
) -> None:
    ways = [Trial("mdav", k=3), Trial("mdav", k=3, attribute_groups=2), Trial("rank-swap", percent=5)]
    only(monkeypatch, ways)
    table = TABLE.astype(float).mask(np.arange(120).reshape(40, 3) % 60 == 4)  # two gaps, both in the second column
    assert table["b"].isna().sum() == 2
    with pytest.raises(InputError, match=r"column b: 2 missing values .* or pass missing group, impute or withhold"):
        explore(table, tmp_path / "out", workers=1)
    found = explore(table, tmp_path / "out", missing=missing, refine=False, workers=1)
    assert len(found.outcomes) == (3 if missing == "withhold" else 1)  # gaps are kept in groups only
    asked = trial_request(Request.of(table, {"missing": missing, "refine": False}), found.recommended.trial)
    made = make_release(asked.with_options(out=tmp_path / "release", attack=False))
    assert made.certificate["promises"]["rows"] == rows
    if missing != "withhold":
        with pytest.raises(InputError, match="gaps cannot be coarsened"):
            explore(table, tmp_path / "out", missing=missing, harden=True, max_risk=50, workers=1)


def test_the_folder_is_closed_to_others_and_its_files_are_whole_or_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, [Trial("mdav", k=3)])
    folder = tmp_path / "out"
    folder.mkdir(mode=0o755)
    explore(TABLE, folder, refine=False, workers=1)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name for path in folder.iterdir()} == {"runs.json", "results.csv", "report.html", "plan.toml"}
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
    only(monkeypatch, [Trial("rank-swap", percent=5.0), Trial("mdav", k=3)])
    monkeypatch.setattr(trying.os, "cpu_count", lambda: 1)
    asked = ("explore", "people.csv", "-o", "out", "--quasi", "a,b,c", "--no-refine", "--max-risk", "99")
    swapped = run(tmp_path, *asked, "--no-crowd")
    assert "recommended  rank-swap, 5 %:" in swapped.out
    assert "promise      NO crowd: a record may be one of a kind; without --no-crowd a crowd is" in swapped.out
    assert "because --no-crowd asked for such protections" in (tmp_path / "out" / "report.html").read_text()
    grouped = run(tmp_path, *asked)
    assert "recommended  mdav, k=3:" in grouped.out
    assert "promise      each looks like at least 2 others" in grouped.out
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Crosses promise no crowd and are never recommended unless --no-crowd asks for them." in page
    nothing = run(tmp_path, *asked[:-1], "0.01")
    assert "nothing that promises a crowd keeps these limits" in nothing.err


@pytest.mark.parametrize(
    ("trial", "promised"),
    [
        (Trial("mdav", k=3), True),
        (Trial("sa-mdav", k=3), True),
        (Trial("mdav", k=3, attribute_groups=2), False),  # each few columns have crowds of their own
        (Trial("ranking", k=3), False),
        (Trial("noise", percent=5.0), False),
        (Trial("crowd-sketch", k=3, components=64), True),
        (Trial("k-variance-sketch", k=3), False),  # its k is no number of records alike
        (Trial("delta-sketch", delta=0.5), False),
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
    assert {"true cells", "coarser cells", "changed cells", "blank cells"} <= set(found.outcomes[0].figures)


def test_labels_of_digits_are_explored_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, [Trial("sa-mdav", k=3)])
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
        (TABLE.assign(d="x"), {"text_column": "d"}, "text_column is for documents, and this is a table"),
        (TABLE.assign(d="x"), {"roles": Roles(quasi=("a", "d")), "max_risk": 9, "harden": True}, "numbers and labels"),
        (
            ["a text", "another"],
            {"harden": True, "max_risk": 9},
            "only numbers can be hardened, and these are documents",
        ),
        (["a text"], {}, "at least 2 documents, got 1"),
        (TABLE, {"max_risk": -1}, "max_risk=-1 must be"),
        (TABLE, {"max_risk": 200}, "max_risk=200 must be a number of per cent above 0 and at most 100"),
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


SPORTS = Hierarchy.from_pairs([("golf", "sport"), ("rugby", "football"), ("soccer", "football"), ("football", "sport")])
PLAYERS = pd.DataFrame({"age": [20.0, 21.0, 22.0, 60.0, 61.0, 62.0], "sport": ["golf"] * 3 + ["rugby"] * 3})


def test_numbers_and_labels_are_explored_together_and_each_outcome_is_handed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, [Trial("mdav", k=3), Trial("mdav", k=6)])
    heard: list[Outcome] = []
    asked: dict[str, Any] = {"roles": Roles(quasi=("age", "sport")), "ontology": {"sport": SPORTS}, "refine": False}
    found = explore(PLAYERS, tmp_path / "out", max_risk=40, on_trial=heard.append, workers=1, **asked)
    assert found.kind == "mixed"
    assert [one.trial.k for one in heard] == [3, 6]
    three = heard[0]
    # Everybody is nearest to the row of their own group of three: found with a chance of one third.
    assert three.risk == pytest.approx(100 / 3)
    # Ages are off by 1, 0 and 1 from 21 and 61, on the scale of their deviation; the sports stay as they are.
    deviation = PLAYERS["age"].std(ddof=0)
    assert three.loss == pytest.approx(100 * (4 / deviation**2) / 12)
    assert three.promises_crowd
    assert three.seconds > 0
    assert found.recommended is not None
    assert found.recommended.trial == Trial("mdav", k=3)
    again: list[Outcome] = []
    explore(PLAYERS, tmp_path / "out", on_trial=again.append, workers=1, **asked)
    assert again == heard
    tried = trials(Request.of(PLAYERS, asked), workers=1)
    assert [one.trial for one in tried] == [one.trial for one in heard]


def test_what_a_trial_did_is_released_by_its_request(tmp_path: Path) -> None:
    given = {"roles": Roles(quasi=("age", "sport")), "ontology": {"sport": SPORTS}, "refine": False}
    asked = trial_request(Request.of(PLAYERS, given), Trial("mdav", k=3), "mixed")
    made = make_release(asked.with_options(out=tmp_path / "release", attack=False))
    assert made.certificate["promises"]["anonymity"]["k"] == 3
    released = load(tmp_path / "release").table
    assert sorted(released["age"].to_pylist()) == [21.0] * 3 + [61.0] * 3
    sketches = trial_request(
        Request.of(TEXTS, {"ontology": SPORTS}), Trial("crowd-sketch", k=3, components=16), "documents"
    )
    assert sketches.given == {"k": 3, "method": "crowd-sketch", "components": 16}


TEXTS = [
    f"{animal} {animal} {verb} {place}"
    for animal in ("dog", "cat")
    for verb in ("runs", "sleeps", "jumps")
    for place in ("yard", "park", "house")
]


def test_documents_are_explored_by_their_words_and_as_sketches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def some(*_: Any) -> list[Trial]:
        sketches = [Trial("crowd-sketch", k=3, components=64), Trial("delta-sketch", delta=0.01)]
        return [Trial("mdav", k=3), Trial("mdav", k=9), Trial("mdav", k=10), *sketches]

    monkeypatch.setattr(of_documents, "document_trials", some)
    found = explore(TEXTS, tmp_path / "out", k=3, refine=False, workers=1, max_risk=40)
    by_name = {one.trial.name: one for one in found.outcomes}
    assert found.kind == "documents"
    assert "mdav, k=10" not in by_name  # no word is in ten documents
    three, all_alike = by_name["mdav, k=3"], by_name["mdav, k=9"]
    # Of nine documents only dog or only cat is left: copies, which a group of nine would show. So all are one group.
    assert all_alike.risk == pytest.approx(100 / 18)
    assert all_alike.loss == 100.0  # all pairs are equally far apart: which is nearer is left to chance
    assert 0 < three.loss < 100
    assert 0 < three.risk <= 100 / 3 + 1e-9
    assert by_name["crowd-sketch, k=3, 64 numbers"].risk <= 100 / 3 + 1e-9
    assert found.recommended is not None
    assert found.recommended.promises_crowd
    assert found.command.startswith("shoal protect INPUT -o release -k ")
    assert "order of distances lost" in (tmp_path / "out" / "report.html").read_text()


def test_a_curve_over_k_is_an_estimate_of_a_sample() -> None:
    curve = curve_over_k(Request.of(TABLE, {}), ks=(3, 2, 20, 50), sample=30)
    assert [point.k for point in curve.points] == [2, 3, 20]
    assert (curve.kind, curve.sample, curve.records, curve.estimate) == ("numbers", 30, 40, True)
    assert curve.points[0].loss < curve.points[-1].loss
    assert curve.points[0].risk > curve.points[-1].risk
    documents = curve_over_k(Request.of(TEXTS, {}), ks=(2, 6))
    assert [point.k for point in documents.points] == [2, 6]
    assert documents.kind == "documents"
    players = Request.of(PLAYERS, {"roles": Roles(quasi=("age", "sport")), "ontology": {"sport": SPORTS}})
    mixed = curve_over_k(players, ks=(3,))
    assert mixed.points[0].risk == pytest.approx(100 / 3)
    with pytest.raises(InputError, match="k=1 must be a whole number of at least 2"):
        curve_over_k(Request.of(TABLE, {}), ks=(1,))


def test_codes_and_categories_are_never_averaged_and_dates_are(tmp_path: Path) -> None:
    lines = ["zip,roof,birth,age"]
    for number in range(24):
        roof, day = ("tile", "slate")[number % 2], f"19{50 + number}-03-{number % 28 + 1:02d}"
        lines.append(f"0{1000 + number % 3},{roof},{day},{30 + number}")
    (tmp_path / "homes.csv").write_text("\n".join(lines), encoding="utf-8")
    asked = {"roles": Roles(quasi=("zip", "roof", "birth", "age")), "categorical": ["roof"], "refine": False}
    found = explore(tmp_path / "homes.csv", tmp_path / "explored", workers=1, **asked)  # type: ignore[arg-type]
    assert found.kind == "mixed"
    tried = [one.trial for one in found.outcomes]
    assert Trial("mdav", k=5) not in tried  # which shows somebody else's label
    assert not any(dict(trial.treat).get(name) == "average" for trial in tried for name in ("zip", "roof"))
    chosen = trial_request(Request.of(tmp_path / "homes.csv", asked), Trial("mdav", k=5))
    made = make_release(chosen.with_options(out=tmp_path / "release", attack=False))
    rows = load(made.folder).table
    assert set(rows["zip"].to_pylist()) <= {"01000", "01001", "01002"}
    assert set(rows["roof"].to_pylist()) <= {"tile", "slate"}


@pytest.mark.parametrize("treat", ["keep", "generalise", "blank"])
def test_what_the_plan_says_of_columns_stands_in_trials_and_in_the_recommended_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, treat: str
) -> None:
    monkeypatch.chdir(tmp_path)
    TABLE.round().astype(int).assign(town=["here", "there"] * 20).to_csv("people.csv", index=False)
    options: dict[str, Any] = {"recode": {"a": "round 10"}, "treat": {"town": treat, "b": "average"}, "k": 8}
    found = explore("people.csv", "exploration", quasi=["a", "b", "town"], workers=1, refine=False, **options)
    assert found.command is not None
    assert all((one.trial.k or 0) >= 8 for one in found.outcomes)
    assert all(not {"town", "b"} & {*dict(one.trial.treat)} for one in found.outcomes)
    ran = run(tmp_path, *shlex.split(found.command)[1:])
    assert ran.code == 0, ran.err
    released = load("release").table.to_pandas()
    coarser = {"keep": set[str](), "generalise": {"*"}, "blank": {""}}
    assert set(released["town"]) <= {"here", "there"} | coarser[treat]
    assert treat != "keep" or released["town"].value_counts().to_dict() == {"here": 20, "there": 20}
    planned = read_plan("exploration/plan.toml").columns
    assert planned.recode == options["recode"]
    assert options["treat"].items() <= (planned.treat or {}).items()


def test_loss_is_measured_against_the_table_before_it_was_recoded(tmp_path: Path) -> None:
    ages = pd.DataFrame({"age": [10.0, 20.0, 30.0, 40.0] * 5})
    found = explore(
        ages, tmp_path / "out", recode={"age": "0-24,25-49"}, treat={"age": "keep"}, workers=1, quasi=["age"]
    )
    # Each is guessed as the middle of its band, 5 years off; the variance is 125.
    assert found.outcomes[0].loss == pytest.approx(100 * 25 / 125)
    assert found.outcomes[0].risk == pytest.approx(100 / 10)


def test_columns_that_must_stay_true_are_never_averaged(tmp_path: Path) -> None:
    town = TABLE.assign(town=["here", "there", "near", "far"] * 10)
    found = explore(town, tmp_path / "out", quasi=["a", "b", "town"], stay_true=["a"], workers=1, refine=False)
    assert len(found.outcomes) > 10
    assert all(one.trial.method not in ("mdav", "rank-swap") for one in found.outcomes)
    assert all(dict(one.trial.treat).get("a") != "average" for one in found.outcomes)
    assert found.why.startswith("Of ")
    with pytest.raises(InputError, match="column a is averaged and must stay true"):
        explore(town, tmp_path / "no", quasi=["a"], stay_true=["a"], treat={"a": "average"})


def test_full_domain_recoding_is_tried_within_the_share_that_may_be_withheld(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    people = pd.DataFrame({"age": random.integers(18, 90, 300), "town": random.choice(list("abc"), 300)})
    found = explore(people, tmp_path / "out", quasi=["age", "town"], max_withheld=3, workers=1, refine=False)
    recoded = [one for one in found.outcomes if one.trial.method == "recoding"]
    assert recoded
    assert all(one.figures["withheld"] <= 3 and one.figures["changed cells"] == 0 for one in recoded)
    assert any(dict(one.trial.recode).get("age") == "0-9,10-19,...,80+" for one in recoded)


def test_columns_that_are_not_averaged_cannot_be_hardened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="only averages can be hardened, and column a has none; leave out harden"):
        explore(TABLE, tmp_path / "exploration", treat={"a": "generalise"}, harden=True, max_risk=20)
