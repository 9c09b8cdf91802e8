"""What a protected vector space is still good for: everything that a pair of matrices shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal import progress
from shoal.kernels import Floats
from shoal.results.utility import Loss, SpaceProfile, SpaceUtility
from shoal.utility.classification import pair_classification
from shoal.utility.clustering import CLUSTERS, pair_clusters
from shoal.utility.queries import LENGTHS, pair_queries
from shoal.utility.spaces import SpacePair, class_of_rows, distinct_rows, space_pair

MOST_ROWS = 20_000  # of more, distances are taken of a random sample of this size
ORDERED_ROWS = 1_000  # likewise, whose pairs are put in order
TENTHS = 10
BLOCK = 1_000


def order_kept(before: NDArray[np.float64], after: NDArray[np.float64]) -> float | None:
    """Each pair is compared with one far from it in the list: how often the nearer is the nearer in both; ties half.

    None when all pairs were equally far apart. 0.5 is what chance gives.

    >>> order_kept(np.array([0.1, 0.5, 0.9]), np.array([0.2, 0.2, 0.8]))  # of three comparisons, one ties
    0.833
    """
    step = len(before) // 3 + 1
    nearer = [np.sign(np.round(distances - np.roll(distances, step), 9)) for distances in (before, after)]
    decided = nearer[0] != 0
    if not decided.any():
        return None
    return round(float(np.mean((1.0 + nearer[0] * nearer[1])[decided]) / 2), 3)


def space_utility(
    original: Any, protected: Any, labels: Sequence[Any] | None = None, random_state: int = 0
) -> SpaceUtility:
    """Compare two vector spaces, row i of one being what became of row i of the other, columns being the same terms.

    Parameters
    ----------
    labels : the class of each row, for classifiers and as one more number of clusters.
    random_state : int
        Seeds random queries, folds, clusters and the sample of pairs. A seed gives the same figures, in whatever order
        the rows are.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.utility.vector_space import space_utility
    >>> before = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.0, 1.0]])
    >>> after = before[[0, 0, 3, 3]]
    >>> utility = space_utility(before, after)
    >>> round(utility.loss.sse, 6), utility.protected.terms_per_document
    (0.4, 1.0)
    """
    pair = space_pair(original, protected)
    n_rows, n_terms = pair.original.shape
    different = min(distinct_rows(X).rows.shape[0] for X in (pair.original, pair.protected))
    occurring = len(np.unique(pair.original.indices))
    counts = set(CLUSTERS)
    if labels is not None:
        counts.add(len(class_of_rows(labels, n_rows)[1]))
    with progress.stage("comparing distances"):
        rows = _sample(n_rows, MOST_ROWS, random_state)
        before, after = (_profile(X, rows) for X in (pair.original, pair.protected))
        order = _order_kept(pair, random_state)
    # A small space has fewer terms than the longest query, or fewer different rows than the most clusters.
    with progress.stage("asking queries"):
        queries = pair_queries(pair, [n for n in LENGTHS if n <= occurring], random_state=random_state)
    return SpaceUtility(
        documents=n_rows,
        terms=n_terms,
        loss=space_loss(pair),
        original=before,
        protected=after,
        pairs=len(rows) * (len(rows) - 1) // 2,
        sampled=len(rows) < n_rows,
        order_kept=order,
        queries=queries,
        classifiers=() if labels is None else pair_classification(pair, labels, random_state),
        clusters=pair_clusters(pair, sorted(count for count in counts if count <= different), random_state),
    )


def space_loss(pair: SpacePair) -> Loss:
    """SSE, SSA and with them IL of any protected version of a space."""
    n_rows = pair.original.shape[0]
    total = np.asarray(pair.original.sum(axis=0)).ravel()
    length = float(np.linalg.norm(total))
    centre = total / length if length > 0 else total
    sse = n_rows - float(pair.original.multiply(pair.protected).sum())
    ssa = n_rows - float((pair.protected @ centre).sum())
    # Below a rounding error of the sum there is no loss.
    return Loss(*(value if value > 1e-12 * n_rows else 0.0 for value in (sse, ssa)))


def _profile(X: sp.csr_matrix, rows: NDArray[np.int64]) -> SpaceProfile:
    return SpaceProfile(
        terms_per_document=X.nnz / X.shape[0],
        mean_weight=float(X.data.mean()),
        distances=tuple(distance_shares(X[rows]).tolist()),
    )


def _order_kept(pair: SpacePair, random_state: int) -> float | None:
    # In the order of what they hold: the order of the documents has no part in it.
    by_content = np.lexsort([distinct_rows(X).of_row for X in (pair.protected, pair.original)])
    rows = by_content[_sample(len(by_content), ORDERED_ROWS, random_state)]
    pairs = np.triu_indices(len(rows), 1)
    before, after = (1.0 - (X[rows] @ X[rows].T).toarray()[pairs] for X in (pair.original, pair.protected))
    return order_kept(before, after)


def _sample(n_rows: int, most: int, random_state: int) -> NDArray[np.int64]:
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(random_state).choice(n_rows, size=most, replace=False))


def distance_shares(X: sp.csr_matrix) -> Floats:
    """Of all pairs of unit rows the share at each tenth of the distance; the last tenth has all from 0.9 on."""
    distinct = distinct_rows(X)
    counts = distinct.counts.astype(np.float64)
    n_rows = counts.sum()
    columns = sp.csr_matrix(distinct.rows.T)
    pairs = np.zeros(TENTHS)  # ordered, each row with itself too
    for start in range(0, len(counts), BLOCK):
        similarity = (distinct.rows[start : start + BLOCK] @ columns).tocoo()
        tenths = np.floor(TENTHS * (1.0 - similarity.data) + 1e-9).clip(0, TENTHS - 1).astype(np.int64)
        weights = counts[start + similarity.row] * counts[similarity.col]
        pairs += np.bincount(tenths, weights=weights, minlength=TENTHS)
    pairs[-1] += n_rows**2 - pairs.sum()  # rows without a common term are not in the product
    pairs[0] -= n_rows
    return np.asarray(pairs / (n_rows * (n_rows - 1)))
