"""PRAM, the post-randomisation method: labels drawn anew by published chances that keep the frequencies in expectation.

It promises no crowd: a record that is unique before may be unique afterwards, with its own values. What it gives is
doubt, and its matrix is published so that users can allow for it (Gouweleeuw, Kooiman, Willenborg and de Wolf, 1998).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

PROMISES_NO_CROWD = "Randomised labels promise no crowd: a rare record may stay as it is."


class RandomisedLabels(NamedTuple):
    """Drawn codes, and the matrix they were drawn by: row v has the chances of each value to be shown for v."""

    codes: Ints  # (n,)
    matrix: Floats  # (values, values), to be published


def invariant_matrix(counts: Ints, change: float) -> Floats:
    """A matrix that keeps the frequencies of the values in expectation: counts @ matrix = counts.

    A value is drawn from the whole column's frequencies with chance `change`, and stays as it is otherwise; so a value
    shown is another one with chance `change` times the share of all others.
    """
    if not 0 <= change <= 1:
        raise InputError(f"change={change!r} must be a share from 0 to 1")
    frequencies = counts / counts.sum()
    matrix: Floats = change * np.tile(frequencies, (len(counts), 1))
    matrix[np.diag_indices(len(counts))] += 1 - change
    return matrix


def randomise_labels(codes: Ints, change: float, random: np.random.Generator) -> RandomisedLabels:
    """Codes 0, 1, ... of a column drawn anew, each on its own. The stream of random numbers must stay secret."""
    matrix = invariant_matrix(np.bincount(codes), change)
    cumulated = np.cumsum(matrix, axis=1)
    cumulated[:, -1] = 1.0
    drawn = (random.random(len(codes))[:, None] >= cumulated[codes]).sum(axis=1)
    return RandomisedLabels(drawn.astype(np.int64), matrix)
