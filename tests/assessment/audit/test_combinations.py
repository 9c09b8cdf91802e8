"""Special uniques equal to those of a search through all subsets; what columns add."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.assessment.audit.combinations import (
    affordable_size,
    count_combinations,
    minimal_uniques,
    named_combinations,
    rank_columns,
    special_uniques,
)
from tests.assessment.audit.test_key_columns import columns_of
from tests.reference.auditing import minimal_sample_uniques, suda_scores

ROWS = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(1, 3)] * width), min_size=1, max_size=20)
)


def counted_of(rows, max_size):
    keys = columns_of(rows)
    uniques = np.flatnonzero(keys.frequencies() < 2)
    return keys, count_combinations(keys, min(max_size, len(rows[0])), uniques), uniques


@given(ROWS, st.integers(1, 6))
def test_minimal_uniques_are_those_of_a_search_through_all_subsets(rows, max_size) -> None:
    _, counted, uniques = counted_of(rows, max_size)
    found: list[set[tuple[int, ...]]] = [set() for _ in rows]
    for columns, places in minimal_uniques(counted, len(uniques)):
        for row in uniques[places].tolist():
            found[row].add(columns)
    assert found == minimal_sample_uniques(rows, min(max_size, len(rows[0])))


@given(ROWS, st.integers(1, 6))
def test_suda_scores_are_those_of_a_search_through_all_subsets(rows, max_size) -> None:
    keys, counted, uniques = counted_of(rows, max_size)
    special = special_uniques(keys.names, counted, len(uniques), 0, None, 0.2)
    expected = suda_scores(rows, min(max_size, len(rows[0])))
    assert special.highest_score == max(expected)
    assert special.records == sum(score > 0 for score in expected)
    scores = sorted({score for score in expected if score}, reverse=True)[:10]
    assert special.scores == tuple((score, expected.count(score)) for score in scores)


def test_a_score_is_distributed_by_columns_and_corrected_by_the_sampling_fraction() -> None:
    """Row 3 is alone by a, and row 4 by b; each has a score of (3 - 1) (3 - 2) = 2. Of each match, 2·.1 are right for
    2·.9 wrong: the two records in a pair. Both scores are equal, so both have that chance."""
    rows = [(1, 1, 1), (1, 1, 1), (2, 1, 1), (1, 2, 1)]
    keys, counted, uniques = counted_of(rows, 2)
    special = special_uniques(keys.names, counted, len(uniques), 2, 0.1, 0.05)
    assert special.by_size == (2, 0)
    assert special.scores == ((2, 2),)
    assert dict(special.contributions) == {"a": 0.5, "b": 0.5, "c": 0.0}
    assert special.dis == pytest.approx(0.1)
    assert special.highest_dis_score == pytest.approx(0.1)
    assert special.dis_above == 2


def test_columns_are_ranked_by_the_uniques_they_add() -> None:
    """a singles out all four rows, b makes two of them unique, c none."""
    rows = [(1, 1, 1), (2, 2, 1), (3, 3, 1), (4, 3, 1)]
    keys, counted, _ = counted_of(rows, 2)
    ranked = rank_columns(keys, counted)
    assert [one.column for one in ranked] == ["a", "b", "c"]
    assert [one.alone for one in ranked] == [4, 2, 0]
    assert [one.without for one in ranked] == [2, 4, 4]
    assert ranked[0].added == pytest.approx((4 + 2 + 4) / 3)  # alone, with b, with c
    assert [one.uniques for one in named_combinations(keys.names, counted)] == [4, 2, 0, 4, 4, 2]


def test_combinations_become_smaller_where_there_are_many() -> None:
    assert affordable_size(1_000_000, 8) == 3
    assert affordable_size(1_000_000, 30) == 2
    assert affordable_size(100_000_000, 30) == 1
    assert affordable_size(10, 2) == 2
