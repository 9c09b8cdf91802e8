"""One record far above all others: no figure of a certificate, a report or a README tells its value."""

from __future__ import annotations

import html
import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from shoal import Hierarchy, Microaggregation, MixedMicroaggregation, Noise, RankSwap, Roles, protect
from tests.release.releases import quietly, release_frame

pytestmark = pytest.mark.usefixtures("without_attack")

MDAV = Microaggregation(refine=False)
TOWNS = Hierarchy.from_pairs([("Deal", "Kent"), ("Dover", "Kent")])


def incomes(largest: float, n_rows: int = 500, **more: Any) -> pd.DataFrame:
    usual = np.random.default_rng(7).uniform(1e4, 1e5, n_rows - 1).round()
    return pd.DataFrame({"income": np.append(usual, largest), **more})


def ages(n_rows: int) -> np.ndarray:
    return np.random.default_rng(8).integers(18, 90, n_rows)


def figures_of(folder: Path) -> list[float]:
    """Every number that is stated or can be read on the pages; not the numbers that draw them, nor file sizes."""
    certificate = json.loads((folder / "certificate.json").read_bytes())
    texts = [json.dumps(certificate["stated"])]
    page = (folder / "report.html").read_text(encoding="utf-8")
    texts.append(html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r"(?s)<style>.*?</style>", " ", page))))
    texts.append((folder / "README.md").read_text(encoding="utf-8"))
    found = re.findall(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?", " ".join(texts))
    return sorted({float(number.replace(",", "")) for number in found})


def guesses(figures: list[float], n_rows: int, k: int) -> list[float]:
    """What an attacker makes of the figures: sums, deviations and errors turned back into the largest value."""
    root = math.sqrt(n_rows - 1)
    one = [figure * times for figure in figures for times in (1, k, n_rows, root, root / math.sqrt(1 - 1 / k))]
    one += [math.sqrt(abs(figure) * times) for figure in figures for times in (1, k, n_rows)]
    two = [
        guess
        for mean, other in itertools.permutations(figures, 2)
        for guess in (
            mean + other * root,  # a mean and a standard deviation
            mean * n_rows - other * (n_rows - 1),  # a mean and what is usual
            mean * k - other * (k - 1),
            mean / other * root if other else 0.0,  # a spread, and distances on the scale of the deviation
        )
    ]
    return one + two


def told(folder: Path, largest: float, n_rows: int, k: int) -> list[float]:
    return [guess for guess in guesses(figures_of(folder), n_rows, k) if abs(guess - largest) <= 0.2 * largest]


METHODS = [MDAV, Microaggregation(method="ranking"), RankSwap(10.0), Noise(10.0)]


@pytest.mark.parametrize("method", METHODS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize(("n_rows", "k"), [(40, 3), (500, 5)])
@pytest.mark.parametrize("largest", [1e9, 3.7e12])
def test_no_stated_figure_tells_the_top_income(tmp_path, method, n_rows, k, largest):
    for name, frame in {"alone": incomes(largest, n_rows), "two": incomes(largest, n_rows, age=ages(n_rows))}.items():
        made = release_frame(frame, k, tmp_path / name, method=method)
        assert told(made.folder, largest, n_rows, k) == []


def test_a_million_and_a_billion_give_the_same_figures_and_pages(tmp_path):
    """Whatever they are, they cannot depend on the value they would tell."""
    one, other = (release_frame(incomes(largest), 5, tmp_path / f"{largest:g}") for largest in (1e8, 1e10))
    assert one.certificate["stated"] == other.certificate["stated"]
    for page in ("report.html", "README.md"):
        assert (one.folder / page).read_bytes() == (other.folder / page).read_bytes()


def test_beside_labels_too(tmp_path):
    frame = incomes(1e9, 200, town=["Deal", "Dover"] * 100)
    method = MixedMicroaggregation(ontology={"town": TOWNS}, refine=False)
    made = release_frame(frame, 4, tmp_path / "release", Roles(quasi=("income", "town")), method=method)
    assert told(made.folder, 1e9, 200, 4) == []


def test_in_parts_too(tmp_path):
    frame = incomes(1e9, 300, age=ages(300))
    for part in range(2):
        frame[part::2].to_parquet(tmp_path / f"people-{part}.parquet")
    made = quietly(
        protect, f"{tmp_path}/*.parquet", 4, tmp_path / "release", roles=Roles(quasi=("income", "age")), method=MDAV
    )
    assert told(made.folder, 1e9, 300, 4) == []
    assert made.certificate["stated"]["loss_range"]["reason"].startswith("in some column one record or person makes up")


def test_the_reason_is_given_and_the_other_columns_are_still_told(tmp_path):
    made = release_frame(incomes(1e9, age=ages(500)), 5, tmp_path / "release")
    report = (made.folder / "report.html").read_text(encoding="utf-8")
    reason = "one record or person makes up more than a third of what varies, and such figures would tell it"
    assert f"The figures of <b>income</b> are not published: {reason}." in report
    assert made.certificate["stated"]["loss_range"]["reason"] == f"in some column {reason}"
    assert made.certificate["stated"]["sse"] is None
    assert made.certificate["stated"]["attacks"]
    assert "`age` was protected, to multiples of" in (made.folder / "README.md").read_text(encoding="utf-8")


def test_the_owner_is_warned_that_the_rows_give_the_record_away(tmp_path):
    with pytest.warns(
        UserWarning, match=r"income: one record or person makes up 100% of what varies .* cap the largest"
    ):
        protect(incomes(1e9), 5, tmp_path / "release", method=MDAV)


def test_without_a_dominant_record_the_loss_is_told_as_measured(tmp_path):
    made = release_frame(incomes(1.2e5), 5, tmp_path / "release")
    stated = made.certificate["stated"]
    assert stated["loss_range"] is None
    assert stated["information_loss"] == round(stated["sse"] / (stated["sse"] + stated["ssa"]), 6)
