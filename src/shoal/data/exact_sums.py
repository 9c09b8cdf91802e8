"""Mean and spread of columns whose rows come in parts: exact sums, so that no cut into parts shows in a digit."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

UNIT = 1126  # sums are whole multiples of 2**-1126, which every float64 with its 53 digits is one of
HALF = 26  # of those digits are summed apart, so that sums of 2**36 rows fit in 64 bits


def exact_sums(values: Floats) -> list[int]:
    """The sum of each column without any rounding, in units of 2**-1126. Sums of parts may be added in any order."""
    sums = []
    for column in values.T:
        mantissas, exponents = np.frexp(column)
        whole = np.ldexp(mantissas, 53).astype(np.int64)
        high, low = whole >> HALF, whole & ((1 << HALF) - 1)
        total = 0
        for exponent in np.unique(exponents).tolist():
            here = exponents == exponent
            total += ((int(high[here].sum()) << HALF) + int(low[here].sum())) << (exponent - 53 + UNIT)
        sums.append(total)
    return sums


def mean_of_sums(sums: Sequence[Sequence[int]], n_rows: int) -> Floats:
    """The mean of each column, rounded once, from the exact sums of all parts."""
    return np.array([float(Fraction(sum(column), n_rows << UNIT)) for column in zip(*sums, strict=True)])


def scale_of(deviation: Floats, largest: Floats) -> Floats:
    """The standard deviation of each attribute; 1 for a constant one, which so stays 0.

    `largest` is the largest absolute value: a constant column's deviation may come out as rounding noise instead of 0.
    """
    constant = (deviation <= 1e-12 * largest) | (deviation == 0.0)
    return np.where(constant, 1.0, deviation)
