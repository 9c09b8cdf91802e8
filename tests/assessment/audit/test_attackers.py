"""The chance to be found, beside the formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import nbinom

from shoal.assessment.audit.attackers import attackers, household_risks, individual_risks, summed_up


@given(st.integers(1, 60), st.floats(0.02, 0.98))
def test_the_individual_risk_is_the_mean_of_one_by_the_people_with_the_key(f, p) -> None:
    """F - f is negative binomial, with f successes of probability p."""
    more = np.arange(30_000)
    expected = float(np.sum(nbinom.pmf(more, f, p) / (f + more)))
    assert individual_risks(np.array([float(f)]), np.array([f / p]))[0] == pytest.approx(expected, rel=1e-6)


def test_the_individual_risk_of_one_and_two_records_is_as_published() -> None:
    p = 0.1
    odds = p / (1 - p)
    risks = individual_risks(np.array([1.0, 2.0]), np.array([10.0, 20.0]))
    assert risks == pytest.approx([odds * math.log(1 / p), odds - odds**2 * math.log(1 / p)])


def test_large_crowds_of_a_large_population_have_a_risk() -> None:
    risks = individual_risks(np.array([29.0, 30.0, 5000.0]), np.array([29e6, 30e6, 5e9]))
    assert risks == pytest.approx([1e-6 / 28, 1e-6 / 29, 1e-6 / 4999], rel=1e-4)


def test_a_complete_population_leaves_one_by_the_crowd() -> None:
    assert individual_risks(np.array([1.0, 4.0]), np.array([1.0, 3.0])).tolist() == [1.0, 0.25]
    assert individual_risks(np.array([1.0, 4.0]), None).tolist() == [1.0, 0.25]


def test_a_household_is_found_if_a_member_is() -> None:
    risks = household_risks(np.array([0.5, 0.2, 0.3, 1.0]), np.array([0, 0, 1, 2]))
    assert risks == pytest.approx([0.6, 0.6, 0.3, 1.0])


def test_three_attackers() -> None:
    """Two keys, of one and of three records, that 10 and 30 people have."""
    prosecutor, journalist, marketer = attackers(np.array([1.0, 3, 3, 3]), np.array([10.0, 30, 30, 30]), 0.2)
    assert (prosecutor.highest, prosecutor.above) == (1.0, 4)
    assert prosecutor.average == pytest.approx(0.5)
    assert (journalist.highest, journalist.above) == (0.1, 0)
    assert journalist.average == pytest.approx(0.05)
    assert marketer.average == pytest.approx(2 / 4)  # keys by records
    assert [one.name for one in attackers(np.array([1.0]), None, 0.2)] == ["prosecutor", "marketer"]


def test_risks_add_up_to_the_records_expected_to_be_found() -> None:
    found = summed_up(np.array([0.5, 0.25, 0.005, 0.0]), 0.2)
    assert (found.expected, found.highest, found.above) == (0.755, 0.5, 2)
    assert sum(records for _, _, records in found.bands) == 4
