"""Groups for common values: k holds, strata are not crossed, costs are those of the slow twin, seeds repeat."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.grouping.gathering import gather
from shoal.methods.common_values import (
    Widening,
    bands,
    columns_of,
    common_ancestors,
    costs_of,
    value_sets,
    widening_groups,
    widening_of,
)
from tests.reference import common_values as twin

# 0 is above 1 (3, 4) and 2 (5, 6). All losses are multiples of 1/8: ties are ties in whole numbers, too.
TREE = (np.array([-1, 0, 0, 1, 1, 2, 2]), np.array([4, 2, 2, 1, 1, 1, 1]))
COLUMNS = [
    {"importance": 1.0, "whole": 8.0},
    {"importance": 2.0, "size": 4},
    {"importance": 1.0, "tree": tuple(part.tolist() for part in TREE)},
]
WIDENING = Widening(np.array([8.0]), np.array([4, 4]), [None, TREE], np.array([1.0, 2.0, 1.0]))


@st.composite
def tables(draw, least=4, most=24, gaps=True):
    """Rows of a number of 0 to 8, a value of four, and a node of the hierarchy; None is missing."""
    missing = [st.none()] if gaps else []
    row = st.tuples(
        st.one_of(st.integers(0, 8), *missing),
        st.one_of(st.integers(0, 3), *missing),
        st.one_of(st.integers(3, 6), st.just(2), *missing),
    )
    return draw(st.lists(row, min_size=least, max_size=most))


def arrays(rows):
    numbers = np.array([[np.nan if row[0] is None else float(row[0])] for row in rows])
    codes = np.array([[-1 if cell is None else cell for cell in row[1:]] for row in rows], dtype=np.int64)
    return numbers, codes


def rows_of(groups):
    return [np.flatnonzero(groups == group).tolist() for group in range(groups.max() + 1)]


@given(tables(), st.integers(1, 4))
def test_the_cost_of_groups_is_that_of_the_twin(rows, n_groups):
    groups = np.arange(len(rows)) % min(n_groups, len(rows))
    expected = [twin.cost([rows[row] for row in group], COLUMNS) for group in rows_of(groups)]
    assert costs_of(columns_of(*arrays(rows), WIDENING), groups) == pytest.approx(expected, abs=1e-9)


@given(tables(), st.integers(2, 4))
def test_the_start_is_the_k_member_rule(rows, k):
    group_of, n_groups = gather(columns_of(*arrays(rows), WIDENING), np.zeros(len(rows), dtype=np.int64), k)
    groups, rest = twin.k_member(rows, COLUMNS, k)
    assert [np.flatnonzero(group_of == group).tolist() for group in range(n_groups)] == groups
    assert np.flatnonzero(group_of < 0).tolist() == rest


def test_the_start_is_the_same_rule_among_more_records_than_are_candidates():
    random = np.random.default_rng(5)
    numbers, codes = random.permutation(160.0 * np.arange(160))[:, None] / 128, random.integers(0, 4, (160, 1))
    columns = [{"importance": 1.0, "whole": float(np.ptp(numbers))}, {"importance": 0.5, "size": 4}]
    widening = widening_of(numbers, codes, importance=np.array([1.0, 0.5]))
    group_of, n_groups = gather(columns_of(numbers, codes, widening), np.zeros(160, dtype=np.int64), 3)
    groups, rest = twin.k_member(list(zip(numbers[:, 0].tolist(), codes[:, 0].tolist(), strict=True)), columns, 3)
    assert [np.flatnonzero(group_of == group).tolist() for group in range(n_groups)] == groups
    assert np.flatnonzero(group_of < 0).tolist() == rest


def test_the_start_is_the_same_rule_in_a_deep_hierarchy_whose_nodes_come_in_any_order():
    random = np.random.default_rng(9)
    name = random.permutation(31)  # of the nodes of a binary tree of 16 leaves
    parent, leaves = np.empty(31, dtype=np.int64), np.empty(31, dtype=np.int64)
    for node in range(31):
        parent[name[node]] = name[(node - 1) // 2] if node else -1
        leaves[name[node]] = 16 >> int(np.log2(node + 1))
    numbers, codes = random.permutation(160.0 * np.arange(160))[:, None] / 128, name[random.integers(1, 31, (160, 1))]
    columns = [
        {"importance": 0.25, "whole": float(np.ptp(numbers))},
        {"importance": 1.0, "tree": (parent.tolist(), leaves.tolist())},
    ]
    widening = widening_of(numbers, codes, [(parent, leaves)], np.array([0.25, 1.0]))
    group_of, n_groups = gather(columns_of(numbers, codes, widening), np.zeros(160, dtype=np.int64), 3)
    groups, rest = twin.k_member(list(zip(numbers[:, 0].tolist(), codes[:, 0].tolist(), strict=True)), columns, 3)
    assert [np.flatnonzero(group_of == group).tolist() for group in range(n_groups)] == groups
    assert np.flatnonzero(group_of < 0).tolist() == rest


@given(tables(least=8, most=60), st.integers(2, 4), st.booleans(), st.integers(1, 2))
def test_groups_have_k_to_2k_less_one_records_of_one_stratum(rows, k, refine, n_strata):
    numbers, codes = arrays(rows)
    strata = np.arange(len(rows)) % n_strata
    groups = widening_groups(
        numbers, codes, k, WIDENING, strata=strata, refine=refine, time_budget=0.001, random_state=1
    )
    sizes = np.bincount(groups)
    assert k <= sizes.min() and sizes.max() < 2 * k
    assert all(len(set(strata[group].tolist())) == 1 for group in rows_of(groups))
    assert list(dict.fromkeys(groups.tolist())) == list(range(len(sizes)))  # numbered by first row


@given(tables(least=12, most=60), st.integers(2, 4))
def test_the_search_never_loses_more_than_the_start(rows, k):
    numbers, codes = arrays(rows)
    columns = columns_of(numbers, codes, WIDENING)
    start, searched = (
        costs_of(columns, widening_groups(numbers, codes, k, WIDENING, refine=refine)).sum() for refine in (False, True)
    )
    assert searched <= start + 1e-9


def test_two_clear_groups_are_found():
    numbers = np.array([[1.0], [50.0], [2.0], [51.0], [3.0], [52.0]])
    codes = np.array([[0], [1], [0], [1], [0], [1]])
    groups = widening_groups(numbers, codes, 3, widening_of(numbers, codes))
    assert groups.tolist() == [0, 1, 0, 1, 0, 1]


def test_equal_rows_lose_nothing_however_many():
    codes = np.repeat([[0], [1]], [17, 10], axis=0)
    numbers = np.zeros((27, 0))
    groups = widening_groups(numbers, codes, 5, widening_of(numbers, codes))
    assert costs_of(columns_of(numbers, codes, widening_of(numbers, codes)), groups).sum() == 0
    assert np.bincount(groups).tolist() == [5, 5, 7, 5, 5]


@pytest.mark.slow
def test_threads_and_a_second_run_change_nothing():
    random = np.random.default_rng(3)
    numbers, codes = random.normal(size=(20_000, 2)), random.integers(0, 6, (20_000, 2))
    widening = widening_of(numbers, codes)
    threads = numba.get_num_threads()
    try:
        found = []
        for count in (1, threads):
            numba.set_num_threads(count)
            found.append(widening_groups(numbers, codes, 10, widening, time_budget=0.2, random_state=7))
    finally:
        numba.set_num_threads(threads)
    assert (found[0] == found[1]).all()


def test_what_stands_for_a_group_is_its_band_its_set_and_its_ancestor():
    numbers = np.array([[3.0], [np.nan], [1.0], [np.nan]])
    groups = np.array([0, 1, 0, 0])
    low, high, gaps = bands(numbers, groups)
    assert (low[0, 0], high[0, 0], gaps[:, 0].tolist()) == (1.0, 3.0, [True, True])
    assert np.isnan(low[1, 0]) and np.isnan(high[1, 0])
    indptr, values = value_sets(np.array([2, 0, 2, -1]), groups)
    assert (indptr.tolist(), values.tolist()) == ([0, 2, 3], [-1, 2, 0])
    assert common_ancestors(np.array([3, 5, 4, 4]), groups, TREE[0]).tolist() == [1, 5]
    assert common_ancestors(np.array([3, 5, 6, 4]), groups, TREE[0]).tolist() == [0, 5]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6))
def test_the_common_ancestor_is_that_of_the_twin(values):
    groups = np.zeros(len(values), dtype=np.int64)
    found = common_ancestors(np.array(values), groups, TREE[0])
    assert found.tolist() == [twin.lowest_common(TREE[0].tolist(), values)]


def test_blanks_go_to_the_column_that_brings_most_rows_together():
    codes = np.array([[0, 0], [0, 0], [1, 0], [1, 1], [1, 2], [1, 3], [1, 4]])  # one row is unlike all others
    groups = widening_groups(np.zeros((7, 0)), codes, 2, _blanked(2))
    assert rows_of(groups) == [[0, 1], [2, 3], [4, 5, 6]]


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=8, max_size=40), st.integers(2, 4))
def test_groups_for_few_blanks_have_k_rows_of_one_stratum(rows, k):
    codes = np.array(rows)
    strata = np.arange(len(rows)) % 2
    groups = widening_groups(np.zeros((len(rows), 0)), codes, k, _blanked(3), strata=strata)
    for members in rows_of(groups):
        assert len(members) >= k
        assert len(set(strata[members].tolist())) == 1


def _blanked(n_columns):
    return Widening(np.zeros(0), np.ones(n_columns, dtype=np.int64), [None] * n_columns, np.ones(n_columns))
