"""Ties with the own row, and rows that are nearer: by sums of squares, and by Choquet integrals."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.linking import rivals as kernel
from tests.reference import rivals as twin

SLACK = (1e-9, 1e-12)
WHOLE = st.integers(-2, 2).map(float)  # few distinct values: ties
VALUE = st.one_of(WHOLE, st.floats(-1e3, 1e3, allow_subnormal=False).map(lambda value: round(value, 3)))


@st.composite
def searches(draw):
    """A table of copies of a few rows, some columns constant, queries, and for each its own row."""
    width = draw(st.integers(1, 6))
    value = draw(st.sampled_from([WHOLE, VALUE]))
    constant = draw(st.sets(st.integers(0, width - 1), max_size=2))
    row = st.tuples(*(st.just(1.0) if column in constant else value for column in range(width))).map(list)
    rows = draw(st.lists(row, min_size=1, max_size=50)) * draw(st.integers(1, 4))
    queries = draw(st.lists(st.one_of(row, st.sampled_from(rows)), min_size=1, max_size=6))
    own = [draw(st.integers(0, len(rows) - 1)) for _ in queries]
    return rows, queries, own


@st.composite
def measures(draw, width):
    """Weights of all sets, any at all or monotone; among them 0."""
    mu = [
        0.0,
        *draw(st.lists(st.sampled_from([0.0, 0.25, 0.3, 0.7, 1.0]), min_size=2**width - 1, max_size=2**width - 1)),
    ]
    if draw(st.booleans()):
        mu = [max(mu[inside] for inside in range(2**width) if inside & ~one == 0) for one in range(2**width)]
    return mu


def pairs(rows, queries, own):
    """Numbers alone: queries, and the table in which each has a row of its own."""
    no_labels = {
        "apart": np.empty(0),
        "row_of": np.empty((len(queries), 0), np.int64),
        "codes": np.empty((0, len(rows)), np.int64),
    }
    queries, rows = np.array(queries), np.array(rows)
    return kernel.Pairs(queries, rows, own=np.array(own), sizes=np.ones(len(rows), np.int64), **no_labels)


def by_squares(rows, queries, own, n_added, slack=SLACK):
    return kernel.ties_by_squares(pairs(rows, queries, own), np.eye(len(rows[0])), n_added, slack)


def by_integral(rows, queries, own, mu):
    return kernel.ties_by_integral(pairs(rows, queries, own), np.array(mu), SLACK)


@given(searches(), st.data(), st.sampled_from([SLACK, (0.0, 0.0), (1e-9, 1.0)]))
def test_no_row_that_is_nearer_or_as_near_is_overlooked_by_squares(search, data, slack):
    rows, queries, own = search
    n_added = data.draw(st.integers(0, len(rows[0])))
    expected = twin.ties_with_own(rows, queries, own, twin.less_squares(n_added), *slack)
    assert by_squares(rows, queries, own, n_added, slack).tolist() == expected


@given(searches(), st.data())
def test_no_row_that_is_nearer_or_as_near_is_overlooked_by_an_integral(search, data):
    rows, queries, own = search
    mu = data.draw(measures(len(rows[0])))
    expected = twin.ties_with_own(rows, queries, own, twin.integral(mu), *SLACK)
    assert by_integral(rows, queries, own, mu).tolist() == expected


@pytest.mark.parametrize("decimals", [0, 1, 12])
def test_many_rows_with_many_ties_few_and_none(decimals):
    random = np.random.default_rng(decimals)
    rows = random.normal(size=(2500, 3)).round(decimals)
    own = random.permutation(2500)[:100]
    queries = (rows[own] + 0.1 * random.normal(size=(100, 3))).round(decimals)
    as_lists = rows.tolist(), queries.tolist(), own.tolist()
    for n_added in (1, 3):
        expected = twin.ties_with_own(*as_lists, twin.less_squares(n_added), *SLACK)
        assert by_squares(rows, queries, own, n_added).tolist() == expected
    mu = [0.0, 0.1, 0.5, 0.6, 0.2, 0.8, 0.5, 1.0]
    expected = twin.ties_with_own(*as_lists, twin.integral(mu), *SLACK)
    assert by_integral(rows, queries, own, mu).tolist() == expected


def test_a_query_that_lies_between_two_rows_ties_with_both_whatever_rounding_does():
    rows = [[0.1], [0.3], [0.7]]
    assert by_squares(rows, [[0.2]], [0], 1).tolist() == [2]
    assert by_integral(rows, [[0.2]], [1], [0.0, 1.0]).tolist() == [2]
    assert by_squares(rows, [[0.2]], [2], 1).tolist() == [kernel.NEARER]


def test_sixteen_columns_have_sets_of_their_own():
    """The measure counts the columns 0 and 15 only when both differ: the least of two."""
    mu = np.zeros(2**16)
    both = 1 | 1 << 15
    mu[[one for one in range(2**16) if one & both == both]] = 1.0
    rows = np.zeros((3, 16))
    rows[0, [0, 15]] = 3.0, 2.0  # 4, the least of 9 and 4
    rows[1, :15] = 9.0  # 0
    rows[2, [0, 15]] = 2.0, 5.0  # 4
    found = by_integral(rows, np.zeros((3, 16)), np.arange(3), mu)
    assert found.tolist() == [kernel.NEARER, 1, kernel.NEARER]


def test_the_number_of_threads_has_no_bearing():
    random = np.random.default_rng(0)
    rows = random.normal(size=(5000, 4)).round(1)
    queries = rows + 0.05 * random.normal(size=rows.shape)
    mu = np.sqrt(np.array([bin(one).count("1") for one in range(16)]) / 4)
    threads = numba.get_num_threads()
    found = []
    for count in (1, threads):
        numba.set_num_threads(count)
        found.append((by_squares(rows, queries, np.arange(5000), 4), by_integral(rows, queries, np.arange(5000), mu)))
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))
