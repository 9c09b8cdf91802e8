"""Distance-based linkage: by hand, against all pairs, and what must hold for any release."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import InputError, Microaggregation, Noise
from shoal.attacks.distance import RELATIVE, DistanceLinkage, linked_by_equality, standard, whitening
from tests.reference.nearest import tied_rows

ORIGINAL = [["clerk", "Spain"], ["clerk", "Spain"], ["guard", "Japan"], ["clerk", None]]
VALUE = st.integers(-4, 4).map(float)


@st.composite
def releases(draw):
    """A table of few different values, so with many ties, and a disturbed version of it."""
    width = draw(st.integers(1, 3))
    row = st.lists(VALUE, min_size=width, max_size=width)
    original = draw(st.lists(row, min_size=2, max_size=40))
    protected = [[value + draw(st.sampled_from([-1.0, 0.0, 0.5])) for value in one] for one in original]
    return np.array(original), np.array(protected)


def by_all_pairs(original: np.ndarray, protected: np.ndarray, scale) -> list[float]:
    """1 / |ties| for each masked record that has its own original among the nearest; equal records share."""
    X, Y = scale(original).tolist(), scale(protected).tolist()
    chances = []
    for row, query in enumerate(Y):
        near = tied_rows(X, query, RELATIVE, scale.rounding)[1]
        chances.append(1 / len(near) if row in near else 0.0)
    same = [[other for other, y in enumerate(protected.tolist()) if y == one] for one in protected.tolist()]
    return [sum(chances[other] for other in rows) / len(rows) for rows in same]


@given(releases())
def test_euclidean_linkage_is_what_all_pairs_show(release):
    found = DistanceLinkage().run(*release)
    assert found.chances == pytest.approx(by_all_pairs(*release, standard(*release)), abs=1e-15)


@given(releases())
def test_mahalanobis_linkage_is_what_all_pairs_show(release):
    found = DistanceLinkage("mahalanobis").run(*release)
    assert found.chances == pytest.approx(by_all_pairs(*release, whitening(*release)), abs=1e-15)


def test_four_rows_by_hand():
    # 1.4 is nearest to 1; 2.2 to 2; 5.4 is between 2 and 8 and nearer to 8; 8.5 is as far from 8 as from 9.
    rate = DistanceLinkage().run([[1.0], [2.0], [8.0], [9.0]], [[1.4], [2.2], [5.4], [8.5]])
    assert rate.chances.tolist() == [1.0, 1.0, 1.0, 0.5]
    assert (rate.rate, rate.baseline, rate.n, rate.control) == (0.875, 0.25, 4, None)
    assert 0 < rate.low < 0.875 < rate.high <= 1


def test_mahalanobis_sees_what_euclid_does_not():
    # Two attributes that rise together; the third record leaves the line, and is the odd one by Mahalanobis only.
    original = np.array([[0, 0], [1, 1], [2, 1], [3, 3], [4, 4]], dtype=float)
    protected = original.copy()
    protected[2] = [3.1, 2.2]
    assert DistanceLinkage().run(original, protected).chances[2] == 0
    assert DistanceLinkage("mahalanobis").run(original, protected).chances[2] == 1


@given(st.lists(st.lists(VALUE, min_size=2, max_size=2), min_size=2, max_size=30, unique_by=tuple))
def test_an_unmasked_table_of_different_rows_is_found_whole(rows):
    for metric in ("euclidean", "mahalanobis"):
        assert DistanceLinkage(metric).run(rows, rows).rate == 1


@given(st.lists(st.lists(VALUE, min_size=2, max_size=2), min_size=2, max_size=30), VALUE)
def test_a_release_whose_rows_are_all_equal_gives_one_in_n(rows, value):
    for metric in ("euclidean", "mahalanobis"):
        rate = DistanceLinkage(metric).run(rows, [[value, value]] * len(rows))
        assert rate.rate == pytest.approx(1 / len(rows))
        assert rate.chances == pytest.approx(np.full(len(rows), 1 / len(rows)))


@given(releases(), st.randoms(use_true_random=False))
def test_rearranged_rows_give_rearranged_chances(release, random):
    original, protected = release
    order = np.array(random.sample(range(len(original)), len(original)))
    one, two = DistanceLinkage().run(original, protected), DistanceLinkage().run(original[order], protected[order])
    assert two.chances == pytest.approx(one.chances[order], abs=1e-15)


@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), min_size=6, max_size=40, unique_by=tuple))
def test_the_mean_of_two_records_is_as_near_to_one_as_to_the_other(rows):
    """Pairs become their mean, which rounding puts a little nearer to one of the two: still a tie, one half each."""
    original = np.array(rows[: len(rows) // 2 * 2])
    protected = np.repeat((original[0::2] + original[1::2]) / 2, 2, axis=0)
    chances = DistanceLinkage().run(original, protected).chances
    assert np.array_equal(chances[0::2], chances[1::2])
    assert np.all((chances == 0.5) | (chances < 0.5))


def test_k_anonymous_rows_are_found_with_a_chance_of_at_most_one_in_k():
    X = np.random.default_rng(0).normal(size=(300, 4))
    for k in (2, 3, 7):
        chances = DistanceLinkage().run(X, Microaggregation(k, refine=False).fit_transform(X)).chances
        assert chances.max() <= 1 / k + 1e-12


def test_the_number_of_threads_does_not_matter():
    X = np.random.default_rng(0).normal(size=(2000, 5)).round(1)
    Y = Noise(30, random_state=0).fit_transform(X).round(1)
    before = numba.get_num_threads()
    many = DistanceLinkage().run(X, Y).chances
    numba.set_num_threads(1)
    try:
        one = DistanceLinkage().run(X, Y).chances
    finally:
        numba.set_num_threads(before)
    assert one.tobytes() == many.tobytes()


def test_units_and_constant_columns_do_not_matter():
    X = np.random.default_rng(0).normal(size=(200, 3))
    Y = Noise(40, random_state=0).fit_transform(X)
    plain = DistanceLinkage().run(X, Y).rate
    units = np.array([1e-6, 1.0, 1e9])
    assert DistanceLinkage().run(X * units, Y * units).rate == plain
    constant = np.full((200, 1), 1e9)
    assert DistanceLinkage().run(np.hstack([X, constant]), np.hstack([Y, constant + 5])).rate == plain


def test_columns_that_follow_from_others_are_no_obstacle_to_mahalanobis():
    X = np.random.default_rng(0).normal(size=(200, 2))
    X = np.column_stack([X, X.sum(axis=1)])
    Y = Noise(10, correlated=True, random_state=0).fit_transform(X)
    assert DistanceLinkage("mahalanobis").run(X, Y).rate == DistanceLinkage("mahalanobis").run(X[:, :2], Y[:, :2]).rate


def test_an_unknown_metric_is_refused():
    with pytest.raises(InputError, match="metric='cosine' is not known; use one of: euclidean, mahalanobis"):
        DistanceLinkage("cosine").run([[1.0], [2.0]], [[1.0], [2.0]])


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
