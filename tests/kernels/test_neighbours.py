"""The tree of boxes against all pairs: whole numbers make ties, copies make leaves of equal rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels import neighbours as kernel
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
    leaves, child, boxes = kernel.grow_tree(X)
    order = np.argsort(kernel.leaf_of(child, boxes, queries))
    return kernel.nearest_with_ties(leaves, child, boxes, queries, X[own], order, relative, absolute)


@settings(max_examples=150)
@given(searches())
def test_the_tree_finds_what_all_pairs_show(search_for):
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


def test_every_row_is_in_one_leaf_and_inside_the_boxes_above_it():
    X = np.random.default_rng(0).normal(size=(333, 2))
    leaves, child, boxes = kernel.grow_tree(X)
    kept = leaves.transpose(0, 2, 1).reshape(-1, 2)
    kept = kept[np.isfinite(kept[:, 0])]
    assert sorted(map(tuple, kept)) == sorted(map(tuple, X))
    rows = leaves[-child[child < 0] - 1]
    real = np.isfinite(rows)
    assert np.all((rows >= boxes[child < 0][:, 0, :, None]) | ~real)
    assert np.all((rows <= boxes[child < 0][:, 1, :, None]) | ~real)
