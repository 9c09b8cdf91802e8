"""Exact sums: the mean and the spread of a table do not depend on how its rows are cut or ordered."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.methods.numeric import scale_of
from shoal.release.tables.reading import exact_sums, mean_of_sums

NUMBERS = st.lists(st.floats(-1e150, 1e150), min_size=1, max_size=40)


@given(NUMBERS, st.randoms(use_true_random=False), st.integers(0, 40))
def test_a_mean_of_parts_is_the_true_mean_rounded_once(numbers, random, cut):
    expected = float(sum(map(Fraction, numbers)) / len(numbers))
    random.shuffle(numbers)
    column = np.array(numbers)[:, None]
    sums = [exact_sums(part) for part in (column[:cut], column[cut:])]
    assert mean_of_sums(sums, len(numbers)).tolist() == [expected]


@pytest.mark.parametrize("numbers", [[5e-324, 5e-324], [1e150, 1.0, -1e150], [0.1] * 10, [-0.0]])
def test_sums_lose_nothing_of_the_smallest_beside_the_largest(numbers):
    total = Fraction(exact_sums(np.array(numbers)[:, None])[0], 1 << 1126)
    assert float(total) == math.fsum(numbers)


def test_a_constant_column_keeps_its_scale():
    assert scale_of(np.array([0.0, 2.0, 1e-9]), np.array([7.0, 5.0, 1e9])).tolist() == [1.0, 2.0, 1.0]
