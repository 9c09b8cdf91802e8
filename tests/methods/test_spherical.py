"""Spherical microaggregation: directions that at least k rows share."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal import InputError, SphericalMicroaggregation

X4 = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [0.6, 0.8]])


def plain(k):
    return SphericalMicroaggregation(k=k, refine=False)


@st.composite
def matrices(draw, most=20):
    rows = st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0, -1.0, 0.5]), min_size=4, max_size=4).filter(any)
    return np.array(draw(st.lists(rows, min_size=5, max_size=most)))


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("k", [1, 0, -1])
def test_k_below_2_is_refused(k):
    with pytest.raises(InputError, match=f"k={k} must be at least 2"):
        SphericalMicroaggregation(k=k).fit(X4)


@pytest.mark.parametrize("k", [2.5, "2", None, False])
def test_k_that_is_no_whole_number_is_refused(k):
    with pytest.raises(InputError, match="must be a whole number of at least 2"):
        SphericalMicroaggregation(k=k).fit(X4)


def test_k_above_the_number_of_rows_with_a_direction_is_refused():
    with pytest.warns(UserWarning, match="1 rows are all zeros"), pytest.raises(InputError, match=r"k=3 .* got 2"):
        SphericalMicroaggregation(k=3).fit([[1, 0], [0, 1], [0, 0]])


@given(matrices(), st.integers(2, 5))
def test_groups_have_at_least_k_rows_and_share_the_direction_of_their_sum(X, k):
    model = plain(k)
    Y = model.fit_transform(X)
    sizes = np.bincount(model.groups_)
    assert (sizes[:-1] == k).all()
    assert k <= sizes[-1] <= 2 * k - 1
    assert np.linalg.norm(Y, axis=1) == pytest.approx(1.0)
    for group in range(len(sizes)):
        total = unit(X)[model.groups_ == group].sum(axis=0)
        if np.linalg.norm(total) > 1e-9:
            assert model.representatives_[group] == pytest.approx(total / np.linalg.norm(total), abs=1e-9)
        assert (Y[model.groups_ == group] == model.representatives_[group]).all()


@given(matrices(), st.integers(2, 4))
def test_loss_is_that_of_the_formula(X, k):
    model = plain(k).fit(X)
    rows, own = unit(X), model.representatives_[model.groups_]
    centre = rows.sum(axis=0)
    assume(np.linalg.norm(centre) > 1e-9)
    centre /= np.linalg.norm(centre)
    sse = sum(1 - float(x @ c) for x, c in zip(rows, own, strict=True))
    ssa = sum(1 - float(c @ centre) for c in own)
    assert model.sse_ == pytest.approx(sse, abs=1e-9)
    assert model.information_loss_ == pytest.approx(sse / (sse + ssa) if sse + ssa > 1e-9 else 0.0, abs=1e-6)


@settings(max_examples=25)
@given(matrices(), st.integers(2, 4))
def test_refinement_keeps_k_and_never_loses_more(X, k):
    refined = SphericalMicroaggregation(k=k, time_budget=0.01, random_state=0).fit(X)
    assert np.bincount(refined.groups_).min() >= k
    assert refined.sse_ <= plain(k).fit(X).sse_ + 1e-9


def test_the_length_of_rows_does_not_matter():
    X = np.random.default_rng(0).random((40, 5))
    lengths = np.random.default_rng(1).uniform(0.1, 50, size=(40, 1))
    assert plain(3).fit(X).groups_.tolist() == plain(3).fit(X * lengths).groups_.tolist()


def test_a_second_run_gives_the_same_bytes():
    X = sp.random(80, 30, density=0.2, random_state=0, format="csr")
    X = X[np.diff(X.indptr) > 0]
    one, two = (plain(4).fit_transform(X) for _ in range(2))
    assert one.data.tobytes() == two.data.tobytes()
    assert one.indices.tobytes() == two.indices.tobytes()


def test_sparse_and_dense_rows_give_the_same_groups():
    X = sp.random(50, 20, density=0.3, random_state=1, format="csr")
    X = X[np.diff(X.indptr) > 0]
    assert plain(3).fit(X).groups_.tolist() == plain(3).fit(X.toarray()).groups_.tolist()


# Rows without a direction


@pytest.mark.parametrize("kind", [np.array, sp.csr_matrix, sp.csr_array])
def test_rows_of_zeros_join_no_group_and_stay_zero(kind):
    X = kind(np.vstack([np.zeros(2), X4, np.zeros(2)]))
    model = plain(2)
    with pytest.warns(UserWarning, match="2 rows are all zeros: they have no direction"):
        Y = model.fit_transform(X)
    Y = Y.toarray() if sp.issparse(Y) else Y
    assert model.groups_.tolist() == [-1, 0, 0, 1, 1, -1]
    assert Y[[0, 5]].tolist() == [[0, 0], [0, 0]]
    assert np.linalg.norm(Y[1:5], axis=1) == pytest.approx(1)


def test_explicit_zeros_are_zeros():
    X = sp.csr_matrix((np.array([1.0, 1.0, 0.0]), [0, 1, 0], [0, 1, 2, 3]), shape=(3, 2))
    with pytest.warns(UserWarning, match="1 rows are all zeros"):
        assert plain(2).fit(X).groups_.tolist() == [0, 0, -1]


def test_a_row_of_zeros_is_transformed_to_zeros():
    model = plain(2).fit(X4)
    with pytest.warns(UserWarning, match="1 rows are all zeros"):
        assert model.transform([[0.0, 0.0]]).tolist() == [[0, 0]]


def test_only_rows_of_zeros_are_refused():
    with pytest.warns(UserWarning), pytest.raises(InputError, match="got 0"):
        plain(2).fit(np.zeros((4, 2)))


def test_rows_that_cancel_out_get_a_direction_all_the_same():
    model = plain(2)
    Y = model.fit_transform(np.array([[1.0, 0.0], [-1.0, 0.0]]))
    assert Y.tolist() == [[1, 0], [1, 0]]
    assert model.sse_ == pytest.approx(2)
    assert np.isfinite(model.information_loss_)


# New rows


@given(matrices(), matrices())
def test_new_rows_get_the_nearest_representative_and_never_a_new_one(X, new):
    model = plain(3).fit(X)
    for row, found in zip(unit(new), model.transform(new), strict=True):
        known = model.representatives_.tolist()
        assert found.tolist() in known
        assert row @ found == pytest.approx(max(row @ np.array(known).T), abs=1e-12)


# Kinds of data


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
def test_sparse_in_the_same_sparse_out(kind):
    model = plain(2)
    Y = model.fit_transform(kind(X4))
    assert isinstance(Y, kind)
    assert isinstance(model.transform(kind(X4)), kind)
    assert Y.toarray() == pytest.approx(plain(2).fit_transform(X4))


def test_other_sparse_formats_are_taken_too():
    assert plain(2).fit_transform(sp.coo_array(X4)).toarray() == pytest.approx(plain(2).fit_transform(X4))


def test_dataframes_in_the_same_dataframes_out():
    pandas = plain(2).fit_transform(pd.DataFrame(X4, columns=["a", "b"], index=list("wxyz")))
    assert pandas.index.tolist() == list("wxyz")
    polars = plain(2).fit_transform(pl.DataFrame(X4, schema=["a", "b"], orient="row"))
    assert isinstance(polars, pl.DataFrame)
    arrow = plain(2).fit_transform(pa.table({"a": X4[:, 0], "b": X4[:, 1]}))
    assert isinstance(arrow, pa.Table)
    assert pandas.to_numpy() == pytest.approx(polars.to_numpy())
    assert pandas["a"].tolist() == pytest.approx(arrow["a"].to_pylist())


def test_the_input_is_left_alone():
    X = sp.csr_matrix(3 * X4)
    before = X.copy()
    plain(2).fit_transform(X)
    assert (before != X).nnz == 0
