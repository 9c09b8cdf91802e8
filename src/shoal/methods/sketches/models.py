"""Models that learn from sketches: spherical k-means, and classes by the nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from shoal.errors import InputError
from shoal.kernels.sketching.sketches import sums_by_centre
from shoal.methods.sketches.sketches import Floats, Sketches, dot_products, squared_length

Ints = NDArray[np.int64]

PRODUCTS_AT_ONCE = 1 << 24  # products kept at a time


class SketchKMeans(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Spherical k-means of records known by their sketches: the best of several starts.

    Takes Sketches where other clusterings take rows.

    Parameters
    ----------
    n_clusters : int
    n_init : int
        Starts, each from records drawn far from one another.
    max_iter : int
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : (n,) array, the cluster of each sketch.
    cluster_centers_ : Sketches of the mean directions.
    similarity_ : float, mean estimated cosine of a record and its centre.
    """

    def __init__(self, n_clusters: int = 8, *, n_init: int = 3, max_iter: int = 100, random_state: Any = None) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Sketches, y: Any = None) -> SketchKMeans:
        """Move centres until no record changes its cluster."""
        X = Sketches.given(X)
        if not isinstance(self.n_clusters, int | np.integer) or not 1 <= self.n_clusters <= len(X):
            raise InputError(f"n_clusters={self.n_clusters!r} must be a whole number from 1 to {len(X)}, the sketches")
        random = check_random_state(self.random_state)
        scale = _scale(X)
        runs = (self._run(X, scale, random) for _ in range(self.n_init))
        self.similarity_, self.labels_, self.cluster_centers_ = max(runs, key=lambda run: run[0])
        return self

    def predict(self, X: Sketches) -> Ints:
        """The nearest centre of each sketch."""
        check_is_fitted(self, "cluster_centers_")
        return _assigned(Sketches.given(X).checked(), self.cluster_centers_)[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # Sketches
        return tags

    def _run(self, X: Sketches, scale: Floats, random: np.random.RandomState) -> tuple[float, Ints, Sketches]:
        centres = _far_apart(X, scale, int(self.n_clusters), random)
        labels, products = _assigned(X, centres)
        for _ in range(self.max_iter):
            centres = _means(X, scale, labels, centres)
            moved, products = _assigned(X, centres)
            if np.array_equal(moved, labels):
                break
            labels = moved
        return float(np.mean(products * scale)), labels, centres


def _scale(X: Sketches) -> Floats:
    """What brings each record to length 1."""
    squares = squared_length(X).value
    return np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)


def _assigned(X: Sketches, centres: Sketches) -> tuple[Ints, Floats]:
    """The centre with the largest product, ties to the lower one, and that product."""
    products = dot_products(X, centres)
    labels = products.argmax(axis=1)
    return labels, products[np.arange(len(X)), labels]


def _far_apart(X: Sketches, scale: Floats, count: int, random: np.random.RandomState) -> Sketches:
    """Records as first centres, each drawn with a chance that grows with its distance to those drawn before."""
    chosen = [int(random.randint(len(X)))]
    nearest = np.full(len(X), np.inf)
    while len(chosen) < count:
        _, products = _assigned(X, X[chosen[-1:]])
        nearest = np.minimum(nearest, np.maximum(1.0 - products * scale * scale[chosen[-1]], 0.0))
        nearest[chosen] = 0.0
        free = np.flatnonzero(nearest) if nearest.any() else np.setdiff1d(np.arange(len(X)), chosen)
        chance = nearest[free] if nearest.any() else np.ones(len(free))
        chosen.append(int(random.choice(free, p=chance / chance.sum())))
    return _unit(X[np.array(chosen)])


def _means(X: Sketches, scale: Floats, labels: Ints, centres: Sketches) -> Sketches:
    """Mean directions; each component is averaged over the records that have it. An empty cluster keeps its centre."""
    sums, counts = sums_by_centre(X.offsets, X.values, scale, labels, len(centres), int(X.lengths.max()))
    means = [
        sums[row, : np.count_nonzero(counts[row])] / counts[row][: np.count_nonzero(counts[row])]
        if counts[row, 0]
        else centres[row]
        for row in range(len(centres))
    ]
    return _unit(Sketches.of(means))


def _unit(centres: Sketches) -> Sketches:
    return Sketches(centres.values * np.repeat(_scale(centres), centres.lengths), centres.offsets)


class SketchNeighborsClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The class that most of the nearest sketches have, by estimated cosine; ties go to the nearest of them.

    Takes Sketches where other classifiers take rows.

    Parameters
    ----------
    n_neighbors : int

    Examples
    --------
    >>> from shoal.methods.sketches import CrowdSketch, SketchKey, SketchNeighborsClassifier
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
        step = max(1, PRODUCTS_AT_ONCE // len(self._sketches))
        class_numbers = [self._class_numbers(X[start : start + step]) for start in range(0, len(X), step)]
        labels: NDArray[Any] = self.classes_[np.concatenate(class_numbers or [np.zeros(0, dtype=np.int64)])]
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
