"""PRAM: the published matrix keeps frequencies, and labels are drawn by it."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.errors import InputError
from shoal.methods.randomised_labels import invariant_matrix, randomise_labels


def test_the_matrix_keeps_the_frequencies():
    matrix = invariant_matrix(np.array([6, 3, 1]), 0.5)
    assert matrix[0].tolist() == pytest.approx([0.8, 0.15, 0.05])
    assert np.array([6, 3, 1]) @ matrix == pytest.approx([6, 3, 1])


def test_labels_are_drawn_by_the_matrix():
    codes = np.repeat([0, 1, 2], [6000, 3000, 1000])
    drawn, matrix = randomise_labels(codes, 0.5, np.random.default_rng(0))
    shares = np.bincount(drawn[codes == 1], minlength=3) / 3000
    assert np.abs(shares - matrix[1]).max() < 0.03
    assert np.abs(np.bincount(drawn) - [6000, 3000, 1000]).max() < 200


def test_no_change_changes_nothing():
    codes = np.array([0, 1, 1, 2])
    assert randomise_labels(codes, 0.0, np.random.default_rng(0)).codes.tolist() == codes.tolist()
    with pytest.raises(InputError, match="share from 0 to 1"):
        invariant_matrix(np.array([1, 1]), 1.5)
