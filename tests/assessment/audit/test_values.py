"""Confidential values of equal keys, beside the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.assessment.audit.values import confidential_values
from tests.assessment.audit.test_key_columns import columns_of
from tests.reference.auditing import confidential_measures

PAIRS = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 5)), min_size=1, max_size=40)


@given(PAIRS, st.booleans())
def test_measures_are_as_defined(pairs, ordered) -> None:
    keys, values = zip(*pairs, strict=True)
    found = confidential_values("ill", columns_of([(key,) for key in keys]).keys(), np.array(values), ordered)
    assert found is not None
    for name, expected in confidential_measures(keys, values, ordered).items():
        assert getattr(found, name) == (None if expected is None else pytest.approx(expected, abs=1e-12)), name


def test_gaps_are_left_out_and_counted() -> None:
    keys = columns_of([(1,), (1,), (1,), (2,)]).keys()
    found = confidential_values("ill", keys, np.array([1, 2, 0, 2]), ordered=False)
    assert found is not None
    assert (found.distinct_l, found.missing, found.alpha) == (1, 1, 1.0)
    assert confidential_values("ill", keys, np.zeros(4, dtype=np.int64), ordered=False) is None


def test_a_persons_value_counts_once_with_a_key() -> None:
    """Three records of person 0 have value 1, one of person 1 has value 2: half of the people have each."""
    keys = columns_of([(1,)] * 4).keys()
    found = confidential_values("ill", keys, np.array([1, 1, 1, 2]), False, person=np.array([0, 0, 0, 1]))
    assert found is not None
    assert found.alpha == 0.5
    assert found.entropy_l == pytest.approx(2.0)
