"""What the nearest records tell, against the same found pair by pair."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.linking import nearest_released as kernel
from tests.reference import neighbours as twin

VALUE = st.integers(-3, 3).map(float)
SLACK = st.sampled_from([0.0, 1e-9, 0.5])


@st.composite
def tables(draw, n_rows):
    width = draw(st.integers(1, 3))
    return draw(st.lists(st.lists(VALUE, min_size=width, max_size=width), min_size=n_rows, max_size=n_rows).filter(len))


@given(st.integers(1, 12), st.data(), SLACK, SLACK)
def test_nearest_by_both_sets_of_columns(n_rows, data, relative, absolute):
    one, other = data.draw(tables(n_rows)), data.draw(tables(n_rows))
    targets = [data.draw(st.integers(0, n_rows - 1)) for _ in range(3)]
    targets_one = [[value + 1 for value in one[row]] for row in targets]
    targets_other = [other[row] for row in targets]
    found = kernel.nearest_by_both(
        np.array(one).T.copy(),
        np.array(other).T.copy(),
        np.array(targets_one),
        np.array(targets_other),
        relative,
        np.array([absolute, 0.0]),
    )
    expected = twin.nearest_by_both(one, other, targets_one, targets_other, relative, [absolute, 0.0])
    assert found.tolist() == expected


@given(st.integers(1, 12), st.data(), SLACK, SLACK)
def test_what_the_nearest_tell(n_rows, data, relative, absolute):
    known = data.draw(tables(n_rows))
    secret = data.draw(st.lists(VALUE, min_size=n_rows, max_size=n_rows))
    rows = [data.draw(st.integers(0, n_rows - 1)) for _ in range(3)]
    targets, truths = [[value + 1 for value in known[row]] for row in rows], [secret[row] for row in rows]
    found = kernel.nearest_tell(
        np.array(known).T.copy(), np.array(secret), np.array(targets), np.array(truths), 1.0, relative, absolute
    )
    assert found.tolist() == twin.nearest_tell(known, secret, targets, truths, 1.0, relative, absolute)
