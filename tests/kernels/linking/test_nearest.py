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
