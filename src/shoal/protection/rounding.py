"""Published means lie on a grid, so that subtracting two releases tells less of the record between them.

A mean times the size of its group is a sum, and sums add up: of two releases that differ by one record, exact means
give that record to the last digit, whatever the groups. The grid of a column is as coarse, relative to the column's
spread, as the loss allows. See docs/methods/numeric-microaggregation.md.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["chosen_steps", "on_grid", "round_step"]

Floats = NDArray[np.float64]

ADDED = 0.01  # of the squared error, that rounding may add
ROUND = (5, 2, 1)  # times a power of ten: steps that read well
TRIES = 10
LEAST, MOST = 1e-290, 1e290  # beyond, powers of ten leave the range of numbers


def chosen_steps(error: float, n_rows: int, spread: Floats, added: Callable[[Floats], float]) -> Floats:
    """The step of each column's grid; 0 for a column whose spread is 0, which is not rounded.

    `error` is the squared error of the means over all rows and columns, each column on the scale of its standard
    deviation; `added` what rounding to given steps adds to it. `spread` is at most that deviation.
    """
    # An error spread evenly over a step has the mean square step² / 12.
    share = float(np.sqrt(12.0 * ADDED * error / (n_rows * max(len(spread), 1))))
    for halvings in range(TRIES):
        steps = _steps(share / 2**halvings * spread)
        if not steps.any() or added(steps) <= ADDED * error:  # errors need not be even: those of halves are not
            return steps
    return np.zeros_like(spread)  # what was lost is rounding noise already


def _steps(most: Floats) -> Floats:
    return np.array([round_step(width) for width in most.tolist()], dtype=np.float64)


def round_step(most: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above `most`; 0 for nothing.

    >>> round_step(0.37), round_step(1999.0), round_step(0.0)
    (0.2, 1000.0, 0.0)
    """
    if not LEAST <= most <= MOST:
        return 0.0
    exponent = int(np.floor(np.log10(most)))
    candidates = (float(f"{digit}e{power}") for power in (exponent + 1, exponent, exponent - 1) for digit in ROUND)
    return next(step for step in candidates if step <= most)


def on_grid(means: Floats, steps: Floats) -> Floats:
    """The means (rows, columns), each the nearest multiple of its column's step; as they are where the step is 0."""
    rounded = means.copy()
    for place in np.flatnonzero(steps):
        rounded[:, place] = _nearest(means[:, place], float(steps[place]))
    return rounded + 0.0  # no negative zeros: equal numbers are written alike


def _nearest(column: Floats, step: float) -> Floats:
    digit, exponent = f"{step:.0e}".split("e")
    multiples = np.rint(column / step) * float(digit)
    power = int(exponent)
    # Dividing by a power of ten gives the number nearest to the decimal: 0.3, not 0.30000000000000004.
    nearest: Floats = multiples / 10.0**-power if power < 0 else multiples * 10.0**power
    return nearest
