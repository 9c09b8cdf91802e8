"""Figures of a column that no single record decides: its extreme values are drawn in before anything is measured.

Mean and standard deviation give a dominant record away: mean + deviation · √(n - 1) is the one large income among many
small ones. The spread that is published is the deviation after the lowest and the highest values were replaced by the
next ones, so that it is the same whether the largest is a million or a billion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.microaggregation.exact_sums import squared_deviations

__all__ = ["DOMINANT", "Limits", "dominance", "limits_of"]

Floats = NDArray[np.float64]

DOMINANT = 1 / 3  # of a column's squared deviations: a record with more of them decides what is said of the column
DRAWN_IN = 50  # one in so many records is drawn in at each end, and no fewer than k
MOST_DRAWN_IN = 4  # but never more than one in so many


@dataclass(frozen=True)
class Limits:
    """Where the extreme values of each column are drawn in to."""

    low: Floats
    high: Floats

    def spread(self, values: Floats) -> Floats:
        """The standard deviation of each column, extreme values drawn in; 0 where nearly all values are one.

        Gaps (NaN) do not count; a column of nothing else has no spread.
        """
        drawn_in = np.clip(values, self.low, self.high)
        spread: Floats = drawn_in.std(axis=0)
        for place in np.flatnonzero(np.isnan(spread)).tolist():
            given = drawn_in[~np.isnan(drawn_in[:, place]), place]
            spread[place] = given.std() if len(given) else 0.0
        spread[self.low == self.high] = 0.0
        return spread


def limits_of(values: Floats, k: int) -> Limits:
    """Of columns whose lowest and highest records, k and a fiftieth of them at least, shall decide nothing."""
    n_rows = len(values)
    drawn_in = min(max(k, n_rows // DRAWN_IN), n_rows // MOST_DRAWN_IN)
    ranked = np.sort(values, axis=0)
    return Limits(ranked[drawn_in], ranked[n_rows - 1 - drawn_in])


def dominance(values: Floats) -> Floats:
    """The largest share that one record has of each column's squared deviations; 0 for a constant column."""
    squares = squared_deviations(values, values.mean(axis=0))
    total = squares.sum(axis=0)
    varies = (values.max(axis=0) > values.min(axis=0)) & (total > 0.0)
    shares: Floats = np.divide(squares.max(axis=0, initial=0.0), total, out=np.zeros_like(total), where=varies)
    return shares
