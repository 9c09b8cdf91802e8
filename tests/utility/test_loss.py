"""Information loss of tables: four rows by hand, and what must hold for any table."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import InputError, Microaggregation, Noise, RankSwap
from shoal.utility.loss import table_loss

FOUR = [[1, 1], [2, 4], [3, 1], [4, 4]]
MASKED = [[1.5, 1], [1.5, 4], [3.5, 1], [3.5, 4]]

TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(-20, 20).map(float), min_size=width, max_size=width), min_size=2, max_size=30
    )
)


def test_four_rows_by_hand():
    loss = table_loss(FOUR, MASKED)
    # Values: 0.5/1, 0.5/2, 0.5/3, 0.5/4 and four zeros.
    assert loss.values == pytest.approx((1 / 2 + 1 / 4 + 1 / 6 + 1 / 8) / 8)
    assert loss.means == 0
    # Variances: 1.25 becomes 1, 2.25 stays.
    assert loss.variances == pytest.approx((0.25 / 1.25) / 2)
    # Covariance: (2.25 - 0.75 - 0.75 + 2.25) / 4 = 0.75 becomes 0. With the two variances that makes three.
    assert loss.covariances == pytest.approx((0.2 + 0 + 1) / 3)
    assert loss.correlations == pytest.approx(1.0)
    assert loss.by_scale == 0
    assert loss.mean_change == pytest.approx(100 * (25 / 192 + 0 + 0.4 + 0.1 + 1) / 5)
    # Standardised: four rows moved by 0.5 / sqrt(1.25) each.
    assert loss.squared.sse == pytest.approx(4 * 0.25 / 1.25)
    assert loss.squared.ssa == pytest.approx(4 * 1 / 1.25 + 4)


def test_columns_and_pairs_tell_where_the_loss_is():
    loss = table_loss(pd.DataFrame(FOUR, columns=["age", "pay"]), pd.DataFrame(MASKED, columns=["age", "pay"]))
    age, pay = loss.columns
    assert (age.column, pay.column) == ("age", "pay")
    assert age.values == pytest.approx((1 / 2 + 1 / 4 + 1 / 6 + 1 / 8) / 4)
    assert age.variance == pytest.approx(0.2)
    assert (pay.values, pay.mean, pay.variance) == (0, 0, 0)
    (both,) = loss.pairs
    assert (both.one, both.other) == ("age", "pay")
    assert both.before == pytest.approx(0.75 / math.sqrt(1.25 * 2.25))
    assert both.after == pytest.approx(0)


def test_pil_of_a_mean_by_hand():
    # Mean 2.5, deviation sqrt(1.25), n = 4: the error of the mean is 0.559. All values one deviation of it higher.
    x = np.array([[1.0], [2.0], [3.0], [4.0]])
    loss = table_loss(x, x + math.sqrt(1.25 / 4))
    assert loss.probabilistic.means == pytest.approx(0.6827, abs=1e-4)
    assert loss.probabilistic.variances == pytest.approx(0, abs=1e-9)


def test_the_standard_errors_of_pil_are_those_seen_in_samples():
    """z of a statistic of fresh samples has variance 1, so its certainty is uniform, with mean one half."""
    random = np.random.default_rng(0)
    mix = np.array([[1.0, 0.7], [0.0, 1.0]])
    found = [
        table_loss(random.gamma(4.0, size=(400, 2)) @ mix, random.gamma(4.0, size=(400, 2)) @ mix).probabilistic
        for _ in range(300)
    ]
    for kind in ("means", "variances", "covariances", "correlations", "quantiles"):
        # Two samples differ by the square root of 2 more than one from the truth: mean of erf(N(0,1)) is 0.6082.
        assert np.mean([getattr(one, kind) for one in found]) == pytest.approx(0.6082, abs=0.04)


@given(TABLES)
def test_a_table_loses_nothing_to_itself(rows):
    loss = table_loss(rows, rows)
    assert loss.mean_change == 0
    assert loss.probabilistic.mean == 0
    assert loss.squared.information_loss == 0


@given(TABLES, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_does_not_matter(rows, random):
    x = np.array(rows)
    y = x + np.array([[random.uniform(-3, 3) for _ in row] for row in rows])
    rearranged = np.array(random.sample(range(len(x)), len(x)))
    columns = np.array(random.sample(range(x.shape[1]), x.shape[1]))
    one = table_loss(x, y)
    two = table_loss(x[rearranged][:, columns], y[rearranged][:, columns])
    assert two.mean_change == pytest.approx(one.mean_change, rel=1e-6)
    assert two.probabilistic.mean == pytest.approx(one.probabilistic.mean, abs=1e-6)
    assert two.by_scale == one.by_scale


@given(TABLES, st.sampled_from([0.001, 1000.0]))
def test_the_unit_of_measurement_does_not_matter(rows, unit):
    x = np.array(rows)
    y = np.roll(x, 1, axis=0)
    one, two = table_loss(x, y), table_loss(unit * x, unit * y)
    constant_zero = (x == 0).all(axis=0).any()
    assert constant_zero or two.mean_change == pytest.approx(one.mean_change, rel=1e-9)
    assert 0 <= one.probabilistic.mean <= 1


def test_zero_denominators_are_divided_by_scale_and_counted():
    # Mean 0 and deviation 1; two zero values would divide by zero, and so would the mean.
    x, y = [[-math.sqrt(2)], [0.0], [0.0], [math.sqrt(2)]], [[-math.sqrt(2)], [0.5], [0.5], [math.sqrt(2)]]
    loss = table_loss(x, y)
    assert loss.values == pytest.approx((0.5 + 0.5) / 4)
    assert loss.means == pytest.approx(0.25)
    assert loss.by_scale == 3


def test_a_constant_column_that_stays_costs_nothing_and_one_that_moves_is_seen():
    x = np.column_stack([np.arange(4.0), np.full(4, 0.1)])
    assert table_loss(x, x).mean_change == 0
    moved = x + np.array([[0, 0.01], [0, 0], [0, 0], [0, 0]])
    loss = table_loss(x, moved)
    assert loss.columns[1].values == pytest.approx(0.025)
    assert loss.probabilistic.means == pytest.approx(0.5)  # of the two means, one has surely changed


def test_a_masked_column_that_became_constant_has_lost_its_variance_and_correlations():
    x = np.array(FOUR, dtype=float)
    loss = table_loss(x, np.column_stack([np.full(4, 2.5), x[:, 1]]))
    assert loss.columns[0].variance == pytest.approx(1)
    assert loss.correlations == pytest.approx(1)


def test_the_squared_error_is_the_one_of_microaggregation():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = Microaggregation(k=4, refine=False)
    loss = table_loss(X, model.fit_transform(X))
    assert loss.squared.information_loss == pytest.approx(model.information_loss_)


def test_more_noise_loses_more_and_swapping_keeps_what_concerns_one_column():
    X = np.random.default_rng(1).gamma(2.0, size=(500, 4)) @ np.random.default_rng(2).uniform(size=(4, 4))
    little, much = (table_loss(X, Noise(p, random_state=0).fit_transform(X)) for p in (5, 100))
    assert little.mean_change < much.mean_change
    assert little.probabilistic.mean < much.probabilistic.mean
    swapped = table_loss(X, RankSwap(20, random_state=0).fit_transform(X))
    assert swapped.means == pytest.approx(0, abs=1e-12)
    assert swapped.variances == pytest.approx(0, abs=1e-12)
    assert swapped.probabilistic.quantiles == 0
    assert swapped.correlations > 0


def test_columns_are_matched_by_name():
    x = pl.DataFrame({"age": [20, 30, 40], "pay": [1.0, 2.0, 4.0]})
    assert table_loss(x, x.select("pay", "age")).mean_change == 0


@pytest.mark.parametrize(
    ("original", "protected", "said"),
    [
        ([[1.0], [2.0]], [[1.0]], "the original has 2 rows and the protected table 1"),
        ([[1.0], [2.0]], [[1.0, 2.0], [1.0, 2.0]], "the protected table has 2 columns and the original 1"),
        ([[1.0]], [[1.0]], "at least 2 rows"),
        ([[1.0], [float("nan")]], [[1.0], [2.0]], "missing or infinite values in 1 of 2 rows of the original table"),
        ([["a"], ["b"]], [[1.0], [2.0]], "the original table is not a table of numbers"),
        ([1.0, 2.0], [1.0, 2.0], "must have rows and columns"),
        (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"b": [1, 2]}), "lacks a and also has b"),
        (
            pd.DataFrame({"a": ["x", "y"]}),
            pd.DataFrame({"a": [1, 2]}),
            "column 'a' of the original table is not numeric",
        ),
        (
            pd.DataFrame({"a": [1, 2]}),
            pl.DataFrame({"a": [1, None]}),
            "missing or infinite values in 1 of 2 rows of the protected table",
        ),
    ],
)
def test_tables_that_do_not_belong_together_are_refused(original, protected, said):
    with pytest.raises(InputError, match=said):
        table_loss(original, protected)
