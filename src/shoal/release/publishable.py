"""What may be said of masked numbers: nothing that tells a single record's value."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.io.files import shown
from shoal.release.extremes import DOMINANT
from shoal.release.groups import FEW
from shoal.release.summary import ColumnChange

__all__ = ["column_change", "first_reason", "moved_records", "reasons_withheld", "warn_of_dominance"]

Floats = NDArray[np.float64]

FEW_MOVED = f"fewer than {FEW} records changed there, and figures about so few tell each of them"
DOMINATED = "one record makes up more than a third of what varies there, and such figures would tell it"
DIGITS = 3  # of the loss: more would tell, of two releases, what one record adds to it
UNMOVED = 1e-9  # of the scale: a mean of equal values may differ from them by a rounding


def reasons_withheld(moved: NDArray[np.int64], dominance: Floats) -> tuple[str | None, ...]:
    """Why the figures of each column are not told; None: they are.

    `moved` counts the records that their group's mean changed, before any rounding of it.
    """
    pairs = zip(moved.tolist(), dominance.tolist(), strict=True)
    return tuple(FEW_MOVED if 0 < count < FEW else DOMINATED if share > DOMINANT else None for count, share in pairs)


def moved_records(values: Floats, means: Floats, scale: Floats) -> NDArray[np.int64]:
    """How many records of each column are not the mean of their group."""
    moved: NDArray[np.int64] = np.sum(np.abs(values - means) > UNMOVED * scale, axis=0)
    return moved


def first_reason(names: Sequence[str], reasons: Sequence[str | None]) -> str | None:
    """The first column whose figures are not told, and why."""
    return next((f"{name}: {reason}" for name, reason in zip(names, reasons, strict=True) if reason is not None), None)


def warn_of_dominance(names: Sequence[str], shares: Floats) -> None:
    """Tell the owner which columns one record decides: the rows of its group give it away, whatever is stated."""
    for name, share in zip(names, shares.tolist(), strict=True):
        if share > DOMINANT:
            warnings.warn(
                f"{shown(name)}: one record makes up {share:.0%} of what varies in this column, so its group's mean "
                "times the group's size comes near its value; cap the column's largest values or leave the record out",
                stacklevel=2,
            )


def column_change(
    name: str, values: Floats, released: Floats, limits: tuple[float, float], loss: float, step: float
) -> ColumnChange:
    """What became of a column, in as many digits as are told; extreme values drawn in to the limits."""
    low, high = limits
    # Where nearly all values are one, clipped ones may vary by a rounding.
    before, after = (
        float(f"{np.clip(side, low, high).std() if low < high else 0.0:.3g}") for side in (values, released)
    )
    return ColumnChange(name, float(np.median(released)), before, after, round(loss, 3), step or None)
