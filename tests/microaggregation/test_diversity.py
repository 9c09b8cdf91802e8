"""Merging groups until each has l different values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shoal import InputError
from shoal.microaggregation.diversity import merge_until_diverse


@st.composite
def grouped(draw):
    """Groups of at least 2 rows on a line, one or two confidential columns, and l."""
    sizes = draw(st.lists(st.integers(2, 4), min_size=1, max_size=8))
    groups = draw(st.permutations([group for group, size in enumerate(sizes) for _ in range(size)]))
    values = st.lists(st.integers(0, 4), min_size=len(groups), max_size=len(groups))
    columns = [np.array(draw(values)) for _ in range(draw(st.integers(1, 2)))]
    place = np.array(draw(st.lists(st.integers(0, 20).map(float), min_size=len(groups), max_size=len(groups))))
    return np.array(groups), columns, place, draw(st.integers(1, 4))


def distance_on_line(groups, place):
    centres = np.array([place[groups == group].mean() for group in range(groups.max() + 1)])
    return lambda rows: np.abs(centres - place[rows].mean())


@given(grouped())
def test_every_group_gets_l_values_and_the_result_only_merges(case):
    groups, columns, place, least = case
    assume(all(len(set(column.tolist())) >= least for column in columns))
    merged = merge_until_diverse(groups, columns, least, distance_on_line(groups, place))
    assert set(merged.tolist()) == set(range(merged.max() + 1))
    for group in set(merged.tolist()):
        members = merged == group
        assert members.sum() >= 2
        assert all(len(set(column[members].tolist())) >= least for column in columns)
    for group in set(groups.tolist()):
        assert len(set(merged[groups == group].tolist())) == 1
    again = merge_until_diverse(groups, columns, least, distance_on_line(groups, place))
    assert merged.tolist() == again.tolist()


def test_groups_that_are_diverse_already_stay():
    groups, values = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    merged = merge_until_diverse(groups, [values], 2, distance_on_line(groups, np.array([0.0, 1, 5, 6])))
    assert merged.tolist() == [0, 0, 1, 1]


def test_a_group_is_merged_with_the_nearest_that_brings_it_another_value():
    """Group 0 (all 7) lies at 0; group 1 at 1 is all 7 too, group 2 at 3 and group 3 at 9 have another value."""
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    place = np.array([0.0, 0, 1, 1, 3, 3, 9, 9])
    values = np.array([0, 0, 0, 0, 0, 1, 0, 1])
    merged = merge_until_diverse(groups, [values], 2, distance_on_line(groups, place))
    assert merged.tolist() == [0, 0, 0, 0, 0, 0, 1, 1]


def test_more_values_than_there_are_is_refused():
    groups = np.array([0, 0, 1, 1])
    with pytest.raises(InputError, match="l=3 needs 3 different values, confidential column 1 has 2"):
        merge_until_diverse(groups, [np.array([0, 1, 0, 1])], 3, distance_on_line(groups, np.arange(4.0)))
