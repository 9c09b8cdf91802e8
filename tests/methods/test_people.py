"""Crowds of whole people: who has all the published rows of a person, counted by slow code."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from shoal.methods.blocks.grouping import Plan
from shoal.methods.mdav import EuclideanSpace
from shoal.methods.people import classes_by_records, crowds_of_people, slots_in_crowds


@st.composite
def records_of_people(draw):
    """Points of some people's records, in any order, and k."""
    k = draw(st.integers(2, 4))
    n_people = draw(st.integers(k, 12))
    records = draw(st.lists(st.integers(1, 6), min_size=n_people, max_size=n_people))
    person = np.array(draw(st.permutations(np.repeat(np.arange(n_people), records).tolist())), dtype=np.int64)
    coordinates = st.lists(st.integers(-3, 3), min_size=2, max_size=2)
    points = np.array(draw(st.lists(coordinates, min_size=len(person), max_size=len(person))), dtype=np.float64)
    return points, person, k


@given(records_of_people())
def test_at_least_k_people_carry_all_rows_that_a_person_carries(case):
    points, person, k = case
    crowd = crowds_of_people(points, person, Plan(k, 1000, EuclideanSpace))
    slots = slots_in_crowds(points, person, crowd, k)
    rows_of = defaultdict(set)
    for who, row in zip(person.tolist(), zip(crowd.tolist(), slots.slot_of_row.tolist(), strict=True), strict=True):
        rows_of[who].add(row)
    for rows in rows_of.values():
        assert len({crowd for crowd, _ in rows}) == 1, "a person's records stay together"
        assert sum(others >= rows for others in rows_of.values()) >= k


@given(records_of_people())
def test_a_person_counts_once_in_each_slot(case):
    points, person, k = case
    crowd = crowds_of_people(points, person, Plan(k, 1000, EuclideanSpace))
    slots = slots_in_crowds(points, person, crowd, k)
    counting = np.flatnonzero(slots.counts)
    counted = list(zip(person[counting].tolist(), slots.slot_of_row[counting].tolist(), strict=True))
    carried = set(zip(person.tolist(), slots.slot_of_row.tolist(), strict=True))
    assert len(counted) == len(set(counted))
    assert set(counted) == carried


@given(records_of_people())
def test_sparse_points_have_the_same_slots(case):
    points, person, k = case
    crowd = np.zeros(len(person), dtype=np.int64)
    dense, sparse = (slots_in_crowds(given, person, crowd, k) for given in (points, sp.csr_matrix(points)))
    assert np.array_equal(dense.slot_of_row, sparse.slot_of_row)


def test_like_records_share_a_slot():
    """Three couples, each of a young and an old person: the young share one slot, the old the other."""
    points = np.array([[20.0], [60.0], [61.0], [21.0], [22.0], [62.0]])
    slots = slots_in_crowds(points, np.array([0, 0, 1, 1, 2, 2]), np.zeros(6, dtype=np.int64), 3)
    young, old = slots.slot_of_row[[0, 3, 4]], slots.slot_of_row[[1, 2, 5]]
    assert len(set(young)) == len(set(old)) == 1
    assert young[0] != old[0]


def test_people_with_like_numbers_of_records_are_grouped_by_themselves_where_there_are_enough():
    records = np.repeat([1, 2, 3, 9], [8, 8, 5, 3])
    assert np.unique(classes_by_records(records, 2)).tolist() == [0, 1, 2]
    assert np.unique(classes_by_records(records, 4)).tolist() == [0]
