"""Cutting distinct values with counts, against every cut there is."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.grouping import euclidean as kernel
from tests.reference import class_cuts as twin


@given(st.integers(2, 6), st.lists(st.tuples(st.integers(-30, 30), st.integers(1, 7)), min_size=1, max_size=9))
def test_the_classes_have_k_records_and_the_least_error_of_all_cuts(k, counted):
    counts = dict(counted)
    distinct = sorted(counts)
    values = [value for value in distinct for _ in range(counts[value])]
    if len(values) < k:
        return
    starts = kernel.best_last_classes(np.array(distinct, dtype=float), np.array([counts[v] for v in distinct]), k)
    edges = [len(distinct)]
    while edges[-1] > 0:
        edges.append(int(starts[edges[-1] - 1]))
    classes = [
        [value for value in distinct[start:end] for _ in range(counts[value])] for start, end in pairwise(edges[::-1])
    ]
    assert min(map(len, classes)) >= k
    assert abs(twin.error(classes) - twin.least_error(values, k)) < Fraction(1, 10**9)


def test_fewer_than_k_records_have_no_class():
    assert kernel.best_last_classes(np.array([1.0, 2.0, 3.0]), np.array([1, 1, 1]), 2).tolist() == [-1, 0, 0]


def test_a_class_may_have_more_than_2k_records_when_no_cut_leaves_k_on_both_sides():
    starts = kernel.best_last_classes(np.array([1.0, 2.0, 3.0]), np.array([4, 4, 4]), 5)
    assert starts.tolist() == [-1, 0, 0]


def test_of_starts_equally_good_the_last_is_taken():
    starts = kernel.best_last_classes(np.array([0.0, 1.0, 2.0]), np.array([2, 1, 2]), 2)
    assert starts[-1] == 2  # {0, 1} and {2}: as good as {0} and {1, 2}
