"""Classes of sketches by their nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from shoal.errors import InputError
from shoal.sketch.estimates import dot_products, squared_length
from shoal.sketch.sketches import Floats, Sketches

__all__ = ["SketchNeighborsClassifier"]

AT_ONCE = 1 << 24  # products kept at a time


class SketchNeighborsClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The class that most of the nearest sketches have, by estimated cosine; ties go to the nearest of them.

    Takes Sketches where other classifiers take rows.

    Parameters
    ----------
    n_neighbors : int

    Examples
    --------
    >>> from shoal.sketch import CrowdSketch, SketchKey, SketchNeighborsClassifier
    >>> baskets = [["bread", "milk"], ["bread", "milk", "tea"], ["rice", "salt"], ["rice", "salt", "oil"]]
    >>> sketches = CrowdSketch(k=2, components=64, key=SketchKey.from_seed(0)).fit_transform(baskets)
    >>> SketchNeighborsClassifier(1).fit(sketches, ["a", "a", "b", "b"]).predict(sketches).tolist()
    ['a', 'a', 'b', 'b']
    """

    def __init__(self, n_neighbors: int = 5) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, X: Sketches, y: Any) -> SketchNeighborsClassifier:
        """Keep the sketches and their classes."""
        X = Sketches.given(X)
        if len(X) != len(y):
            raise InputError(f"{len(X)} sketches and {len(y)} classes; give one per sketch")
        if not isinstance(self.n_neighbors, int | np.integer) or not 1 <= self.n_neighbors <= len(X):
            raise InputError(
                f"n_neighbors={self.n_neighbors!r} must be a whole number from 1 to {len(X)}, the sketches"
            )
        self.classes_, self._class_of = np.unique(np.asarray(y), return_inverse=True)
        self._sketches = X.checked()
        self._lengths = np.sqrt(squared_length(X).value)
        return self

    def predict(self, X: Sketches) -> NDArray[Any]:
        """The class of each sketch."""
        check_is_fitted(self, "classes_")
        X = Sketches.given(X)
        step = max(1, AT_ONCE // len(self._sketches))
        found = [self._class_numbers(X[start : start + step]) for start in range(0, len(X), step)]
        labels: NDArray[Any] = self.classes_[np.concatenate(found or [np.zeros(0, dtype=np.int64)])]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # Sketches
        return tags

    def _class_numbers(self, X: Sketches) -> NDArray[np.int64]:
        # A row's own length changes none of its comparisons.
        likeness: Floats = dot_products(X, self._sketches) / np.where(self._lengths > 0, self._lengths, np.inf)
        count = self.n_neighbors
        nearest = np.argpartition(-likeness, count - 1, axis=1)[:, :count]
        order = np.lexsort((nearest, -np.take_along_axis(likeness, nearest, axis=1)), axis=1)
        classes = self._class_of[np.take_along_axis(nearest, order, axis=1)]  # (rows, count), nearest first
        votes = (classes[:, :, None] == classes[:, None, :]).sum(axis=2)  # of each neighbour's class
        numbers: NDArray[np.int64] = classes[np.arange(len(classes)), votes.argmax(axis=1)]
        return numbers
