"""Distances as they are learned: called with differences of attributes, (..., n), they give distances, (...)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.risk.learned.measures import choquet, interactions, shapley, uniform, zeta
from shoal.risk.learned.records import Records

__all__ = [
    "Form",
    "LearnedDistance",
    "Measure",
    "Ordered",
    "Turn",
    "Weights",
    "additive",
    "mahalanobis",
    "plain",
    "shrunk",
    "symmetric",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SMALLEST_ROOT = 1e-10  # of the correlation matrix: directions with less variance are rounding, not data


@dataclass(frozen=True)
class Weights:
    """Weighted mean of the squared differences."""

    weights: Floats  # (n,), sum 1
    name: str = "weighted mean"

    def __call__(self, differences: Floats) -> Floats:
        found: Floats = (differences * differences) @ self.weights
        return found

    @property
    def turn(self) -> Floats:
        """The linear map after which this is the squared Euclidean distance."""
        return np.diag(np.sqrt(self.weights))

    def attribute_shares(self) -> Floats:
        return self.weights


@dataclass(frozen=True)
class Ordered:
    """OWA: the first weight goes to the largest squared difference."""

    weights: Floats  # (n,), sum 1
    name: str = "OWA"

    def __call__(self, differences: Floats) -> Floats:
        found: Floats = np.sort(differences * differences, axis=-1) @ self.weights[::-1]
        return found


@dataclass(frozen=True)
class Turn:
    """Squared length of the differences after a linear map: the symmetric form turn @ turn.T, never negative."""

    turn: Floats  # (n, directions)
    name: str = "bilinear"

    def __call__(self, differences: Floats) -> Floats:
        turned = differences @ self.turn
        found: Floats = np.einsum("...i,...i->...", turned, turned)
        return found

    @property
    def matrix(self) -> Floats:
        return self.turn @ self.turn.T


@dataclass(frozen=True)
class Form:
    """Symmetric bilinear form of the differences; it may come out negative."""

    matrix: Floats  # (n, n)
    name: str = "bilinear"

    def __call__(self, differences: Floats) -> Floats:
        found: Floats = np.sum((differences @ self.matrix) * differences, axis=-1)
        return found


@dataclass(frozen=True)
class Measure:
    """Choquet integral of the squared differences with a fuzzy measure."""

    mu: Floats  # (2^n,)
    name: str = "Choquet"

    def __call__(self, differences: Floats) -> Floats:
        return choquet(self.mu, differences * differences)

    def attribute_shares(self) -> Floats:
        return shapley(self.mu)

    def interactions(self) -> Floats:
        return interactions(self.mu)


LearnedDistance = Weights | Ordered | Turn | Form | Measure


def plain(n: int) -> Weights:
    """The arithmetic mean: standard distance-based linkage."""
    return Weights(np.full(n, 1.0 / n), "plain")


def additive(weights: Floats) -> Measure:
    """The measure whose Choquet integral is the weighted mean."""
    m = np.zeros(2 ** len(weights))
    m[1 << np.arange(len(weights))] = weights
    return Measure(zeta(m))


def symmetric(weights: Floats) -> Measure:
    """The measure whose Choquet integral is the OWA."""
    sizes = np.rint(uniform(len(weights)) * len(weights)).astype(np.int64)
    return Measure(np.concatenate([[0.0], np.cumsum(weights)])[sizes])


def mahalanobis(records: Records, known: Ints | None = None) -> Turn:
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
    turn = np.eye(n)
    turn[:n_numbers, :n_numbers] = vectors / np.sqrt(roots)
    return Turn(turn, "Mahalanobis" if known is None else "Mahalanobis of known links")


def shrunk(records: Records, known: Ints, share: float) -> Turn:
    """Mahalanobis of known links with this share of the plain distance mixed in: few links tell little."""
    values = records.before[known] - records.after[known]
    n_numbers = values.shape[1]
    roots, vectors = _axes(values)
    centre = float(roots.mean()) if n_numbers else 0.0
    roots = (1.0 - share) * roots + share * centre
    turn = np.eye(records.n_attributes)
    if centre > 0:
        # On the scale of the plain distance, so that labels keep their weight beside numbers.
        turn[:n_numbers, :n_numbers] = vectors * np.sqrt(centre / np.maximum(roots, SMALLEST_ROOT * centre))
    return Turn(turn, "Mahalanobis of known links")


def _axes(values: Floats) -> tuple[Floats, Floats]:
    """Mean squares along the principal axes, and the axes as columns."""
    roots, vectors = np.linalg.eigh(values.T @ values / len(values))
    return np.maximum(roots, 0.0), vectors
