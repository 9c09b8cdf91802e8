"""Whatever the plan: what explore recommends keeps its promises, runs as written, and is verified."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from shoal import explore, load, protect, verify
from shoal.assessment.exploration.tables import open_explored, trial_request
from shoal.errors import InputError
from shoal.release.protect import make_release
from shoal.request.plan import read_plan, write_plan
from shoal.request.request import Request
from tests.release.releases import quietly
from tests.release.test_random_plans import check_kept
from tests.release.test_random_plans import plans as any_plans
from tests.release.test_treatments import RULES

pytestmark = pytest.mark.usefixtures("without_attack")


@st.composite
def plans(draw: Any) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A table and a plan for it, which says of some columns what becomes of them."""
    n = draw(st.integers(16, 40))
    columns = {
        "age": st.integers(0, 90),
        "pay": st.integers(0, 3000),
        "zip": st.sampled_from(["110", "111", "220", "221", "330"]),
        "job": st.sampled_from(["cook", "baker", "smith", "clerk"]),
        "ill": st.sampled_from(["flu", "gout", "cold"]),
    }
    data = pd.DataFrame({name: draw(st.lists(values, min_size=n, max_size=n)) for name, values in columns.items()})
    data["home"] = [f"h{number // 2}" for number in range(n)]
    data["w"] = [1.0 + number % 3 for number in range(n)]
    protected = draw(st.lists(st.sampled_from(["age", "pay", "zip", "job"]), min_size=1, max_size=4, unique=True))
    said = draw(st.lists(st.sampled_from(protected), unique=True, max_size=2))
    treat = {name: draw(st.sampled_from(["keep", "generalise", "blank", "average"])) for name in said}
    rules = {name: draw(st.sampled_from(RULES[name])) for name in protected if name in RULES and draw(st.booleans())}
    options = {
        "quasi": protected,
        "confidential": ["ill"],
        "treat": treat or None,
        "recode": rules or None,
        "kinds": {"zip": "code"} if "zip" in protected else None,
        "k": draw(st.integers(2, 4)),
        "l": draw(st.sampled_from([None, 2])),
        "household": draw(st.sampled_from([None, "home"])),
        "weight": draw(st.sampled_from([None, "w"])),
        "refine": False,
    }
    return data, {name: value for name, value in options.items() if value is not None}


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=4, phases=[Phase.generate])
@given(plan=plans(), max_risk=st.sampled_from([None, 30.0]), data=st.data())
def test_the_recommended_plan_has_every_promise_and_is_verified(
    plan: tuple[pd.DataFrame, dict[str, Any]], max_risk: float | None, data: Any
) -> None:
    table, options = plan
    free = [name for name in options["quasi"] if name not in options.get("treat", {})]
    stay_true = data.draw(st.lists(st.sampled_from(free), unique=True)) if free else []
    with tempfile.TemporaryDirectory() as folder:
        source, asked = Path(folder) / "rows.csv", Path(folder) / "plan.toml"
        table.to_csv(source, index=False)
        write_plan(Request.of(source, options), asked)
        try:
            found = quietly(
                explore, asked, Path(folder) / "out", max_risk=max_risk, stay_true=stay_true or None, workers=1
            )
        except InputError as refused:  # of the plan itself
            with pytest.raises(InputError):
                quietly(protect, asked, out=Path(folder) / "release")
                raise refused
            return
        if found.recommended is None:
            return
        written, given_plan = read_plan(Path(folder) / "out" / "plan.toml"), read_plan(asked)
        assert written.k >= given_plan.k
        assert written.promises == given_plan.promises
        assert (written.columns.quasi, written.columns.weight) == (given_plan.columns.quasi, given_plan.columns.weight)
        for name in ("treat", "recode"):
            said, kept = (getattr(one.columns, name) or {} for one in (given_plan, written))
            assert said.items() <= kept.items()
        assert all((written.columns.treat or {})[name] != "average" for name in stay_true)
        made = quietly(protect, Path(folder) / "out" / "plan.toml", out=Path(folder) / "release")
        assert verify(made.folder), verify(made.folder).broken
        assert made.certificate["promises"]["anonymity"]["k"] == written.k
        if "household" not in options:
            released = load(made.folder).table.to_pandas().astype(str)
            assert released.groupby(options["quasi"]).size().min() == found.recommended.smallest_group


VARIED = {"k", "method", "percent", "attribute_groups", "treat", "recode", "coarsen", "out", "force"}


@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    max_examples=int(os.environ.get("SHOAL_PLANS", "12")),
    phases=[Phase.generate],
)
@given(plan=any_plans(), data=st.data())
def test_every_trial_keeps_all_that_its_plan_says(
    plan: tuple[pd.DataFrame, dict[str, Any]], data: Any, tmp_path: Path
) -> None:
    """All that are tried, and those next to one of them; one is carried out, and slow code counts its promises."""
    table, options = plan
    request = Request.of(table, options | {"refine": False})
    try:
        explored = quietly(open_explored, request)
    except InputError:  # of the plan itself
        return
    trials = explored.trials()
    outcome = explored.try_out(data.draw(st.sampled_from(trials)))
    trials += explored.more_trials([outcome], outcome) if outcome else []
    for trial in trials:
        tried = trial_request(request, trial, explored.kind)
        assert {**request.given, **dict.fromkeys(VARIED)} == {**tried.given, **dict.fromkeys(VARIED)}
        assert not trial.promises_crowd or tried.k >= request.k
        assert trial.promises_crowd or not request.promises.asked
        for name in ("treat", "recode"):
            assert (options.get(name) or {}).items() <= (getattr(tried.columns, name) or {}).items()
    chosen = data.draw(st.sampled_from([trial for trial in trials if trial.promises_crowd]))
    tried = trial_request(request, chosen, explored.kind)
    try:
        made = quietly(make_release, tried.with_options(out=tmp_path / "release", force=True, attack=False))
    except InputError:  # this way cannot keep what the plan promises
        return
    check_kept(table, made, options | {name: getattr(tried.columns, name) or {} for name in ("treat", "recode")})
