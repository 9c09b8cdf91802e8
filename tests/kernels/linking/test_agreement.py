"""Agreement kernels against their twins."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.linking import agreement as kernel
from tests.reference import agreement as twin

VALUE = st.integers(-3, 3).map(float)


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
