"""Rank swapping: each attribute's values exchanged between records of near ranks.

Source: Moore, "Controlled data-swapping techniques for masking public use microdata sets" (1996).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from shoal.io.frames import like, number_rows
from shoal.kernels.rank_swapping import swap_partners
from shoal.masking.checks import check_percentage, check_rows, generator

__all__ = ["RankSwap", "window_of"]

Floats = NDArray[np.float64]


class RankSwap(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Swap the values of each attribute between records at most p % of n ranks apart.

    An attribute keeps exactly the values it has, so its mean, variance and quantiles stay. What goes is which record
    has which value, and with it, little by little, the correlations. No crowd of k is promised.

    Equal values are ranked in random order: a swap between two of them changes nothing.

    Parameters
    ----------
    p : float, above 0 and at most 100
        How far a value may move, in per cent of the number of rows; never less than one rank.
    random_state : int, RandomState or None
        A number gives the same swaps again: for experiments. None, for a release, draws fresh secret ones; anyone
        whoever knows the seed can undo the swaps.

    Examples
    --------
    >>> from shoal import RankSwap
    >>> ages = [[18], [23], [46], [58]]
    >>> RankSwap(p=25, random_state=0).fit_transform(ages).ravel().tolist()
    [23.0, 18.0, 58.0, 46.0]
    """

    def __init__(self, p: float = 5.0, *, random_state: Any = None) -> None:
        self.p = p
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> RankSwap:
        """Check the table; there is nothing to learn."""
        check_rows(len(number_rows(self, X, reset=True)))
        check_percentage(self.p, zero=False, most=100.0)
        return self

    def transform(self, X: Any) -> Any:
        """Swap values among the rows given, which need not be those of `fit`."""
        check_is_fitted(self, "n_features_in_")
        values = number_rows(self, X, reset=False)
        check_rows(len(values))
        random = generator(self.random_state)
        window = window_of(check_percentage(self.p, zero=False, most=100.0), len(values))
        swapped = [_swap(column, window, random) for column in values.T]
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
