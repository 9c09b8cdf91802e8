"""Figures of masked numbers that may be published: nothing that tells a single record's value."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.io.files import shown
from shoal.protection.extremes import DOMINANT, Limits
from shoal.protection.groups import FEW
from shoal.results.summary import ColumnChange

__all__ = ["changes_of", "grid_of", "moved_records", "reason_of_all", "reasons_withheld", "warn_of_dominance"]

Floats = NDArray[np.float64]

FEW_MOVED = f"fewer than {FEW} records changed, and figures about so few tell each of them"
TELLS_WHO_LEFT = "compared with those of the release before, such figures would tell who left"
DOMINATED = "one record makes up more than a third of what varies, and such figures would tell it"
NO_VALUE = "no group shows a value"
DIGITS = 3  # of the loss: more would tell, of two releases, what one record adds to it
UNMOVED = 1e-12  # relative: a mean of equal values may differ from them by a rounding


def reasons_withheld(moved: NDArray[np.int64], dominance: Floats) -> tuple[str | None, ...]:
    """Why the figures of each column are not published; None: they are.

    `moved` counts the records that their group's mean changed, before any rounding of it.
    """
    pairs = zip(moved.tolist(), dominance.tolist(), strict=True)
    return tuple(FEW_MOVED if 0 < count < FEW else DOMINATED if share > DOMINANT else None for count, share in pairs)


def moved_records(values: Floats, means: Floats) -> NDArray[np.int64]:
    """How many records of each column are not the mean of their group."""
    moved: NDArray[np.int64] = np.sum(np.abs(values - means) > UNMOVED * np.abs(values), axis=0)
    return moved


def reason_of_all(reasons: Sequence[str | None]) -> str | None:
    """Why figures over all columns are not published; None: they are."""
    return next((f"in some column {reason}" for reason in reasons if reason is not None), None)


def warn_of_dominance(names: Sequence[str], shares: Floats, n_rows: int) -> None:
    """Tell the owner which columns one record decides: the rows of its group give it away, whatever is stated."""
    for name, share in zip(names, shares.tolist(), strict=True):
        if share > DOMINANT and n_rows >= FEW:  # of very few records, one always decides
            warnings.warn(
                f"{shown(name)}: one record makes up {share:.0%} of what varies in this column, and the mean of its "
                "group tells it to whoever can guess the others; cap the column's largest values or leave it out",
                stacklevel=2,
            )


def grid_of(names: Sequence[str], steps: Floats) -> dict[str, float]:
    """What the means of each rounded column are multiples of."""
    return {name: step for name, step in zip(names, steps.tolist(), strict=True) if step > 0.0}


def changes_of(
    names: Sequence[str],
    values: Floats,
    released: Floats,
    limits: Limits,
    loss: Floats,
    steps: Floats,
    reasons: Sequence[str | None],
) -> tuple[ColumnChange, ...]:
    """What may be published of each column, in as many digits: its rows before and after, gaps as NaN, and its loss."""
    before, after = limits.spread(values), limits.spread(released)
    shown_values = [column[~np.isnan(column)] for column in released.T]
    reasons = [NO_VALUE if not len(one) else why for one, why in zip(shown_values, reasons, strict=True)]
    return tuple(
        ColumnChange(
            name=name,
            median=float(np.median(shown_values[place])),
            spread_before=float(f"{before[place]:.3g}"),
            spread_after=float(f"{after[place]:.3g}"),
            loss=round(float(loss[place]), 3),
            step=float(steps[place]) or None,
        )
        if reasons[place] is None
        else ColumnChange(name, None, None, None, None, float(steps[place]) or None, reasons[place])
        for place, name in enumerate(names)
    )
