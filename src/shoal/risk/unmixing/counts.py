"""Counts of a term in the members of a group, by how likely they are; and the sums that they make."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from shoal.kernels import unmixing as kernel

__all__ = ["Sums", "count_vectors", "price"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LARGEST = 64  # a count beyond that is not looked for
EACH_SIDE = 3_000  # vectors of half the members


def price(counts: Ints) -> Floats:
    """What counts cost, in bits: a term is missing from most members, and large counts are rare."""
    bits: Floats = np.where(counts > 0, 1.5 + 2.0 * np.log2(np.maximum(counts, 1)), 0.0)
    return bits


@lru_cache(maxsize=64)
def count_vectors(members: int, most: int) -> tuple[Ints, Floats]:
    """The cheapest vectors of counts, one column per member, and their prices.

    >>> count_vectors(2, 5)[0].tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1], [0, 2]]
    """
    vectors, costs = np.zeros((1, 0), np.int64), np.zeros(1)
    steps = np.arange(LARGEST + 1)
    for _ in range(members):
        total = (costs[:, None] + price(steps)[None, :]).ravel()
        order = np.argsort(total, kind="stable")[:most]
        before, count = np.divmod(order, LARGEST + 1)
        vectors = np.column_stack([vectors[before], count])
        costs = total[order]
    return vectors, costs


@dataclass(frozen=True)
class Sums:
    """Sums of scales with counts, as two sorted halves that meet in the middle."""

    scales: Floats
    vectors: tuple[Ints, Ints]
    values: tuple[Floats, Floats]
    costs: tuple[Floats, Floats]

    @staticmethod
    def of(scales: Floats, most: int = EACH_SIDE) -> Sums:
        middle = (len(scales) + 1) // 2
        halves = [_half(scales[:middle], most), _half(scales[middle:], most)]
        vectors, values, costs = zip(*halves, strict=True)
        return Sums(scales, vectors, values, costs)

    def nearest(self, targets: Floats, slacks: Floats, extra: Floats) -> tuple[int, Ints, Floats]:
        """The cheapest counts whose sum is within the slack of a target: which target (-1: none), counts, two costs."""
        (left, right), (left_costs, right_costs) = self.values, self.costs
        place, costs = kernel.decode(left, left_costs, right, right_costs, targets, slacks, extra)
        if place[0] < 0:
            return -1, np.zeros(len(self.scales), np.int64), costs
        return int(place[0]), np.concatenate([self.vectors[0][place[1]], self.vectors[1][place[2]]]), costs

    def has(self, value: float, tolerance: float) -> bool:
        return self.nearest(np.array([value]), np.array([tolerance * value]), np.zeros(1))[0] >= 0


def _half(scales: Floats, most: int) -> tuple[Ints, Floats, Floats]:
    vectors, costs = count_vectors(len(scales), most)
    values = vectors @ scales if len(scales) else np.zeros(1)
    order = np.argsort(values, kind="stable")
    return vectors[order], values[order], costs[order]
