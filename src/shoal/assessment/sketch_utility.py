"""What can still be estimated from sketches: cosines of pairs, and who the nearest records are."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from shoal.results.rates import Rate
from shoal.results.sketch_attacks import SketchUtility
from shoal.risk.rates import rate_of, sample_rows
from shoal.sketch import Sketches, cosine, squared_length
from shoal.sketch.estimates import dot_products

__all__ = ["sketch_utility"]

PAIRS = 20_000
SEARCHED = 300  # records whose neighbours are looked for
AMONG = 5_000  # records they are looked for among
NEAREST = 10


def sketch_utility(rows: sp.csr_matrix, sketches: Sketches, random_state: int = 0) -> SketchUtility:
    """Row i of `rows` was sketched as sketch i, or together with others; no sketch is empty."""
    unit = sp.csr_matrix(normalize(rows))
    random = np.random.default_rng(random_state)
    one, other = random.integers(0, len(sketches), (2, PAIRS))
    one, other = one[one != other], other[one != other]
    true = np.asarray(unit[one].multiply(unit[other]).sum(axis=1)).ravel()
    estimated = cosine(sketches[one], sketches[other]).value
    spread = bool(len(true)) and true.std() > 0 and estimated.std() > 0
    return SketchUtility(
        correlation=float(np.corrcoef(true, estimated)[0, 1]) if spread else None,
        error=float(np.mean(np.abs(true - estimated))) if len(true) else 0.0,
        pairs=len(true),
        neighbours=_neighbours(unit, sketches, random_state),
    )


def _neighbours(unit: sp.csr_matrix, sketches: Sketches, random_state: int) -> Rate:
    among = sample_rows(len(sketches), AMONG, random_state)
    searched = sample_rows(len(among), SEARCHED, random_state)
    count = max(min(NEAREST, len(among) - 1), 1)
    chosen = sketches[among]
    true = (unit[among[searched]] @ unit[among].T).toarray()
    scale = np.sqrt(np.maximum(squared_length(chosen).value, 1e-12))
    estimated = dot_products(chosen[searched], chosen) / scale
    before, after = _nearest(true, searched, count), _nearest(estimated, searched, count)
    kept = [len(np.intersect1d(before[row], after[row])) / count for row in range(len(searched))]
    return rate_of("nearest records kept", np.array(kept), count / max(len(among) - 1, 1))


def _nearest(products: NDArray[np.float64], own: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The rows with the largest products, ties to the lower row; a record is no neighbour of its own."""
    products = products.copy()
    products[np.arange(len(own)), own] = -np.inf
    return np.argsort(-products, axis=1, kind="stable")[:, :count]
