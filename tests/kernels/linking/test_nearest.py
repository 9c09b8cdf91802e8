"""Columns on which records agree, against the same found pair by pair."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.linking import nearest as kernel
from tests.reference import nearest as twin

VALUE = st.integers(-3, 3).map(float)


@st.composite
def comparisons(draw):
    """Originals and masked records with numbers and labels, when they agree, and a weight for each pattern."""
    width, n_labels = draw(st.integers(0, 3)), draw(st.integers(0, 2))
    label = st.integers(0, 2)
    record = st.tuples(
        st.lists(VALUE, min_size=width, max_size=width), st.lists(label, min_size=n_labels, max_size=n_labels)
    )
    rows = st.lists(record, min_size=1, max_size=20)
    tolerance = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=width, max_size=width))
    agree = draw(st.lists(st.lists(st.booleans(), min_size=9, max_size=9), min_size=n_labels, max_size=n_labels))
    weights = draw(st.lists(VALUE, min_size=2 ** (width + n_labels), max_size=2 ** (width + n_labels)))
    return draw(rows), draw(rows), tolerance, np.array(agree, dtype=bool).reshape(n_labels, 3, 3), weights


@given(comparisons(), st.data())
def test_counts_weights_and_best_partners_are_those_found_pair_by_pair(compared, data):
    originals, masked, tolerance, agree, weights = compared
    sides = [
        [np.array([record[part] for record in side], dtype=kind).reshape(len(side), -1) for side in (originals, masked)]
        for part, kind in ((0, np.float64), (1, np.int64))
    ]
    (numbers, masked_numbers), (labels, masked_labels) = sides
    pairs = kernel.Pairs(
        numbers.T.copy(), masked_numbers, np.array(tolerance, dtype=np.float64), labels.T.copy(), masked_labels, agree
    )
    rule = (tolerance, agree.tolist())
    assert kernel.count_patterns(pairs).tolist() == twin.count_patterns(originals, masked, rule)
    every = kernel.weigh_pairs(pairs, np.array(weights))
    assert every.tolist() == twin.weigh_pairs(originals, masked, rule, weights)
    own = [data.draw(st.integers(0, len(originals) - 1)) for _ in masked]
    ties, own_ties = kernel.best_partners(pairs, np.array(weights), np.array(own))
    assert (ties.tolist(), own_ties.tolist()) == twin.best_partners(originals, masked, rule, weights, own)
    one = np.empty(len(originals), np.int32)
    kernel.patterns_of(pairs, 0, one)
    assert one.tolist() == [twin.pattern(original, masked[0], rule) for original in originals]
