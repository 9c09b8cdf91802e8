"""Crowd sketches: records are grouped first, and what is sketched is the pool of a group of at least k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from shoal.errors import InputError
from shoal.methods.estimator import check_k
from shoal.methods.sketches.key import SketchKey, key_of
from shoal.methods.sketches.sketches import Sketches, SketchesRows, check_components, named_rows, sketch_rows
from shoal.methods.spherical import SphericalMicroaggregation
from shoal.terms.vector_space import at_unit_length


class CrowdSketch(SketchesRows):
    """Give every record a sketch that at least k records share.

    Records are grouped; the counts of a group are added up, column by column, scaled to length 1, and sketched. Items
    that fewer than k records have are left out: a rare item points at its owner, even inside a group. Whoever breaks
    the key learns the sums of the groups and no more; a record whose counts dwarf those of its group shows in them.

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
    groups_ : (n,) array, the group of each record; -1: withheld, a record of which no item is left.
    group_sketches_ : Sketches, one per group: what is kept, a fraction of the sketches of all records.
    sketches_ : Sketches, that of its group for each record; empty for a record that is withheld. Leave these out of
        what you hand on: sketches_[~sketches_.withheld].

    Examples
    --------
    >>> from shoal.methods.sketches import CrowdSketch
    >>> baskets = [["bread", "milk"], ["bread", "milk", "tea"], ["tea", "rice"], ["rice", "salt"]]
    >>> CrowdSketch(k=2, components=4).fit(baskets).groups_.tolist()
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
        check_k(self.k, rows.X.shape[0])
        if np.any(rows.X.data % 1):
            raise InputError("crowd sketches need whole numbers: sums of other weights can be taken apart; give counts")
        self.key_ = key_of(self.key, self.random_state)
        method = (
            SphericalMicroaggregation(random_state=self.random_state) if self.method is None else clone(self.method)
        )
        common = np.flatnonzero(np.bincount(rows.X.indices, minlength=rows.X.shape[1]) >= self.k)
        counts = sp.csr_matrix(rows.X[:, common])
        filled = np.flatnonzero(np.diff(counts.indptr))
        k = check_k(self.k, len(filled))
        self.groups_ = np.full(counts.shape[0], -1)
        self.groups_[filled] = checked_groups(method.set_params(k=k).fit(counts[filled]).groups_, k)
        pools = at_unit_length(pooled(counts, self.groups_))
        terms = [rows.terms[int(column)] for column in common]
        self.group_sketches_ = sketch_rows(pools, terms, self.key_, np.full(pools.shape[0], components))
        return self

    @property
    def sketches_(self) -> Sketches:
        """The sketch of each record's group, made when asked for."""
        check_is_fitted(self, "group_sketches_")
        components = int(self.group_sketches_.lengths[0])
        inside = self.groups_ >= 0
        values = self.group_sketches_.values.reshape(-1, components)[self.groups_[inside]]
        return Sketches(values.ravel(), np.concatenate(([0], np.cumsum(np.where(inside, components, 0)))))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True  # whole numbers, for which scikit-learn has no other word
        return tags


def checked_groups(groups: Any, k: int) -> Any:
    """The groups of a method, if each has k records."""
    smallest = np.bincount(groups).min() if np.min(groups) >= 0 else 0
    if smallest < k:
        raise InputError(f"the method made a group of {smallest}, and k={k}; use one that keeps k")
    return groups


def pooled(X: sp.csr_matrix, groups: Any) -> sp.csr_matrix:
    """The sums of the rows of each group; rows of group -1 are in none."""
    inside = np.flatnonzero(groups >= 0)
    shape = (int(groups.max(initial=-1)) + 1, X.shape[0])
    sums = sp.csr_matrix((np.ones(len(inside)), (groups[inside], inside)), shape=shape) @ X
    sums.sort_indices()
    return sums
