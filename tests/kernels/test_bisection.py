"""Kernels on chosen rows against their twins. Small whole numbers: every sum is exact."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels import bisection as kernel
from tests.reference import bisection as twin
from tests.reference.spherical import dot

COLUMNS = 4
NUMBERS = st.integers(-3, 3).map(float)
VECTORS = st.lists(NUMBERS, min_size=COLUMNS, max_size=COLUMNS)
MATRICES = st.lists(VECTORS, min_size=1, max_size=12)


def csr(X):
    matrix = sp.csr_matrix(np.array(X).reshape(-1, COLUMNS))
    return matrix.indptr, matrix.indices, matrix.data


def chosen_rows(data, X):
    return data.draw(st.lists(st.integers(0, len(X) - 1), unique=True))


@given(VECTORS, VECTORS)
def test_the_product_of_two_vectors_is_their_dot_product(one, two):
    assert kernel.dot(np.array(one), np.array(two)) == dot(one, two)


@given(MATRICES, VECTORS, st.data())
def test_products_of_chosen_rows_come_in_the_order_of_the_choice(X, vector, data):
    rows = chosen_rows(data, X)
    found = kernel.dots_of(*csr(X), np.array(rows, dtype=np.int64), np.array(vector))
    assert found.tolist() == twin.dots_of(X, rows, vector)


@given(MATRICES, st.data())
def test_the_sum_of_chosen_rows_weighs_each_of_them(X, data):
    rows = chosen_rows(data, X)
    weights = data.draw(st.lists(NUMBERS, min_size=len(rows), max_size=len(rows)))
    found = kernel.sum_of(*csr(X), np.array(rows, dtype=np.int64), np.array(weights), COLUMNS)
    assert found.tolist() == twin.sum_of(X, rows, weights, COLUMNS)
