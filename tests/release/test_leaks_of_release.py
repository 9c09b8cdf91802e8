"""A release is attacked by training; what the attacker relies on stays private."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.assessment.exploration.tables import ExploredTable, open_explored
from shoal.attacks.learned.distances import plain
from shoal.attacks.learned.leakage import Leakage
from shoal.attacks.learned.linking import chances_of
from shoal.attacks.learned.records import side_by_side
from shoal.data.roles import Roles
from shoal.pages.leak_card import remedy
from shoal.release.leaks import find_leaks
from shoal.request.request import Request
from shoal.results.attacks import Remedy
from shoal.results.exploration import LEARNED
from tests.release.releases import certificate_of


def people() -> pa.Table:
    random = np.random.default_rng(0)
    age, pay, rent = random.normal(size=(3, 80))
    return pa.table({"age": age, "pay": pay, "rent": rent + age, "ill": random.choice(["yes", "no"], 80)})


ROLES = Roles(quasi=("age", "pay", "rent"), confidential=("ill",))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the people are released: release/ and release-private/."""
    folder = tmp_path_factory.mktemp("leaks")
    shoal.protect(people(), 4, folder / "release", roles=ROLES)
    return folder


def test_the_card_is_in_the_private_folder_and_its_weights_are_nowhere_in_the_release(folder: Path) -> None:
    card = (folder / "release-private" / "leaks.html").read_text(encoding="utf-8")
    assert "What leaks" in card
    assert "Shapley value" in card
    released = list((folder / "release").iterdir())
    assert not any("leaks" in path.name for path in released)
    report = (folder / "release" / "report.html").read_text(encoding="utf-8")
    assert "linkage learned from all links (worst case)" in report
    assert "Shapley" not in report


def test_no_more_than_one_in_k_is_found_even_in_the_worst_case(folder: Path) -> None:
    learned = [one for one in certificate_of(folder / "release")["stated"]["attacks"] if "learned" in one["about"]]
    assert len(learned) == 2
    assert all(one["rate"] <= 1 / 4 + 1e-9 for one in learned)


def test_a_second_run_gives_the_same_card(folder: Path, tmp_path: Path) -> None:
    shoal.protect(people(), 4, tmp_path / "release", roles=ROLES)
    cards = [(place / "release-private" / "leaks.html").read_bytes() for place in (folder, tmp_path)]
    assert cards[0] == cards[1]
    reports = [(place / "release" / "report.html").read_bytes() for place in (folder, tmp_path)]
    assert reports[0] == reports[1]


def test_the_order_of_rows_does_not_show_in_the_report(folder: Path, tmp_path: Path) -> None:
    shoal.protect(people().take(pa.array(np.arange(80)[::-1])), 4, tmp_path / "release", roles=ROLES)
    reports = [(place / "release" / "report.html").read_bytes() for place in (folder, tmp_path)]
    assert reports[0] == reports[1]


def test_labels_are_attacked_too(tmp_path: Path) -> None:
    table = people().append_column("town", [["Bath", "York", "Hull", "Leek"] * 20])
    shoal.protect(
        table, 4, tmp_path / "release", roles=Roles(quasi=("age", "town")), method=shoal.MixedMicroaggregation()
    )
    card = (tmp_path / "release-private" / "leaks.html").read_text(encoding="utf-8")
    assert "town" in card


def test_crowds_count_even_where_only_some_of_them_are_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.attacks.learned.leakage.MOST_RIVALS", 20)
    before = np.random.default_rng(0).normal(size=(90, 2))
    after = shoal.Microaggregation(3, refine=False).fit_transform(before)
    leak = Leakage(sample=12).run(before, after)
    rates = [leak.plain, leak.mahalanobis, leak.honest, leak.worst]
    assert all(one.rate <= 1 / 3 + 1e-9 for one in rates)
    assert all(one.without is not None and one.without <= 1 / 3 + 1e-9 for one in leak.attributes)


def test_an_outlier_hides_no_column_that_was_left_as_it_was() -> None:
    random = np.random.default_rng(0)
    before = random.normal(size=(120, 3))
    before[:, 0] = random.permutation(120)
    before[0, 0] = 999_999_999.0
    after = np.column_stack([before[:, 0], *(random.permutation(column) for column in before.T[1:])])
    leak = Leakage().run(before, after)
    assert leak.attributes[0].alone <= leak.worst.rate
    assert leak.worst.rate > 0.95


def test_nothing_is_called_proved_that_a_smaller_margin_contradicts() -> None:
    before = np.exp(2 * np.random.default_rng(0).normal(size=(150, 2)))
    leak = Leakage(proof_seconds=5).run(before, before)
    assert leak.proof is not None
    assert not leak.proof.proved or leak.proof.rate.rate <= leak.proof.bound + 1e-9
    assert leak.worst.rate == 1.0


def test_a_proof_of_a_sample_keeps_to_the_crowds_of_the_whole() -> None:
    before = np.random.default_rng(0).normal(size=(120, 2))
    after = shoal.Microaggregation(4, refine=False).fit_transform(before)
    leak = Leakage(sample=40, proof_seconds=5).run(before, after)
    assert leak.proof is not None
    assert leak.proof.bound <= 1 / 4 + 1e-9
    assert leak.proof.rate.rate <= 1 / 4 + 1e-9


def test_hardening_never_counts_fewer_than_plain_linkage_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.assessment.exploration.harden.SAMPLE", 20)
    found = shoal.explore(
        people().select(["age", "pay", "rent"]), tmp_path / "e", max_risk=30, harden=True, workers=1, refine=False
    )
    explored = open_explored(Request.of(people().select(["age", "pay", "rent"]), {"refine": False}))
    assert isinstance(explored, ExploredTable)
    for one in found.hardened:
        work = explored.masked_by(one.trial)
        columns = explored.released_columns(work, work.published(one.trial.coarsen))
        before, after = (
            pa.table({name: pa.array(getattr(column, side)) for name, column in columns.items()})
            for side in ("before", "after")
        )
        records = side_by_side(before, after)
        plainly = 100 * float(chances_of(records, plain(3)).mean())
        assert one.figures[LEARNED] >= plainly - 1e-9


def test_a_remedy_that_does_little_is_not_praised() -> None:
    before = np.random.default_rng(0).normal(size=(60, 2))
    table = pa.table({"age": before[:, 0], "pay": before[:, 1]})
    card = find_leaks(table, table, ("age", "pay"))
    assert card is not None

    def after(rate: float) -> str:
        one = Remedy("age", 20, card.leak.worst, replace(card.leak.worst, rate=rate))
        return remedy(replace(card, remedies=(one,)))

    assert card.leak.worst.rate == 1.0
    assert after(0.5) == (
        "Mask age more strongly: coarsened so that at least 20 records share each value, "
        "the worst rate falls from 100% to 50.0%."
    )
    assert after(0.95).startswith("No single column is to blame: even with age coarsened")
    assert after(1.0) == "Coarsening one column alone does not help; tried: age."
