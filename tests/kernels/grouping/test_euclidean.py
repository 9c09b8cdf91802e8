"""Euclidean kernels against their twins; whole numbers make ties, which go to the lower row."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.grouping import euclidean as kernel
from shoal.kernels.grouping.euclidean import nearest_point
from shoal.methods.mdav import EuclideanSpace, mdav
from tests.reference import euclidean as twin
from tests.reference.mdav import euclidean_mdav

WHOLE = st.integers(-4, 4).map(float)
REAL = st.floats(-1e3, 1e3, allow_subnormal=False)


@st.composite
def tables(draw, least=1, most=30, values=None):
    """Rows of one to four numbers."""
    width = draw(st.integers(1, 4))
    value = draw(st.sampled_from([WHOLE, REAL])) if values is None else values
    return draw(st.lists(st.lists(value, min_size=width, max_size=width), min_size=least, max_size=most))


@st.composite
def living(draw, n_rows):
    """Which rows live; at least one does."""
    alive = draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows))
    alive[draw(st.integers(0, n_rows - 1))] = True
    return alive


@given(tables(), st.data())
def test_squared_distances_are_those_computed_pair_by_pair(X, data):
    point = data.draw(st.sampled_from(X))
    distances = np.empty(len(X))
    kernel.squared_distances(np.array(X), np.array(point), distances)
    assert distances.tolist() == [twin.squared_distance(row, point) for row in X]


@given(st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=30), st.data())
def test_nearest_sorts_by_distance_and_then_by_row(distances, data):
    alive = data.draw(living(len(distances)))
    row = data.draw(st.integers(0, len(distances) - 1))
    count = data.draw(st.integers(2, len(distances) + 1))  # k is at least 2
    found = kernel.nearest(np.array(distances), np.array(alive), row, count)
    assert found.tolist() == twin.nearest(distances, alive, row, count)


@given(st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=30), st.data())
def test_farthest_takes_the_lowest_of_equals(distances, data):
    alive = data.draw(living(len(distances)))
    assert kernel.farthest(np.array(distances), np.array(alive)) == twin.farthest(distances, alive)


def test_farthest_of_nobody_is_minus_one():
    assert kernel.farthest(np.zeros(3), np.zeros(3, dtype=bool)) == -1


@given(tables(), st.data())
def test_farthest_from_a_centre_that_moved_is_found_without_looking_at_all(X, data):
    width = len(X[0])
    old, new = (data.draw(st.lists(WHOLE, min_size=width, max_size=width)) for _ in range(2))
    alive = data.draw(living(len(X)))
    to_old = np.sqrt([twin.squared_distance(row, old) for row in X])
    order = np.argsort(-to_old, kind="stable")
    row, looked_at = kernel.farthest_from_moved(
        np.array(X), np.array(alive), order, to_old, np.array(old), np.array(new)
    )
    assert row == twin.farthest([twin.squared_distance(row, new) for row in X], alive)
    assert 1 <= looked_at <= len(X)


@given(tables(), st.data())
def test_nearest_row_is_the_lowest_of_the_nearest_points(X, data):
    width = len(X[0])
    points = data.draw(st.lists(st.lists(WHOLE, min_size=width, max_size=width), min_size=1, max_size=8))
    no_labels = np.empty((len(X), 0), np.int64), np.empty((0, 1, 1))
    found = nearest_point(np.array(X), *no_labels, np.array(points), np.empty((len(points), 0), np.int64))
    assert found.tolist() == twin.nearest_row(X, points)


@given(st.integers(2, 4), st.lists(st.integers(-9, 9), min_size=2, max_size=12))
def test_best_cut_of_sorted_values_is_the_best_of_all_cuts_into_runs_of_at_least_k(k, values):
    """Runs of any size from k up are tried by the twin: so runs of k to 2k - 1 lose nothing."""
    if len(values) < k:
        return
    rows = [[value] for value in sorted(values)]
    runs = kernel.best_cut(np.array(rows, dtype=float), k)
    sizes = np.bincount(runs)
    assert np.all(np.diff(runs) >= 0)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    cuts = [0, *np.cumsum(sizes).tolist()]
    assert abs(float(twin.cut_error(rows, cuts) - twin.least_error(rows, k))) < 1e-9


@given(st.integers(2, 3), tables(least=3, most=11, values=st.integers(-5, 5)))
def test_best_cut_of_a_sequence_of_rows_is_the_best_of_all_cuts_into_runs_of_k_to_2k_less_1(k, rows):
    runs = kernel.best_cut(np.array(rows, dtype=float), k)
    cuts = [0, *np.cumsum(np.bincount(runs)).tolist()]
    allowed = [c for c in twin.all_cuts(len(rows), k) if max(np.diff(c)) <= 2 * k - 1]
    assert abs(float(twin.cut_error(rows, cuts) - min(twin.cut_error(rows, c) for c in allowed))) < 1e-9


@given(st.integers(2, 5), tables(least=5, most=45))
def test_mdav_in_euclidean_space_is_mdav_by_brute_force(k, X):
    assert mdav(EuclideanSpace(np.array(X)), k).tolist() == euclidean_mdav(X, k)


def test_mdav_is_brute_force_also_when_the_space_compacts_many_times():
    X = np.random.default_rng(0).integers(-6, 7, size=(300, 3)).astype(float)
    assert mdav(EuclideanSpace(X), 3).tolist() == euclidean_mdav(X.tolist(), 3)
