"""Fuzzy measures: transforms, integrals, and what they say of attributes and of pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.attacks.learned.distances import (
    Measure,
    Ordered,
    choquet,
    made_monotone,
    moebius,
    set_sizes,
    uniform,
    zeta,
)
from tests.reference import measures as slow

SHARE = st.floats(0, 1, allow_subnormal=False)
# Of three attributes a, b, c: none, a, b, ab, c, ac, bc, abc.
OF_THREE = np.array([0.0, 0.1, 0.2, 0.6, 0.3, 0.5, 0.5, 1.0])


def additive(weights):
    """The measure of a set is the sum of its attributes' weights."""
    return np.array([sum(w for place, w in enumerate(weights) if one >> place & 1) for one in range(2 ** len(weights))])


@st.composite
def numbers_of_sets(draw, largest=5):
    """A number for each set of 1 to `largest` attributes, as it comes."""
    n = draw(st.integers(1, largest))
    return np.array(draw(st.lists(SHARE, min_size=2**n, max_size=2**n)))


@st.composite
def monotone_measures(draw, largest=5):
    """Any monotone measure: the largest of what its subsets were given, 0 and 1 at the ends."""
    drawn = draw(numbers_of_sets(largest))
    mu = np.array(
        [max(drawn[small] for small in range(len(drawn)) if small & big == small) for big in range(len(drawn))]
    )
    mu[0], mu[-1] = 0.0, 1.0
    return mu


def test_sets_are_numbered_by_their_bits() -> None:
    first_third_fifth = sum(1 << attribute for attribute in (0, 2, 4))
    assert first_third_fifth == 0b10101 == 21
    # The measure that is 1 from {v1, v3, v5} on and 0 before integrates to the least of the three.
    mu = np.array([float(one & 21 == 21) for one in range(32)])
    assert moebius(mu).tolist() == [float(one == 21) for one in range(32)]
    assert choquet(mu, np.array([5.0, 1.0, 3.0, 2.0, 4.0])) == 3.0
    assert choquet(mu, np.array([5.0, 1.0, 6.0, 2.0, 4.0])) == 4.0


def test_set_sizes_count_bits() -> None:
    assert set_sizes(0).tolist() == [0]
    assert set_sizes(3).tolist() == [0, 1, 1, 2, 1, 2, 2, 3]


def test_the_transform_of_a_measure_of_two_by_hand() -> None:
    # Together 1, alone 0.3 and 0.5: what only both tell is the rest, 0.2.
    assert moebius(np.array([0.0, 0.3, 0.5, 1.0])) == pytest.approx([0.0, 0.3, 0.5, 0.2])
    assert zeta(np.array([0.0, 0.3, 0.5, 0.2])) == pytest.approx([0.0, 0.3, 0.5, 1.0])


@given(numbers_of_sets())
def test_each_transform_undoes_the_other(some) -> None:
    assert zeta(moebius(some)) == pytest.approx(some, abs=1e-12)
    assert moebius(zeta(some)) == pytest.approx(some, abs=1e-12)


@given(numbers_of_sets())
def test_the_transforms_are_sums_over_subsets(some) -> None:
    assert zeta(some) == pytest.approx(slow.sums_over_subsets(some), abs=1e-12)
    assert moebius(some) == pytest.approx(slow.alternating_sums_over_subsets(some), abs=1e-12)


def test_transforms_leave_what_they_were_given() -> None:
    some = np.array([0.0, 0.3, 0.5, 1.0])
    zeta(some), moebius(some), made_monotone(some)
    assert some.tolist() == [0.0, 0.3, 0.5, 1.0]


def test_an_integral_by_hand() -> None:
    # Values 4, 1, 2: from 0 to 1 all are there, from 1 to 2 a and c, from 2 to 4 a alone: 1 * 1 + 1 * 0.5 + 2 * 0.1.
    assert choquet(OF_THREE, np.array([4.0, 1.0, 2.0])) == pytest.approx(1.7)


@given(monotone_measures(4), st.data())
def test_the_integral_goes_level_by_level(mu, data) -> None:
    n = len(mu).bit_length() - 1
    row = st.lists(st.integers(0, 4) | st.floats(0, 10, allow_subnormal=False), min_size=n, max_size=n)
    rows = data.draw(st.lists(row, min_size=1, max_size=4))
    found = choquet(mu, np.array(rows, dtype=float))
    assert found == pytest.approx([slow.integral(mu, one) for one in rows], abs=1e-9)


@given(st.lists(SHARE, min_size=1, max_size=5).filter(lambda some: sum(some) > 0.01), st.data())
def test_an_additive_measure_gives_the_weighted_mean_and_a_symmetric_one_the_owa(drawn, data) -> None:
    weights = np.array(drawn) / sum(drawn)
    values = np.array(
        data.draw(st.lists(st.floats(0, 10, allow_subnormal=False), min_size=len(drawn), max_size=len(drawn)))
    )
    assert choquet(additive(weights), values) == pytest.approx(weights @ values, abs=1e-9)
    largest_first = np.array(sorted(values, reverse=True))
    assert choquet(Ordered(weights).mu, values) == pytest.approx(weights @ largest_first, abs=1e-9)


def test_the_uniform_measure_gives_the_arithmetic_mean() -> None:
    assert uniform(4)[0] == 0.0
    assert uniform(4)[-1] == 1.0
    assert choquet(uniform(4), np.array([1.0, 7.0, 0.0, 4.0])) == pytest.approx(3.0)


def test_shapley_values_of_two_attributes_by_hand() -> None:
    # First of the two it adds 0.3, last 1 - 0.5; on average 0.4.
    assert Measure(np.array([0.0, 0.3, 0.5, 1.0])).attribute_shares() == pytest.approx([0.4, 0.6])


def test_shapley_values_of_three_attributes_by_hand() -> None:
    # a adds 0.1 to none (2 of 6 orders), 0.4 to b, 0.2 to c (1 of 6 each), 0.5 to both (2 of 6): 1.8 / 6.
    # b adds 0.2, 0.5 to a, 0.2 to c, 0.5 to both: 2.1 / 6. c adds 0.3, 0.4 to a, 0.3 to b, 0.4 to both: 2.1 / 6.
    assert Measure(OF_THREE).attribute_shares() == pytest.approx([0.30, 0.35, 0.35])


@settings(max_examples=20)
@given(monotone_measures(5))
def test_shapley_values_sum_to_one_and_are_the_mean_over_orders(mu) -> None:
    assert Measure(mu).attribute_shares().sum() == pytest.approx(1.0)
    assert Measure(mu).attribute_shares() == pytest.approx(slow.shares(mu), abs=1e-12)


def test_interactions_by_hand() -> None:
    # Two attributes: 1 - 0.3 - 0.5, positive, since both are needed.
    assert Measure(np.array([0.0, 0.3, 0.5, 1.0])).interactions() == pytest.approx(np.array([[0.0, 0.2], [0.2, 0.0]]))
    # One repeats the other: each alone tells all.
    assert Measure(np.array([0.0, 1.0, 1.0, 1.0])).interactions()[0, 1] == pytest.approx(-1.0)
    # Three: a and b without c 0.6 - 0.1 - 0.2 = 0.3, with c 1 - 0.5 - 0.5 + 0.3 = 0.3; a and c 0.1 both times;
    # b and c 0 without a, 1 - 0.6 - 0.5 + 0.1 = 0 with it.
    assert Measure(OF_THREE).interactions() == pytest.approx(np.array([[0, 0.3, 0.1], [0.3, 0, 0], [0.1, 0, 0]]))


@settings(max_examples=20)
@given(monotone_measures(4))
def test_interactions_are_the_mean_over_orders_of_the_others(mu) -> None:
    found = Measure(mu).interactions()
    n = len(found)
    for one in range(n):
        for other in range(n):
            expected = 0.0 if one == other else slow.interaction(mu, one, other)
            assert found[one, other] == pytest.approx(expected, abs=1e-12)


def test_attributes_that_only_add_up_do_not_interact() -> None:
    assert Measure(additive(np.array([0.2, 0.5, 0.3]))).interactions() == pytest.approx(np.zeros((3, 3)))
    assert Measure(additive(np.array([0.2, 0.5, 0.3]))).attribute_shares() == pytest.approx([0.2, 0.5, 0.3])


@given(numbers_of_sets())
def test_what_is_made_monotone_is_and_runs_from_none_to_one(some) -> None:
    mu = made_monotone(some * 3 - 1)
    assert slow.is_monotone(mu)
    assert (mu[0], mu[-1]) == (0.0, 1.0)


@given(monotone_measures())
def test_a_monotone_measure_is_left_as_it_is(mu) -> None:
    assert made_monotone(mu).tolist() == mu.tolist()


def test_made_monotone_meets_halfway_by_hand() -> None:
    # a weighs 0.8, ab only 0.4 (of c nothing): the larger subset 0.8 and the smaller superset 0.4 meet at 0.6.
    mu = np.array([0.0, 0.8, 0.1, 0.4, 0.2, 0.9, 0.3, 1.0])
    assert made_monotone(mu) == pytest.approx([0.0, 0.6, 0.1, 0.6, 0.2, 0.9, 0.3, 1.0])
