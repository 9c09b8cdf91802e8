"""Tables with labels: loss, risk, models and the most telling column over all columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shoal import CategoricalMicroaggregation, Hierarchy, assess

TOWNS = Hierarchy.from_pairs(
    [(f"town {town}", f"county {town // 3}") for town in range(9)]
    + [(f"county {county}", "land") for county in range(3)]
)


def test_the_share_of_information_lost_is_that_of_the_method_for_any_ontology() -> None:
    random = np.random.default_rng(3)
    before = pd.DataFrame({name: [f"town {town}" for town in random.integers(0, 9, 60)] for name in ("home", "work")})
    model = CategoricalMicroaggregation(k=4, ontology=TOWNS, refine=False)
    after = model.fit_transform(before)
    found = assess(before, after, ontology=TOWNS, aligned=True)
    assert found.label_loss.squared.information_loss == pytest.approx(model.information_loss_, rel=1e-9)


def test_loss_and_risk_rest_on_all_columns() -> None:
    random = np.random.default_rng(1)
    before = pd.DataFrame(
        {"age": random.integers(20, 80, 100), **{name: random.choice(list("pqrs"), 100) for name in ("a", "b", "c")}}
    )
    same = assess(before, before)
    shuffled = assess(before, before.assign(**{name: random.permutation(before[name]) for name in "abc"}), aligned=True)
    assert (same.mean_change, same.label_loss.squared.information_loss) == (0, 0)
    assert shuffled.loss.mean_change == 0 < shuffled.label_loss.mean_change
    assert shuffled.mean_change == pytest.approx(3 / 4 * shuffled.label_loss.mean_change)
    assert shuffled.label_loss.one_way == 0 < shuffled.label_loss.two_way
    assert shuffled.risk.risk < same.risk.risk
    assert shuffled.risk.interval.rate < 0.7


def test_a_target_is_learned_from_labels_too() -> None:
    random = np.random.default_rng(2)
    school = random.choice(["none", "some", "much"], 200)
    table = pd.DataFrame({"school": school, "pay": (school == "much") * 50.0 + random.normal(size=200)})
    found = assess(table, table, target="pay").models
    assert found.known == ("school",)
    assert found.scores[0].protected > 0.9
    sets = table.assign(school=[label if label == "much" else "none | some" for label in school])
    assert assess(table, sets, target="pay").models.scores[0].protected > 0.9


def test_the_most_telling_column_is_the_one_without_which_fewest_are_found() -> None:
    random = np.random.default_rng(4)
    before = pd.DataFrame({"age": random.permutation(120), "roof": random.choice(["tile", "slate"], 120)})
    after = before.assign(age=before.age + random.normal(0, 0.3, 120))
    telling = assess(before, after).leaks.leak.attributes
    assert [one.name for one in telling] == ["age", "roof"]
    assert telling[0].without < telling[1].without
