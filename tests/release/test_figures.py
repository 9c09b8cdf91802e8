"""Distances before and after: figures that say how useful they still are."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.release.figures import euclidean_distances


def test_rows_that_did_not_move_keep_the_order_of_all_pairs() -> None:
    rows = np.random.default_rng(1).normal(size=(60, 3))
    assert euclidean_distances(rows, rows, 60).order_kept == 1.0


def test_rows_that_are_drawn_anew_keep_the_order_by_chance_only() -> None:
    random = np.random.default_rng(1)
    before, after = random.normal(size=(2, 300, 3))
    assert euclidean_distances(before, after, 300).order_kept == pytest.approx(0.5, abs=0.05)


def test_rows_that_became_one_tie_and_count_half() -> None:
    rows = np.random.default_rng(1).normal(size=(60, 3))
    assert euclidean_distances(rows, np.zeros_like(rows), 60).order_kept == 0.5
