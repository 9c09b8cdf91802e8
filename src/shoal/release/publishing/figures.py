"""Figures over all records as they are published: the loss, and a histogram of distances before and after."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.preprocessing import normalize

from shoal.methods.sketches import Sketches
from shoal.methods.sketches.sketches import dot_products
from shoal.results.summary import Distances, StatedLoss
from shoal.results.utility import Loss
from shoal.utility.vector_space import order_kept

FEW = 30  # of fewer records that moved, figures about the originals tell each of them
FEW_RECORDS = f"of fewer than {FEW} records, figures about the originals tell each of them"
SAMPLE = 2_000  # records whose pairs are looked at: two million pairs
MOST_IN_MEANING = 400  # documents whose pairs are looked at: each takes its time
BINS = 10
NOT_PUBLISHED = Distances(edges=(0.0, 1.0), before=(0.0,), after=(0.0,), pairs=0, sampled=False)


def cosine_distances(before: sp.csr_matrix, after: sp.csr_matrix, n_rows: int) -> Distances:
    """Histogram of 1 - <a, b> in tenths; the rows given are a sample of `n_rows`, or all of them."""

    def measure(X: sp.csr_matrix) -> NDArray[np.float64]:
        products = (X @ X.T).toarray()
        distances: NDArray[np.float64] = np.clip(1.0 - products[np.triu_indices(X.shape[0], 1)], 0.0, 1.0)
        return distances

    return _histogram(measure(before), measure(after), np.linspace(0.0, 1.0, BINS + 1), n_rows)


def estimated_distances(before: sp.csr_matrix, after: Sketches, n_rows: int) -> Distances:
    """Histogram of 1 - the cosine in tenths, before of the rows and after by estimates; `n_rows` as above."""
    pairs = np.triu_indices(len(after), 1)
    unit = normalize(before)
    products = dot_products(after, after)
    lengths = np.sqrt(np.maximum(np.diag(products), np.finfo(np.float64).tiny))
    cosines = (products / lengths / lengths[:, None])[pairs]
    measured = np.clip(1.0 - (unit @ unit.T).toarray()[pairs], 0.0, 1.0)
    return _histogram(measured, np.maximum(1.0 - cosines, 0.0), np.linspace(0.0, 1.0, BINS + 1), n_rows)


def euclidean_distances(
    before: NDArray[np.float64], after: NDArray[np.float64], n_rows: int | None = None
) -> Distances:
    """Histogram of the distances of standardised rows; the last bin holds all that are farther. `n_rows` as above."""
    n_rows = len(before) if n_rows is None else n_rows
    rows = spread_out(len(before), SAMPLE)
    return _up_to_most(pdist(before[rows]), pdist(after[rows]), n_rows, SAMPLE)


def distances_in_meaning(before: NDArray[np.float64], after: NDArray[np.float64], n_rows: int) -> Distances:
    """Histogram of distances already measured; the last bin holds all that are farther."""
    return _up_to_most(before, after, n_rows, MOST_IN_MEANING)


def _up_to_most(measured: NDArray[np.float64], after: NDArray[np.float64], n_rows: int, sample: int) -> Distances:
    # A rounded quantile, not the maximum: that would tell how far the most unusual record is out.
    top = float(f"{max(np.quantile(measured, 0.95), 1e-6):.1g}") if len(measured) else 1.0
    return _histogram(measured, after, np.linspace(0.0, top, BINS + 1), n_rows, sample)


def spread_out(n_rows: int, most: int) -> NDArray[np.int64]:
    """Evenly spread rows: no seed, the same sample each time."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.int64))


def _histogram(before: Any, after: Any, edges: NDArray[np.float64], n_rows: int, sample: int = SAMPLE) -> Distances:
    def shares(distances: NDArray[np.float64]) -> tuple[float, ...]:
        counts = np.histogram(np.minimum(distances, edges[-1]), bins=edges)[0]
        return tuple((counts / max(len(distances), 1)).round(6).tolist())

    return Distances(
        edges=tuple(edges.round(9).tolist()),
        before=shares(before),
        after=shares(after),
        pairs=len(before),
        sampled=n_rows > sample,
        order_kept=order_kept(before, after),
    )


def stated_loss(loss: Loss, publishable: bool, reason: str | None = FEW_RECORDS, digits: int = 6) -> StatedLoss:
    """The loss as it is published: as measured, in so many digits; else the tenths it lies between, and why no more."""
    if publishable:
        sse, ssa = (float(f"{part:.{digits}g}") for part in (loss.sse, loss.ssa))
        share = Loss(sse, ssa).information_loss
        return StatedLoss(share, share, sse, ssa)
    if loss.sse <= 0.0:
        return StatedLoss(0.0, 0.0)  # nothing at all
    high = min(max(math.ceil(10.0 * loss.information_loss - 1e-9), 1), 10)  # rounding may cost more than there was
    return StatedLoss((high - 1) / 10.0, high / 10.0, reason=reason)
