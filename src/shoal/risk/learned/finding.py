"""How many records a learned distance finds, by the fastest way there is for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.risk.learned.distances import Form, LearnedDistance, Measure, Turn, Weights, symmetric
from shoal.risk.learned.everyone import chances_of_matrix, chances_of_measure, chances_of_turn, chances_of_weights
from shoal.risk.learned.linking import chances_by
from shoal.risk.learned.records import Records

__all__ = ["chances_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_SETS = 12  # attributes up to which a measure has a weight for every set


def chances_of(records: Records, distance: LearnedDistance, rows: Ints | None = None) -> Floats:
    """With what chance each record, or each of some, is found among all masked ones."""
    if isinstance(distance, Weights):
        return chances_of_weights(records, distance.weights, rows)
    if isinstance(distance, Turn):
        return chances_of_turn(records, distance.turn, rows)
    if isinstance(distance, Form):
        return chances_of_matrix(records, distance.matrix, rows)
    if records.n_attributes > MOST_SETS:
        return chances_by(records, distance, rows)
    mu = distance.mu if isinstance(distance, Measure) else symmetric(distance.weights).mu
    return chances_of_measure(records, mu, rows)
