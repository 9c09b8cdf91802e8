"""Confidential values are matched to the members of their group, beside giving them out at random."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attacks.matching import MatchingAttack

AGES = np.array([[20.0], [60.0], [20.0], [60.0]])
TWO_GROUPS = np.array([0, 0, 1, 1])


@pytest.mark.parametrize("values", [np.array([0, 1, 0, 1]), np.array([900.0, 2500.0, 1000.0, 2400.0])])
def test_values_that_go_with_age_are_matched_in_both_groups(values):
    found = MatchingAttack().run("income", AGES, values, TWO_GROUPS)
    assert (found.rate, found.baseline, found.n) == (1.0, 0.5, 4)
    assert found.low < 1.0 == found.high
    assert sorted(found.targets.tolist()) == [0, 1, 2, 3]


def test_a_group_of_one_value_is_no_success_of_the_attack():
    """The second group has one value only: half of the values are right for certain, the others one time in two."""
    found = MatchingAttack().run("income", AGES, np.array([0, 1, 0, 0]), TWO_GROUPS)
    assert found.baseline == 0.75
    assert found.rate in (0.5, 1.0)  # the group of one value, and both of the other or none


def test_what_goes_the_other_way_in_the_other_group_is_matched_wrongly():
    found = MatchingAttack().run("income", AGES, np.array([0, 1, 1, 0]), TWO_GROUPS)
    assert (found.rate, found.baseline) == (0.0, 0.5)


def test_values_that_say_nothing_are_matched_no_better_than_by_chance():
    random = np.random.default_rng(0)
    known, values = random.normal(size=(2000, 2)), random.integers(0, 4, 2000)
    found = MatchingAttack().run("town", known, values, np.arange(2000) // 5)
    assert found.low <= found.baseline


def test_rows_in_another_order_do_not_tell_who_is_who():
    """Members with equal quasi-identifiers are told apart by nothing, not by the order of their rows either."""
    found = MatchingAttack().run("town", np.zeros((400, 1)), np.tile([0, 1], 200), np.arange(400) // 2)
    assert found.low <= 0.5 <= found.high


def test_one_group_is_not_attacked():
    assert MatchingAttack().run("income", AGES, np.array([0, 1, 0, 1]), np.zeros(4, dtype=np.int64)) is None
