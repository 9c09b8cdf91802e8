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
from shoal.kernels.linking import neighbours as kernel
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
        ties, own_ties = _nearest(scale(pair.original), scale(pair.protected), scale.rounding)
        chances = shared(np.where(own_ties, 1.0 / ties, 0.0), identical_rows(pair.protected))
        return rate_of(f"distance-based linkage, {self.metric}", chances, baseline=1.0 / len(chances))


def _nearest(originals: Floats, masked: Floats, rounding: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """How many originals are nearest to each masked record, and whether its own is one of them."""
    n_rows, n_columns = originals.shape
    if n_columns == 0:  # nothing tells the records apart
        return np.full(n_rows, n_rows), np.ones(n_rows, dtype=bool)
    leaves, boxes, outer, _ = kernel.arrange(originals)
    home = kernel.group_of(outer, len(boxes), masked)
    order = np.argsort(home, kind="stable")
    _, ties, own_ties = kernel.nearest_with_ties(
        leaves, boxes, outer, masked, originals, home, order, RELATIVE, rounding
    )
    return ties, own_ties
