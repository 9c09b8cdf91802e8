"""Labels before and after: what a released label stands for, and links by labels alone."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attacks.labels import label_disclosure, label_pair
from shoal.attacks.probabilistic import ProbabilisticLinkage


def test_a_label_stands_for_itself_a_gap_for_all_and_a_set_for_what_it_replaced() -> None:
    before = ["a", "a", "a", "b", "c", "c"]
    pair = label_pair("x", before, ["a", "{a | b}", None, "{a | b}", "a", "*"])
    chance = {
        label: dict(zip(pair.values, pair.chance[:, place].tolist(), strict=True))
        for place, label in enumerate(pair.released)
    }
    assert chance["a"] == {"a": 1, "b": 0, "c": 0}
    assert chance["{a | b}"] == {"a": 0.75, "b": 0.25, "c": 0}
    assert (
        chance["None"]
        == chance["*"]
        == {"a": pytest.approx(1 / 2), "b": pytest.approx(1 / 6), "c": pytest.approx(1 / 3)}
    )
    assert pair.disclosed.tolist() == pytest.approx([1, 0.75, 1 / 2, 0.25, 0, 1 / 3])


def test_disclosure_of_labels_beside_a_guess_without_their_correspondence() -> None:
    pair = label_pair("x", ["a", "a", "b", "b"], ["a", "a", "b", "b"])
    rate = label_disclosure([pair], None, 0)
    assert (rate.rate, rate.baseline) == (1.0, 0.5)


def test_labels_are_linked_one_to_one_by_the_model_of_fellegi_and_sunter() -> None:
    random = np.random.default_rng(0)
    columns = {name: [f"{name}{value}" for value in random.integers(0, 6, 80)] for name in "abcd"}
    same = [label_pair(name, values, values) for name, values in columns.items()]
    alike = np.unique(np.array(list(columns.values())).T, axis=0, return_counts=True)[1]
    assert ProbabilisticLinkage().run(None, None, same).rate == pytest.approx(len(alike) / 80)
    hidden = [label_pair(name, values, ["*"] * 80) for name, values in columns.items()]
    assert ProbabilisticLinkage().run(None, None, hidden).rate == pytest.approx(1 / 80, abs=0.03)
    # Numbers join in: with a column that differs in all rows everybody is found.
    numbers = np.arange(80.0)[:, None]
    assert ProbabilisticLinkage(tolerance=0.0).run(numbers, numbers, same).rate == 1.0
