"""The baskets of the benchmarks: what Agrawal and Srikant describe shows in their statistics."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.baskets import CORRELATION, Patterns, baskets, named, patterns


@pytest.fixture(scope="module")
def generated() -> sp.csr_matrix:
    return named("T20.I4.D20K")[0]


def test_baskets_have_the_size_and_the_items_of_their_name(generated) -> None:
    sizes = np.diff(generated.indptr)
    assert generated.shape == (20_000, 1_000)
    assert sizes.min() >= 1
    assert abs(sizes.mean() - 20) < 0.5
    assert 4 < sizes.std() < 6.5  # Poisson: the root of 20; patterns that do not fit add to it
    assert set(generated.data) == {1.0}
    assert len(np.unique(generated.indices)) > 950


def test_some_items_are_far_more_frequent_than_others(generated) -> None:
    frequency = np.sort(np.bincount(generated.indices, minlength=1_000))[::-1]
    assert frequency[:100].sum() > 0.2 * frequency.sum()  # a tenth of the items; 0.1 if all were alike
    assert frequency[-100:].sum() < 0.03 * frequency.sum()


def test_items_of_a_pattern_are_bought_together_more_often_than_by_chance() -> None:
    random = np.random.default_rng(0)
    source = patterns(4, 1_000, random)
    dense = baskets(source, 20_000, 20, 1_000, random).toarray() > 0
    often = [number for number in np.argsort(-source.weights)[:200] if source.corruption[number] < 0.5]
    lifts = []
    for number in often:
        items = source.items[source.start[number] : source.start[number + 1]]
        if len(items) > 1:
            lifts.append(dense[:, items[:2]].all(axis=1).mean() / np.prod(dense[:, items[:2]].mean(axis=0)))
    assert np.median(lifts) > 2


def test_patterns_have_their_mean_size_and_weights_that_sum_to_one() -> None:
    source = patterns(6, 1_000, np.random.default_rng(0))
    sizes = np.diff(source.start)
    assert abs(sizes.mean() - 6) < 0.25
    assert source.weights.sum() == pytest.approx(1)
    assert source.weights.max() > 5 * source.weights.mean()  # exponential, of 2,000
    assert abs(source.corruption.mean() - 0.5) < 0.03
    for start, end in pairwise(source.start):
        assert len(set(source.items[start:end])) == end - start


def test_a_pattern_shares_items_with_the_one_before_it_and_not_with_others() -> None:
    source = patterns(6, 1_000, np.random.default_rng(0))
    sets = [set(source.items[start:end]) for start, end in pairwise(source.start)]
    shared = np.mean([len(one & two) / len(two) for one, two in pairwise(sets)])
    # The share is exponential and at most 1: its mean is c (1 - exp(-1 / c)), less where the pattern before is short.
    assert 0.3 < shared < CORRELATION * (1 - np.exp(-1 / CORRELATION)) + 0.02
    assert np.mean([len(one & two) / len(two) for one, two in zip(sets, sets[500:], strict=False)]) < 0.02


def test_patterns_without_corruption_are_bought_whole() -> None:
    source = Patterns(np.arange(7), np.array([0, 3, 7]), np.array([0.5, 0.5]), np.zeros(2))
    dense = baskets(source, 1_000, 3, 7, np.random.default_rng(0)).toarray()
    for items in (dense[:, :3], dense[:, 3:]):
        assert np.array_equal(items.any(axis=1), items.all(axis=1))


def test_items_are_left_out_of_a_pattern_one_after_the_other() -> None:
    # A pattern of 4 that fits nowhere fills a basket: 4 items in 1 - c of the cases, 3 in c (1 - c), and so on; without
    # any it is no basket. c = 0.5: 8/15, 4/15, 2/15, 1/15.
    source = Patterns(np.arange(4), np.array([0, 4]), np.ones(1), np.array([0.5]))
    sizes = np.diff(baskets(source, 30_000, 1e-9, 4, np.random.default_rng(0)).indptr)
    assert np.bincount(sizes)[1:] / 30_000 == pytest.approx(np.array([1, 2, 4, 8]) / 15, abs=0.01)


def test_the_same_name_gives_the_same_baskets_and_another_seed_others() -> None:
    first, again, other = named("C20.I6.D2K"), named("C20.I6.D2K"), named("C20.I6.D2K", seed=1)
    assert (first[0] != again[0]).nnz == 0
    assert np.array_equal(first[1], again[1])
    assert (first[0] != other[0]).nnz > 0


def test_two_classes_of_half_the_baskets_come_from_patterns_of_their_own() -> None:
    X, classes = named("C20.I6.D20K.G1200")
    assert X.shape == (20_000, 1_200)
    assert np.bincount(classes).tolist() == [10_000, 10_000]
    frequency = [np.asarray(X[classes == number].mean(axis=0)).ravel() for number in (0, 1)]
    halves = (
        np.asarray(X[classes == 0][:5_000].mean(axis=0)).ravel(),
        np.asarray(X[classes == 0][5_000:].mean(axis=0)).ravel(),
    )
    assert np.corrcoef(*frequency)[0, 1] < 0.3 < 0.9 < np.corrcoef(*halves)[0, 1]


def test_a_name_that_means_nothing_is_refused() -> None:
    with pytest.raises(SystemExit, match=r"no baskets X20; give a name such as"):
        named("X20")
