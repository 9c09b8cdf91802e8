"""Numbers of a table as they are published: means on a grid, and of each column what may be said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.microaggregation.exact_sums import scale_of
from shoal.protection.extremes import Limits, dominance, limits_of
from shoal.protection.publishable import changes_of, moved_records, reasons_withheld, warn_of_dominance
from shoal.protection.rounding import chosen_steps, on_grid
from shoal.results.summary import ColumnChange

__all__ = ["PublishedNumbers", "publish_means", "publish_values"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PublishedNumbers:
    """Columns of numbers, (rows, columns) each, before and after."""

    names: tuple[str, ...]
    values: Floats
    released: Floats
    steps: Floats  # of each column's grid; 0: not rounded
    scale: Floats  # standard deviation, 1 for a constant column
    limits: Limits
    reasons: tuple[str | None, ...]  # why the figures of a column are not told

    @property
    def inner_scale(self) -> Floats:
        """A scale that no record decides: distances on it do not tell how far out the most unusual one is."""
        spread = self.limits.spread(self.values)
        return np.where(spread > 0.0, spread, self.scale)

    @property
    def changes(self) -> tuple[ColumnChange, ...]:
        """What may be said of each column."""
        squares = np.sum((self.values - self.values.mean(axis=0)) ** 2, axis=0)
        lost = np.sum((self.values - self.released) ** 2, axis=0)
        share = np.divide(lost, squares, out=np.zeros_like(lost), where=squares > 0.0)
        return changes_of(self.names, self.values, self.released, self.limits, share, self.steps, self.reasons)


def publish_means(names: Sequence[str], values: Floats, means: Floats, k: int) -> PublishedNumbers:
    """Each row's mean of its group, rounded."""
    limits = limits_of(values, k)
    scale = _scale(values)
    spread = limits.spread(values)

    def added(steps: Floats) -> float:
        return float(np.sum(((on_grid(means, steps) - means) / scale) ** 2))

    error = float(np.sum(((values - means) / scale) ** 2))
    steps = chosen_steps(error, len(values), spread, added)
    return _published(names, values, means, on_grid(means, steps), steps, limits)


def publish_values(names: Sequence[str], values: Floats, masked: Floats) -> PublishedNumbers:
    """Each row's own masked values, as they are: nothing was averaged."""
    return _published(names, values, masked, masked, np.zeros(len(names)), limits_of(values, 1))


def _published(
    names: Sequence[str], values: Floats, means: Floats, released: Floats, steps: Floats, limits: Limits
) -> PublishedNumbers:
    constant = values.max(axis=0) == values.min(axis=0)
    shares = dominance(values)
    warn_of_dominance(names, shares, len(values))
    return PublishedNumbers(
        names=tuple(names),
        values=values,
        # The mean of equal values may differ from them by a rounding; and no negative zeros.
        released=np.where(constant, values, released) + 0.0,
        steps=steps,
        scale=_scale(values),
        limits=limits,
        reasons=reasons_withheld(np.where(constant, 0, moved_records(values, means)), shares),
    )


def _scale(values: Floats) -> Floats:
    return scale_of(values.std(axis=0), np.abs(values).max(axis=0, initial=0.0))
