"""Two attackers who learn: what each may look at, and when what was learned is believed."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attacks.learned import leakage as attackers
from shoal.attacks.learned.distances import plain
from shoal.attacks.learned.leakage import draw_sample, honest_chances, learn_from_links, learn_worst_case
from shoal.attacks.learned.linking import chances_of
from shoal.attacks.learned.records import side_by_side


def masked(noise, n_records=60, seed=0):
    random = np.random.default_rng(seed)
    before = random.normal(size=(n_records, len(noise)))
    return side_by_side(before, before + np.array(noise) * random.normal(size=before.shape))


def test_the_honest_attacker_is_tried_on_links_they_do_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    everyone = masked([0.5, 0.5])
    sample = draw_sample(everyone, 20, random_state=0)
    known, tried = [], []

    def learn(of, links):
        known.append(set(links.tolist()))
        return plain(of.n_attributes)

    def try_on(records, distance, others):
        assert records is everyone
        tried.append(set(others.tolist()))
        return np.full(len(others), 0.25)

    monkeypatch.setattr(attackers, "learn_from_links", learn)
    monkeypatch.setattr(attackers, "chances_of", try_on)
    chances, n_known = honest_chances(sample, share=0.4, repeats=3, random_state=0)
    assert n_known == 8
    for links, others in zip(known, tried, strict=True):
        assert len(links) == 8
        assert links | others == set(sample.targets.tolist())
        assert not links & others
    assert len(known) == 3
    assert known[0] != known[1]
    # A record tried once or thrice has the mean of its chances; one whose link was known every time has none.
    assert set(sample.targets[np.isfinite(chances)].tolist()) == set.union(*tried)
    assert set(chances[np.isfinite(chances)].tolist()) == {0.25}


def test_a_few_links_that_teach_nothing_are_not_believed() -> None:
    # The same noise everywhere: nothing is better than plain, whatever twelve links suggest.
    records = masked([0.6, 0.6, 0.6])
    found = chances_of(records, learn_from_links(records, np.arange(0, 60, 5))).mean()
    assert found >= chances_of(records, plain(3)).mean() - 0.05


def test_links_that_teach_something_are_believed() -> None:
    records = masked([0.02, 2.0, 2.0])
    learned = learn_from_links(records, np.arange(0, 60, 2))
    others = np.arange(1, 60, 2)
    assert learned.name != "plain"
    assert chances_of(records, learned, others).mean() > chances_of(records, plain(3), others).mean() + 0.3


def test_the_worst_case_is_the_best_of_all_that_was_tried() -> None:
    records = masked([0.3, 0.8, 1.0])
    worst = learn_worst_case(records, np.arange(60))
    assert worst.chances.tolist() == chances_of(records, worst.best).tolist()
    for other in (plain(3), worst.weights, worst.measure):
        assert worst.chances.sum() >= chances_of(records, other).sum() - 1e-9
    some = np.arange(0, 60, 4)
    of_some = learn_worst_case(records, some)
    assert of_some.chances.tolist() == chances_of(records, of_some.best, some).tolist()
