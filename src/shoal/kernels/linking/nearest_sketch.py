"""The nearest of many sketches to that of a record, over the components that each has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels.threads import runs, side_by_side

__all__ = ["nearest_sketches"]

Ints = NDArray[Any]
Floats = NDArray[np.float64]

ROUNDING = 1e-9  # squared distances that differ by less, as a share of the squared length, are equal


def nearest_sketches(targets: Floats, own: Ints, lengths: Ints, offsets: Ints, values: Floats) -> Floats:
    """The chance that a target's own sketch is picked among the nearest ones.

    `targets` (targets, width) are sketches of records, own[i] says which of the sketches is target i's. Distances are
    mean squared differences over all components of a sketch, up to the width. Where lengths[i] is not -1, sketches of
    another length are passed over.
    """
    chances = np.zeros(len(targets))
    parts = runs(len(targets), least=1)
    given = offsets, values
    side_by_side(_nearest_sketches, [(targets[r], own[r], lengths[r], *given, chances[r]) for r in parts])
    return chances


@njit(cache=True, nogil=True)
def _nearest_sketches(
    targets: Floats, own: Ints, lengths: Ints, offsets: Ints, values: Floats, chances: Floats
) -> None:
    for target in range(targets.shape[0]):
        sketch = targets[target]
        slack = ROUNDING * np.mean(sketch * sketch) + 1e-30
        nearest = _distance(sketch, values[offsets[own[target]] : offsets[own[target] + 1]], np.inf)
        ties = 0
        for row in range(offsets.shape[0] - 1):
            length = offsets[row + 1] - offsets[row]
            if length == 0 or (lengths[target] >= 0 and length != lengths[target]):
                continue
            distance = _distance(sketch, values[offsets[row] : offsets[row + 1]], nearest + slack)
            if distance < nearest - slack:  # a stranger's sketch is nearer
                ties = 0
                break
            if distance <= nearest + slack:
                ties += 1
        if ties:
            chances[target] = 1.0 / ties


@njit(cache=True, nogil=True)
def _distance(one: Floats, other: Floats, enough: float) -> float:
    """The mean squared difference; something larger than `enough` as soon as it is known to be."""
    width = min(one.shape[0], other.shape[0])
    total, bound = 0.0, enough * width
    for component in range(width):
        total += (one[component] - other[component]) ** 2
        if total > bound:
            return np.inf
    return total / width
