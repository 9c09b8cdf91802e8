"""Pools from which members can be read off."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.microaggregation.words.giveaways import read_off, without_giveaways
from shoal.microaggregation.words.pooling import unit_rows


def settled(counts, groups):
    rows = sp.csr_matrix(np.array(counts))
    X, lengths = unit_rows(rows, np.ones(rows.shape[1]))
    return without_giveaways(rows, X, lengths, np.array(groups))


def test_members_that_are_all_the_same_are_read_off():
    assert read_off(np.array([[1, 2], [1, 2], [1, 2]])).tolist() == [True, True, True]


def test_what_most_members_share_is_read_off():
    # The pool is 3, 3, 1: what it has twice or more is the first two.
    assert read_off(np.array([[1, 1, 0], [1, 1, 0], [1, 1, 1]])).tolist() == [True, True, True]


def test_a_member_whose_terms_are_no_commoner_than_others_is_not():
    assert read_off(np.array([[1, 1, 0, 0], [0, 0, 1, 1]])).tolist() == [False, False]


def test_counts_other_than_even_parts_are_not():
    assert read_off(np.array([[3, 0], [1, 1]])).tolist() == [False, False]


def test_copies_leave_for_other_groups():
    copies = [[1, 1, 0, 0, 0, 0]] * 2
    others = [[1, 0, 1, 1, 0, 0], [0, 1, 1, 0, 1, 0], [1, 0, 0, 1, 0, 1], [0, 1, 0, 0, 1, 1]]
    groups = settled(copies + others, [0, 0, 1, 1, 2, 2])
    assert groups[0] != groups[1]
    assert np.bincount(groups).min() >= 2


def test_a_collection_of_copies_stays_as_it_is():
    """Joined up to eight times the smallest, and no further: there is nothing to hide them among."""
    groups = settled([[1, 2]] * 40, np.repeat(np.arange(20), 2))
    assert np.bincount(groups).min() >= 2
    assert np.bincount(groups).max() <= 2 * 8


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4).filter(any), min_size=6, max_size=24),
    st.integers(2, 4),
)
def test_no_group_gets_smaller_than_the_smallest_was(rows, k):
    groups = np.minimum(np.arange(len(rows)) // k, len(rows) // k - 1)
    found = settled(rows, groups)
    assert np.bincount(found).min() >= np.bincount(groups).min()
    assert len(found) == len(rows)
