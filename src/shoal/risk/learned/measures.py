"""Fuzzy measures: a weight for every set of attributes, and what it says of single ones and of pairs.

A set is numbered by its bits: {0, 2, 4} of five attributes is 10101, 21. A measure mu has 2^n entries, mu[0] = 0 and
mu[-1] = 1; its Moebius transform m has as many, mu[A] the sum of m[B] over the subsets B of A. A measure is k-additive
when m is 0 for sets of more than k attributes.

Sources: Choquet (1953); Grabisch, "k-order additive discrete fuzzy measures" (1997), for interactions.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "chains",
    "choquet",
    "interactions",
    "made_monotone",
    "moebius",
    "set_sizes",
    "shapley",
    "small_sets",
    "uniform",
    "zeta",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def set_sizes(n: int) -> Ints:
    """How many attributes each of the 2^n sets has."""
    numbers = np.arange(2**n)
    return np.sum([numbers >> bit & 1 for bit in range(n)], axis=0, dtype=np.int64) if n else np.zeros(1, np.int64)


def small_sets(n: int, largest: int) -> Ints:
    """The sets of 1 to `largest` attributes, by size and then by number."""
    sets = [1 << one for one in range(n)]
    for size in range(2, min(largest, n) + 1):
        sets += sorted(_of_size(n, size))
    return np.array(sets, dtype=np.int64)


def _of_size(n: int, size: int) -> list[int]:
    return [sum(1 << one for one in chosen) for chosen in combinations(range(n), size)]


def zeta(m: Floats) -> Floats:
    """From the Moebius transform to the measure: sums over all subsets, in n 2^n additions."""
    return _over_subsets(m, 1.0)


def moebius(mu: Floats) -> Floats:
    """From the measure to its Moebius transform."""
    return _over_subsets(mu, -1.0)


def _over_subsets(values: Floats, sign: float) -> Floats:
    found = np.array(values, dtype=np.float64)
    step = 1
    while step < len(found):
        halves = found.reshape(-1, 2, step)
        halves[:, 1] += sign * halves[:, 0]
        step *= 2
    return found


def uniform(n: int) -> Floats:
    """|A| / n: the Choquet integral with it is the arithmetic mean."""
    return set_sizes(n) / n


def made_monotone(mu: Floats) -> Floats:
    """A monotone measure near this one: between the largest subset and the smallest superset, 0 and 1 at the ends."""
    clipped = np.clip(mu, 0.0, 1.0)
    clipped[0], clipped[-1] = 0.0, 1.0
    upper, lower = clipped.copy(), clipped.copy()
    step = 1
    while step < len(mu):
        halves = upper.reshape(-1, 2, step)
        np.maximum(halves[:, 1], halves[:, 0], out=halves[:, 1])
        halves = lower.reshape(-1, 2, step)
        np.minimum(halves[:, 0], halves[:, 1], out=halves[:, 0])
        step *= 2
    mean: Floats = (upper + lower) / 2
    return mean


def choquet(mu: Floats, values: Floats) -> Floats:
    """The Choquet integral of each row of non-negative values, (..., n)."""
    steps, sets = chains(values)
    total: Floats = np.sum(steps * mu[sets], axis=-1)
    return total


def chains(values: Floats) -> tuple[Floats, Ints]:
    """The integral as a sum over a chain of sets: by how much each counts, and which it is; (..., n) each."""
    order = np.argsort(values, axis=-1, kind="stable")
    steps = np.diff(np.take_along_axis(values, order, axis=-1), axis=-1, prepend=0.0)
    # The attributes from here on, as a set: sums of bits from the right.
    sets = np.flip(np.cumsum(np.flip(np.left_shift(1, order), axis=-1), axis=-1), axis=-1)
    return steps, sets


def shapley(mu: Floats) -> Floats:
    """The share of each attribute: the mean of what it adds to the sets without it, by size; they sum to 1."""
    n = len(mu).bit_length() - 1
    sizes, numbers = set_sizes(n), np.arange(len(mu))
    found = np.empty(n)
    for one in range(n):
        without = numbers[numbers >> one & 1 == 0]
        weight = np.array([1.0 / (n * comb(n - 1, size)) for size in range(n)])[sizes[without]]
        found[one] = weight @ (mu[without | 1 << one] - mu[without])
    return found


def interactions(mu: Floats) -> Floats:
    """What two attributes add together beyond what each adds alone, (n, n); negative when one repeats the other."""
    n = len(mu).bit_length() - 1
    sizes, numbers = set_sizes(n), np.arange(len(mu))
    found = np.zeros((n, n))
    for one in range(n):
        for other in range(one + 1, n):
            i, j = 1 << one, 1 << other
            without = numbers[numbers & (i | j) == 0]
            weight = np.array([1.0 / ((n - 1) * comb(n - 2, size)) for size in range(n - 1)])[sizes[without]]
            gain = mu[without | i | j] - mu[without | i] - mu[without | j] + mu[without]
            found[one, other] = found[other, one] = weight @ gain
    return found
