"""Signs by numba against whole numbers of Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.sketching.sketches import sign_table
from tests.reference import sketching as slow

numbers = st.integers(0, slow.MODULUS - 1) | st.sampled_from([0, 1, slow.MODULUS - 1, 1 << 60, (1 << 32) - 1, 1 << 32])


@given(st.lists(numbers, min_size=1, max_size=5), st.lists(st.tuples(*[numbers] * 4), min_size=1, max_size=5))
def test_signs_are_the_low_bits_of_the_polynomials(terms: list[int], coefficients: list[tuple[int, ...]]) -> None:
    table = sign_table(np.array(terms, np.uint64), np.array(coefficients, np.uint64))
    assert table.tolist() == [[slow.sign(term, list(cubic)) for cubic in coefficients] for term in terms]
