"""Spherical kernels against their twins.

Rows have one entry of ±1 or four of ±1/2: unit length and every product exact, so that ties are ties.
"""

from __future__ import annotations

from itertools import pairwise
from unittest import mock

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.grouping import spherical as kernel
from shoal.methods.mdav import SphericalSpace, mdav
from tests.reference import spherical as twin
from tests.reference.mdav import spherical_mdav

COLUMNS = 6


@st.composite
def unit_rows(draw):
    signs = st.sampled_from([1.0, 1.0, -1.0])
    row = [0.0] * COLUMNS
    if draw(st.booleans()):
        row[draw(st.integers(0, COLUMNS - 1))] = draw(signs)
    else:
        for column in draw(st.permutations(range(COLUMNS)))[:4]:
            row[column] = draw(signs) / 2
    return row


@st.composite
def spaces(draw, least=1, most=30):
    """Unit rows, many of them repeated."""
    different = draw(st.lists(unit_rows(), min_size=1, max_size=8))
    return draw(st.lists(st.sampled_from(different), min_size=least, max_size=most))


def csr(X):
    matrix = sp.csr_matrix(np.array(X).reshape(-1, COLUMNS))
    return kernel.csr(matrix)


def alive_rows(data, n_rows):
    alive = data.draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows))
    alive[data.draw(st.integers(0, n_rows - 1))] = True
    return alive


@given(spaces(), st.data())
def test_distances_through_inverted_lists_are_the_dot_products_below_zero(X, data):
    query = data.draw(unit_rows())
    columns = np.flatnonzero(query).astype(np.int32)
    distances = np.full(len(X), 99.0)
    kernel.distances_to(kernel.invert(csr(X), COLUMNS), columns, np.array(query)[columns], distances)
    assert distances.tolist() == [-twin.dot(row, query) for row in X]


@given(spaces(), st.data())
def test_the_farthest_from_a_sum_that_moved_is_found_without_looking_at_all(X, data):
    old, new = (data.draw(st.lists(st.integers(-3, 3).map(float), min_size=6, max_size=6)) for _ in range(2))
    alive = alive_rows(data, len(X))
    dots = np.array([twin.dot(row, old) for row in X])
    order = np.argsort(dots, kind="stable")
    row, looked_at = kernel.farthest_from_moved_sum(csr(X), np.array(alive), order, dots, np.array(old), np.array(new))
    assert row == twin.least_similar([twin.dot(row, new) for row in X], alive)
    assert 1 <= looked_at <= len(X)


@given(spaces(), st.data())
def test_subtracting_rows_leaves_the_sum_of_the_others(X, data):
    rows = data.draw(st.lists(st.integers(0, len(X) - 1), unique=True))
    total = np.sum(X, axis=0)
    kernel.subtract_rows(csr(X), np.array(rows, dtype=np.int64), total)
    others = [X[row] for row in range(len(X)) if row not in rows]
    assert total.tolist() == [float(sum(row[column] for row in others)) for column in range(COLUMNS)]


@given(spaces())
def test_inverted_lists_hold_each_columns_rows_in_order(X):
    list_ptr, list_row, list_weight = kernel.invert(csr(X), COLUMNS)
    found = [
        list(zip(list_row[start:end].tolist(), list_weight[start:end].tolist(), strict=True))
        for start, end in pairwise(list_ptr)
    ]
    assert found == twin.inverted_lists(X, COLUMNS)


@given(spaces(), spaces(most=9), st.integers(1, 5))
def test_the_nearest_listed_is_the_lowest_of_the_most_similar_for_any_number_of_runs(X, listed, least_run):
    with mock.patch("shoal.kernels.threads.LEAST_RUN", least_run):
        found = kernel.nearest_listed(csr(X), kernel.invert(csr(listed), COLUMNS), len(listed))
    assert found.tolist() == twin.most_similar_listed(X, listed)


@given(st.integers(2, 5), spaces(least=5, most=45))
def test_mdav_on_the_sphere_is_mdav_by_brute_force(k, X):
    assert mdav(SphericalSpace(sp.csr_matrix(np.array(X))), k).tolist() == spherical_mdav(X, k)


def test_mdav_is_brute_force_also_for_rows_without_ties_and_many_compactions():
    X = np.random.default_rng(1).random((240, 7)) * (np.random.default_rng(2).random((240, 7)) < 0.6)
    X[~X.any(axis=1), 0] = 1.0
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    assert mdav(SphericalSpace(sp.csr_matrix(X)), 3).tolist() == spherical_mdav(X.tolist(), 3)
