"""Distances that can be learned: called with differences of attributes, (..., n), they return distances, (...).

The most general is the Choquet integral with a fuzzy measure: a weight for every set of attributes. A set is numbered
by its bits: {0, 2, 4} of five attributes is 10101, 21. A measure mu has 2^n entries, mu[0] = 0 and mu[-1] = 1; its
Moebius transform m has as many, mu[A] the sum of m[B] over the subsets B of A.

Sources: Choquet (1953); Grabisch, "k-order additive discrete fuzzy measures" (1997), for interactions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from shoal.attacks.learned.records import Records
from shoal.kernels import Floats, Ints

SMALLEST_ROOT = 1e-10  # of the correlation matrix: directions with less variance are rounding, not data
ROUNDING = 1e-15  # of the largest: an eigenvalue that is rounding


@dataclass(frozen=True)
class Weights:
    """Weighted mean of the squared differences."""

    weights: Floats  # (n,), sum 1
    name: str = "weighted mean"

    def __call__(self, differences: Floats) -> Floats:
        distances: Floats = (differences * differences) @ self.weights
        return distances

    @property
    def matrix(self) -> Floats:
        """The linear map after which this is the squared Euclidean distance, (n, n)."""
        return np.diag(np.sqrt(self.weights))

    def squares(self) -> tuple[Floats, int]:
        """The linear map without the attributes that do not count, and in how many directions squares are added."""
        used = self.weights > 0
        return self.matrix[:, used], int(used.sum())

    def attribute_shares(self) -> Floats:
        return self.weights


@dataclass(frozen=True)
class LinearMap:
    """Squared length of the differences after a linear map: a symmetric form that is never negative."""

    matrix: Floats  # (n, directions)
    name: str = "bilinear"

    def __call__(self, differences: Floats) -> Floats:
        mapped = differences @ self.matrix
        distances: Floats = np.einsum("...i,...i->...", mapped, mapped)
        return distances

    def squares(self) -> tuple[Floats, int]:
        """The linear map; the squares of all directions are added."""
        return self.matrix, self.matrix.shape[1]


@dataclass(frozen=True)
class BilinearForm:
    """Symmetric bilinear form of the differences; it may come out negative."""

    matrix: Floats  # (n, n)
    name: str = "bilinear"

    def __call__(self, differences: Floats) -> Floats:
        distances: Floats = np.sum((differences @ self.matrix) * differences, axis=-1)
        return distances

    def squares(self) -> tuple[Floats, int]:
        """A linear map, and in how many directions squares are added; those of the others are subtracted."""
        roots, vectors = np.linalg.eigh((self.matrix + self.matrix.T) / 2)
        roots[np.abs(roots) <= ROUNDING * np.abs(roots).max(initial=0.0)] = 0.0
        added, subtracted = np.flatnonzero(roots > 0), np.flatnonzero(roots < 0)
        used = np.concatenate([added, subtracted])
        return vectors[:, used] * np.sqrt(np.abs(roots[used])), len(added)


@dataclass(frozen=True)
class Ordered:
    """OWA: the first weight goes to the largest squared difference."""

    weights: Floats  # (n,), sum 1
    name: str = "OWA"

    def __call__(self, differences: Floats) -> Floats:
        distances: Floats = np.sort(differences * differences, axis=-1) @ self.weights[::-1]
        return distances

    @property
    def mu(self) -> Floats:
        """The measure whose Choquet integral this is, (2^n,)."""
        mu: Floats = np.concatenate([[0.0], np.cumsum(self.weights)])[set_sizes(len(self.weights))]
        return mu


@dataclass(frozen=True)
class Measure:
    """Choquet integral of the squared differences with a fuzzy measure."""

    mu: Floats  # (2^n,)
    name: str = "Choquet"

    def __call__(self, differences: Floats) -> Floats:
        return choquet(self.mu, differences * differences)

    def attribute_shares(self) -> Floats:
        """Shapley values: the mean of what each attribute adds to the sets without it, by size; they sum to 1."""
        mu, n = self.mu, len(self.mu).bit_length() - 1
        sizes, numbers = set_sizes(n), np.arange(len(mu))
        shares = np.empty(n)
        for attribute in range(n):
            without = numbers[numbers >> attribute & 1 == 0]
            weight = np.array([1.0 / (n * comb(n - 1, size)) for size in range(n)])[sizes[without]]
            shares[attribute] = weight @ (mu[without | 1 << attribute] - mu[without])
        return shares

    def interactions(self) -> Floats:
        """What two attributes add together beyond what each adds alone, (n, n); negative if one repeats the other."""
        mu, n = self.mu, len(self.mu).bit_length() - 1
        sizes, numbers = set_sizes(n), np.arange(len(mu))
        gains = np.zeros((n, n))
        for first in range(n):
            for second in range(first + 1, n):
                i, j = 1 << first, 1 << second
                without = numbers[numbers & (i | j) == 0]
                weight = np.array([1.0 / ((n - 1) * comb(n - 2, size)) for size in range(n - 1)])[sizes[without]]
                gain = mu[without | i | j] - mu[without | i] - mu[without | j] + mu[without]
                gains[first, second] = gains[second, first] = weight @ gain
        return gains


LearnedDistance = Weights | LinearMap | BilinearForm | Ordered | Measure


def plain(n: int) -> Weights:
    """The arithmetic mean: standard distance-based linkage."""
    return Weights(np.full(n, 1.0 / n), "plain")


def mahalanobis(records: Records, known: Ints | None = None) -> LinearMap:
    """Directions in which the records of both tables are uncorrelated; labels as they are.

    With links that are known: directions in which the differences between originals and their masked records are, as
    the covariance Var(X) + Var(Y) - 2 Cov(X, Y) says; what masking moved least then counts most.
    """
    if known is None:
        values = np.concatenate([records.before, records.after])
    else:
        values = records.before[known] - records.after[known]
    n_numbers, n = values.shape[1], records.n_attributes
    roots, vectors = _axes(values)
    largest = float(roots.max(initial=0.0))
    # A direction that nothing moved would count infinitely: it counts as a hundred thousand times the largest.
    roots = np.maximum(roots, SMALLEST_ROOT * largest) if largest > 0 else np.ones(n_numbers)
    matrix = np.eye(n)
    matrix[:n_numbers, :n_numbers] = vectors / np.sqrt(roots)
    return LinearMap(matrix, "Mahalanobis" if known is None else "Mahalanobis of known links")


def shrunk(records: Records, known: Ints, shares: Sequence[float]) -> list[LinearMap]:
    """Mahalanobis of known links with each share of the plain distance mixed in: few links teach little."""
    values = records.before[known] - records.after[known]
    n_numbers = values.shape[1]
    roots, vectors = _axes(values)
    centre = float(roots.mean()) if n_numbers else 0.0
    maps = []
    for share in shares:
        matrix = np.eye(records.n_attributes)
        if centre > 0:
            # On the scale of the plain distance, so that labels keep their weight beside numbers.
            mixed = np.maximum((1.0 - share) * roots + share * centre, SMALLEST_ROOT * centre)
            matrix[:n_numbers, :n_numbers] = vectors * np.sqrt(centre / mixed)
        maps.append(LinearMap(matrix, "Mahalanobis of known links"))
    return maps


def _axes(values: Floats) -> tuple[Floats, Floats]:
    """Mean squares along the principal axes, and the axes as columns."""
    roots, vectors = np.linalg.eigh(values.T @ values / len(values))
    return np.maximum(roots, 0.0), vectors


def set_sizes(n: int) -> Ints:
    """How many attributes each of the 2^n sets has."""
    return np.bitwise_count(np.arange(2**n)).astype(np.int64)


def _halves(values: Floats) -> Iterator[Floats]:
    """For each attribute in turn, views of the sets without it and of the same sets with it, (..., 2, ...)."""
    step = 1
    while step < len(values):
        yield values.reshape(-1, 2, step)
        step *= 2


def zeta(m: Floats) -> Floats:
    """From the Moebius transform to the measure: sums over all subsets, in n 2^n additions."""
    sums = m.copy()
    for halves in _halves(sums):
        halves[:, 1] += halves[:, 0]
    return sums


def moebius(mu: Floats) -> Floats:
    """From the measure to its Moebius transform."""
    differences = mu.copy()
    for halves in _halves(differences):
        halves[:, 1] -= halves[:, 0]
    return differences


def uniform(n: int) -> Floats:
    """|A| / n: the Choquet integral with it is the arithmetic mean."""
    return set_sizes(n) / n


def made_monotone(mu: Floats) -> Floats:
    """A monotone measure near this one: between the largest subset and the smallest superset, 0 and 1 at the ends."""
    clipped = np.clip(mu, 0.0, 1.0)
    clipped[0], clipped[-1] = 0.0, 1.0
    upper = clipped.copy()
    for halves in _halves(upper):
        np.maximum(halves[:, 1], halves[:, 0], out=halves[:, 1])
    mean: Floats = (upper + least_of_supersets(clipped)) / 2
    return mean


def least_of_supersets(mu: Floats) -> Floats:
    """The largest monotone measure that is nowhere above this one."""
    lower = mu.copy()
    for halves in _halves(lower):
        np.minimum(halves[:, 0], halves[:, 1], out=halves[:, 0])
    return lower


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
