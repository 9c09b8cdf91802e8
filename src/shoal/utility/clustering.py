"""Clustering: does the protected space fall into the same clusters as the original?

Spherical k-means: unit rows x, clusters with unit centres c, the sum of 1 - <x, c> made as small as it gets by turns:
each row to the centre with the highest <x, c>, each centre to the direction of the sum of its rows. The best of
several starts counts; a start draws rows as centres with chance in proportion to 1 - <x, nearest centre so far>.
Partitions are compared by the adjusted Rand index: 1 the same, 0 what chance gives.

Source: Dhillon and Modha, "Concept decompositions for large sparse text data using clustering", Machine Learning 42
(2001); starts as in k-means++ (Arthur and Vassilvitskii 2007).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal import progress
from shoal.errors import InputError
from shoal.kernels import Floats, Ints
from shoal.results.utility import ClusterAgreement
from shoal.utility.spaces import Distinct, SpacePair, distinct_rows

CLUSTERS = (5, 10, 15, 20, 25)
STARTS = 10
MOST_ROUNDS = 100
ENOUGH = 1e-5  # a round that gains less than this share of the loss is the last


def pair_clusters(
    pair: SpacePair, clusters: Sequence[int] = CLUSTERS, random_state: int = 0
) -> tuple[ClusterAgreement, ...]:
    """Adjusted Rand index of the clusters of both spaces, for each number of clusters.

    Examples
    --------
    >>> from shoal.utility.clustering import pair_clusters
    >>> from shoal.utility.spaces import space_pair
    >>> before = [[1.0, 0.0], [0.9, 0.1], [0.1, 0.9], [0.0, 1.0]]
    >>> after = [[1.0, 0.1], [1.0, 0.1], [0.1, 1.0], [0.1, 1.0]]
    >>> [(found.clusters, found.ari) for found in pair_clusters(space_pair(before, after), clusters=[2])]
    [(2, 1.0)]
    """
    spaces = (pair.original, random_state), (pair.original, random_state + 1), (pair.protected, random_state)
    partitioned = []
    for done, (X, seed) in enumerate(spaces):
        progress.step("finding clusters", done, len(spaces))
        partitioned.append(partitions(X, clusters, seed))
    progress.step("finding clusters", len(spaces), len(spaces))
    before, again, after = partitioned
    return compare_partitions(before, after, again)


def compare_partitions(
    before: dict[int, Ints], after: dict[int, Ints], again: dict[int, Ints]
) -> tuple[ClusterAgreement, ...]:
    """The original's partitions against the protected's, and against its own from other starts (`again`)."""
    from sklearn.metrics import adjusted_rand_score  # only here, and it takes a while to load

    return tuple(
        ClusterAgreement(
            count,
            ari=float(adjusted_rand_score(part, after[count])),
            ceiling=float(adjusted_rand_score(part, again[count])),
        )
        for count, part in before.items()
    )


def partitions(X: sp.csr_matrix, clusters: Iterable[int] = CLUSTERS, random_state: int = 0) -> dict[int, Ints]:
    """The cluster of each unit row, for each number of clusters."""
    distinct = distinct_rows(X)  # tied rows once, with their number: the same clusters for less work
    return {count: spherical_kmeans(distinct, count, random_state)[distinct.of_row] for count in clusters}


def spherical_kmeans(distinct: Distinct, n_clusters: int, random_state: int = 0, starts: int = STARTS) -> Ints:
    """The cluster of each different row: the best of several starts. The order of the documents has no part in it."""
    n_rows = distinct.rows.shape[0]
    if not 1 <= n_clusters <= n_rows:
        raise InputError(
            f"{n_clusters} clusters need as many different rows, the space has {n_rows}; ask for 1 to {n_rows} clusters"
        )
    random = np.random.default_rng((random_state, n_clusters))
    best, least = np.zeros(n_rows, dtype=np.int64), np.inf
    for _ in range(starts):
        clusters, loss = _settle(distinct, _draw_centres(distinct, n_clusters, random))
        if loss < least - 1e-12 * n_rows:
            best, least = clusters, loss
    return best


def _draw_centres(distinct: Distinct, n_clusters: int, random: np.random.Generator) -> Floats:
    """Rows far from one another, (d, n_clusters)."""
    X, counts = distinct.rows, distinct.counts
    rows = [int(random.choice(len(counts), p=counts / counts.sum()))]
    far = np.full(len(counts), np.inf)
    while len(rows) < n_clusters:
        far = np.minimum(far, np.clip(1.0 - (X @ X[rows[-1]].T).toarray().ravel(), 0.0, None))
        far[rows] = 0.0
        chances = counts * far
        if chances.sum() <= 1e-9:  # what is left points the same way: any other row will do
            chances = np.ones(len(counts))
            chances[rows] = 0.0
        rows.append(int(random.choice(len(counts), p=chances / chances.sum())))
    return np.ascontiguousarray(X[rows].toarray().T)


def _settle(distinct: Distinct, centres: Floats) -> tuple[Ints, float]:
    """Rows to centres and centres to rows, until nothing is gained."""
    X, counts = distinct.rows, distinct.counts
    weighted = sp.csr_matrix(sp.diags_array(counts.astype(np.float64)) @ X)
    everyone = np.arange(X.shape[0])
    before = np.inf
    for _ in range(MOST_ROUNDS):
        similarity = X @ centres  # (g, clusters)
        clusters = similarity.argmax(axis=1)
        nearness = similarity[everyone, clusters]
        _fill_empty(clusters, nearness, centres.shape[1])
        loss = float(counts @ (1.0 - nearness))
        if before - loss <= ENOUGH * loss:
            break
        before = loss
        member = sp.csr_matrix((np.ones(len(everyone)), (clusters, everyone)), shape=(centres.shape[1], len(everyone)))
        sums = (member @ weighted).toarray()
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.ascontiguousarray((sums / np.where(lengths > 0.0, lengths, 1.0)).T)
    return clusters.astype(np.int64), loss


def _fill_empty(clusters: NDArray[Any], nearness: Floats, n_clusters: int) -> None:
    """A cluster that lost its rows takes the row that is worst served, from a cluster that has others."""
    sizes = np.bincount(clusters, minlength=n_clusters)
    for empty in np.flatnonzero(sizes == 0):
        worst = int(np.argmin(np.where(sizes[clusters] > 1, nearness, np.inf)))
        sizes[clusters[worst]] -= 1
        sizes[empty] = 1
        clusters[worst] = empty
        nearness[worst] = 1.0
