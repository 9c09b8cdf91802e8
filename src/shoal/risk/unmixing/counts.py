"""Counts of a term in the members of a group, by how likely they are; and the sums that they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.linking import unmixing as kernel

__all__ = ["Sums", "count_vectors", "price", "total"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LARGEST = 64  # a count beyond that is not looked for


def price(counts: Ints) -> Floats:
    """What counts cost, in bits: a term is missing from most members, and large counts are rare."""
    bits: Floats = np.where(counts > 0, 1.5 + 2.0 * np.log2(np.maximum(counts, 1)), 0.0)
    return bits


def total(counts: Ints) -> Floats:
    """A price for terms that all members have several times: what counts cost is their sum."""
    cost: Floats = 0.7 * counts.astype(np.float64)
    return cost


@lru_cache(maxsize=64)
def count_vectors(members: int, most: int, price: Callable[[Ints], Floats] = price) -> tuple[Ints, Floats]:
    """The cheapest vectors of counts, one column per member, and their prices.

    >>> count_vectors(2, 5)[0].tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1], [0, 2]]
    """
    vectors, costs = np.zeros((1, 0), np.int64), np.zeros(1)
    steps = price(np.arange(LARGEST + 1))
    for _ in range(members):
        # The pair of places (i, n) costs no less than the (i + 1)(n + 1) pairs up to it, so few pairs can be among the
        # cheapest.
        ends = np.minimum(len(costs), most // np.arange(1, LARGEST + 2))
        before = np.concatenate([np.arange(end) for end in ends.tolist()])
        count = np.repeat(np.arange(LARGEST + 1), ends)
        sums = costs[before] + steps[count]
        order = np.lexsort((count, before, sums))[:most]
        vectors = np.column_stack([vectors[before[order]], count[order]])
        costs = sums[order]
    return vectors, costs


@dataclass(frozen=True)
class Sums:
    """Sums of scales with counts, as two sorted halves that meet in the middle."""

    scales: Floats
    vectors: tuple[Ints, Ints]
    values: tuple[Floats, Floats]
    costs: tuple[Floats, Floats]

    @staticmethod
    def of(scales: Floats, most: int, price: Callable[[Ints], Floats] = price) -> Sums:
        middle = (len(scales) + 1) // 2
        halves = [_half(scales[:middle], most, price), _half(scales[middle:], most, price)]
        vectors, values, costs = zip(*halves, strict=True)
        return Sums(scales, vectors, values, costs)

    def nearest(self, targets: Floats, slacks: Floats, extra: Floats) -> tuple[int, Ints]:
        """The cheapest counts whose sum is within the slack of a target: which target (-1: none), and the counts."""
        (left, right), (left_costs, right_costs) = self.values, self.costs
        target, on_the_left, on_the_right = kernel.decode(left, left_costs, right, right_costs, targets, slacks, extra)
        if target < 0:
            return -1, np.zeros(len(self.scales), np.int64)
        return int(target), np.concatenate([self.vectors[0][on_the_left], self.vectors[1][on_the_right]])

    def has(self, value: float, tolerance: float) -> bool:
        return self.nearest(np.array([value]), np.array([tolerance * value]), np.zeros(1))[0] >= 0


def _half(scales: Floats, most: int, price: Callable[[Ints], Floats]) -> tuple[Ints, Floats, Floats]:
    vectors, costs = count_vectors(len(scales), most, price)
    values = vectors @ scales if len(scales) else np.zeros(1)
    order = np.argsort(values, kind="stable")
    return vectors[order], values[order], costs[order]
