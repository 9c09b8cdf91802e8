"""The minimality attack, on four groups of two records worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import InputError
from shoal.assessment.minimality import evidence_of
from shoal.attacks.minimality import Evidence, MinimalityAttack
from shoal.promises.diversity import Distinct
from shoal.promises.joining import join_until, joins_of

# Groups 0 to 3 have rows 0-1, 2-3, 4-5, 6-7. Released: groups 0 and 2, groups 1 and 3, each with values 0, 0, 0, 1.
RELEASED = np.array([0, 0, 1, 1, 0, 0, 1, 1])
VALUES = np.array([0, 0, 0, 0, 0, 1, 0, 1])
CROWDS = (np.array([0, 1, 4, 5]), np.array([2, 3, 6, 7]))
LEFT = ((np.array([0, 1]),), (np.array([2, 3]),))  # groups 0 and 1 had one value
RIGHT = ((np.array([4, 5]),), (np.array([6, 7]),))


def test_who_knows_that_one_of_two_halves_was_short_knows_nothing_of_anybody():
    """Left short: the 1 is in one of two right rows. Right short: the reverse. So 1/2 · 1/2 = 1/4 each, as before."""
    found = MinimalityAttack(2).run(RELEASED, VALUES, [Evidence(CROWDS, (LEFT, RIGHT))])
    assert (found.joined, found.certain) == (8, 0)
    assert found.guess.rate == found.guess.baseline == 6 / 8


def test_who_knows_which_half_was_short_knows_it_for_certain():
    """Rows 0 to 3 have value 0; of rows 4 and 5, and of 6 and 7, one each has 1: a toss-up."""
    found = MinimalityAttack(2).run(RELEASED, VALUES, [Evidence(CROWDS, (LEFT,))])
    assert (found.joined, found.certain, found.right) == (8, 4, 4)
    assert found.guess.rate == (4 + 4 / 2) / 8
    assert found.guess.baseline == 6 / 8


def test_a_reason_that_does_not_fit_the_counts_is_ruled_out():
    """Released together: three rows (left) and one (right) with values 0, 0, 0, 1. Left short leaves 1 for the right
    row; were it the right one (one row always has one value), anybody may have the 1: (1 + 4 ways)."""
    rows = np.arange(4)
    crowd, left, right = (rows,), (((rows[:3],)),), (((rows[3:],)),)
    values = np.array([0, 0, 0, 1])
    only_left = MinimalityAttack(2).run(np.zeros(4, dtype=np.int64), values, [Evidence(crowd, (left,))])
    assert (only_left.certain, only_left.right) == (4, 4)
    either = MinimalityAttack(2).run(np.zeros(4, dtype=np.int64), values, [Evidence(crowd, (left, right))])
    assert either.certain == 0


def test_a_conclusion_may_be_wrong_where_the_evidence_is():
    found = MinimalityAttack(2).run(RELEASED, VALUES, [Evidence(CROWDS, (RIGHT,))])
    assert (found.certain, found.right) == (4, 2)


def test_missing_values_are_nobodys_secret():
    values = np.array([0, 0, 0, 0, 0, 1, 0, -1])
    found = MinimalityAttack(2).run(RELEASED, values, [])
    assert found.guess.n == 7
    assert (found.joined, found.certain) == (0, 0)


def test_l_must_be_at_least_2():
    with pytest.raises(InputError, match="l=1 must be a whole number of at least 2"):
        MinimalityAttack(1).run(RELEASED, VALUES, [])


@st.composite
def tables(draw):
    """Groups of two to four rows on a line, and values of which one is frequent."""
    sizes = draw(st.lists(st.integers(2, 4), min_size=2, max_size=14))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    some = st.sampled_from([0, 0, 0, 0, 1, 2])
    values = np.array(draw(st.lists(some, min_size=len(groups), max_size=len(groups))))
    return groups, values, np.array(draw(st.lists(st.floats(0, 100), min_size=len(sizes), max_size=len(sizes))))


@given(tables())
def test_joined_halves_make_nobody_certain(case):
    groups, values, place = case
    values = np.unique(values, return_inverse=True)[1]
    if values.max() == 0:
        return

    def distances(rows, some):
        return np.abs(place[some] - place[groups[rows]].mean())

    merged = join_until(groups, [Distinct(values, 2)], distances)
    joins = joins_of(groups, merged, [values], 2, distances)
    if merged.max() == 0 and len(joins):
        return  # all in one: there was nothing left to join it with
    found = MinimalityAttack(2).run(merged, values, evidence_of(groups, joins, np.arange(len(groups))))
    assert found.certain == 0
