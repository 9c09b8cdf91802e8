"""How precisely weights are published: what the attacker reads from the numbers themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Precision", "precision_of"]

Floats = NDArray[np.float64]

DOUBLE = 2e-15  # relative: what a sum of a dozen products may be off by
MOST_DIGITS = 12  # more digits than that are as good as all
FEWEST = 8  # weights that a grid must fit before it is believed


@dataclass(frozen=True)
class Precision:
    """How far a published weight may be from the true one."""

    decimals: int | None = None  # rounded to so many places
    unit: float = 0.0  # or to multiples of this
    ratio: float = 1.0  # or to powers of this

    def slack(self, weights: Floats) -> Floats:
        """How far each weight may be off."""
        relative = max(DOUBLE, float(np.sqrt(self.ratio)) - 1.0)
        slack: Floats = np.maximum(weights * relative, self.unit * (0.5 + 1e-9))
        return slack

    @property
    def exact(self) -> bool:
        return self.unit == 0.0 and self.ratio == 1.0

    def __str__(self) -> str:
        if self.exact:
            return "in full precision"
        if self.ratio > 1.0:
            return f"rounded to powers of {self.ratio:.3g}"
        return f"rounded to {self.decimals} decimals" if self.decimals is not None else "rounded to a grid"


def precision_of(weights: Floats) -> Precision:
    """The coarsest grid that all weights are on: powers of a number, decimals, or none."""
    if len(weights) < FEWEST:
        return Precision()
    ratio = _common_ratio(weights)
    if ratio is not None:
        return Precision(ratio=ratio)
    for decimals in range(1, MOST_DIGITS + 1):
        scaled = weights * 10.0**decimals
        if np.all(np.abs(scaled - np.round(scaled)) < np.maximum(1e-6, scaled * 1e-14)):
            return Precision(decimals=decimals, unit=10.0**-decimals)
    return Precision()


def _common_ratio(weights: Floats) -> float | None:
    """The number that all quotients of weights are powers of, if there is one worth the name."""
    levels = np.unique(np.round(np.log(weights), 9))
    if len(levels) < 2:
        return None
    step = float(np.diff(levels).min())
    places = (levels - levels[0]) / step
    regular = np.all(np.abs(places - np.round(places)) < 1e-5) and len(levels) < len(weights) / 3
    return float(np.exp(step)) if regular and step > 1e-3 else None
