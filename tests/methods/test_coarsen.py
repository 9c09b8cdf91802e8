"""Coarsening one column: equal values stay equal, classes have k records, and nothing depends on the order."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import InputError
from shoal.methods.numeric import coarsened
from tests.reference import class_cuts as twin

NUMBERS = st.lists(st.sampled_from([st.integers(-5, 5), st.floats(-1e9, 1e9)]).flatmap(lambda kind: kind), min_size=2)


def test_values_become_the_means_of_their_classes():
    assert coarsened([9, 1, 30, 2, 9, 40, 9], k=2).tolist() == [9, 1.5, 35, 1.5, 9, 35, 9]


def test_equal_values_are_never_parted_even_where_that_would_cost_less():
    # 0, 5 | 5, 10 would lose 25; since the 5s stay together, and 0 and 10 are one record each, all four are a class.
    assert coarsened([0, 5, 5, 10], k=2).tolist() == [5, 5, 5, 5]


@given(st.integers(2, 5), st.lists(st.integers(-9, 9), min_size=5, max_size=14))
def test_the_error_is_the_least_of_all_cuts_between_different_values(k, values):
    found = coarsened(values, k)
    classes = [[v for v, mean in zip(values, found, strict=True) if mean == one] for one in sorted(set(found))]
    assert min(map(len, classes)) >= k
    assert [float(twin.mean(one)) for one in classes] == pytest.approx(sorted(set(found)), abs=1e-12)
    assert twin.error(classes) <= twin.least_error(values, k) + Fraction(1, 10**9)


@given(st.integers(2, 8), NUMBERS, st.randoms(use_true_random=False))
def test_what_a_value_becomes_does_not_depend_on_the_order(k, values, random):
    k = min(k, len(values))
    order = list(range(len(values)))
    random.shuffle(order)
    found = coarsened(values, k)
    assert coarsened([values[place] for place in order], k).tolist() == found[order].tolist()


@given(st.integers(2, 8), NUMBERS)
def test_equal_values_stay_equal_the_order_stays_and_k_share_each_value(k, values):
    k = min(k, len(values))
    found = coarsened(values, k)
    assert np.unique(found, return_counts=True)[1].min() >= k
    rising = np.argsort(values, kind="stable")
    assert np.all(np.diff(found[rising]) >= 0)
    for value in set(values):
        assert len(set(found[np.array(values) == value])) == 1


@given(st.integers(2, 4), NUMBERS)
def test_values_that_k_records_share_already_stay_as_they_are_to_the_last_digit(k, values):
    assert coarsened(values * k, k).tolist() == [float(value) for value in values * k]


def test_far_values_do_not_blur_the_cut_between_near_ones():
    near = [1.0, 1.0 + 1e-12, 1.0 + 5e-12, 1.0 + 6e-12]
    found = coarsened([-1e9, -1e9, *near, 1e9, 1e9], k=2)
    assert found[2] == found[3] != found[4] == found[5]


def test_numbers_of_any_size_are_coarsened():
    for size in (2.0**990, 2.0**-990):
        found = coarsened(np.array([1, 3, 8, 8, -4, -6]) * size, k=2) / size
        assert found.tolist() == [2, 2, 8, 8, -5, -5]
    assert coarsened([0.0, 0.0, -0.0], k=3).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("values", "k", "says"),
    [
        ([1, 2, 3], 1, "k=1 must be at least 2"),
        ([1, 2, 3], 2.0, "k=2.0 must be a whole number"),
        ([1, 2, 3], 4, "k=4 needs at least 4 rows, got 3"),
        ([1, np.nan, 3], 2, r"missing, infinite or beyond 1e[+]300: 1 \(first in row 2\)"),
        (["a", "b"], 2, "only numbers can be coarsened"),
        ([[1, 2], [3, 4]], 2, "not one column"),
    ],
)
def test_what_cannot_be_coarsened_is_refused(values, k, says):
    with pytest.raises(InputError, match=says):
        coarsened(values, k)
