"""Crowd sketches: records are grouped first, and what is sketched is the pool of a group of at least k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import normalize

from shoal.microaggregation import SphericalMicroaggregation
from shoal.sketch.key import SketchKey, key_of
from shoal.sketch.records import check_components, named_rows
from shoal.sketch.sketches import Sketches, sketch_rows

__all__ = ["CrowdSketch"]


class CrowdSketch(BaseEstimator):  # type: ignore[misc]
    """Give every record a sketch that at least k records share.

    Records are grouped; the numbers of a group are added up, column by column, scaled to length 1, and sketched.
    Whoever breaks the key learns these sums, which a release of the groups without sketches would have shown anyway.

    Parameters
    ----------
    k : int, at least 2
        Least number of records that share a sketch.
    components : int
        Of every sketch: products are estimated with an error of about 1 / sqrt(components).
    method : estimator
        What groups the rows: anything with `k`, `fit` and `groups_`. None: SphericalMicroaggregation.
    terms, key, random_state : see DeltaSketch; `random_state` seeds the search for groups as well.

    Attributes
    ----------
    key_ : SketchKey
    groups_ : (n,) array, the group of each record; -1: withheld, a record without items.
    sketches_ : Sketches

    Examples
    --------
    >>> from shoal.sketch import CrowdSketch
    >>> baskets = [["bread", "milk"], ["bread", "milk", "tea"], ["tea", "rice"], ["rice", "salt"]]
    >>> CrowdSketch(k=2, components=4, random_state=0).fit(baskets).groups_.tolist()
    [0, 0, 1, 1]
    """

    def __init__(
        self,
        k: int = 5,
        *,
        components: int = 512,
        method: Any = None,
        terms: Sequence[str] | None = None,
        key: SketchKey | None = None,
        random_state: int | None = None,
    ) -> None:
        self.k = k
        self.components = components
        self.method = method
        self.terms = terms
        self.key = key
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> CrowdSketch:
        """Group the rows and sketch the pool of each group."""
        components = check_components("components", self.components)
        rows = named_rows(self, X, self.terms)
        self.key_ = key_of(self.key, self.random_state)
        method = (
            SphericalMicroaggregation(random_state=self.random_state) if self.method is None else clone(self.method)
        )
        self.groups_ = method.set_params(k=self.k).fit(rows.X).groups_
        pools = normalize(pooled(rows.X, self.groups_))
        of_pool = sketch_rows(pools, rows.terms, self.key_, np.full(pools.shape[0], components))
        withheld = self.groups_ < 0
        lengths = np.where(withheld, 0, components)
        values = of_pool.values.reshape(-1, components)[self.groups_[~withheld]]
        self.sketches_ = Sketches(values.ravel(), np.concatenate(([0], np.cumsum(lengths))))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Sketches:
        """Group the rows, and return the sketch of each row's group."""
        return self.fit(X).sketches_


def pooled(X: sp.csr_matrix, groups: Any) -> sp.csr_matrix:
    """The sums of the rows of each group; rows of group -1 are in none."""
    inside = np.flatnonzero(groups >= 0)
    shape = (int(groups.max(initial=-1)) + 1, X.shape[0])
    sums = sp.csr_matrix((np.ones(len(inside)), (groups[inside], inside)), shape=shape) @ X
    sums.sort_indices()
    return sums
