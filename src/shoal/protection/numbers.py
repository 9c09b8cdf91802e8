"""Means as they are published: on a grid that no record decides."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.microaggregation.exact_sums import scale_of
from shoal.protection.extremes import limits_of
from shoal.protection.rounding import chosen_steps, on_grid

__all__ = ["published_means"]

Floats = NDArray[np.float64]


def published_means(values: Floats, means: Floats, k: int) -> Floats:
    """Each row's mean of its group, rounded: what a release of these rows alone has."""
    scale = scale_of(values.std(axis=0), np.abs(values).max(axis=0, initial=0.0))

    def added(steps: Floats) -> float:
        return float(np.sum(((on_grid(means, steps) - means) / scale) ** 2))

    error = float(np.sum(((values - means) / scale) ** 2))
    steps = chosen_steps(error, len(values), limits_of(values, k).spread(values), added)
    constant = values.max(axis=0) == values.min(axis=0)
    # The mean of equal values may differ from them by a rounding; and no negative zeros.
    return np.where(constant, values, on_grid(means, steps)) + 0.0
