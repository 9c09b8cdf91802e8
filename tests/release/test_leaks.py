"""The leak card: remedies that were measured, sentences that hold, and names that stay text."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from markupsafe import escape

import shoal
from shoal import assess
from shoal.attacks.rates import rate_of
from shoal.errors import InputError
from shoal.methods.numeric import coarsened
from shoal.pages.leak_card import best_parameters, card_page, leaks_html, proof, remedy, verdict
from shoal.release.leaks import find_leaks, worst_rate
from shoal.results.attacks import Leak, LeakCard, LeakingAttribute, LeakingPair, Learned, Remedy

AGE, PAY, RENT = "<b>age</b>", 'pay & "bonus"', "rent"


def people(n_rows: int = 50) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Whole numbers; the age is hardly masked, the pay somewhat, the rent much."""
    random = np.random.default_rng(0)
    before = pd.DataFrame(
        {
            AGE: random.integers(18, 90, n_rows),
            PAY: random.normal(3000, 500, n_rows).round().astype(int),
            RENT: random.normal(900, 200, n_rows).round().astype(int),
        }
    )
    noise = random.normal(size=(n_rows, 3)) * [0.5, 300, 300]
    return before, (before + noise).round().astype(int)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    folder = tmp_path_factory.mktemp("leaks") / "report"
    return assess(*people(), folder), folder


def rate(share: float) -> Any:
    return rate_of("learned", np.array([share] * 10), 0.1)


def card(
    remedies: tuple[Remedy, ...] = (), proved: Learned | None = None, names: tuple[str, ...] = ("age", "pay")
) -> LeakCard:
    """What a card would be where the worst rate is 80 %."""
    shares = (0.7, 0.2, 0.1)
    attributes = tuple(
        LeakingAttribute(name, share, share, 0.3, 0.4) for name, share in zip(names, shares, strict=False)
    )
    pairs = (LeakingPair(names[0], names[1], -0.2), LeakingPair(names[1], names[0], 0.001))
    sets = tuple(float(one.bit_count()) / len(names) for one in range(2 ** len(names)))
    leak = Leak(
        rate(0.5), rate(0.55), rate(0.6), rate(0.8), "Choquet", 10, 5, attributes, pairs, names, sets, proof=proved
    )
    return LeakCard(leak, remedies)


def test_every_remedy_was_measured_by_doing_it(judged: tuple[Any, Path]) -> None:
    found = judged[0].leaks
    before, after = (pa.Table.from_pandas(table, preserve_index=False) for table in people())
    assert found.remedies
    for one in found.remedies:
        assert one.before == found.leak.worst
        column = coarsened(after[one.column], one.least)
        assert min(np.unique(column, return_counts=True)[1]) >= one.least
        stronger = after.set_column(after.column_names.index(one.column), one.column, pa.array(column))
        assert one.after == worst_rate(before, stronger)
        assert one.after.n == 50
    rates = [one.after.rate for one in found.remedies]
    assert rates == sorted(rates)


def test_the_column_that_was_hardly_masked_is_the_one_to_mask(judged: tuple[Any, Path]) -> None:
    found = judged[0].leaks
    assert found.leak.attributes[0].name == AGE
    assert found.remedies[0].column == AGE
    assert found.remedies[0].after.rate < found.remedies[0].before.rate
    # 50 records in at most 20 classes: two share each value, or ten where that did little.
    assert {one.least for one in found.remedies} <= {2, 10}


def test_the_figures_are_valid_json_and_tell_the_same(judged: tuple[Any, Path]) -> None:
    found, folder = judged

    def refuse(what: str) -> None:
        raise AssertionError(f"{what} is no JSON")

    data = json.loads((folder / "assessment.json").read_text(encoding="utf-8"), parse_constant=refuse)
    leak = data["leaks"]["leak"]
    assert leak["worst"]["rate"] == found.leaks.leak.worst.rate
    assert [one["name"] for one in leak["attributes"]] == [one.name for one in found.leaks.leak.attributes]
    assert data["leaks"]["remedies"][0]["column"] == AGE
    assert leak["proof"] is None


def test_the_attributes_are_listed_the_most_telling_first(judged: tuple[Any, Path]) -> None:
    found, folder = judged
    with (folder / "leaks.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["name", "weight", "shapley", "alone", "without"]
    assert [row["name"] for row in rows] == [one.name for one in found.leaks.leak.attributes]
    assert [float(row["weight"]) for row in rows] == [one.weight for one in found.leaks.leak.attributes]


def test_who_was_found_by_learning_is_listed_row_by_row(judged: tuple[Any, Path]) -> None:
    found, folder = judged
    with (folder / "found.csv").open(encoding="utf-8", newline="") as file:
        chances = [float(row["learned"]) for row in csv.DictReader(file)]
    assert chances == pytest.approx(found.leaks.leak.worst.chances.tolist(), abs=1e-6)


def test_the_report_says_what_leaks_and_what_to_do(judged: tuple[Any, Path]) -> None:
    found, folder = judged
    html = (folder / "report.html").read_text(encoding="utf-8")
    assert "What leaks" in html
    assert str(escape(verdict(found.leaks.leak))) in html
    sentence = remedy(found.leaks)
    assert sentence.startswith(f"Mask {AGE} more strongly: coarsened so that at least ")
    assert str(escape(sentence)) in html


def test_names_of_columns_stay_text(judged: tuple[Any, Path]) -> None:
    found, folder = judged
    for html in ((folder / "report.html").read_text(encoding="utf-8"), leaks_html(found.leaks, 50)):
        assert "<b>age" not in html
        assert 'pay & "bonus"' not in html
        assert "&lt;b&gt;age&lt;/b&gt;" in html
        assert "<script" not in html


def test_a_script_for_a_name_does_not_run_on_the_card() -> None:
    name = "</text><script>alert(1)</script>\"'&"
    html = leaks_html(card((Remedy(name, 5, rate(0.8), rate(0.2)),), names=(name, "pay")), 10)
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_the_remedy_is_said_with_what_it_does() -> None:
    helps = Remedy("age", 1500, rate(0.8), rate(0.25))
    little = Remedy("pay", 1500, rate(0.8), rate(0.75))
    assert remedy(card((helps, little))) == (
        "Mask age more strongly: coarsened so that at least 1,500 records share each value, "
        "the worst rate falls from 80.0% to 25.0%."
    )


def test_where_no_remedy_helps_that_is_said() -> None:
    none = Remedy("pay", 10, rate(0.8), rate(0.8))
    worse = Remedy("age", 10, rate(0.8), rate(0.9))
    again = Remedy("pay", 40, rate(0.8), rate(0.9))
    assert remedy(card((none, worse, again))) == "Coarsening one column alone does not help; tried: pay, age."
    assert remedy(card()) == ""
    assert "What to do" not in leaks_html(card(), 10)


def test_a_proof_is_called_one_only_where_it_is() -> None:
    def learned(found: float, bound: float, proved: bool) -> Learned:
        return Learned("weighted mean", rate(found), found, bound, proved, {}, 1, 1, 29.7)

    assert proof(card().leak) == ""
    assert proof(card(proved=learned(0.7, 0.7, True)).leak) == (
        "Proved: no weighting of the columns clearly identifies more than 70.0%."
    )
    for distance, family in (
        ("Choquet", "Choquet distance"),
        ("bilinear, not negative", "bilinear distance (not negative)"),
    ):
        of_family = replace(learned(0.7, 0.7, True), distance=distance)
        assert proof(card(proved=of_family).leak) == f"Proved: no {family} clearly identifies more than 70.0%."
    open_gap = proof(card(proved=learned(0.7, 0.75, False)).leak)
    assert "Proved" not in open_gap
    assert "more than 75.0%" in open_gap
    assert "in 30 seconds, finds 70.0%" in open_gap


def test_the_card_lists_the_parameters_of_a_proof_the_largest_first() -> None:
    parameters = {"age": 0.2, "<pay>": -0.7, "rent": 0.0001, "age & pay": 0.5}
    leak = card(proved=Learned("bilinear", rate(0.7), 0.7, 0.7, True, parameters, 1, 1, 2.0))
    assert best_parameters(leak.leak) == (("<pay>", -0.7), ("age & pay", 0.5), ("age", 0.2))
    html = leaks_html(leak, 10)
    assert "Parameters of the best bilinear known" in html
    assert "<td>&lt;pay&gt;</td><td>-0.7</td>" in html
    assert best_parameters(card().leak) == ()
    assert "Parameters of the best" not in leaks_html(card(), 10)


def test_assess_proves_what_a_choquet_integral_finds() -> None:
    before, after = (table.iloc[:10, :2] for table in people())
    proved = assess(before, after, prove=3_600, distance="choquet").data()["leaks"]["leak"]["proof"]
    assert (proved["distance"], proved["proved"]) == ("Choquet", True)
    assert proved["found"] == proved["bound"]
    assert len(proved["parameters"]) == 3
    assert sum(proved["parameters"].values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"prove": 1, "distance": "euclid"}, "distance='euclid' is not known; use one of: weighted-mean,"),
        ({"distance": "owa"}, "distance says what to prove; give prove, a number of seconds, as well"),
        ({"prove": 1, "distance": "choquet"}, "the Choquet integral of 9 attributes has 511 parameters; give up to 7"),
        ({"prove": 1, "distance": "bilinear"}, "distance='bilinear' takes numbers only, and labels are compared, too"),
    ],
)
def test_a_family_that_cannot_be_proved_is_refused_in_a_line(given: dict[str, Any], said: str) -> None:
    columns = {f"v{place}": np.arange(10.0) + place for place in range(8)}
    table = pd.DataFrame(columns | {"town": list("abcde") * 2})
    with pytest.raises(InputError) as refusal:
        assess(table, table, **given)
    assert str(refusal.value).startswith(said)
    assert "\n" not in str(refusal.value)


def test_pairs_that_hardly_interact_are_not_told() -> None:
    page = card_page(card(), 10)
    assert page is not None
    assert [pair.interaction for pair in page.pairs] == [-0.2]
    assert card_page(None, 10) is None


def test_the_card_says_when_only_a_sample_was_learned_from() -> None:
    assert card_page(card(), 10).sampled is False  # type: ignore[union-attr]
    assert card_page(card(), 11).sampled is True  # type: ignore[union-attr]


def test_the_lattice_has_each_set_with_its_weight() -> None:
    page = card_page(card(names=("pay", "age", "rent")), 10)
    assert page is not None
    assert page.letters == (("A", "pay"), ("B", "age"), ("C", "rent"))
    assert page.lattice is not None
    assert [label for label, _ in page.lattice.rows] == ["none", "A", "B", "C", "AB", "AC", "BC", "ABC"]
    assert [weight for _, weight in page.lattice.rows] == ["0.00", *["0.33"] * 3, *["0.67"] * 3, "1.00"]


def test_few_records_and_no_columns_have_no_card() -> None:
    before, after = (pa.Table.from_pandas(table, preserve_index=False) for table in people(7))
    assert find_leaks(before, after, (AGE, PAY)) is None
    before, after = (pa.Table.from_pandas(table, preserve_index=False) for table in people(8))
    assert find_leaks(before, after, ()) is None


def test_labels_are_judged_by_what_they_mean_and_are_not_coarsened() -> None:
    kinds = {f"kind {place}": [f"kind {place}, {letter}" for letter in "abcd"] for place in range(4)}
    meaning = shoal.Hierarchy.from_pairs(
        [(leaf, kind) for kind, leaves in kinds.items() for leaf in leaves] + [(kind, "any") for kind in kinds]
    )
    before = pd.DataFrame({"kind": [leaf for leaves in kinds.values() for leaf in leaves]})
    after = pd.DataFrame({"kind": [leaf.split(",")[0] for leaf in before["kind"]]})
    found = assess(before, after, ontology={"kind": meaning}, aligned=True)
    # By meaning each is nearest to the four of its kind.
    assert found.leaks.leak.worst.rate == pytest.approx(1 / 4)
    assert found.leaks.remedies == ()
    assert remedy(found.leaks) == ""
