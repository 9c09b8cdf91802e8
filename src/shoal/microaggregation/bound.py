"""How far from the best? A lower bound on the error of any partition into groups of at least k."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

__all__ = ["lower_bound"]

Floats = NDArray[np.float64]

ROUNDS = 300
MOST_PAIRS = 2_000_000  # pairs looked at, so that memory and time stay bounded; fewer make the bound weaker, not wrong


def lower_bound(X: Floats, k: int) -> float:
    """No partition of the rows of X into groups of at least k has a smaller SSE.

    A group G of size s has SSE(G) = Σ over its pairs of |x - y|² / s. Give each pair the weight w = k / s, so that
    SSE(G) = Σ w c with c = |x - y|² / k. As s >= k, weights are at most 1, and a row's weights sum to
    k (s - 1) / s >= k - 1. The least Σ w c over all weights from 0 to 1 that sum to at least k - 1 at every row is
    thus a lower bound, and so, by duality, is for any prices u >= 0 of the rows

        (k - 1) Σ u_i - Σ over pairs of max(0, u_i + u_j - c_ij).

    With u_i half the c of the (k-1)-th neighbour it is at least the sum of every row's k - 1 least c / 2, the trivial
    bound. Prices are raised where a row lacks weight and lowered where it has too much. Half the c of a row's last
    neighbour looked at is the most it may ask: then pairs not looked at add nothing, and the bound stays valid.
    """
    n_rows = len(X)
    if n_rows < 2:
        return 0.0
    n_near = min(n_rows - 1, 4 * k, max(MOST_PAIRS // n_rows, 1))
    distance, near = NearestNeighbors(n_neighbors=n_near, n_jobs=-1).fit(X).kneighbors()  # without the row itself
    cost = distance**2 / k
    one = np.repeat(np.arange(n_rows), n_near)
    two = near.ravel()
    # A pair that is found from both ends counts once.
    _, once = np.unique(np.minimum(one, two) * n_rows + np.maximum(one, two), return_index=True)
    one, two, pair_cost = one[once], two[once], cost.ravel()[once]

    ceiling = cost[:, -1] / 2.0 if n_near < n_rows - 1 else np.full(n_rows, np.inf)
    price = cost[:, min(k - 1, n_near) - 1] / 2.0
    scale = price.copy()
    best = 0.0
    for step in 0.5 * 0.98 ** np.arange(ROUNDS):
        surplus = price[one] + price[two] - pair_cost
        used = surplus > 0.0
        best = max(best, (k - 1) * price.sum() - surplus[used].sum())
        degree = np.bincount(one[used], minlength=n_rows) + np.bincount(two[used], minlength=n_rows)
        price = np.clip(price + step * scale * ((k - 1) - degree) / k, 0.0, ceiling)
    return float(best) * (1.0 - 1e-9)  # rounding must not make it too high
