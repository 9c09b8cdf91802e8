"""Masking: tables whose values are swapped or disturbed, so that they are no longer those of the record.

Unlike microaggregation it promises no crowd of k; what it hides must be measured.

Sources: Moore, "Controlled data-swapping techniques for masking public use microdata sets" (1996); Kim, "A method for
limiting disclosure in microdata based on random noise and transformation" (1986), for correlated noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from shoal.data.frames import like
from shoal.errors import InputError
from shoal.kernels.rank_swapping import swap_partners
from shoal.methods.estimator import number_rows

Floats = NDArray[np.float64]

MOST_NOISE = 1e6  # per cent: noise of ten thousand standard deviations is a slip of the pen


def check_percentages(p: object, n_columns: int, *, zero: bool, most: float) -> Floats:
    """p as a percentage for each column, up to `most`; 0 only if `zero`."""
    given = list(p) if isinstance(p, list | tuple | np.ndarray) else [p] * n_columns
    if len(given) != n_columns:
        raise InputError(f"p={p!r} has {len(given)} percentages for {n_columns} columns; give one, or one per column")
    numbers = [float(each) if isinstance(each, Real) and not isinstance(each, bool) else np.nan for each in given]
    if not all(0.0 < number <= most or (zero and number == 0.0) for number in numbers):
        bound = "of at least 0" if zero else "above 0"
        raise InputError(f"p={p!r} must be a percentage {bound} and at most {most:g}; change it")
    return np.array(numbers)


def check_rows(n_rows: int) -> None:
    """Refuse a single record: it has no partner to swap with and no spread to disturb."""
    if n_rows < 2:
        raise InputError(f"masking needs at least 2 rows, got {n_rows} (n_samples={n_rows}); add rows")


def generator(random_state: Any) -> np.random.Generator:
    """Random numbers from a seed; None takes fresh ones from the operating system.

    Not from NumPy's global state, as scikit-learn does: a program that seeds that for its own ends would make what is
    meant to be secret known.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31, size=4))
    if random_state is not None and not isinstance(random_state, int | np.integer | np.random.Generator):
        raise InputError(f"random_state={random_state!r} must be a whole number, a RandomState or None")
    return np.random.default_rng(random_state)


class RankSwap(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Swap the values of each attribute between records at most p % of n ranks apart.

    An attribute keeps exactly the values it has, so its mean, variance and quantiles stay. What goes is which record
    has which value, and with it, little by little, the correlations. No crowd of k is promised.

    Equal values are ranked in random order: a swap between two of them changes nothing.

    Parameters
    ----------
    p : float, above 0 and at most 100, or one per column
        How far a value may move, in per cent of the number of rows; never less than one rank.
    random_state : int, RandomState or None
        A number gives the same swaps again: for experiments. None, for a release, draws fresh secret ones; anyone
        who knows the seed can undo the swaps.

    Examples
    --------
    >>> from shoal import RankSwap
    >>> ages = [[18], [23], [46], [58]]
    >>> RankSwap(p=25, random_state=0).fit_transform(ages).ravel().tolist()
    [23.0, 18.0, 58.0, 46.0]
    """

    def __init__(self, p: float | Sequence[float] = 5.0, *, random_state: Any = None) -> None:
        self.p = p
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> RankSwap:
        """Check the table; there is nothing to learn."""
        check_rows(len(number_rows(self, X, reset=True)))
        check_percentages(self.p, self.n_features_in_, zero=False, most=100.0)
        return self

    def transform(self, X: Any) -> Any:
        """Swap values among the rows given, which need not be those of `fit`."""
        check_is_fitted(self, "n_features_in_")
        values = number_rows(self, X, reset=False)
        check_rows(len(values))
        random = generator(self.random_state)
        percentages = check_percentages(self.p, self.n_features_in_, zero=False, most=100.0)
        windows = [window_of(p, len(values)) for p in percentages.tolist()]
        swapped = [_swap(column, window, random) for column, window in zip(values.T, windows, strict=True)]
        return like(np.column_stack(swapped), X, self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


def window_of(p: float, n_rows: int) -> int:
    """How many ranks p % are; at least one, since no window at all would leave the table as it is."""
    # The small addition keeps 29 % of 100 rows, which comes out as 28.999…, at 29.
    return max(1, int(p * n_rows / 100.0 + 1e-9))


def _swap(column: Floats, window: int, random: np.random.Generator) -> Floats:
    order = np.lexsort((random.random(len(column)), column))  # ties in random order
    partner = swap_partners(window, random.random(len(column)))
    swapped = np.empty_like(column)
    swapped[order] = column[order[partner]]
    return swapped


class Noise(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Add normal noise of p % of each attribute's standard deviation.

    Means stay about the same and variances grow by the factor 1 + (p/100)². Plain noise is independent between
    attributes and weakens their correlations; correlated noise has (p/100)² times the covariances of the table, and
    keeps them. A constant attribute stays as it is. No crowd of k is promised.

    Parameters
    ----------
    p : float, at least 0, or one per column
        Standard deviation of the noise in per cent of the attribute's.
    correlated : bool
    random_state : int, RandomState or None
        A number gives the same noise again: for experiments. None, for a release, draws fresh secret noise; anyone
        who knows the seed can remove the noise.

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

    def __init__(
        self, p: float | Sequence[float] = 10.0, *, correlated: bool = False, random_state: Any = None
    ) -> None:
        self.p = p
        self.correlated = correlated
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Noise:
        """Measure the spread of the attributes and, for correlated noise, how they vary together."""
        values = number_rows(self, X, reset=True)
        check_rows(len(values))
        shares = check_percentages(self.p, values.shape[1], zero=True, most=MOST_NOISE) / 100.0
        spread = _spread(values)
        mixing = _root_of_correlations(values, spread) if self.correlated else np.eye(len(spread))
        self._mixing = shares * mixing * spread  # independent standard normals to noise, (d, d)
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
