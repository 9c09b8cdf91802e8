"""Kernels of the search: they keep sizes, end where no single step helps, and count what their twins count."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.grouping import refinement as search
from shoal.kernels.grouping import repair
from shoal.methods.mdav import EuclideanSpace, SphericalSpace
from tests.reference import refinement as twin

BOTH_SPACES = pytest.mark.parametrize("space", [EuclideanSpace, SphericalSpace])


@st.composite
def records(draw, most=24):
    """k, a table of at least 2k rows, and groups of k to 2k - 1."""
    k = draw(st.integers(2, 4))
    n_rows = draw(st.integers(2 * k, most))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = random.integers(-3, 4, size=(n_rows, 3)) + draw(st.sampled_from([0.0, 0.25])) * random.normal(size=(n_rows, 3))
    groups = np.minimum(np.arange(n_rows) // k, n_rows // k - 1)
    return k, X, random.permutation(groups).astype(np.int64)


def unit(X):
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return np.where(length > 0, X / np.where(length > 0, length, 1.0), np.eye(X.shape[1])[0])


def as_rows(X):
    csr = sp.csr_matrix(X)
    return search.Rows(csr.indptr.astype(np.int64), csr.indices.astype(np.int32), csr.data, X.shape[1])


def test_random_numbers_are_spread_evenly():
    state = np.array([1], np.uint64)
    counts = np.bincount([repair.draw(state, 7) for _ in range(7000)], minlength=7)
    assert len(counts) == 7
    assert counts.min() > 850


@BOTH_SPACES
@given(records())
def test_worth_and_error_are_those_of_the_twin(space, case):
    _, X, groups = case
    X = unit(X) if space is SphericalSpace else X
    rows_of = [X[groups == group] for group in range(groups.max() + 1)]
    worth = sum(repair.worth(space.number, np.sum(rows.sum(axis=0) ** 2), len(rows)) for rows in rows_of)
    spherical = space is SphericalSpace
    assert worth == pytest.approx(twin.worth(X, groups, spherical))
    assert space.errors(sp.csr_matrix(X), groups).sum() == pytest.approx(twin.error(X, groups, spherical))


@given(records())
def test_products_are_those_of_the_rows_chosen(case):
    _, X, groups = case
    chosen = np.flatnonzero(groups < 2)
    gram = np.empty((len(chosen), len(chosen)))
    search.products(as_rows(X), chosen, gram)
    assert np.allclose(gram, X[chosen] @ X[chosen].T)


@given(records())
def test_nearest_others_are_sorted_by_distance_and_then_by_record(case):
    _, X, _ = case
    X = np.round(X)  # whole numbers make ties
    found = search.nearest_others(X @ X.T, 3)
    for row in range(len(X)):
        distance = ((X - X[row]) ** 2).sum(axis=1)
        expected = [other for other in np.argsort(distance, kind="stable").tolist() if other != row][:3]
        assert found[row].tolist() == expected


@given(records(), st.integers(1, 2**32), st.data())
def test_rebuilding_gives_every_group_k_to_2k_less_1(case, seed, data):
    k, X, _ = case
    n_groups = data.draw(st.integers(-(-len(X) // (2 * k - 1)), len(X) // k))
    group_of, size = np.empty(len(X), np.int64), np.empty(n_groups, np.int64)
    division = repair.Division(group_of, size, np.empty((n_groups, len(X))), np.empty(n_groups))
    repair.rebuild(X @ X.T, division, len(X), n_groups, k, np.array([seed], np.uint64))
    assert np.bincount(group_of, minlength=n_groups).tolist() == size.tolist()
    assert size.min() >= k
    assert size.max() <= 2 * k - 1


@BOTH_SPACES
@given(records(most=14))
def test_improving_ends_where_no_move_and_no_swap_helps(space, case):
    k, X, groups = case
    spherical = space is SphericalSpace
    X = unit(X) if spherical else X
    before = twin.worth(X, groups, spherical)
    n_groups = int(groups.max()) + 1
    size, gram = np.bincount(groups), X @ X.T
    toward, square = np.empty((n_groups, len(X))), np.empty(n_groups)
    division = repair.Division(groups, size, toward, square)
    repair.sum_up(gram, division, len(X), n_groups)
    repair.improve(gram, division, len(X), n_groups, k, space.number)
    assert np.bincount(groups).tolist() == size.tolist()
    assert size.min() >= k
    assert size.max() <= 2 * k - 1
    assert twin.worth(X, groups, spherical) >= before - 1e-9
    lengths = [np.sum(X[groups == group].sum(axis=0) ** 2) for group in range(n_groups)]
    assert np.allclose(square, lengths)
    assert not twin.better_by_one_step(X, groups.tolist(), k, spherical)


@BOTH_SPACES
@given(records(), st.integers(1, 2**62))
def test_annealing_keeps_sizes_and_never_loses(space, case, seed):
    k, X, groups = case
    spherical = space is SphericalSpace
    X = unit(X) if spherical else X
    before = twin.worth(X, groups, spherical)
    search.anneal(X @ X.T, groups, k, space.number, 4, search.Cooling(1e6, 0.1, 0.001, seed))
    sizes = np.bincount(groups)
    sizes = sizes[sizes > 0]
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    assert twin.worth(X, groups, spherical) >= before - 1e-7
