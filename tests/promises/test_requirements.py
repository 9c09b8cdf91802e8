"""What groups are asked for: each definition on rows small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.promises.closeness import Close
from shoal.promises.diversity import Distinct, Entropy, Recursive
from shoal.promises.joining import join_until
from shoal.promises.people import InSlots, OwnK

pytestmark = pytest.mark.usefixtures("without_attack")


def rows(*which):
    return np.array(which, dtype=np.int64)


def every(codes):
    return np.arange(len(codes))


def test_missing_values_are_no_values():
    codes = np.array([-1, 0, -1, 1])
    assert not Distinct(codes, 2).met(rows(0, 1, 2))
    assert Distinct(codes, 2).met(every(codes))


def test_entropy_counts_values_as_often_as_they_are_equally_frequent():
    """Two values 3 : 1 have e to the power of 0.5623 = 1.755 equally frequent ones; 2 : 2 have 2."""
    codes = np.array([0, 0, 0, 1, 1])
    assert Entropy(codes, 1.75).met(rows(0, 1, 2, 3))
    assert not Entropy(codes, 1.76).met(rows(0, 1, 2, 3))
    assert Entropy(codes, 2.0).met(rows(0, 1, 3, 4))


def test_recursive_diversity_weighs_the_most_frequent_value_against_those_from_the_lth_on():
    """Counts 4, 2, 1: with l=2 the rest is 3, with l=3 it is 1; the most frequent must be below c times that."""
    codes = np.array([0, 0, 0, 0, 1, 1, 2])
    assert Recursive(codes, 1.4, 2).met(every(codes))
    assert not Recursive(codes, 4 / 3, 2).met(every(codes))
    assert Recursive(codes, 4.1, 3).met(every(codes))
    assert not Recursive(codes, 4.0, 3).met(every(codes))
    assert not Recursive(codes, 100.0, 4).met(every(codes)), "there is no fourth value"


def test_closeness_of_numbers_is_that_of_the_paper_which_defined_it():
    """Li, Li and Venkatasubramanian (2007): of salaries 3 to 11, {3, 4, 5} is 0.375 from all and {6, 8, 11} 0.167."""
    codes = np.arange(9)
    low, mixed = np.bincount([0, 1, 2], minlength=9), np.bincount([3, 5, 8], minlength=9)
    close = Close(codes, 0.3, np.ones(9, dtype=np.int64), ordered=True)
    assert close.distance(low) == pytest.approx(0.375)
    assert close.distance(mixed) == pytest.approx(1 / 6)
    assert close.met(rows(3, 5, 8))
    assert not close.met(rows(0, 1, 2))


def test_closeness_of_labels_is_the_share_that_would_have_to_change():
    """Of all, half have flu and a quarter each cold and gout: a group of two with flu differs by half."""
    codes = np.array([0, 0, 1, 2])
    close = Close(codes, 0.25, np.array([2, 1, 1]), ordered=False)
    assert close.distance(np.array([2, 0, 0])) == pytest.approx(0.5)
    assert close.distance(np.array([1, 1, 0])) == pytest.approx(0.25)
    assert close.met(rows(0, 2))
    assert not close.met(rows(0, 1))


def test_people_are_counted_once_and_a_record_may_ask_for_more():
    person, own_k = np.array([7, 7, 8, 9]), np.array([1, 3, 1, 1])
    assert OwnK(own_k).met(rows(0, 1, 2))
    assert not OwnK(own_k, person).met(rows(0, 1, 2)), "three records, but two people"
    assert OwnK(own_k, person).met(every(person))


def test_a_promise_of_people_holds_in_each_slot_of_a_crowd():
    """The first slot has flu and gout, the second flu alone; both together have two values."""
    both = InSlots(Distinct(np.array([0, 1, 0, 0]), 2), np.array([0, 0, 1, 1]))
    assert both.met(rows(0, 1))
    assert not both.met(rows(0, 1, 2, 3))


@st.composite
def requirements(draw):
    """Rows on a line in groups of two, and something asked of them that all rows together have."""
    n_groups = draw(st.integers(1, 10))
    n_rows = 2 * n_groups
    codes = np.array(draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows)))
    person = np.array(draw(st.lists(st.integers(0, 8), min_size=n_rows, max_size=n_rows)))
    own_k = np.array(draw(st.lists(st.integers(1, 4), min_size=n_rows, max_size=n_rows)))
    overall, ordered = np.bincount(codes), draw(st.booleans())
    asked = [
        Distinct(codes, draw(st.integers(1, 3))),
        Entropy(codes, draw(st.floats(1.0, 2.5))),
        Recursive(codes, draw(st.floats(0.5, 4.0)), draw(st.integers(2, 3))),
        Close(codes, draw(st.floats(0.05, 0.6)), overall, ordered),
        InSlots(Distinct(codes, 2), np.array(draw(st.lists(st.integers(0, 1), min_size=n_rows, max_size=n_rows)))),
        OwnK(own_k, draw(st.sampled_from([None, person]))),
    ]
    wanted = [one for one in asked if draw(st.booleans()) and one.met(every(codes))]
    return np.repeat(np.arange(n_groups), 2), wanted, codes


@given(requirements(), st.data())
def test_what_two_sets_of_rows_have_both_together_have(case, data):
    groups, wanted, _ = case
    some = np.array(data.draw(st.lists(st.booleans(), min_size=len(groups), max_size=len(groups))))
    one, other = np.flatnonzero(some), np.flatnonzero(~some)
    if len(one) and len(other):
        for requirement in wanted:
            if requirement.met(one) and requirement.met(other):
                assert requirement.met(every(groups))


@given(requirements())
def test_joined_groups_meet_everything_that_is_asked_and_whole_groups_are_joined(case):
    groups, wanted, _ = case
    place = np.arange(groups.max() + 1, dtype=float)
    joined = join_until(groups, wanted, lambda rows, some: np.abs(place[some] - place[groups[rows]].mean()))
    for group in range(joined.max() + 1):
        assert all(requirement.met(np.flatnonzero(joined == group)) for requirement in wanted)
    assert all(len(set(joined[groups == group].tolist())) == 1 for group in set(groups.tolist()))


@pytest.mark.parametrize("kind", ["close", "entropy", "recursive"])
@pytest.mark.parametrize("seed", range(6))
def test_who_repeats_the_grouping_is_certain_of_nobodys_value(kind, seed):
    """The whole attack: every way to give the rows of each released group its values, joined again as the owner does.

    What comes out as it was released is possible. Nobody of a joined group may have the same value in all of these.
    """
    random = np.random.default_rng(seed)
    groups = np.repeat(np.arange(6), 2)
    codes = (random.random(12) < random.uniform(0.2, 0.6)).astype(np.int64)
    codes[:2] = 0, 1
    place = np.sort(random.random(6))

    def joined(values):
        asked = {
            "close": Close(values, 0.3, np.bincount(values), ordered=False),
            "entropy": Entropy(values, 1.3),
            "recursive": Recursive(values, 4.0, 2),
        }[kind]
        if not asked.met(every(values)):
            return groups * 0
        return join_until(groups, [asked], lambda rows, some: np.abs(place[some] - place[groups[rows]].mean()))

    released = joined(codes)
    counts = np.bincount(released, weights=codes)
    possible = np.zeros((12, 2), dtype=bool)
    for world in range(1 << 12):
        values = (world >> np.arange(12)) & 1
        if np.array_equal(np.bincount(released, weights=values), counts) and np.array_equal(joined(values), released):
            possible[np.arange(12), values] = True
    several = np.array([len(set(codes[released == released[row]].tolist())) > 1 for row in range(12)])
    assert np.all(possible[several].all(axis=1)), "a value is certain though the released group has two"
