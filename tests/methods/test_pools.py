"""Pools: what is published of a group, and members that can be read off."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from shoal.methods.pools import (
    members_with,
    pooled_counts,
    pooled_weights,
    rank_of_pools,
    read_off,
    unit_rows,
    with_length,
    without_giveaways,
    without_length,
)

COUNTS = sp.csr_matrix(np.array([[2, 0, 1], [0, 1, 1], [1, 0, 0], [0, 0, 3]]))
GROUPS = np.array([0, 0, 1, 1])


def test_a_pool_has_the_counts_of_its_members_added_up():
    assert pooled_counts(COUNTS, GROUPS).toarray().tolist() == [[2, 1, 2], [1, 0, 3]]


def test_one_occurrence_is_one_member_and_many_are_never_all():
    pools = sp.csr_matrix(np.array([[1, 10**9]]))
    # 1·5/5 = 1; 10⁹·5/(10⁹ + 4) is just below 5.
    assert members_with(pools, np.array([5])).tolist() == [1000, 4999]


def test_members_are_estimated_group_by_group_and_added_up():
    pools = pooled_counts(COUNTS, GROUPS)
    # Two of two: 2·2/3 = 1.333; one: 1; three of two: 3·2/4 = 1.5.
    assert members_with(pools, np.array([2, 2])).tolist() == [1333 + 1000, 1000, 1333 + 1500]


def test_groups_with_equal_pools_are_one_group_to_the_reader():
    pools = sp.csr_matrix(np.array([[2], [2]]))
    assert members_with(pools, np.array([2, 2])).tolist() == [2 * 4 * 1000 // 5]


def test_weights_by_hand():
    pools = pooled_counts(COUNTS, GROUPS)
    weights = pooled_weights(pools, np.array([2000, 1000, 4000]), 4).toarray()
    # ln(4/2), ln(4/1) and ln(4/4) = 0: (2 ln 2, 2 ln 2, 0) and (ln 2, 0, 0), at length 1.
    assert weights == pytest.approx(np.array([[0.5**0.5, 0.5**0.5, 0], [1, 0, 0]]))


def test_weights_of_counts_alone():
    assert pooled_weights(sp.csr_matrix(np.array([[3, 4]])), None, 2).toarray()[0] == pytest.approx([0.6, 0.8])


@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=4, max_size=12), st.randoms())
def test_weights_depend_on_nothing_but_the_pools(rows, random):
    """However the counts of a group are parted among its members, the same is published."""
    counts = np.array(rows) + 1
    groups = np.arange(len(counts)) // 2 if len(counts) % 2 == 0 else np.minimum(np.arange(len(counts)) // 2, 1)
    parted = counts.copy()
    for _ in range(20):
        one, two = random.randrange(len(counts)), random.randrange(len(counts))
        term = random.randrange(3)
        if groups[one] == groups[two] and parted[one, term] > 0:
            parted[one, term] -= 1
            parted[two, term] += 1

    def published(documents):
        pools = pooled_counts(sp.csr_matrix(documents), groups)
        return pools, pooled_weights(pools, members_with(pools, np.bincount(groups)), len(groups))

    for before, after in zip(published(counts), published(parted), strict=True):
        assert before.indices.tolist() == after.indices.tolist()
        assert before.data.tolist() == after.data.tolist()


def test_pools_are_ranked_by_terms_then_counts():
    pools = sp.csr_matrix(np.array([[0, 5], [2, 0], [10, 0], [2, 0]]))
    assert rank_of_pools(pools).tolist() == [2, 0, 1, 0]


def test_documents_of_one_direction_are_nearer_the_more_alike_their_lengths_are():
    X, lengths = unit_rows(sp.csr_matrix(np.array([[1, 1], [2, 2], [20, 20]])), np.ones(2))
    likeness = (with_length(X, lengths) @ with_length(X, lengths).T).toarray()
    assert likeness[0, 0] == pytest.approx(1)
    assert likeness[0, 0] > likeness[0, 1] > likeness[0, 2]
    assert without_length(with_length(X, lengths)).toarray() == pytest.approx(X.toarray())


def settled(counts, groups, error=None):
    rows = sp.csr_matrix(np.array(counts))
    X, lengths = unit_rows(rows, np.ones(rows.shape[1]))
    return without_giveaways(rows, X, lengths, np.array(groups), error)


def test_members_that_are_all_the_same_are_read_off():
    assert read_off(np.array([[1, 2], [1, 2], [1, 2]])).tolist() == [True, True, True]


def test_what_most_members_share_is_read_off():
    # The pool is 3, 3, 1: what it has twice or more is the first two.
    assert read_off(np.array([[1, 1, 0], [1, 1, 0], [1, 1, 1]])).tolist() == [True, True, True]


def test_a_member_whose_terms_are_no_commoner_than_others_is_not():
    assert read_off(np.array([[1, 1, 0, 0], [0, 0, 1, 1]])).tolist() == [False, False]


def test_counts_other_than_even_parts_are_not():
    assert read_off(np.array([[3, 0], [1, 1]])).tolist() == [False, False]


ONE_HAS_MOST = [[1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0], [0, 0, 0, 9, 0, 0]]


def test_where_a_pool_has_only_what_two_share_a_word_of_one_covers_nobody():
    # With every word the last of four comes first, nine times; without those of one member the first member is it all.
    assert read_off(np.array(ONE_HAS_MOST)).tolist() == [False, False, True]
    assert read_off(np.array(ONE_HAS_MOST), only_shared=True).tolist() == [True, False, False]


def test_by_meaning_members_leave_that_are_the_words_shared():
    counts = np.array([*ONE_HAS_MOST, [0, 1, 1, 0, 1, 0], [1, 0, 1, 0, 1, 1], [0, 1, 0, 1, 0, 1]])
    assert not read_off(counts[3:], only_shared=True).any()
    groups = settled(counts, [0, 0, 0, 1, 1, 1], error=lambda rows: 0.0)
    assert np.bincount(groups).tolist() == [3, 3]
    assert not any(read_off(counts[groups == group], only_shared=True).any() for group in (0, 1))


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


@given(
    st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4).filter(any), min_size=6, max_size=24),
    st.integers(2, 4),
)
def test_no_group_gets_smaller_than_the_smallest_was(rows, k):
    groups = np.minimum(np.arange(len(rows)) // k, len(rows) // k - 1)
    found = settled(rows, groups)
    assert np.bincount(found).min() >= np.bincount(groups).min()
    assert len(found) == len(rows)
