"""Rows with equal keys, beside a dictionary of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.keys import divide_keys

CODE = st.integers(0, 4)


@given(st.lists(st.tuples(CODE, CODE), min_size=1, max_size=60))
@pytest.mark.parametrize("spread", [1, 10**9], ids=["looked up in a table", "hashed"])
def test_keys_are_numbered_by_their_first_rows_and_counted(spread, rows) -> None:
    numbers: dict[tuple[int, int], int] = {}
    expected = [numbers.setdefault(row, len(numbers)) for row in rows]
    first, second = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    key, count = divide_keys(first, 5, second * spread, 4 * spread + 1)
    assert key.tolist() == expected
    assert count.tolist() == np.bincount(expected).tolist()
