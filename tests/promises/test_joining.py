"""Joining groups until each has l different values, so that it does not tell which had too few."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from shoal.promises.diversity import Distinct
from shoal.promises.joining import join_until, joins_of


@st.composite
def grouped(draw):
    """Groups of at least 2 rows on a line, one or two confidential columns, and l."""
    sizes = draw(st.lists(st.integers(2, 4), min_size=1, max_size=12))
    groups = draw(st.permutations([group for group, size in enumerate(sizes) for _ in range(size)]))
    values = st.lists(st.integers(-1, 3), min_size=len(groups), max_size=len(groups))
    columns = [np.array(draw(values)) for _ in range(draw(st.integers(1, 2)))]
    place = np.array(draw(st.lists(st.integers(0, 20).map(float), min_size=len(groups), max_size=len(groups))))
    return np.array(groups), columns, place, draw(st.integers(1, 4))


def on_a_line(groups, place):
    centres = np.array([place[groups == group].mean() for group in range(groups.max() + 1)])
    return lambda rows, some: np.abs(centres[some] - place[rows].mean())


def joined(groups, columns, least, distances):
    return join_until(groups, [Distinct(codes, least) for codes in columns], distances)


def values_of(codes):
    return set(codes.tolist()) - {-1}


@given(grouped())
def test_every_group_gets_l_values_and_the_result_only_joins(case):
    groups, columns, place, least = case
    assume(all(len(values_of(column)) >= least for column in columns))
    merged = joined(groups, columns, least, on_a_line(groups, place))
    assert set(merged.tolist()) == set(range(merged.max() + 1))
    for group in set(merged.tolist()):
        members = merged == group
        assert members.sum() >= 2
        assert all(len(values_of(column[members])) >= least for column in columns)
    for group in set(groups.tolist()):
        assert len(set(merged[groups == group].tolist())) == 1
    again = joined(groups, columns, least, on_a_line(groups, place))
    assert merged.tolist() == again.tolist()


@given(grouped(), st.randoms(use_true_random=False))
def test_who_repeats_the_grouping_sees_every_join_and_needs_no_single_value_for_it(case, random):
    """Values may change places within a released group: the attacker cannot know which row has which."""
    groups, columns, place, least = case
    assume(all(len(values_of(column)) >= least for column in columns))
    distances = on_a_line(groups, place)
    merged = joined(groups, columns, least, distances)
    joins = joins_of(groups, merged, columns, least, distances)
    crowds = sorted(tuple(crowd.tolist()) for join in joins for crowd in join.crowds)
    released = [tuple(np.unique(groups[merged == number]).tolist()) for number in range(merged.max() + 1)]
    assert crowds == sorted(crowd for crowd in released if len(crowd) > 1)
    elsewhere = []
    for column in columns:
        shuffled = column.copy()
        for number in range(merged.max() + 1):
            rows = np.flatnonzero(merged == number).tolist()
            shuffled[random.sample(rows, len(rows))] = column[rows]
        elsewhere.append(shuffled)
    for join, other in zip(joins, joins_of(groups, merged, elsewhere, least, distances), strict=True):
        assert [half.tolist() for half in join.halves] == [half.tolist() for half in other.halves]


def test_groups_that_are_diverse_already_stay():
    groups, values = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    merged = joined(groups, [values], 2, on_a_line(groups, np.array([0.0, 1, 5, 6])))
    assert merged.tolist() == [0, 0, 1, 1]


def test_a_half_that_is_short_is_mixed_evenly_with_the_other():
    """Groups at 0, 1, 8 and 9: the left half (all 0) is short, so each of its groups goes with one of the right."""
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    place = np.array([0.0, 0, 1, 1, 8, 8, 9, 9])
    values = np.array([0, 0, 0, 0, 0, 1, 0, 1])
    distances = on_a_line(groups, place)
    merged = joined(groups, [values], 2, distances)
    assert merged.tolist() == [0, 0, 1, 1, 0, 0, 1, 1]
    (join,) = joins_of(groups, merged, [values], 2, distances)
    assert [half.tolist() for half in join.halves] == [[3, 2], [1, 0]]


def test_it_does_not_show_which_half_was_short():
    """The same groups come out when the right half has one value only, and the left one has the others."""
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    distances = on_a_line(groups, np.array([0.0, 0, 1, 1, 8, 8, 9, 9]))
    left_short, right_short = np.array([0, 0, 0, 0, 0, 1, 0, 1]), np.array([0, 1, 0, 1, 0, 0, 0, 0])
    one, other = (joined(groups, [values], 2, distances) for values in (left_short, right_short))
    assert one.tolist() == other.tolist()
