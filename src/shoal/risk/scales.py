"""Scales on which records are compared, and how near two distances must be to count as equal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["RELATIVE", "Scale", "principal", "standard", "whitening"]

Floats = NDArray[np.float64]

# Distances tie within this share of themselves and the rounding of the tables' values: the mean of two records is as
# far from one as from the other, and must not be nearer to either by the last digit.
RELATIVE = 1e-9
FEW_ROUNDINGS = 8 * np.finfo(np.float64).eps
SMALLEST_ROOT = 1e-10  # of the correlation matrix: directions with less variance than this are rounding, not data


@dataclass(frozen=True)
class Scale:
    """Values to comparable numbers: (values - centre) @ turn."""

    centre: Floats  # (d,)
    turn: Floats  # (d, directions); fewer directions than columns when some are constant or follow from others
    rounding: float  # how far rounding of the values may move a distance

    def __call__(self, values: Floats) -> Floats:
        return np.ascontiguousarray((values - self.centre) @ self.turn)


def standard(values: Floats, others: Floats) -> Scale:
    """Each column in its standard deviations; constant ones tell no records apart and are left out."""
    centre, deviation, varying = _spread(values)
    turn = np.zeros((values.shape[1], int(varying.sum())))
    turn[varying, np.arange(turn.shape[1])] = 1.0 / deviation[varying]
    return Scale(centre, turn, _rounding(values, others, turn))


def principal(values: Floats, others: Floats) -> Scale:
    """Standard deviations, turned to the principal axes: the same distances, and a table that lies along the axes."""
    plain = standard(values, others)
    turn = plain.turn @ _axes(plain(values))[1]
    return Scale(plain.centre, turn, _rounding(values, others, turn))


def whitening(values: Floats, others: Floats) -> Scale:
    """Directions that are uncorrelated and of variance 1: distances on this scale are Mahalanobis'."""
    plain = standard(values, others)
    roots, vectors = _axes(plain(values))
    kept = roots > SMALLEST_ROOT * max(float(roots.max(initial=0.0)), 1.0)
    turn = plain.turn @ (vectors[:, kept] / np.sqrt(roots[kept]))
    return Scale(plain.centre, turn, _rounding(values, others, turn))


def _axes(Z: Floats) -> tuple[Floats, Floats]:
    """Variances along the principal axes, falling, and the axes as columns."""
    roots, vectors = np.linalg.eigh(Z.T @ Z / len(Z))
    return roots[::-1], vectors[:, ::-1]


def _spread(values: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    deviation = values.std(axis=0)
    varying = deviation > 1e-12 * np.abs(values).max(axis=0)
    return values.mean(axis=0), deviation, varying


def _rounding(values: Floats, others: Floats, turn: Floats) -> float:
    largest = np.maximum(np.abs(values).max(axis=0), np.abs(others).max(axis=0))
    return float(FEW_ROUNDINGS * np.linalg.norm(largest @ np.abs(turn)))
