"""Numeric microaggregation: groups of at least k, their means, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from shoal import InputError, Microaggregation
from tests.reference.euclidean import least_error, squared_distance

METHODS = ["mdav", "ranking", "z-scores", "principal-component"]
PEOPLE = np.array([[23, 25000], [18, 10000], [58, 12000], [46, 30000], [18, 10000], [23, 14000]], dtype=float)


def plain(k, **parameters):
    return Microaggregation(k=k, refine=False, **parameters)


@st.composite
def tables(draw, most=24):
    width, value = draw(st.integers(1, 4)), draw(st.sampled_from([st.integers(-3, 3), st.floats(-1e3, 1e3)]))
    rows = draw(st.lists(st.lists(value, min_size=width, max_size=width), min_size=5, max_size=most))
    return np.array(rows, dtype=float)


# k


@pytest.mark.parametrize("k", [1, 0, -3])
def test_k_below_2_is_refused(k):
    with pytest.raises(InputError, match=f"k={k} must be at least 2"):
        Microaggregation(k=k).fit(PEOPLE)


@pytest.mark.parametrize("k", [2.0, "3", None, True])
def test_k_that_is_no_whole_number_is_refused(k):
    with pytest.raises(InputError, match=rf"k={k!r} must be a whole number of at least 2"):
        Microaggregation(k=k).fit(PEOPLE)


def test_k_above_the_number_of_rows_is_refused_with_both():
    with pytest.raises(InputError, match="k=7 needs at least 7 rows, got 6"):
        Microaggregation(k=7).fit(PEOPLE)


def test_k_equal_to_the_number_of_rows_makes_one_group():
    assert plain(6).fit_transform(PEOPLE) == pytest.approx(np.tile(PEOPLE.mean(axis=0), (6, 1)))


# Groups and their means


@given(tables(), st.integers(2, 5), st.sampled_from(METHODS))
def test_groups_have_at_least_k_rows_and_every_row_is_its_groups_mean(X, k, method):
    model = plain(k, method=method)
    Y = model.fit_transform(X)
    parts = model.groups_.reshape(len(X), -1)
    for columns, groups in zip(model.attribute_groups_, parts.T, strict=True):
        assert set(groups) == set(range(groups.max() + 1))
        assert np.bincount(groups).min() >= k
        for group in set(groups):
            members = groups == group
            assert Y[np.ix_(members, columns)] == pytest.approx(
                np.tile(X[np.ix_(members, columns)].mean(axis=0), (members.sum(), 1)), abs=1e-9, rel=1e-9
            )


@given(tables(), st.integers(2, 5))
def test_mdav_makes_groups_of_k_but_for_the_last(X, k):
    sizes = np.bincount(plain(k).fit(X).groups_)
    assert (sizes[:-1] == k).all()
    assert k <= sizes[-1] <= 2 * k - 1


@settings(max_examples=25)
@given(tables(), st.integers(2, 5))
def test_refinement_keeps_k_and_never_loses_more(X, k):
    refined = Microaggregation(k=k, time_budget=0.01, random_state=0).fit(X)
    assert np.bincount(refined.groups_).min() >= k
    assert set(refined.groups_) == set(range(len(refined.representatives_)))
    assert refined.sse_ <= plain(k).fit(X).sse_ + 1e-9


def test_refinement_repeats_with_the_same_seed():
    X = np.random.default_rng(3).normal(size=(120, 3))
    one, two = (Microaggregation(k=4, time_budget=0.01, random_state=5).fit(X) for _ in range(2))
    assert one.groups_.tolist() == two.groups_.tolist()


@pytest.mark.parametrize("method", METHODS)
def test_a_second_run_gives_the_same_bytes(method):
    X = np.random.default_rng(0).normal(size=(60, 3))
    one, two = (plain(4, method=method).fit_transform(X) for _ in range(2))
    assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize("method", METHODS)
def test_the_mean_of_every_column_stays(method):
    X = np.random.default_rng(0).normal(size=(61, 3)) * [1, 100, 0.01]
    assert plain(4, method=method).fit_transform(X).mean(axis=0) == pytest.approx(X.mean(axis=0))


@given(tables(most=11), st.integers(2, 3))
def test_ranking_is_the_optimum_of_each_column(X, k):
    X = X.round()
    Y = plain(k, method="ranking").fit_transform(X)
    for column in range(X.shape[1]):
        best = least_error([[int(value)] for value in sorted(X[:, column])], k)
        assert np.sum((X[:, column] - Y[:, column]) ** 2) == pytest.approx(float(best), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("method", ["ranking", "z-scores", "principal-component"])
def test_one_column_gets_its_optimum_whatever_the_method(method):
    X = np.array([[1.0], [10], [2], [9], [21], [20], [8]])
    assert plain(2, method=method).fit_transform(X).ravel().tolist() == [1.5, 9, 1.5, 9, 20.5, 20.5, 9]


def test_rows_are_cut_along_the_sum_of_scores():
    X = np.array([[0.0, 0], [9, 9], [1, 1], [8, 8], [0.5, 0.5], [8.5, 8.5]])
    assert plain(3, method="z-scores").fit(X).groups_.tolist() == [0, 1, 0, 1, 0, 1]


def test_rows_are_cut_along_the_first_component_where_the_sum_of_scores_says_nothing():
    """The columns are opposite, so scores add up to 0; the component sees the line the rows lie on."""
    X = np.array([[0.0, 9], [9, 0], [1, 8], [8, 1], [0.5, 8.5], [8.5, 0.5]])
    groups = plain(3, method="principal-component").fit(X).groups_.tolist()
    assert groups in ([0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0])


def test_a_constant_column_stays_and_does_not_matter():
    with_constant = np.column_stack([PEOPLE[:, 0], np.full(6, 0.1), PEOPLE[:, 1]])
    model = plain(2).fit(with_constant)
    assert model.groups_.tolist() == plain(2).fit(PEOPLE).groups_.tolist()
    assert model.fit_transform(with_constant)[:, 1] == pytest.approx(0.1)


def test_a_table_of_constants_loses_nothing():
    model = plain(2).fit(np.full((5, 3), 7.7))
    assert model.information_loss_ == pytest.approx(0)
    assert np.bincount(model.groups_).tolist() == [2, 3]


def test_duplicates_stay_as_they_are():
    pairs = np.array([[1.0, 1], [1, 1], [5, 5], [5, 5], [9, 0], [9, 0]])
    model = plain(2)
    assert model.fit_transform(pairs).tolist() == pairs.tolist()
    assert model.sse_ == 0


def test_scale_and_place_of_a_column_do_not_matter():
    X = np.random.default_rng(4).normal(size=(50, 3))
    moved = X * [1e-3, 1e4, 7] + [5, -1e3, 0]
    assert plain(3).fit(X).groups_.tolist() == plain(3).fit(moved).groups_.tolist()


# Loss


@given(tables(), st.integers(2, 4), st.sampled_from(METHODS))
def test_loss_is_sse_over_sst_of_standardised_data(X, k, method):
    model = plain(k, method=method)
    Y = model.fit_transform(X)
    spread = X.std(axis=0)
    varies = spread > 1e-9 * np.abs(X).max(axis=0, initial=1e-300)
    Z, W = ((T[:, varies] - X[:, varies].mean(axis=0)) / spread[varies] for T in (X, Y))
    sse = sum(squared_distance(z, w) for z, w in zip(Z.tolist(), W.tolist(), strict=True))
    sst = sum(squared_distance(z, [0.0] * len(z)) for z in Z.tolist())
    assert model.sse_ == pytest.approx(sse, abs=1e-6)
    assert model.information_loss_ == pytest.approx(sse / sst if sst else 0.0, abs=1e-6)
    assert model.loss_.sse == model.sse_


# Groups of attributes


def test_an_int_means_consecutive_groups_of_that_many():
    X = np.random.default_rng(0).normal(size=(30, 5))
    model = plain(3, attribute_groups=2).fit(X)
    assert [columns.tolist() for columns in model.attribute_groups_] == [[0, 1], [2, 3], [4]]
    assert model.groups_.shape == (30, 3)
    assert not model.k_anonymous_
    assert len(model.representatives_) == 3


def test_each_group_of_attributes_is_as_if_it_were_alone():
    X = np.random.default_rng(0).normal(size=(30, 4))
    Y = plain(3, attribute_groups=[[0, 3], [1, 2]]).fit_transform(X)
    assert Y[:, [0, 3]] == pytest.approx(plain(3).fit_transform(X[:, [0, 3]]))
    assert Y[:, [1, 2]] == pytest.approx(plain(3).fit_transform(X[:, [1, 2]]))


def test_attributes_go_by_the_names_of_a_dataframe():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), columns=["age", "pay", "height"])
    named = plain(3, attribute_groups=[["pay"], ["age", "height"]]).fit(frame)
    numbered = plain(3, attribute_groups=[[1], [0, 2]]).fit(frame)
    assert named.groups_.tolist() == numbered.groups_.tolist()


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (0, "attribute_groups=0 must be at least 1"),
        ([["age"], ["weight", "pay"]], "names 'weight', which is not a column"),
        ([["age"]], "each of the 2 attributes exactly once"),
        ([["age", "pay"], ["pay"]], "each of the 2 attributes exactly once"),
        ([[0], [-1]], "each of the 2 attributes exactly once"),
        ([[0], [7]], "each of the 2 attributes exactly once"),
        (["age", "pay"], "a number or a list of lists of columns"),
        ([], "a number or a list of lists of columns"),
        ([[], ["age", "pay"]], "a number or a list of lists of columns"),
        (2.5, "a number or a list of lists of columns"),
    ],
)
def test_wrong_groups_of_attributes_are_refused(groups, message):
    with pytest.raises(InputError, match=message):
        plain(2, attribute_groups=groups).fit(pd.DataFrame(PEOPLE, columns=["age", "pay"]))


def test_ranking_has_its_own_groups_of_attributes():
    with pytest.raises(InputError, match="leave attribute_groups out"):
        plain(2, method="ranking", attribute_groups=2).fit(PEOPLE)


def test_an_unknown_method_is_refused_with_those_known():
    with pytest.raises(InputError, match="method='magic' is not known; use one of: mdav, ranking"):
        plain(2, method="magic").fit(PEOPLE)


@pytest.mark.parametrize(
    ("parameters", "promised"),
    [
        ({}, True),
        ({"method": "z-scores"}, True),
        ({"method": "principal-component"}, True),
        ({"method": "ranking"}, False),
        ({"attribute_groups": 1}, False),
        ({"attribute_groups": 2}, True),
        ({"attribute_groups": [[1, 0]]}, True),
    ],
)
def test_whole_rows_are_k_anonymous_only_with_one_group_of_attributes(parameters, promised):
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = plain(3, **parameters)
    Y = model.fit_transform(X)
    assert model.k_anonymous_ is promised
    smallest = np.unique(Y, axis=0, return_counts=True)[1].min()
    assert bool(smallest >= 3) is promised


# New records


@given(tables(), st.data())
def test_new_rows_get_the_nearest_representative_and_never_a_new_one(X, data):
    model = plain(3).fit(X)
    new = np.array(data.draw(st.lists(st.sampled_from(X.tolist()), min_size=1, max_size=5))) + 0.25
    Z = (model.representatives_ - model.mean_) / model.scale_
    for row, found in zip((new - model.mean_) / model.scale_, model.transform(new), strict=True):
        distances = [squared_distance(row.tolist(), z) for z in Z.tolist()]
        assert found.tolist() in model.representatives_.tolist()
        chosen = model.representatives_.tolist().index(found.tolist())
        assert distances[chosen] == pytest.approx(min(distances), rel=1e-9, abs=1e-12)


def test_transform_with_several_groups_of_attributes_chooses_in_each():
    X = np.array([[0.0, 9], [0, 9], [8, 1], [8, 1]])
    model = plain(2, attribute_groups=1).fit(X)
    assert model.transform([[1, 1], [9, 9]]).tolist() == [[0, 1], [8, 9]]


def test_transform_needs_as_many_columns():
    with pytest.raises(ValueError, match="3 features"):
        plain(2).fit(PEOPLE).transform(np.ones((2, 3)))


# Kinds of data


def test_pandas_in_pandas_out_with_its_index_and_columns():
    frame = pd.DataFrame(PEOPLE, columns=["age", "pay"], index=list("uvwxyz"))
    for protected in (plain(2).fit_transform(frame), plain(2).fit(frame).transform(frame)):
        assert isinstance(protected, pd.DataFrame)
        assert protected.index.tolist() == list("uvwxyz")
        assert protected.columns.tolist() == ["age", "pay"]
        assert protected.loc["u"].tolist() == [34.5, 27500]


def test_pandas_columns_without_names_keep_their_numbers():
    assert plain(2).fit_transform(pd.DataFrame(PEOPLE)).columns.tolist() == [0, 1]


def test_polars_in_polars_out():
    protected = plain(2).fit_transform(pl.DataFrame(PEOPLE, schema=["age", "pay"], orient="row"))
    assert isinstance(protected, pl.DataFrame)
    assert protected.row(0, named=True) == {"age": 34.5, "pay": 27500}


def test_arrow_in_arrow_out():
    protected = plain(2).fit_transform(pa.table({"age": PEOPLE[:, 0], "pay": PEOPLE[:, 1]}))
    assert isinstance(protected, pa.Table)
    assert protected.slice(0, 1).to_pylist() == [{"age": 34.5, "pay": 27500}]


def test_lists_in_an_array_out():
    assert isinstance(plain(2).fit_transform(PEOPLE.tolist()), np.ndarray)


def test_the_input_is_left_alone():
    X = PEOPLE.copy()
    plain(2).fit_transform(X)
    assert (X == PEOPLE).all()


def test_fitting_changes_no_parameter():
    model = plain(2, attribute_groups=[[0], [1]])
    before = clone(model).get_params()
    assert model.fit(PEOPLE).get_params() == before
