"""Distance-based record linkage: each masked record is linked to the nearest original.

Source: Pagliuca and Seri (1999), Domingo-Ferrer and Torra (2001); ties count by their chance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.io.pairs import numeric_pair
from shoal.kernels.linking import nearer_rivals as kernel
from shoal.results.rates import Rate
from shoal.risk.identical import identical_rows, shared
from shoal.risk.rates import rate_of
from shoal.risk.scales import RELATIVE, Scale, principal, whitening

__all__ = ["DistanceLinkage"]

Floats = NDArray[np.float64]

METRICS: dict[str, Callable[[Floats, Floats], Scale]] = {"euclidean": principal, "mahalanobis": whitening}


class DistanceLinkage:
    """Link each masked record to the nearest original, and count how often that is its own.

    The intruder has the original values of everybody, the worst that can be, and asks whose record this is. Both tables
    are put on the original's scale: standard deviations, or for Mahalanobis the directions in which it is uncorrelated.
    Of several originals equally near the intruder picks one at random, so the chance is 1 / |ties|. Distances that
    differ by rounding only are equal. Masked records that are the same cannot be told apart, and share what is found.

    The nearest neighbours are exact. Memory grows with the number of rows, time with little more than that unless the
    masked records are far from all originals in many columns.

    Parameters
    ----------
    metric : {"euclidean", "mahalanobis"}

    Examples
    --------
    >>> from shoal.risk.distance import DistanceLinkage
    >>> DistanceLinkage().run([[1.0], [2.0], [8.0], [9.0]], [[1.5], [1.5], [8.5], [8.5]]).rate
    0.5
    """

    def __init__(self, metric: str = "euclidean") -> None:
        self.metric = metric

    def run(self, original: Any, protected: Any) -> Rate:
        """The share of records found; `chances` says with what chance each is."""
        if self.metric not in METRICS:
            raise InputError(f"metric={self.metric!r} is not known; use one of: {', '.join(METRICS)}")
        pair = numeric_pair(original, protected)
        scale = METRICS[self.metric](pair.original, pair.protected)
        found = _chances(scale(pair.original), scale(pair.protected), scale.rounding)
        chances = shared(found, identical_rows(pair.protected))
        return rate_of(f"distance-based linkage, {self.metric}", chances, baseline=1.0 / len(chances))


def _chances(originals: Floats, masked: Floats, rounding: float) -> Floats:
    """The chance of each masked record that its own original is picked from the nearest."""
    n_rows, n_columns = originals.shape
    if n_columns == 0:  # nothing tells the records apart
        return np.full(n_rows, 1.0 / n_rows)
    table, home, order = kernel.in_boxes(originals, np.ones(n_rows, np.int64), masked)
    # A distance that is off by the rounding is off by twice that times itself when squared.
    slack = (RELATIVE, 2.0 * rounding, rounding**2)
    return kernel.chances_of_ties(kernel.ties_by_squares(table, masked, originals, n_columns, home, order, slack))
