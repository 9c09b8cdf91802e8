"""Learned linkage: richer families find no less, order changes nothing, equal records share what is found."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import assess
from shoal.attacks.learned.leakage import Leakage
from shoal.attacks.learned.records import label_columns
from shoal.attacks.proof.families import DISTANCES
from shoal.attacks.proof.linkage import LearnedLinkage
from shoal.errors import InputError, MissingExtra

# What contains what: whoever may choose from the second may choose from the first.
INCLUSIONS = (
    ("choquet", "weighted-mean"),
    ("choquet", "owa"),
    ("choquet", "choquet-submodular"),
    ("bilinear", "weighted-mean"),
    ("bilinear-semidefinite", "weighted-mean"),
)
FAST = ("weighted-mean", "owa", "bilinear", "choquet", "choquet-submodular")


def masked(n_records, n_attributes, noise, seed=0):
    random = np.random.default_rng(seed)
    before = random.normal(size=(n_records, n_attributes))
    return before, before + noise * random.normal(size=before.shape)


def few_values(n_records, n_attributes, n_values, seed):
    """Whole numbers, moved by one or not at all: many records tie, many are equal."""
    random = np.random.default_rng(seed)
    before = random.integers(0, n_values, size=(n_records, n_attributes)).astype(float)
    return before, np.clip(before + random.integers(-1, 2, size=before.shape), 0, n_values - 1)


def learned(distance, tables, nodes=10):
    # By nodes, not by seconds: the same wherever it runs.
    return LearnedLinkage(distance, seconds=3600, nodes=nodes).run(*tables)


def plain_rate(before, after):
    """Standard linkage, counted here: ties by their chance."""
    before, after = ((some - some.mean(axis=0)) / np.maximum(some.std(axis=0), 1e-9) for some in (before, after))
    apart = ((before[:, None, :] - after[None, :, :]) ** 2).mean(axis=2)
    own = np.diag(apart)[:, None]
    ties = (np.abs(apart - own) < 1e-9).sum(axis=1)
    return float(np.mean(np.where((apart < own - 1e-9).any(axis=1), 0.0, 1.0 / ties)))


def test_richer_families_find_no_less_and_none_less_than_plain() -> None:
    tables = masked(25, 3, 0.8, seed=1)
    found = {distance: learned(distance, tables) for distance in DISTANCES}
    for richer, simpler in INCLUSIONS:
        assert found[richer].rate.rate >= found[simpler].rate.rate, (richer, simpler)
        assert found[richer].found >= found[simpler].found, (richer, simpler)
    for distance, one in found.items():
        assert one.rate.rate >= plain_rate(*tables), distance
        assert one.rate.low <= one.rate.rate <= one.rate.high
        assert one.rate.rate >= one.found - 1e-12
        assert one.found <= one.bound <= 1.0
        assert one.proved == (one.bound - one.found < 1e-9), distance
    assert found["weighted-mean"].rate.rate > plain_rate(*tables)


# Of these, ties make more of a weighted mean or an OWA than of the optimum by the margin.
@pytest.mark.parametrize(("n", "seed"), [(7, 9), (7, 49), (9, 80)])
def test_richer_families_find_no_less_of_records_that_tie(n, seed) -> None:
    tables = few_values(n, 2, 2, seed)
    found = {distance: learned(distance, tables, nodes=1).rate.rate for distance in DISTANCES}
    for richer, simpler in INCLUSIONS:
        assert found[richer] >= found[simpler] - 1e-9, (richer, simpler)
    assert min(found.values()) >= plain_rate(*tables) - 1e-9


@pytest.mark.parametrize("seed", [8, 16, 27])  # of which an OWA finds more than any weighted mean
def test_what_a_simpler_family_finds_is_not_lost_where_the_search_is_cut_short(seed) -> None:
    tables = masked(25, 3, 0.8, seed)
    found = {distance: learned(distance, tables, nodes=1) for distance in ("weighted-mean", "owa", "choquet")}
    assert found["owa"].rate.rate > found["weighted-mean"].rate.rate
    assert found["choquet"].rate.rate >= found["owa"].rate.rate
    assert found["choquet"].found >= found["owa"].found


@settings(max_examples=12)
@given(st.integers(4, 12), st.integers(1, 3), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_what_is_learned_finds_no_less_than_plain(n, width, n_values, seed) -> None:
    tables = few_values(n, width, n_values, seed)
    for distance in ("weighted-mean", "owa"):
        assert learned(distance, tables, nodes=1).rate.rate >= plain_rate(*tables) - 1e-9


@pytest.mark.parametrize("distance", FAST)
def test_the_order_of_records_and_attributes_changes_nothing(distance) -> None:
    before, after = (pd.DataFrame(table, columns=["age", "pay", "rent"]) for table in masked(16, 3, 0.8, seed=4))
    straight = learned(distance, (before, after), nodes=4)
    records = np.random.default_rng(9).permutation(16)
    turned = [table[["rent", "age", "pay"]].iloc[records] for table in (before, after)]
    other = learned(distance, turned, nodes=4)
    assert other.rate == straight.rate
    assert (other.found, other.bound, other.proved, other.rows) == (
        straight.found,
        straight.bound,
        straight.proved,
        straight.rows,
    )
    assert other.parameters == straight.parameters
    assert other.rate.chances.tolist() == straight.rate.chances[records].tolist()
    assert 0 < straight.rate.rate < 1


def test_the_order_changes_nothing_of_arrays_either() -> None:
    before, after = masked(16, 3, 0.8, seed=4)
    straight = learned("weighted-mean", (before, after))
    for order in itertools.permutations(range(3)):
        other = learned("weighted-mean", (before[:, order], after[:, order]))
        weights = [other.parameters[f"column {place + 1}"] for place in range(3)]
        assert weights == [straight.parameters[f"column {place + 1}"] for place in order]
        assert other.rate.chances.tolist() == straight.rate.chances.tolist()


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("n", [10, 49])
def test_a_release_of_equal_rows_leaves_a_guess(distance, n) -> None:
    before = masked(n, 3, 0.0)[0]
    found = learned(distance, (before, np.ones((n, 3))))
    assert found.rate.rate == 1 / n
    assert found.rate.chances.tolist() == [1 / n] * n
    assert found.rate.baseline == 1 / n
    assert found.found == pytest.approx(1 / n)
    assert found.proved


@pytest.mark.parametrize("distance", FAST)
@pytest.mark.parametrize("k", [2, 4])
def test_groups_of_k_equal_rows_hold_everybody_below_one_in_k(distance, k) -> None:
    before, after = masked(16, 3, 0.1)
    order = np.argsort(before[:, 0])
    grouped = after.copy()
    for start in range(0, 16, k):
        grouped[order[start : start + k]] = after[order[start : start + k]].mean(axis=0)
    found = learned(distance, (before, grouped))
    assert found.rate.chances.max() <= 1 / k
    assert found.rate.rate <= 1 / k
    assert found.found <= 1 / k + 1e-12
    assert found.rate.rate > 1 / 16


def test_weights_by_name_sum_to_one() -> None:
    before, after = (pd.DataFrame(table, columns=["age", "pay", "rent"]) for table in masked(20, 3, 0.6))
    weights = LearnedLinkage("weighted-mean", seconds=3_600).run(before, after).parameters
    assert sorted(weights) == ["age", "pay", "rent"]
    assert sum(weights.values()) == pytest.approx(1.0)
    assert min(weights.values()) >= 0
    owa = LearnedLinkage("owa", seconds=3_600).run(before, after).parameters
    assert list(owa) == ["difference 1", "difference 2", "difference 3"]
    assert sum(owa.values()) == pytest.approx(1.0)
    measure = learned("choquet", (before, after), nodes=1).parameters
    assert {frozenset(name.split(" & ")) for name in measure} == {
        frozenset(some) for size in (1, 2, 3) for some in itertools.combinations(["age", "pay", "rent"], size)
    }
    assert sum(measure.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", [5, 7, 20])  # of which the best matrix of all has a negative eigenvalue
def test_a_semidefinite_matrix_has_no_negative_eigenvalue(seed) -> None:
    names = ["a", "b", "c"]
    before, after = (pd.DataFrame(table, columns=names) for table in masked(10, 3, 0.9, seed))
    found = learned("bilinear-semidefinite", (before, after))
    matrix = np.zeros((3, 3))
    for name, value in found.parameters.items():
        places = [names.index(one) for one in name.split(" & ")]
        matrix[places[0], places[-1]] = matrix[places[-1], places[0]] = value
    assert np.linalg.eigvalsh(matrix).min() >= -1e-9
    assert np.abs(matrix).max() == 1.0
    assert found.distance == "bilinear, semidefinite"


def test_labels_alone_can_give_everybody_away() -> None:
    names = ["ann", "bea", "cid", "dee", "eve"]
    labels = label_columns({"name": names, "town": list("xxxxy")}, {"name": names, "town": list("yxyxx")})
    found = LearnedLinkage("weighted-mean", seconds=3_600).run(None, None, labels)
    assert (found.rate.rate, found.found, found.proved) == (1.0, 1.0, True)
    assert found.parameters["name"] > 0.5


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"distance": "manhattan"},
            "distance='manhattan' is not known; use one of: weighted-mean, weighted-mean-positive, owa",
        ),
        ({"seconds": 0}, "seconds=0 must be a number of more than 0"),
        ({"seconds": float("nan")}, "seconds=nan must be a number of more than 0"),
        ({"nodes": 0}, "nodes=0 must be a whole number of at least 1"),
        ({"nodes": 2.5}, "nodes=2.5 must be a whole number of at least 1"),
        ({"gap": -1.0}, "gap=-1.0 must be"),
        ({"gap": float("nan")}, "gap=nan must be"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(given, said) -> None:
    with pytest.raises(InputError) as refusal:
        LearnedLinkage(**given).run(*masked(5, 2, 0.1))
    assert str(refusal.value).startswith(said)
    assert "\n" not in str(refusal.value)


def test_too_many_attributes_for_all_sets_are_refused_with_a_way_out() -> None:
    with pytest.raises(InputError, match=r"8 attributes has 255 parameters; .* use weighted-mean or owa"):
        LearnedLinkage("choquet").run(*masked(10, 8, 0.1))


def test_nothing_to_compare_is_refused() -> None:
    with pytest.raises(InputError, match="nothing to compare"):
        LearnedLinkage().run(None, None)


def test_without_the_extra_a_proof_is_refused_in_a_line_and_all_else_works(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    tables = masked(20, 2, 0.1)
    needed = r"needs the extra 'proof'; install it with: pip install 'shoal\[proof\]'"
    with pytest.raises(MissingExtra, match=needed):
        LearnedLinkage().run(*tables)
    with pytest.raises(MissingExtra, match=needed):
        Leakage(proof_seconds=5).run(*tables)
    with pytest.raises(MissingExtra, match=needed):
        assess(pd.DataFrame(tables[0]), pd.DataFrame(tables[1]), prove=5)
    assert Leakage(repeats=1).run(*tables).proof is None
