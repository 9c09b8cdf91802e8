"""Probabilistic linkage: the model against an independent one, links by hand, and what must hold for any table."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from shoal import InputError, Microaggregation, Noise
from shoal.attacks import probabilistic
from shoal.attacks.labels import label_pair
from shoal.attacks.probabilistic import FellegiSunter, ProbabilisticLinkage, learn
from shoal.kernels.linking.nearest import count_patterns, patterns_of

# What recordlinkage 0.16 (ECMClassifier, max_iter=10_000, atol=1e-12) learns from the patterns of `fixed_tables()`:
# made by running tests/risk/peer.py on them, as the test with SHOAL_PEERS does.
LEARNT_BY_RECORDLINKAGE = {
    "matches": 0.018045,
    "agree_if_match": [0.969960, 0.894994, 0.807332, 1.000000],
    "agree_if_not": [0.190660, 0.187512, 0.191668, 0.186431],
    "linked": 50,  # pairs that are more likely matches than not
}


def fixed_tables() -> tuple[np.ndarray, np.ndarray]:
    """Sixty records of four attributes, and a disturbed version, by arithmetic alone."""
    row = np.arange(60)[:, None]
    factors, primes = np.array([7, 11, 13, 17]), np.array([61, 67, 71, 73])
    original = (row * factors * (row + 3)) % primes + row % 2 * 10
    return original.astype(float), (original + (row * np.array([5, 3, 8, 6])) % 11 - 5).astype(float)


def all_patterns(linkage: ProbabilisticLinkage, original: np.ndarray, protected: np.ndarray) -> np.ndarray:
    """The pattern of every masked record with every original, (masked, originals), in the order of rows."""
    compared = linkage._compare(original, protected)
    patterns = np.empty((len(original), len(original)), np.int32)
    for place, row in enumerate(compared.rows):
        patterns_of(compared.pairs, place, patterns[row])
    return patterns


def learned(linkage: ProbabilisticLinkage, original: np.ndarray, protected: np.ndarray) -> FellegiSunter:
    """The model of somebody who does not know how many pairs belong together, as record linkage has it."""
    return learn(count_patterns(linkage._compare(original, protected).pairs))


def chance_of_match(model: FellegiSunter) -> np.ndarray:
    """The chance that a pair with each of the 2^d patterns is a match."""
    odds = np.exp2(model.weights) * model.matches / (1.0 - model.matches)
    return odds / (1.0 + odds)


def test_the_model_is_the_one_recordlinkage_learns():
    original, protected = fixed_tables()
    model = learned(ProbabilisticLinkage(), original, protected)
    assert model.matches == pytest.approx(LEARNT_BY_RECORDLINKAGE["matches"], abs=1e-3)
    assert model.agree_if_match == pytest.approx(LEARNT_BY_RECORDLINKAGE["agree_if_match"], abs=1e-3)
    assert model.agree_if_not == pytest.approx(LEARNT_BY_RECORDLINKAGE["agree_if_not"], abs=1e-3)
    patterns = all_patterns(ProbabilisticLinkage(), original, protected)
    assert np.sum(chance_of_match(model)[patterns] > 0.5) == LEARNT_BY_RECORDLINKAGE["linked"]


@pytest.mark.parametrize("noise", [20, 60])
def test_the_model_and_the_links_are_those_of_recordlinkage_itself(noise):
    """SHOAL_PEERS is the python of an environment with it: python -m venv peers; peers/bin/pip install recordlinkage"""
    python = os.environ.get("SHOAL_PEERS")
    if python is None:
        pytest.skip("no environment with recordlinkage; set SHOAL_PEERS to its python")
    original = np.random.default_rng(1).gamma(2.0, size=(150, 5)) @ np.random.default_rng(2).uniform(size=(5, 5))
    protected = Noise(noise, random_state=0).fit_transform(original)
    linkage = ProbabilisticLinkage()
    patterns = all_patterns(linkage, original, protected)
    given = json.dumps({"patterns": patterns.ravel().tolist(), "attributes": 5})
    done = subprocess.run(
        [python, Path(__file__).with_name("peer.py")], input=given, capture_output=True, text=True, check=True
    )
    peer = json.loads(done.stdout)
    model = learned(linkage, original, protected)
    assert model.matches == pytest.approx(peer["matches"], abs=1e-3)
    assert model.agree_if_match == pytest.approx(peer["agree_if_match"], abs=1e-3)
    assert model.agree_if_not == pytest.approx(peer["agree_if_not"], abs=1e-3)
    # The peer stops when parameters move by less than 1e-5 of themselves: what is as likely as not may fall either way.
    probability = chance_of_match(model)[patterns.ravel()]
    clear = np.abs(probability - 0.5) > 1e-3
    linked = np.zeros(len(clear), dtype=bool)
    linked[peer["linked"]] = True
    assert clear.mean() > 0.95
    assert np.array_equal((probability > 0.5)[clear], linked[clear])
    # Their parameters, our assignment: the same total weight and, ties aside, the same links.
    m, u = np.array(peer["agree_if_match"]), np.array(peer["agree_if_not"])
    bits = patterns[..., None] >> np.arange(5) & 1
    theirs = np.where(bits, np.log2(m / u), np.log2((1 - m) / (1 - u))).sum(axis=-1)
    ours = model.weights[patterns]
    links = linear_sum_assignment(theirs, maximize=True)
    assert ours[links].sum() == pytest.approx(ours[linear_sum_assignment(ours, maximize=True)].sum(), rel=1e-6)


def test_the_model_finds_the_parameters_that_patterns_were_made_with():
    matches, m, u = 0.05, np.array([0.95, 0.8, 0.9, 0.7]), np.array([0.1, 0.3, 0.05, 0.2])
    bits = np.arange(16)[:, None] >> np.arange(4) & 1
    likely = matches * np.where(bits, m, 1 - m).prod(axis=1) + (1 - matches) * np.where(bits, u, 1 - u).prod(axis=1)
    model = learn(np.round(1e9 * likely).astype(np.int64))
    assert model.matches == pytest.approx(matches, abs=1e-5)
    assert model.agree_if_match == pytest.approx(m, abs=1e-4)
    assert model.agree_if_not == pytest.approx(u, abs=1e-5)
    first_and_third = np.log2(9.5) + np.log2(0.2 / 0.7) + np.log2(18) + np.log2(0.3 / 0.8)
    assert model.weights[0b0101] == pytest.approx(first_and_third, abs=1e-3)


def test_labels_that_agree_by_chance_do_not_pass_for_matches():
    """300 records, a few of whose labels are exchanged; a race that most have agrees for most pairs."""
    random = np.random.default_rng(2)
    frequent = ((0.5, 2), (0.85, 5), (0.6, 6), (0.15, 14), (0.2, 16))
    before = [np.minimum(random.geometric(first, 300), values) for first, values in frequent]
    after = [np.where(random.random(300) < 0.02, random.permutation(column), column) for column in before]
    pairs = [
        label_pair(str(name), [str(value) for value in was], [str(value) for value in now])
        for name, (was, now) in enumerate(zip(before, after, strict=True))
    ]
    assert ProbabilisticLinkage().run(None, None, pairs).rate > 0.75


def test_a_table_that_is_not_masked_is_linked_whole():
    original, _ = fixed_tables()
    assert ProbabilisticLinkage(tolerance=0).run(original, original).rate == 1


def test_four_rows_by_hand():
    # Two groups of two: the model links each group with its own, and within a group it is one in two.
    original = [[1.0, 1.0], [2.0, 2.0], [8.0, 8.0], [9.0, 9.0]]
    protected = [[1.5, 1.5], [1.5, 1.5], [8.5, 8.5], [8.5, 8.5]]
    rate = ProbabilisticLinkage(tolerance=0.25).run(original, protected)
    assert rate.chances.tolist() == [0.5] * 4
    assert rate.baseline == 0.25


@given(st.lists(st.lists(st.integers(-5, 5).map(float), min_size=2, max_size=2), min_size=2, max_size=15))
def test_a_release_whose_rows_are_all_equal_gives_one_in_n(rows):
    rate = ProbabilisticLinkage().run(rows, [[0.0, 0.0]] * len(rows))
    assert rate.rate == pytest.approx(1 / len(rows))
    assert rate.chances == pytest.approx(np.full(len(rows), 1 / len(rows)))


@pytest.mark.slow
@settings(max_examples=20)
@given(
    st.lists(st.lists(st.integers(-5, 5).map(float), min_size=2, max_size=2), min_size=2, max_size=15),
    st.randoms(use_true_random=False),
)
def test_rearranged_rows_give_rearranged_chances(rows, random):
    x = np.array(rows)
    y = np.array([[value + random.choice([-1, 0, 1]) for value in row] for row in rows])
    order = np.array(random.sample(range(len(x)), len(x)))
    one, two = ProbabilisticLinkage().run(x, y), ProbabilisticLinkage().run(x[order], y[order])
    assert two.chances.tolist() == one.chances[order].tolist()
    assert two.rate == one.rate


def test_k_anonymous_rows_are_found_with_a_chance_of_at_most_one_in_k():
    X = np.random.default_rng(0).normal(size=(60, 3))
    rate = ProbabilisticLinkage().run(X, Microaggregation(k=4, refine=False).fit_transform(X))
    assert rate.chances.max() <= 0.25
    assert 0 < rate.rate <= 0.25


@pytest.mark.slow
def test_large_tables_are_sampled_and_said_to_be(monkeypatch):
    monkeypatch.setattr(probabilistic, "ONE_TO_ONE", 100)
    monkeypatch.setattr(probabilistic, "SAMPLE", 50)
    X = np.random.default_rng(0).normal(size=(200, 4))
    rate = ProbabilisticLinkage(tolerance=0.05).run(X, Noise(5, random_state=0).fit_transform(X))
    assert (rate.n, len(rate.targets), rate.baseline) == (50, 50, 1 / 200)
    assert "sample of 50" in rate.about
    assert rate.rate > 0.5


def test_noise_hides_and_a_constant_column_says_nothing():
    X = np.random.default_rng(0).normal(size=(200, 4))
    rates = [ProbabilisticLinkage().run(X, Noise(p, random_state=0).fit_transform(X)).rate for p in (5, 50, 300)]
    assert rates[0] > 0.9 > rates[1] > rates[2]
    Y = Noise(20, random_state=0).fit_transform(X)
    constant = np.full((200, 1), 3.0)
    assert ProbabilisticLinkage().run(np.hstack([X, constant]), np.hstack([Y, constant])).rate == pytest.approx(
        ProbabilisticLinkage().run(X, Y).rate, abs=0.02
    )


def test_what_cannot_be_used_is_refused():
    with pytest.raises(InputError, match="at most 20 attributes, got 21"):
        ProbabilisticLinkage().run(np.zeros((3, 21)), np.zeros((3, 21)))
    with pytest.raises(InputError, match="tolerance=2"):
        ProbabilisticLinkage(tolerance=2).run([[1.0], [2.0]], [[1.0], [2.0]])
    with pytest.raises(InputError, match="shuffles=0"):
        ProbabilisticLinkage(shuffles=0).run([[1.0], [2.0]], [[1.0], [2.0]])
