"""Boxes of boxes: every row is in one, and every query has a home."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.linking import boxes as kernel


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
