"""Linkage by equality, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from shoal import InputError
from shoal.risk.equality import linked_by_equality, score

ORIGINAL = [["clerk", "Spain"], ["clerk", "Spain"], ["guard", "Japan"], ["clerk", None]]


def test_a_record_that_was_not_changed_is_linked_with_one_over_its_equals():
    """1/2 and 1/2 for the two clerks from Spain, 1 for the guard and for the clerk from nowhere."""
    assert linked_by_equality(ORIGINAL, ORIGINAL) == (0.5 + 0.5 + 1 + 1) / 4


def test_a_record_that_became_another_is_never_linked():
    protected = [["clerk", "Spain"], ["clerk", "Spain"], ["clerk", "Spain"], ["worker", None]]
    assert linked_by_equality(ORIGINAL, protected) == (0.5 + 0.5 + 0 + 0) / 4


def test_values_are_compared_as_text_and_missing_ones_are_equal():
    assert linked_by_equality([[1, np.nan]], [["1", None]]) == 1.0
    assert linked_by_equality([["None"]], [[None]]) == 0.0


def test_tables_that_do_not_belong_together_are_refused():
    with pytest.raises(InputError, match="4 rows of 2 columns, and 3 of 2"):
        linked_by_equality(ORIGINAL, ORIGINAL[:3])
    with pytest.raises(InputError, match="at least 1 row"):
        linked_by_equality([], [])


def test_the_score_is_the_weighted_mean():
    assert score(20.0, 4.0) == 12.0
    assert score(20.0, 4.0, weight=0.75) == 16.0
