"""Nearest records, and columns on which records agree, against the same found pair by pair."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.linking import nearest as kernel
from tests.reference import nearest as twin

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


@st.composite
def comparisons(draw):
    """Originals, masked records, a tolerance for each column, and a weight for each pattern."""
    width = draw(st.integers(1, 4))
    rows = st.lists(st.lists(VALUE, min_size=width, max_size=width), min_size=1, max_size=20)
    tolerance = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=width, max_size=width))
    weights = draw(st.lists(VALUE, min_size=2**width, max_size=2**width))
    return draw(rows), draw(rows), tolerance, weights


@given(comparisons(), st.data())
def test_counts_weights_and_best_partners_are_those_found_pair_by_pair(compared, data):
    originals, masked, tolerance, weights = compared
    columns, records, within = np.array(originals).T.copy(), np.array(masked), np.array(tolerance)
    assert kernel.count_patterns(columns, records, within).tolist() == twin.count_patterns(originals, masked, tolerance)
    every = kernel.weigh_pairs(columns, records, within, np.array(weights))
    assert every.tolist() == twin.weigh_pairs(originals, masked, tolerance, weights)
    own = [data.draw(st.integers(0, len(originals) - 1)) for _ in masked]
    ties, own_ties = kernel.best_partners(columns, records, within, np.array(weights), np.array(own))
    assert (ties.tolist(), own_ties.tolist()) == twin.best_partners(originals, masked, tolerance, weights, own)
    one = np.empty(len(originals), np.int32)
    kernel.patterns_of(columns, records[0], within, one)
    assert one.tolist() == [twin.pattern(original, masked[0], tolerance) for original in originals]
