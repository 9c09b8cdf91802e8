"""Refinement and the lower bound: k holds, nothing gets worse, and everything repeats."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import InputError, Microaggregation, SphericalMicroaggregation, progress
from shoal.methods import numeric as bound
from shoal.methods import refinement
from shoal.methods.mdav import EuclideanSpace, SphericalSpace, numbered_by_first_row
from shoal.methods.numeric import lower_bound
from shoal.methods.refinement import refined, without_large_groups
from tests.reference import refinement as twin

BRIEF = 0.004


@st.composite
def tables(draw, most=60):
    """k and at least k rows: spread out, with doubles, or all the same."""
    k = draw(st.integers(2, 12))
    n_rows, width = draw(st.integers(k, max(k, most))), draw(st.integers(1, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["real", "whole", "constant", "outliers"]))
    X = {
        "real": lambda: random.normal(size=(n_rows, width)),
        "whole": lambda: random.integers(-2, 3, size=(n_rows, width)).astype(float),
        "constant": lambda: np.ones((n_rows, width)),
        "outliers": lambda: random.standard_cauchy(size=(n_rows, width)),
    }[kind]()
    return k, X


def directions(X):
    """Rows of zeros, which have no direction, get one."""
    return np.where(np.abs(X).sum(axis=1, keepdims=True) > 0, X, 1.0)


def sizes_hold(groups, k):
    sizes = np.bincount(groups)
    return sizes.min() >= k and sizes.max() <= max(2 * k - 1, 0)


@given(tables())
def test_a_refined_table_keeps_k_and_is_never_worse_than_mdav(case):
    k, X = case
    model = Microaggregation(k=k, time_budget=BRIEF).fit(X)
    assert sizes_hold(model.groups_, k)
    assert model.sse_ <= Microaggregation(k=k, refine=False).fit(X).sse_ + 1e-9
    assert model.lower_bound_ <= model.sse_ + 1e-9


@given(tables(), st.booleans())
def test_refined_directions_keep_k_and_are_never_worse_than_mdav(case, sparse):
    k, X = case
    X = directions(X)
    X = sp.csr_matrix(X) if sparse else X
    model = SphericalMicroaggregation(k=k, time_budget=BRIEF).fit(X)
    assert sizes_hold(model.groups_, k)
    assert model.sse_ <= SphericalMicroaggregation(k=k, refine=False).fit(X).sse_ + 1e-9


@settings(max_examples=25, deadline=None)
@given(tables(), st.booleans(), st.integers(0, 9))
def test_the_same_seed_gives_the_same_groups_dense_or_sparse(case, spherical, seed):
    k, X = case
    X = directions(X)
    X = X / np.linalg.norm(X, axis=1, keepdims=True) if spherical else X
    space = SphericalSpace if spherical else EuclideanSpace
    start = np.minimum(np.arange(len(X)) // k, len(X) // k - 1)
    one = refined(X, start, k, space, BRIEF, seed)
    two = refined(sp.csr_matrix(X), start, k, space, BRIEF, np.random.RandomState(seed))
    assert one.tolist() == two.tolist()
    assert sizes_hold(one, k)
    assert one.tolist() == numbered_by_first_row(one).tolist()


@settings(max_examples=20, deadline=None)
@given(tables(), st.randoms())
def test_columns_in_another_order_do_no_harm(case, shuffler):
    k, X = case
    order = list(range(X.shape[1]))
    shuffler.shuffle(order)
    model = Microaggregation(k=k, time_budget=BRIEF).fit(X[:, order])
    assert sizes_hold(model.groups_, k)
    assert model.sse_ <= Microaggregation(k=k, refine=False).fit(X).sse_ + 1e-9


@pytest.mark.parametrize("spherical", [False, True])
@settings(max_examples=20, deadline=None)
@given(st.integers(2, 3), st.integers(4, 9), st.integers(0, 2**32))
def test_the_optimum_of_a_few_rows_is_found(spherical, k, n_rows, seed):
    X = np.random.default_rng(seed).normal(size=(n_rows, 2))
    X = X / np.linalg.norm(X, axis=1, keepdims=True) if spherical else X
    start = np.minimum(np.arange(n_rows) // k, n_rows // k - 1)
    found = refined(X, start, k, SphericalSpace if spherical else EuclideanSpace, 0.02, 0)
    assert twin.error(X, found, spherical) <= twin.least_error(X, k, spherical) + 1e-9


@given(st.integers(2, 4), st.integers(4, 8), st.integers(0, 2**32), st.booleans())
def test_no_partition_is_below_the_lower_bound(k, n_rows, seed, whole):
    random = np.random.default_rng(seed)
    X = random.integers(-2, 3, size=(n_rows, 2)).astype(float) if whole else random.standard_cauchy(size=(n_rows, 2))
    least = twin.least_error(X, k, False)
    assert lower_bound(X, k) <= least * (1 + 1e-9) + 1e-9


def trivial_bound(X, k):
    """Every row's k - 1 least squared distances to others, summed and divided by 2k."""
    squared = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    return float(np.sort(squared, axis=1)[:, 1:k].sum()) / (2 * k)


@given(tables())
def test_the_lower_bound_is_at_least_the_trivial_one(case):
    k, X = case
    assert lower_bound(X, k) >= trivial_bound(X, k) * (1 - 1e-6) - 1e-9


def test_the_lower_bound_holds_when_few_pairs_are_looked_at(monkeypatch):
    X = np.random.default_rng(0).normal(size=(8, 2))
    full = lower_bound(X, 3)
    monkeypatch.setattr(bound, "MOST_PAIRS", 8)
    assert 0 < lower_bound(X, 3) < full


def test_the_lower_bound_of_pairs_far_apart_is_their_error():
    X = np.array([[0.0], [1.0], [100.0], [102.0]])
    assert lower_bound(X, 2) == pytest.approx(0.5 + 2.0)


def test_the_gap_is_the_share_above_the_lower_bound():
    model = Microaggregation(k=3, time_budget=BRIEF).fit(np.random.default_rng(0).normal(size=(50, 3)))
    assert model.optimality_gap_ == pytest.approx(model.sse_ / model.lower_bound_ - 1)
    assert not hasattr(Microaggregation(k=3, refine=False).fit(np.eye(5)), "optimality_gap_")


def test_groups_too_large_are_cut_and_keep_k():
    cut = without_large_groups(np.array([0] * 7 + [1] * 3), 3)
    assert sorted(np.unique(cut, return_counts=True)[1].tolist()) == [3, 3, 4]


@pytest.mark.slow
def test_large_groups_of_a_thousand_rows_are_refined():
    X = np.random.default_rng(0).normal(size=(1000, 4))
    model = Microaggregation(k=200, time_budget=0.2).fit(X)
    assert sizes_hold(model.groups_, 200)
    assert model.sse_ < 0.99 * Microaggregation(k=200, refine=False).fit(X).sse_


def test_other_methods_have_nothing_to_refine():
    X = np.random.default_rng(0).normal(size=(40, 3))
    one, two = (Microaggregation(k=3, method="z-scores", refine=refine).fit(X) for refine in (True, False))
    assert one.groups_.tolist() == two.groups_.tolist()


def test_each_group_of_attributes_is_refined():
    X = np.random.default_rng(0).normal(size=(60, 4))
    model = Microaggregation(k=3, attribute_groups=2, time_budget=BRIEF).fit(X)
    assert all(sizes_hold(groups, 3) for groups in model.groups_.T)
    assert model.sse_ < Microaggregation(k=3, attribute_groups=2, refine=False).fit(X).sse_


@pytest.mark.parametrize("time_budget", [0, -1.0, float("nan"), float("inf"), "3", True, [1]])
@pytest.mark.parametrize("method", [Microaggregation, SphericalMicroaggregation])
def test_a_budget_that_is_no_positive_number_is_refused(method, time_budget):
    with pytest.raises(InputError, match=r"time_budget=.* must be a number of seconds above 0"):
        method(k=2, time_budget=time_budget).fit(np.eye(4))


def test_progress_is_told_and_ends_at_its_total():
    told = []
    with progress.listening(lambda *step: told.append(step)):
        Microaggregation(k=3, time_budget=BRIEF).fit(np.random.default_rng(0).normal(size=(50, 3)))
    refining = [(done, total) for name, done, total in told if name == "refining"]
    assert refining == [(done, refining[-1][1]) for done in range(refining[-1][1] + 1)]


def test_an_interrupted_search_keeps_the_best_so_far(monkeypatch):
    X = np.random.default_rng(0).normal(size=(200, 4))
    search, calls = refinement.refinement.anneal, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        search(*arguments)

    monkeypatch.setattr(refinement.refinement, "anneal", interrupted)
    with pytest.warns(UserWarning, match="interrupted: the best groups so far are kept"):
        model = Microaggregation(k=3, time_budget=0.4).fit(X)
    assert sizes_hold(model.groups_, 3)
    assert model.sse_ < Microaggregation(k=3, refine=False).fit(X).sse_


def test_nothing_to_gain_takes_no_time():
    told = []
    with progress.listening(lambda *step: told.append(step)), warnings.catch_warnings():
        warnings.simplefilter("error")
        Microaggregation(k=3, time_budget=60).fit(np.ones((2000, 3)))
    assert ("refining", 0, 0) in told


THREADS = """
import numpy as np, scipy.sparse as sp
from shoal import Microaggregation, SphericalMicroaggregation
random = np.random.default_rng(0)
table = random.standard_cauchy(size=(1700, 4))
texts = sp.random_array((1700, 300), density=0.05, rng=random, format="csr")
print(Microaggregation(k=3, time_budget=0.2).fit(table).groups_.tolist())
print(SphericalMicroaggregation(k=4, time_budget=0.2).fit(texts).groups_.tolist())
"""


@pytest.mark.slow  # starts two processes
def test_the_number_of_threads_never_shows():
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", THREADS],
            env=os.environ | {"NUMBA_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
