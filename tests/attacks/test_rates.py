"""Rates and what is made of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import Microaggregation, Noise, RankSwap
from shoal.attacks.disclosure import DisclosureRisk
from shoal.attacks.rates import identical_rows, rate_of, sample_rows, shared, wilson
from shoal.results.attacks import Disclosure, Rate


def rate(value: float, control: float | None = None) -> Rate:
    return Rate("", value, 0.1, 0.0, 1.0, 10, control)


def test_wilson_intervals_as_published():
    # Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    for successes, n, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        assert wilson(successes / n, n) == pytest.approx((low, high), abs=5e-5)


@given(st.floats(0, 1), st.integers(1, 10_000))
def test_an_interval_holds_its_rate(share, n):
    low, high = wilson(share, n)
    assert 0 <= low <= share <= high <= 1


def test_what_the_release_adds_is_measured_against_the_control_or_the_guess():
    assert rate(0.5, control=0.2).excess == pytest.approx(0.375)
    assert rate(0.5).excess == pytest.approx(0.4 / 0.9)
    assert rate(0.1, control=0.2).excess == 0
    assert rate(1.0, control=1.0).excess == 0


def test_a_rate_is_the_mean_of_chances():
    made = rate_of("", np.array([1.0, 0.5, 0.0, 0.0]), 0.25, np.array([1.0, 0.0]))
    assert (made.rate, made.n, made.control) == (0.375, 4, 0.5)
    assert (made.control_low, made.control_high) == wilson(0.5, 2)
    assert rate_of("", np.array([1.0]), 0.25).control_low is None


def test_disclosure_risk_is_half_linkage_half_intervals():
    found = Disclosure(interval=rate(0.4), euclidean=rate(0.3), mahalanobis=rate(0.1), probabilistic=rate(0.5))
    assert found.linkage == pytest.approx(0.4)
    assert found.risk == pytest.approx(40)


@pytest.mark.slow
def test_stronger_maskings_are_less_risky():
    X = np.random.default_rng(0).normal(size=(200, 4)) @ np.random.default_rng(1).normal(size=(4, 4))
    for weak, strong in (
        (Noise(5, random_state=0), Noise(100, random_state=0)),
        (RankSwap(2, random_state=0), RankSwap(40, random_state=0)),
        (Microaggregation(2, refine=False), Microaggregation(20, refine=False)),
    ):
        one, two = (DisclosureRisk().run(X, masking.fit_transform(X)).risk for masking in (weak, strong))
        assert one > two


def test_identical_rows_have_one_number_and_share():
    same = identical_rows(np.array([[1.0, 2.0], [0.0, 5.0], [1.0, 2.0], [1.0, 3.0]]))
    assert same.tolist() == [1, 0, 1, 2]
    assert shared(np.array([1.0, 0.0, 0.0, 1.0]), same).tolist() == [0.5, 0.0, 0.5, 1.0]


def test_a_sample_is_all_rows_or_as_many_as_asked():
    assert sample_rows(5, 10, 0).tolist() == [0, 1, 2, 3, 4]
    drawn = sample_rows(100, 10, 0)
    assert len(set(drawn.tolist())) == 10
    assert np.all(np.diff(drawn) > 0)
