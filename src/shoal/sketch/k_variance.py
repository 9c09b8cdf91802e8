"""K-variance sketches: similarities to the k nearest neighbours are estimated too coarsely to tell them apart.

Source: Aggarwal and Yu, "On privacy-preservation of text and sparse binary data with sketches" (2007), with the exact
variance of a dot product in place of the printed one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.preprocessing import normalize

from shoal.errors import InputError
from shoal.kernels.grouping.spherical import invert
from shoal.kernels.sketching import neighbours as kernel
from shoal.kernels.sketching.components import raise_components
from shoal.sketch.key import SketchKey, key_of
from shoal.sketch.records import check_components, named_rows
from shoal.sketch.sketches import Sketches, sketch_rows

__all__ = ["KVarianceSketch"]

Ints = NDArray[np.int64]
BLOCKS = 64  # of rows that one core goes through at a time; the result is the same for any number of cores
IN_ONE_PIECE = 100_000  # records whose neighbours are searched for among all


class KVarianceSketch(BaseEstimator):  # type: ignore[misc]
    """Sketch each record so that the estimated product with each of its k nearest neighbours is uncertain.

    The standard deviation of that estimate is at least the difference between the product and its largest possible
    value. A record that no component satisfies is withheld. **No crowd is promised.**

    Parameters
    ----------
    k : int, at least 1
        Neighbours, by cosine.
    max_components : int
        Most components of a sketch.
    blocks : int, False or None
        Neighbours are searched for in blocks of near records, of at most so many. None: among all up to 100,000
        records, in blocks of 20,000 beyond. With blocks, neighbours may be missed; components are then so few that the
        pairs missed hold as well.
    terms, key, random_state : see DeltaSketch

    Attributes
    ----------
    key_ : SketchKey
    sketches_ : Sketches
    neighbours_ : (n, k) array of rows; -1 for a record without items.

    Examples
    --------
    >>> from shoal.sketch import KVarianceSketch
    >>> baskets = [["bread", "milk"], ["bread", "milk", "tea"], ["tea", "rice"], ["rice", "salt"]]
    >>> KVarianceSketch(k=1, max_components=8, random_state=0).fit_transform(baskets).lengths.tolist()
    [8, 8, 2, 8]
    """

    def __init__(
        self,
        k: int = 5,
        *,
        max_components: int = 64,
        blocks: int | bool | None = None,
        terms: Sequence[str] | None = None,
        key: SketchKey | None = None,
        random_state: int | None = None,
    ) -> None:
        self.k = k
        self.max_components = max_components
        self.blocks = blocks
        self.terms = terms
        self.key = key
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> KVarianceSketch:
        """Find the neighbours, settle how long each sketch may be, and sketch the rows."""
        most = check_components("max_components", self.max_components)
        rows = named_rows(self, X, self.terms)
        filled = np.flatnonzero(np.diff(rows.X.indptr))
        self._check(len(filled))
        self.key_ = key_of(self.key, self.random_state)
        unit = normalize(rows.X[filled])
        nearest, lengths = components_in_one_piece(unit, int(self.k), most)
        self.neighbours_ = np.full((rows.X.shape[0], int(self.k)), -1)
        self.neighbours_[filled] = filled[nearest]
        all_lengths = np.zeros(rows.X.shape[0], dtype=np.int64)
        all_lengths[filled] = lengths
        self.sketches_ = sketch_rows(rows.X, rows.terms, self.key_, all_lengths)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Sketches:
        """Fit, and return the sketches."""
        return self.fit(X).sketches_

    def _check(self, n_rows: int) -> None:
        k = self.k
        if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
            raise InputError(f"k={k!r} must be a whole number of at least 1")
        if n_rows <= k:
            raise InputError(f"k={k} needs at least {k + 1} records with items, got {n_rows}; lower k or add records")


def nearest_rows(unit: sp.csr_matrix, k: int) -> tuple[Ints, NDArray[np.float64]]:
    """The k nearest other rows of each, and their cosines, both (n, k)."""
    lists = invert(unit.indptr, unit.indices, unit.data, unit.shape[1])
    nearest, cosines = kernel.nearest_rows(unit.indptr, unit.indices, unit.data, *lists, k, BLOCKS)
    return nearest, cosines


def components_in_one_piece(unit: sp.csr_matrix, k: int, most: int) -> tuple[Ints, Ints]:
    """Neighbours among all rows, and the components that all pairs together allow each row."""
    nearest, cosines = nearest_rows(unit, k)
    limits = kernel.pair_limits(unit.indptr, unit.indices, unit.data, nearest, cosines, most)
    order = np.lexsort((np.arange(len(nearest)), cosines[:, -1]))  # the farthest from their neighbours first
    return nearest, raise_components(order, *_pairs_of_both(nearest, limits), most)


def _pairs_of_both(nearest: Ints, limits: Ints) -> tuple[Ints, Ints, Ints]:
    """Every pair listed for both its records: where each record's pairs start, the partners, the limits."""
    one, other = np.repeat(np.arange(len(nearest)), nearest.shape[1]), nearest.ravel()
    record, partner = np.concatenate((one, other)), np.concatenate((other, one))
    order = np.argsort(record, kind="stable")
    start = np.zeros(len(nearest) + 1, dtype=np.int64)
    np.cumsum(np.bincount(record, minlength=len(nearest)), out=start[1:])
    return start, partner[order], np.concatenate((limits.ravel(), limits.ravel()))[order]
