"""Delta-anonymous sketches: every attribute of a record can be reconstructed only with a variance of at least delta.

Source: Aggarwal and Yu, "On privacy-preservation of text and sparse binary data with sketches" (2007).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from shoal.errors import InputError
from shoal.kernels.sketching.rows import lengths_by_variance
from shoal.sketch.estimator import SketchesRows
from shoal.sketch.key import SketchKey, key_of
from shoal.sketch.records import NamedRows, check_components, named_rows
from shoal.sketch.sketches import Floats, Ints, Sketches, sketch_rows

__all__ = ["DeltaSketch"]


class DeltaSketch(SketchesRows):
    """Sketch each record on its own, with the most components that keep every attribute's variance at delta.

    A record whose variance is below delta with one component is withheld. **No crowd is promised**: whoever has the
    key, or knows enough of the records, recovers short records whatever delta says.

    Parameters
    ----------
    delta : float, above 0
        Least variance of the estimate of any attribute, in the square of the unit of the records' numbers.
    max_components : int
        Most components of a sketch.
    terms : sequence of str
        Names of the columns of a matrix; they are hashed with the key, so sketches of matrices with other columns go
        together. Default: the names of a dataframe's columns, or the columns' numbers.
    key : SketchKey
        None: a new secret key, kept as `key_`. Sketches can be compared only if they have the same key.
    random_state : int
        Without a key: make it from this number, for experiments. Such a key can be guessed, and a warning says so.

    Attributes
    ----------
    key_ : SketchKey
    sketches_ : Sketches of the rows it was fitted to.

    Examples
    --------
    >>> from shoal.sketch import DeltaSketch
    >>> baskets = [["bread", "milk", "tea"], ["milk", "tea", "sugar", "rice"], ["salt"]]
    >>> DeltaSketch(delta=0.5).fit_transform(baskets).lengths.tolist()
    [4, 6, 0]
    """

    def __init__(
        self,
        delta: float = 0.5,
        *,
        max_components: int = 1024,
        terms: Sequence[str] | None = None,
        key: SketchKey | None = None,
        random_state: int | None = None,
    ) -> None:
        self.delta = delta
        self.max_components = max_components
        self.terms = terms
        self.key = key
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> DeltaSketch:
        """Draw a key unless one was given, and sketch the rows."""
        self.check()
        self.key_ = key_of(self.key, self.random_state)
        self.sketches_ = self._sketch(named_rows(self, X, self.terms))
        return self

    def transform(self, X: Any) -> Sketches:
        """Sketch rows, new or old, with the same key."""
        check_is_fitted(self, "key_")
        return self._sketch(named_rows(self, X, self.terms))

    def fit_transform(self, X: Any, y: Any = None) -> Sketches:
        """Draw a key unless one was given, and sketch the rows."""
        return self.fit(X).sketches_

    def one(self, record: Mapping[str, float] | Iterable[str]) -> Floats | None:
        """The sketch of a single record, as at collection time; None: it is withheld."""
        if not hasattr(self, "key_"):
            self.fit([])
        given = record if isinstance(record, Mapping | str | bytes) else list(record)
        found: Floats = self._sketch(named_rows(self, [given], None))[0]
        return found if len(found) else None

    def check(self) -> None:
        """Refuse parameters that make no sense."""
        delta = self.delta
        if not isinstance(delta, Real) or isinstance(delta, bool) or not 0 < float(delta) < np.inf:
            raise InputError(f"delta={delta!r} must be a number above 0")
        check_components("max_components", self.max_components)

    def components_of(self, X: sp.csr_matrix) -> Ints:
        """How many components the sketch of each row may have; 0: it is withheld."""
        return lengths_by_variance(X.indptr, X.data, float(self.delta), int(self.max_components))

    def _sketch(self, rows: NamedRows) -> Sketches:
        return sketch_rows(rows.X, rows.terms, self.key_, self.components_of(rows.X))
