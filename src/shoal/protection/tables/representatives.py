"""What stands for the numbers of a group: the mean, the median of ranks, or a gap for all of it.

A gap counts as the column's mean in every figure, and apart from it as a value of its own in the distance, where that
is asked for. See docs/kinds.md for what is published of a group with gaps, and why.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.microaggregation.blocks.block import Block
from shoal.microaggregation.numeric import group_means
from shoal.protection.rounding import on_grid
from shoal.protection.tables.layout import Layout, MaskedBlock

__all__ = ["LEAST_PRESENT", "coordinates", "gap_coordinates", "represented", "standardised", "writable"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

LEAST_PRESENT = 2  # values behind a published mean: that of one would be that one


def standardised(values: Floats, layout: Layout) -> Floats:
    """Numbers on the scale on which rows are compared."""
    standard: Floats = (values - layout.mean) / layout.scale
    return standard


def gap_coordinates(gaps: Mask | None, layout: Layout, n_rows: int) -> Floats:
    """Which values are missing, on the scale of the numbers: a column for each that has gaps which count as values."""
    if gaps is None or not len(layout.gap_places):
        return np.empty((n_rows, 0))
    apart: Floats = (gaps[:, layout.gap_places] - layout.gap_mean) / layout.gap_scale
    return apart


def coordinates(values: Floats, gaps: Mask | None, layout: Layout) -> Floats:
    """Where a row is: its numbers, and which of them are missing."""
    return np.column_stack([standardised(values, layout), gap_coordinates(gaps, layout, len(values))])


def represented(block: Block, layout: Layout) -> tuple[Floats, Mask | None]:
    """The numbers that stand for each row's group, and where a gap does."""
    values, groups = block.carried["values"], block.groups
    if not values.shape[1]:
        return np.empty((len(groups), 0)), None
    gaps: Mask | None = block.carried.get("gaps")
    middle = group_means(values, groups)
    for place, form in enumerate(layout.forms):
        if form.median:
            middle[:, place] = _medians(values[:, place], groups)
    if gaps is None:
        return middle[groups], None
    sizes = np.bincount(groups)
    gone = np.zeros_like(middle, dtype=bool)
    for place in np.flatnonzero(gaps.any(axis=0)).tolist():
        there = ~gaps[:, place]
        present = np.bincount(groups, weights=there)
        enough = (present >= LEAST_PRESENT) & (2 * present >= sizes)
        if layout.forms[place].median:
            own = _medians(values[:, place], groups, gaps[:, place])
        else:
            sums = np.bincount(groups, weights=np.where(there, values[:, place], 0.0))
            own = np.divide(sums, present, out=np.zeros_like(sums), where=present > 0)
        middle[:, place] = np.where(enough, own, middle[:, place])
        if len(layout.gap_places):  # a gap is a value; else it is filled, by the column's mean where few have a value
            gone[:, place] = ~enough
            middle[gone[:, place], place] = layout.mean[place]
    return middle[groups], gone[groups]


def _medians(values: Floats, groups: Ints, gaps: Mask | None = None) -> Floats:
    """The lower median of each group, of the values that are there; any value where none is."""
    sizes = np.bincount(groups)
    filled = values if gaps is None else np.where(gaps, np.inf, values)
    order = np.lexsort((filled, groups))
    there = sizes if gaps is None else np.bincount(groups, weights=~gaps).astype(np.int64)
    first = np.cumsum(sizes) - sizes
    middle: Floats = values[order[first + np.maximum(there - 1, 0) // 2]]
    return middle


def writable(masked: MaskedBlock, layout: Layout, steps: Floats) -> Floats:
    """The masked numbers on their grids, as they can be written, and within the range that their column had."""
    values, rounded = masked.block.carried["values"], on_grid(masked.numbers, steps)
    for place, form in enumerate(layout.forms):
        column, step = rounded[:, place], max(float(steps[place]), form.step)
        column = form.rounded(column)
        if layout.averaged and step > 0.0 and getattr(form, "period", None) is None:
            low, high = layout.lowest[place], layout.highest[place]
            column = np.where(column > high, column - step, np.where(column < low, column + step, column))
            column = form.rounded(np.clip(column, low, high))
        rounded[:, place] = column
    # The mean of equal values may differ from them by a rounding; and no negative zeros.
    return np.where(layout.constant, values, rounded) + 0.0
