"""Clusters: hand-made ones are found, ties cost nothing, and no order of rows has a say."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans

from shoal import InputError
from shoal.utility.clustering import compare_partitions, pair_clusters, partitions, spherical_kmeans
from shoal.utility.spaces import Distinct, distinct_rows, space_pair, unit_rows


def bundles(seed: int, n: int = 60, d: int = 12) -> np.ndarray:
    """Rows round four directions."""
    random = np.random.default_rng(seed)
    centres = np.eye(d)[:4]
    return np.abs(centres[np.arange(n) % 4] + 0.15 * random.random((n, d)))


def loss_of(X: sp.csr_matrix, clusters: np.ndarray) -> float:
    """Σ 1 - <x, c>: rows less the lengths of the clusters' sums."""
    sums = [np.asarray(X[clusters == one].sum(axis=0)).ravel() for one in np.unique(clusters)]
    return X.shape[0] - sum(np.linalg.norm(total) for total in sums)


def test_four_bundles_are_four_clusters():
    found = partitions(unit_rows(bundles(0), "original"), [4])[4]
    assert all(len(set(found[bundle::4])) == 1 for bundle in range(4))
    assert len(set(found)) == 4


def test_partitions_are_compared_by_hand():
    before = {2: np.array([0, 0, 1, 1])}
    after = {2: np.array([0, 1, 1, 1])}
    (found,) = compare_partitions(before, after, again={2: np.array([1, 1, 0, 0])})
    # Of 6 pairs the original joins 2, the protected 3, both 1; chance joins 2·3/6 = 1: (1 - 1) / (2.5 - 1).
    assert (found.clusters, found.ari, found.ceiling) == (2, pytest.approx(0), 1)


def test_the_same_space_has_the_same_clusters():
    X = np.random.default_rng(0).random((40, 6))
    assert [found.ari for found in pair_clusters(space_pair(X, X), clusters=[2, 5])] == [1, 1]


def test_the_order_of_rows_changes_nothing():
    random = np.random.default_rng(2)
    X = random.random((40, 6))
    Y = np.repeat(X[::4], 4, axis=0)
    shuffled = random.permutation(40)
    assert pair_clusters(space_pair(X, Y), [3, 5]) == pair_clusters(space_pair(X[shuffled], Y[shuffled]), [3, 5])


def test_tied_rows_count_as_often_as_they_are_there():
    # Alone, either of two rows could join the one in the middle. Five times there, the first holds its own.
    X = unit_rows([[1.0, 0.0], [0.7, 0.7], [0.0, 1.0]], "original")
    first = spherical_kmeans(Distinct(X, np.arange(3), np.array([5, 1, 1])), 2)
    last = spherical_kmeans(Distinct(X, np.arange(3), np.array([1, 1, 5])), 2)
    assert first[1] == first[2] != first[0]
    assert last[1] == last[0] != last[2]


@pytest.mark.parametrize("n_clusters", [2, 4])
def test_the_loss_is_hardly_above_what_a_peer_finds(n_clusters: int):
    ours, peers = 0.0, 0.0
    for seed in range(5):
        X = unit_rows(np.random.default_rng(seed).random((25, 5)), "original")
        ours += loss_of(X, partitions(X, [n_clusters])[n_clusters])
        # Its centres are not on the sphere: for unit rows nearly the same.
        peers += loss_of(X, KMeans(n_clusters, n_init=10, random_state=0).fit(X).labels_)
    assert ours <= 1.03 * peers


def test_as_many_clusters_as_rows_are_one_for_each():
    X = unit_rows([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0]], "original")
    assert len(set(partitions(X, [3])[3])) == 3
    assert partitions(X, [1])[1].tolist() == [0, 0, 0, 0]


def test_rows_that_point_almost_the_same_way_are_clustered_too():
    X = unit_rows(np.ones((6, 3)) + 1e-13 * np.arange(18).reshape(6, 3) ** 2, "original")
    n = distinct_rows(X).rows.shape[0]
    assert n > 2
    assert len(set(partitions(X, [n])[n])) == n


def test_more_clusters_than_different_rows_are_refused():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    with pytest.raises(InputError, match="3 clusters need as many different rows, the space has 2"):
        pair_clusters(space_pair(X, X), clusters=[3])
