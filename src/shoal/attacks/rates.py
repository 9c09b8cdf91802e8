"""Rates of success: from the chance of each attempt to a rate with its interval."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from shoal.errors import InputError
from shoal.kernels import Floats, Ints
from shoal.results.attacks import Rate

Rows = NDArray[np.int64]

TWO_SIDED_95 = 1.959963984540054  # the normal distribution's 97.5 % point


def wilson(rate: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share seen in n attempts (1927); within 0 and 1, and of use at 0 and 1 too.

    Examples
    --------
    >>> low, high = wilson(0.5, 10)
    >>> round(low, 4), round(high, 4)
    (0.2366, 0.7634)
    """
    square = TWO_SIDED_95**2
    centre = (rate + square / (2 * n)) / (1 + square / n)
    half = TWO_SIDED_95 / (1 + square / n) * math.sqrt(rate * (1 - rate) / n + square / (4 * n * n))
    # At 0 and 1 the bound is the rate itself; computed, it may miss it by a rounding.
    return min(max(0.0, centre - half), rate), max(min(1.0, centre + half), rate)


def rate_of(
    about: str, chances: Floats, baseline: float, control: Floats | None = None, targets: Rows | None = None
) -> Rate:
    """A rate from each attempt's chance to succeed."""
    # Chances sum to the rate whatever their order: an exactly rounded sum, so that rearranged rows give the same.
    rate = min(1.0, math.fsum(chances) / len(chances))
    low, high = wilson(rate, len(chances))
    outside = None if control is None else min(1.0, math.fsum(control) / len(control))
    around = (None, None) if control is None or outside is None else wilson(outside, len(control))
    return Rate(
        about=about,
        rate=rate,
        baseline=float(baseline),
        low=low,
        high=high,
        n=len(chances),
        control=outside,
        control_low=around[0],
        control_high=around[1],
        chances=chances,
        targets=targets,
    )


def log_choose(n: Any, chosen: Any) -> Floats:
    """Logarithm of the binomial coefficient; meaningless where more are chosen than there are."""
    ways: Floats = gammaln(n + 1) - gammaln(chosen + 1) - gammaln(np.maximum(n - chosen, 0) + 1)
    return ways


def near_by_chance(values: Floats, reach: float) -> float:
    """The share of records within reach of the best single value."""
    ranked = np.sort(values)
    together = np.searchsorted(ranked, ranked + 2 * reach, "right") - np.arange(len(ranked))
    return float(together.max()) / len(ranked)


def sample_rows(n_rows: int, most: int, random_state: Any) -> Rows:
    """All rows, or `most` of them drawn at random, in rising order."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(random_state).choice(n_rows, size=most, replace=False))


def check_count(value: object, name: str, least: int = 1) -> int:
    """A whole number of at least `least`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}={value!r} must be a whole number of at least {least}")
    return int(value)


def identical_rows(values: Floats) -> Ints:
    """A number for each row, the same for equal rows, counted in the order of the sorted rows."""
    order = np.lexsort(values.T[::-1])
    first = np.any(values[order[1:]] != values[order[:-1]], axis=1)
    class_of_row = np.empty(len(values), dtype=np.int64)
    class_of_row[order] = np.concatenate([[0], np.cumsum(first)])
    return class_of_row


def shared(chances: Floats, class_of_row: Ints) -> Floats:
    """Each row's chance as the mean over the rows that equal it."""
    sums = np.bincount(class_of_row, weights=chances)
    means: Floats = (sums / np.bincount(class_of_row))[class_of_row]
    return means
