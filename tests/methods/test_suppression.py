"""Blanks: every record has its crowd, under either reading, and few cells are blank."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.methods.suppression import ANY, VALUE, key_counts, suppress
from tests.reference import common_values as twin


def shown(codes, blanks):
    return [
        [None if blank else cell for cell, blank in zip(row, marks, strict=True)]
        for row, marks in zip(codes.tolist(), blanks.tolist(), strict=True)
    ]


@st.composite
def tables(draw, most=20, columns=3):
    rows = draw(st.lists(st.tuples(*[st.integers(0, 2)] * columns), min_size=3, max_size=most))
    return np.array(rows, dtype=np.int64)


@given(tables(), st.sampled_from([VALUE, ANY]), st.integers(2, 3))
def test_every_record_has_a_crowd_of_k(codes, reading, k):
    blanks = suppress(codes, k, np.array([1.0, 2.0, 3.0]), reading)
    rows = shown(codes, blanks)
    crowds = [twin.crowd(rows, row, reading == ANY) for row in range(len(rows))]
    assert min(crowds) >= k
    assert key_counts(codes, blanks, reading).tolist() == crowds


@settings(max_examples=15)
@given(tables(most=5, columns=2), st.sampled_from([VALUE, ANY]))
def test_blanks_are_near_the_fewest_possible(codes, reading):
    importance = np.array([1.0, 2.0])
    least = twin.fewest_blanks(codes.tolist(), 2, importance, reading == ANY)
    found = float(suppress(codes, 2, importance, reading).sum(axis=0) @ importance)
    assert least <= found <= 2 * least


def test_a_blank_that_may_be_any_value_serves_two_records():
    codes = np.array([[0, 0], [0, 1]])
    assert suppress(codes, 2, np.ones(2), ANY).sum() == 1  # one blank agrees with the other's value
    assert suppress(codes, 2, np.ones(2), VALUE).sum() == 2  # both must show the same


def test_the_less_important_column_is_blanked():
    codes = np.array([[0, 0], [0, 0], [1, 0], [0, 1], [1, 1], [1, 1]])
    blanks = suppress(codes, 2, np.array([5.0, 1.0]), ANY)
    assert blanks[:, 0].sum() == 0 and blanks[:, 1].sum() > 0


def test_records_with_company_stay_as_they_are():
    codes = np.repeat([[0, 0], [1, 1], [1, 2]], [9, 9, 1], axis=0)
    blanks = suppress(codes, 3, np.ones(2), ANY)
    assert blanks.sum() == 1 and blanks[18].tolist() == [False, True]


def test_an_unknown_reading_is_refused():
    with pytest.raises(InputError, match="reading='none' must be 'value' or 'any'"):
        suppress(np.zeros((4, 1), dtype=np.int64), 2, np.ones(1), "none")
