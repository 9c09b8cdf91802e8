"""Boxes of boxes against all pairs: whole numbers make ties, copies make leaves of equal rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.linking import neighbours as kernel
from tests.reference import neighbours as twin

VALUE = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e3, 1e3, allow_subnormal=False))


@st.composite
def searches(draw):
    """A table of copies of a few rows, queries, and for each a row to start from."""
    width = draw(st.integers(1, 4))
    row = st.lists(VALUE, min_size=width, max_size=width)
    X = draw(st.lists(row, min_size=1, max_size=60)) * draw(st.integers(1, 4))
    queries = draw(st.lists(st.one_of(row, st.sampled_from(X)), min_size=1, max_size=6))
    own = [draw(st.integers(0, len(X) - 1)) for _ in queries]
    slack = draw(st.sampled_from([(0.0, 0.0), (1e-9, 1e-12), (0.5, 0.0), (0.0, 1.0)]))
    return X, queries, own, slack


def search(X, queries, own, relative, absolute):
    X, queries = np.array(X), np.array(queries)
    leaves, boxes, outer, _ = kernel.arrange(X)
    home = kernel.group_of(outer, len(boxes), queries)
    return kernel.nearest_with_ties(leaves, boxes, outer, queries, X[own], home, np.argsort(home), relative, absolute)


@settings(max_examples=150)
@given(searches())
def test_the_boxes_hide_nothing_that_all_pairs_show(search_for):
    X, queries, own, slack = search_for
    least, ties, own_ties = search(X, queries, own, *slack)
    expected = twin.nearest_with_ties(X, queries, own, *slack)
    assert (least.tolist(), ties.tolist(), own_ties.tolist()) == expected


@pytest.mark.parametrize("decimals", [0, 1, 12])
def test_a_larger_table_with_many_ties_few_and_none(decimals):
    random = np.random.default_rng(decimals)
    X = random.normal(size=(1500, 3)).round(decimals)
    queries = (X + 0.2 * random.normal(size=X.shape)).round(decimals)[:300]
    own = random.permutation(1500)[:300]
    least, ties, own_ties = search(X, queries, own, 1e-9, 1e-12)
    expected = twin.nearest_with_ties(X.tolist(), queries.tolist(), own.tolist(), 1e-9, 1e-12)
    assert (least.tolist(), ties.tolist(), own_ties.tolist()) == expected


@pytest.mark.parametrize("n_rows", [1, 31, 32, 33, 1024, 1025, 2500])
def test_every_row_is_in_one_leaf_and_inside_the_boxes_round_it(n_rows):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    leaves, boxes, outer, _ = kernel.arrange(X)
    kept = leaves.transpose(0, 2, 1).reshape(-1, 2)[:n_rows]
    assert sorted(map(tuple, kept)) == sorted(map(tuple, X))
    for leaf, rows in enumerate(leaves):
        rows = rows[:, np.isfinite(rows[0])]
        box = boxes[leaf // kernel.WIDE, :, :, leaf % kernel.WIDE]
        assert np.array_equal(box, [rows.min(axis=1), rows.max(axis=1)])
        group = leaf // kernel.WIDE
        around = outer[group // kernel.WIDE, :, :, group % kernel.WIDE]
        assert np.all(around[0] <= box[0])
        assert np.all(around[1] >= box[1])


def test_the_home_of_a_query_is_the_group_with_the_nearest_box():
    random = np.random.default_rng(0)
    X, queries = random.normal(size=(3000, 2)), random.normal(size=(50, 2))
    _, boxes, outer, _ = kernel.arrange(X)
    lows, highs = (outer[0, side, :, : len(boxes)].T for side in (0, 1))
    gaps = np.maximum(np.maximum(lows - queries[:, None], queries[:, None] - highs), 0.0)
    assert kernel.group_of(outer, len(boxes), queries).tolist() == np.argmin((gaps**2).sum(axis=2), axis=1).tolist()


def test_ties_that_come_before_a_nearer_row_are_not_lost_when_they_are_many():
    """More rows tie at first than are kept, and then one comes that is nearer by less than the slack."""
    X = [[1.0 + 1e-10]] * 100 + [[1.0]] * 3 + [[5.0]] * 50
    least, ties, _ = search(X, [[0.0]], [0], 1e-9, 0.0)
    assert (least.tolist(), ties.tolist()) == ([1.0], [103])
