"""Hardening: what leaks most is strengthened until few enough are found."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import shoal
from shoal.assessment.aligned import align_tables
from shoal.cli import app
from shoal.data.roles import Roles
from shoal.errors import InputError
from shoal.release.leaks import worst_rate
from shoal.request.judging_options import AssessOptions
from shoal.results.exploration import LEARNED, Exploration

pytestmark = pytest.mark.usefixtures("without_attack")


def table(rows: int = 60) -> pa.Table:
    random = np.random.default_rng(0)
    return pa.table({name: random.normal(size=rows) for name in ("age", "pay", "rent")})


SETTINGS: dict[str, Any] = {"max_risk": 15, "harden": True, "workers": 1, "refine": False}


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Exploration, Path]:
    folder = tmp_path_factory.mktemp("harden")
    pyarrow.csv.write_csv(table(), folder / "people.csv")
    return shoal.explore(folder / "people.csv", folder / "explored", **SETTINGS), folder / "explored"


def test_hardening_ends_under_the_limit_and_says_how(explored: tuple[Exploration, Path]) -> None:
    found, folder = explored
    assert found.recommended is not None
    assert found.recommended.figures[LEARNED] <= 15
    assert found.hardened[-1] == found.recommended
    assert (folder / "hardening.csv").is_file()
    assert "Hardened step by step" in (folder / "report.html").read_text(encoding="utf-8")


def test_each_step_makes_one_column_coarser_the_one_that_told_most(explored: tuple[Exploration, Path]) -> None:
    found, _ = explored
    for before, after in zip(found.hardened, found.hardened[1:], strict=False):
        was, now = dict(before.trial.coarsen), dict(after.trial.coarsen)
        changed = [name for name in now if now[name] != was.get(name)]
        assert len(changed) == 1
        assert now[changed[0]] > was.get(changed[0], 0)


def test_the_recommended_command_makes_a_release_in_which_no_more_are_found(
    explored: tuple[Exploration, Path], tmp_path: Path
) -> None:
    found, folder = explored
    assert found.command is not None
    words = [str(tmp_path / "release") if word == "release" else word for word in shlex.split(found.command)]
    result = CliRunner().invoke(app, words[1:])
    assert result.exit_code == 0, result.output
    pair = align_tables(folder.with_name("people.csv"), tmp_path / "release", AssessOptions())
    assert worst_rate(pair.before, pair.after).rate <= 0.15 + 1e-9


def test_an_interrupted_hardening_goes_on_with_what_it_has(explored: tuple[Exploration, Path]) -> None:
    first, folder = explored
    assert shoal.explore(folder.with_name("people.csv"), folder, **SETTINGS) == first


def test_hardening_without_a_limit_and_of_labels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="max_risk"):
        shoal.explore(table(), tmp_path / "explored", harden=True)
    towns = pa.table({"town": ["bath", "york"] * 20})
    hierarchy = shoal.Hierarchy.from_pairs([("bath", "england"), ("york", "england")])
    with pytest.raises(InputError, match="labels"):
        shoal.explore(
            towns, tmp_path / "explored", roles=Roles(quasi=("town",)), max_risk=5, harden=True, ontology=hierarchy
        )
    assert not (tmp_path / "explored").exists()
