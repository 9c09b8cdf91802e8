"""Rank swapping and noise: what stays, what goes, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import InputError, Noise, RankSwap
from shoal.kernels.rank_swapping import swap_partners
from shoal.methods.masking import window_of
from tests.reference import rank_swapping as twin

CHANCE = st.floats(0, 1, exclude_max=True)


@given(st.integers(1, 12), st.lists(CHANCE, min_size=1, max_size=40))
def test_partners_are_those_found_with_a_list_of_who_is_free(window, chance):
    assert swap_partners(window, np.array(chance)).tolist() == twin.swap_partners(window, chance)


def test_four_ranks_by_hand():
    # Rank 0 may take 1 or 2: 0.6 of two candidates is the second, rank 2. Rank 1 has only 3 left in its window.
    assert swap_partners(2, np.array([0.6, 0.0, 0.0, 0.0])).tolist() == [2, 3, 0, 1]


@given(st.lists(st.integers(0, 6), min_size=2, max_size=60), st.floats(1, 100), st.integers(0, 99))
def test_a_value_moves_no_further_than_the_window_and_none_is_lost(values, p, seed):
    column = np.array(values, dtype=float)[:, None]
    swapped = RankSwap(p=p, random_state=seed).fit_transform(column)
    assert sorted(swapped.ravel()) == sorted(values)
    window = window_of(p, len(values))
    ranked = np.sort(column.ravel())
    for before, after in zip(column.ravel(), swapped.ravel(), strict=True):
        # Equal values have the ranks from `left` to `right` in some order.
        low, high = min(before, after), max(before, after)
        assert np.searchsorted(ranked, high, "left") - (np.searchsorted(ranked, low, "right") - 1) <= window


def test_the_window_is_a_share_of_the_rows_and_at_least_one_rank():
    assert window_of(29, 100) == 29
    assert window_of(5, 1080) == 54
    assert window_of(1, 10) == 1


def test_a_narrow_window_keeps_correlations_and_a_wide_one_does_not():
    random = np.random.default_rng(0)
    one = random.normal(size=2000)
    X = np.column_stack([one, one + 0.3 * random.normal(size=2000)])
    kept = [np.corrcoef(RankSwap(p=p, random_state=1).fit_transform(X).T)[0, 1] for p in (1, 20, 100)]
    assert kept[0] > 0.94 > kept[1] > kept[2]
    assert kept[2] < 0.7


def test_all_equal_values_stay():
    assert RankSwap(p=50).fit_transform(np.full((7, 2), 3.0)).tolist() == [[3.0, 3.0]] * 7


def test_a_seed_repeats_and_none_does_not():
    X = np.arange(400.0).reshape(200, 2)
    assert np.array_equal(
        RankSwap(20, random_state=7).fit_transform(X), RankSwap(20, random_state=7).fit(X).transform(X)
    )
    np.random.seed(0)  # noqa: NPY002 - a program's own seed must not make the swaps known
    one = RankSwap(20).fit_transform(X)
    np.random.seed(0)  # noqa: NPY002
    assert not np.array_equal(one, RankSwap(20).fit_transform(X))


def test_a_dataframe_stays_one():
    frame = pd.DataFrame({"age": [20, 30, 40, 50], "pay": [1.0, 2.0, 3.0, 4.0]}, index=["a", "b", "c", "d"])
    swapped = RankSwap(50, random_state=0).fit_transform(frame)
    assert list(swapped.columns) == ["age", "pay"]
    assert list(swapped.index) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("p", [0, -1, 101, "5", None, True, float("nan")])
def test_a_percentage_out_of_bounds_is_refused(p):
    with pytest.raises(InputError, match="must be a percentage above 0 and at most 100"):
        RankSwap(p).fit([[1.0], [2.0]])


def test_one_row_is_refused():
    with pytest.raises(InputError, match="at least 2 rows, got 1"):
        RankSwap().fit([[1.0, 2.0]])


def test_a_strange_seed_is_refused():
    with pytest.raises(InputError, match="random_state='x'"):
        RankSwap(random_state="x").fit_transform([[1.0], [2.0]])


def correlated_table(n: int) -> np.ndarray:
    random = np.random.default_rng(0)
    one = random.normal(size=n)
    return np.column_stack([100 + 5 * one, 2 * one + random.normal(size=n), 0.01 * random.normal(size=n)])


@given(
    st.lists(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2), min_size=2, max_size=20),
    st.booleans(),
    st.integers(0, 99),
)
def test_no_noise_is_the_table_itself(rows, correlated, seed):
    assert Noise(0, correlated=correlated, random_state=seed).fit_transform(rows).tolist() == np.array(rows).tolist()


def test_the_covariance_of_the_noise_by_hand():
    # Deviations 1 and 2; products 2, 2, -2, -2 in the first table and 2, 2, 2, 2 in the second: covariance 0 and 2.
    X = np.array([[-1.0, -2.0], [1.0, 2.0], [-1.0, 2.0], [1.0, -2.0]])
    assert np.allclose(Noise(50, correlated=True).fit(X).covariance_, [[0.25, 0.0], [0.0, 1.0]])
    tied = np.array([[-1.0, -2.0], [1.0, 2.0], [-1.0, -2.0], [1.0, 2.0]])
    assert np.allclose(Noise(50, correlated=True).fit(tied).covariance_, [[0.25, 0.5], [0.5, 1.0]])
    assert np.allclose(Noise(50).fit(tied).covariance_, [[0.25, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize("correlated", [False, True])
def test_the_noise_has_the_covariance_it_says(correlated):
    X = correlated_table(40_000)
    model = Noise(20, correlated=correlated, random_state=3).fit(X)
    noise = (model.transform(X) - X) / X.std(axis=0)
    wanted = 0.04 * (np.corrcoef(X.T) if correlated else np.eye(3))
    assert np.allclose(np.cov(noise.T), wanted, atol=0.002)
    assert np.allclose(noise.mean(axis=0), 0.0, atol=0.005)


def test_correlated_noise_keeps_correlations_and_plain_noise_weakens_them():
    X = correlated_table(20_000)
    before = np.corrcoef(X.T)[0, 1]
    plain = np.corrcoef(Noise(50, random_state=0).fit_transform(X).T)[0, 1]
    together = np.corrcoef(Noise(50, correlated=True, random_state=0).fit_transform(X).T)[0, 1]
    assert together == pytest.approx(before, abs=0.01)
    assert plain == pytest.approx(before / 1.25, abs=0.01)


@pytest.mark.parametrize("correlated", [False, True])
def test_a_constant_attribute_stays_and_a_repeated_one_is_disturbed_alike(correlated):
    one = np.arange(10.0)
    X = np.column_stack([one, np.full(10, 0.1), 2 * one])
    masked = Noise(30, correlated=correlated, random_state=0).fit_transform(X)
    assert masked[:, 1].tolist() == [0.1] * 10
    assert np.allclose(masked[:, 2], 2 * masked[:, 0]) == correlated


def test_a_seed_repeats_the_noise_and_none_does_not():
    X = np.arange(20.0).reshape(10, 2)
    assert np.array_equal(Noise(random_state=1).fit_transform(X), Noise(random_state=1).fit(X).transform(X))
    assert not np.array_equal(Noise().fit_transform(X), Noise().fit_transform(X))


def test_random_states_of_numpy_are_taken():
    X = np.arange(20.0).reshape(10, 2)
    one = Noise(random_state=np.random.RandomState(0)).fit_transform(X)
    assert np.array_equal(one, Noise(random_state=np.random.RandomState(0)).fit_transform(X))


def test_a_dataframe_with_noise_stays_one():
    masked = Noise(random_state=0).fit_transform(pl.DataFrame({"age": [20, 30, 40], "pay": [1.0, 2.0, 4.0]}))
    assert masked.columns == ["age", "pay"]


@pytest.mark.parametrize("p", [-1, "5", None, True, float("nan"), float("inf")])
def test_a_percentage_of_noise_out_of_bounds_is_refused(p):
    with pytest.raises(InputError, match="must be a percentage of at least 0"):
        Noise(p).fit([[1.0], [2.0]])


def test_one_row_gets_no_noise():
    with pytest.raises(InputError, match="at least 2 rows, got 1"):
        Noise().fit([[1.0, 2.0]])


def test_a_strength_by_column_swaps_and_disturbs_each_by_its_own():
    values = np.column_stack([np.arange(1000.0)] * 2)
    swapped = RankSwap(p=[0.1, 10], random_state=0).fit_transform(values)
    assert np.abs(swapped - values).max(axis=0).tolist() == [1.0, 100.0]
    noise = Noise(p=[0, 10], random_state=0).fit_transform(values) - values
    assert noise[:, 0].tolist() == [0.0] * 1000
    assert noise[:, 1].std() == pytest.approx(0.1 * values[:, 1].std(), rel=0.1)


def test_as_many_strengths_as_columns_are_needed():
    with pytest.raises(InputError, match="2 percentages for 3 columns"):
        RankSwap(p=[1, 2]).fit(np.eye(3))
