"""Scores worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from shoal.attacks.unmixing.attack import Guesses, Published
from shoal.attacks.unmixing.scoring import exact_hits, near_hits, score
from shoal.errors import InputError


def rows(*counts: list[int]) -> sp.csr_matrix:
    return sp.csr_matrix(np.array(counts, dtype=float))


def test_a_guess_counts_for_one_of_two_equal_members():
    assert exact_hits(rows([1, 2]), rows([1, 2], [1, 2])).tolist() == [1, 0]
    assert near_hits(rows([1, 2]), rows([1, 1], [3, 1])).sum() == 1


def test_the_same_terms_with_other_counts_are_nearly_but_not_exactly_it():
    assert exact_hits(rows([1, 2]), rows([1, 1])).tolist() == [0]
    assert near_hits(rows([1, 2]), rows([1, 1])).tolist() == [1]


def test_nine_of_ten_terms_are_nearly_all_and_eight_of_nine_are_not():
    assert near_hits(rows([1] * 9 + [0]), rows([1] * 10)).tolist() == [1]
    assert near_hits(rows([1] * 8 + [0]), rows([1] * 9)).tolist() == [0]


def test_guesses_are_matched_so_that_most_members_are_hit():
    # The first guess is near both members, the second near the first only: nine of ten terms in common.
    guesses = rows([1] * 10 + [0], [1] * 9 + [0, 0])
    members = rows([1] * 10 + [0], [1] * 11)
    assert near_hits(guesses, members).tolist() == [1, 1]


def test_rates_baseline_and_control_of_two_groups():
    # Two groups of two: the first is guessed in part, the second is two copies of its row.
    published = Published(rows([4, 1, 1, 1, 0], [0, 0, 1, 1, 2]), np.array([2, 2]), 8, 1)
    members = rows([1, 1, 0, 0, 0], [1, 0, 1, 1, 0], [0, 0, 1, 1, 1], [0, 0, 1, 1, 1])
    guesses = Guesses(rows([1, 1, 0, 0, 0], [2, 0, 1, 1, 0]), np.array([0, 0]), np.array([0, 1]))
    result = score(guesses, published, members, np.array([0, 0, 1, 1]))
    assert (result.exact.rate, result.nearly.rate) == (0.5, 0.5)
    assert result.nearly.baseline == 0.5  # the second group's row as it is
    assert (result.exact.control, result.nearly.control) == (0.0, 0.0)
    assert (result.tried, result.groups) == (2, 2)


def test_members_of_another_width_are_refused():
    published = Published(rows([1, 1]), np.array([2]), 4, 1)
    guesses = Guesses(rows([1, 1]), np.array([0]), np.array([0]))
    with pytest.raises(InputError, match="in the columns of the published rows"):
        score(guesses, published, rows([1], [1]), np.array([0, 0]))


def test_what_cannot_be_a_release_is_refused():
    with pytest.raises(InputError, match="size of its group"):
        Published(rows([1, 1]), np.array([2, 2]), 4, 1)
    with pytest.raises(InputError, match="n_documents=1 is less than the 2"):
        Published(rows([1, 1]), np.array([2]), 1, 1)
    with pytest.raises(InputError, match="negative or no number"):
        Published(rows([-1, 1]), np.array([2]), 2, 1)
