"""Crowds of whole people: who has all the published rows of a person, counted by slow code."""

from __future__ import annotations

from collections import Counter

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from shoal.methods.blocks.grouping import Plan
from shoal.methods.mdav import EuclideanSpace
from shoal.methods.people import crowds_of_people, equal_numbers, slots_in_crowds


@st.composite
def records_of_people(draw):
    """Points of some people's records, in any order, and k; at least k people have as many records as each."""
    k = draw(st.integers(2, 4))
    numbers = draw(st.dictionaries(st.integers(1, 6), st.integers(k, 8), min_size=1, max_size=3))
    records = np.repeat(list(numbers), list(numbers.values()))
    person = np.array(draw(st.permutations(np.repeat(np.arange(len(records)), records).tolist())), dtype=np.int64)
    points = draw(st.lists(st.integers(-3, 3), min_size=2 * len(person), max_size=2 * len(person)))
    return np.array(points, dtype=np.float64).reshape(-1, 2), person, k


@given(records_of_people())
def test_at_least_k_people_carry_the_same_rows_as_often(case):
    points, person, k = case
    crowd = crowds_of_people(points, person, Plan(k, 1000, EuclideanSpace))
    slot = slots_in_crowds(points, person, crowd)
    carried = {who: [] for who in person.tolist()}
    for who, row in zip(person.tolist(), zip(crowd.tolist(), slot.tolist(), strict=True), strict=True):
        carried[who].append(row)
    rows_of = {who: tuple(sorted(rows)) for who, rows in carried.items()}
    alike = Counter(rows_of.values())
    for rows in rows_of.values():
        assert len(set(rows)) == len(rows), "a person counts once in a slot"
        assert len({crowd for crowd, _ in rows}) == 1, "a person's records stay together"
        assert alike[rows] >= k


@given(records_of_people())
def test_sparse_points_have_the_same_slots(case):
    points, person, k = case
    crowd = crowds_of_people(points, person, Plan(k, 1000, EuclideanSpace))
    dense, sparse = (slots_in_crowds(given, person, crowd) for given in (points, sp.csr_matrix(points)))
    assert np.array_equal(dense, sparse)


def test_like_records_share_a_slot():
    """Three couples, each of a young and an old person: the young share one slot, the old the other."""
    points = np.array([[20.0], [60.0], [61.0], [21.0], [22.0], [62.0]])
    slot = slots_in_crowds(points, np.array([0, 0, 1, 1, 2, 2]), np.zeros(6, dtype=np.int64))
    young, old = slot[[0, 3, 4]], slot[[1, 2, 5]]
    assert len(set(young)) == len(set(old)) == 1
    assert young[0] != old[0]


def kept(records, least):
    return equal_numbers(np.array(records), np.broadcast_to(least, len(records))).tolist()


def test_numbers_that_too_few_have_go_down_to_the_next_one():
    assert kept([1, 1, 2, 2, 40], 2) == [1, 1, 2, 2, 2]
    assert kept([1, 1, 3, 5], 2) == [1, 1, 3, 3]
    assert kept([2, 3, 4], 3) == [2, 2, 2]


def test_too_few_with_the_lowest_number_are_joined_by_as_many_as_they_need():
    assert kept([1, 2, 2, 2, 2, 2], 3) == [1, 1, 2, 2, 2, 1]
    assert kept([1, 2, 2, 2], 3) == [1, 1, 1, 1], "with two of them, one would be left with two records"


def test_a_person_who_asks_for_more_has_as_many_with_as_many_records():
    assert kept([1, 1, 1, 2, 2], np.array([2, 2, 2, 2, 5])) == [1, 1, 1, 1, 1]


@given(st.lists(st.integers(1, 9), min_size=3, max_size=30), st.integers(1, 3))
def test_every_number_that_is_kept_has_enough_people(records, least):
    numbers = kept(records, least)
    assert all(0 < few <= many for few, many in zip(numbers, records, strict=True))
    assert min(Counter(numbers).values()) >= least
