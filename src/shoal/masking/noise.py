"""Additive noise, with or without the correlations of the table.

Source: Kim, "A method for limiting disclosure in microdata based on random noise and transformation" (1986), for the
correlated kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from shoal.io.frames import like, number_rows
from shoal.masking.checks import check_percentage, check_rows, generator

__all__ = ["Noise"]

Floats = NDArray[np.float64]
MOST = 1e6  # per cent: noise of ten thousand standard deviations is a slip of the pen


class Noise(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Add normal noise of p % of each attribute's standard deviation.

    Means stay about the same and variances grow by the factor 1 + (p/100)². Plain noise is independent between
    attributes and weakens their correlations; correlated noise has (p/100)² times the covariances of the table, and
    keeps them. A constant attribute stays as it is. No crowd of k is promised.

    Parameters
    ----------
    p : float, at least 0
        Standard deviation of the noise in per cent of the attribute's.
    correlated : bool
    random_state : int, RandomState or None
        A number gives the same noise again: for experiments. None, for a release, draws fresh secret noise; anyone
        whoever knows the seed can remove the noise.

    Attributes
    ----------
    covariance_ : (d, d) array, of the noise.

    Examples
    --------
    >>> from shoal import Noise
    >>> people = [[23, 25000], [18, 10000], [58, 12000], [46, 30000]]
    >>> Noise(p=10, random_state=0).fit_transform(people).round().tolist()[0]
    [23.0, 24888.0]
    """

    def __init__(self, p: float = 10.0, *, correlated: bool = False, random_state: Any = None) -> None:
        self.p = p
        self.correlated = correlated
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Noise:
        """Measure the spread of the attributes and, for correlated noise, how they vary together."""
        values = number_rows(self, X, reset=True)
        check_rows(len(values))
        share = check_percentage(self.p, zero=True, most=MOST) / 100.0
        spread = _spread(values)
        mixing = _root_of_correlations(values, spread) if self.correlated else np.eye(len(spread))
        self._mixing = share * mixing * spread  # independent standard normals to noise, (d, d)
        self.covariance_ = self._mixing.T @ self._mixing
        return self

    def transform(self, X: Any) -> Any:
        """Add noise to each row, new or old."""
        check_is_fitted(self, "covariance_")
        values = number_rows(self, X, reset=False)
        random = generator(self.random_state)
        return like(values + random.standard_normal(values.shape) @ self._mixing, X, self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


def _spread(values: Floats) -> Floats:
    """Standard deviation of each attribute; exactly 0 for a constant one."""
    spread: Floats = values.std(axis=0)
    spread[np.ptp(values, axis=0) == 0.0] = 0.0
    return spread


def _root_of_correlations(values: Floats, spread: Floats) -> Floats:
    """The symmetric square root of the correlation matrix, which exists for a singular one too.

    An eigenvector may come out with either sign; in the symmetric root that cancels.
    """
    varying = spread > 0
    Z = (values - values.mean(axis=0)) / np.where(varying, spread, 1.0)
    roots, vectors = np.linalg.eigh(Z.T @ Z / len(Z))
    symmetric: Floats = (vectors * np.sqrt(np.maximum(roots, 0.0))) @ vectors.T
    return symmetric
