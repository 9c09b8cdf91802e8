"""Sampling weights in a release: one for each crowd, since a weight that varies in it would tell its rows apart.

It is the mean of the crowd's weights, so that their total holds in every crowd; or it is calibrated, so that weighted
totals of named columns hold in the table. Linear calibration (Deville and Särndal 1992), truncated to stay positive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.data.columns import column_numbers
from shoal.data.files import counted, shown
from shoal.errors import InputError
from shoal.release.tables.rows import Floats, Ints
from shoal.results.summary import WeightFigures

DIGITS = 4  # of the mean weight: finer ones would let the weights of strata be counted in a crowd
LEAST, MOST = 0.1, 10.0  # of the mean weight of its crowd, to which a calibrated weight is truncated
ROUNDS = 50


Calibrated = tuple[Any, Any]  # a column whose weighted total is to hold: its values before and as they are released


def checked_weights(column: Any, name: str) -> Floats:
    """Sampling weights as numbers: none is missing or negative, and one is above 0."""
    weights = column_numbers(column, shown(name))
    wrong = np.flatnonzero(~(weights >= 0))
    if wrong.size or not weights.any():
        which = (
            f"{counted(wrong.size, 'weight')} missing or negative (first in row {wrong[0] + 1})" if wrong.size else ""
        )
        raise InputError(f"column {shown(name)}: {which or 'all weights are 0'}; correct them, or drop the column")
    return weights


def released_weights(
    name: str, weights: Floats, crowd_of_row: Ints, k: int, calibrated: Mapping[str, Calibrated]
) -> tuple[Floats, WeightFigures]:
    """A weight for each row, the same in a crowd, and what may be published of how they were made."""
    sizes = np.bincount(crowd_of_row)
    means = np.bincount(crowd_of_row, weights=weights) / sizes
    constant = bool(np.allclose(weights, means[crowd_of_row], rtol=1e-9, atol=0.0))
    of_crowds, held = means, list[str]()
    if calibrated:
        design, totals, held = _conditions(weights, crowd_of_row, k, calibrated)
        of_crowds = _calibrated_weights(means, sizes, design, totals)
    step = 10.0 ** (np.floor(np.log10(weights.mean())) - DIGITS + 1)
    rounded = np.maximum(np.rint(of_crowds / step), 1.0 if weights.all() else 0.0) * step
    rounded = np.round(rounded, max(0, -int(np.floor(np.log10(step)))))
    largest = float(np.max(np.abs(rounded / np.where(means > 0, means, 1.0) - 1.0)[means > 0]))
    figures = WeightFigures(
        column=name,
        constant=constant,
        calibrated=tuple(held),
        step=float(step),
        total_change=_rounded(float(sizes @ rounded) / float(weights.sum()) - 1.0),
        largest_adjustment=_rounded(largest) if calibrated else None,
    )
    return rounded[crowd_of_row], figures


def _rounded(share: float) -> float:
    return round(share, 4) + 0.0


def _conditions(
    weights: Floats, crowd_of_row: Ints, k: int, columns: Mapping[str, Calibrated]
) -> tuple[Floats, Floats, list[str]]:
    """For each crowd the sums of what is to hold, and the totals: that of the weights, of each number and category.

    Of a category that fewer than k records have, or no row of the release, the total is not held: it would be theirs.
    """
    sums: list[Floats] = [np.bincount(crowd_of_row).astype(np.float64)]
    totals = [float(weights.sum())]
    held = []
    for name, column in columns.items():
        parts = [column] if isinstance(column[0], np.ndarray) else _indicators(column, k)
        for before, after in parts:
            sums.append(np.bincount(crowd_of_row, weights=after).astype(np.float64))
            totals.append(float(weights @ before))
        held += [name] if parts else []
    return np.column_stack(sums), np.array(totals), held


def _indicators(column: Calibrated, k: int) -> list[tuple[Floats, Floats]]:
    """Which rows have each category, before and after; the rest of the categories has at least k records, too."""
    before, after = (np.array([str(value) for value in side.to_pylist()], dtype=object) for side in column)
    values, counts = np.unique(before.astype(str), return_counts=True)
    order = np.lexsort((values, -counts))
    there = set(np.unique(after.astype(str)).tolist())
    named = [str(values[place]) for place in order if counts[place] >= k and str(values[place]) in there]
    rest = len(before) - sum(int(counts[values == value][0]) for value in named)
    while named and rest < k:  # the last category follows from the total of all
        rest += int(counts[values == named.pop()][0])
    return [((before == value).astype(np.float64), (after == value).astype(np.float64)) for value in named]


def _calibrated_weights(means: Floats, sizes: Ints, design: Floats, totals: Floats) -> Floats:
    """Weights of crowds nearest to the means (by squared relative change) with these totals, none truncated away."""
    ratio = np.ones_like(means)
    free = np.ones(len(means), dtype=bool)
    for _ in range(ROUNDS):
        fixed = (ratio * means * ~free) @ design
        base = design[free] * means[free, None]
        # The design has sums over a crowd; per record they are divided by its size.
        matrix = base.T @ (design[free] / sizes[free, None])
        multipliers = np.linalg.lstsq(matrix, totals - fixed - base.sum(axis=0), rcond=1e-10)[0]
        adjusted = 1.0 + (design[free] / sizes[free, None]) @ multipliers
        ratio[free] = np.clip(adjusted, LEAST, MOST)
        outside = (adjusted < LEAST) | (adjusted > MOST)
        if not outside.any():
            break
        free[np.flatnonzero(free)[outside]] = False
        if not free.any():
            break
    return ratio * means


def check_calibrated(names: Sequence[str], released: Sequence[str], weight: str) -> None:
    """Refuse totals of columns that a release does not have."""
    for name in names:
        if name not in released or name == weight:
            raise InputError(
                f"column {shown(name)} is not released, so that no weighted total of it can hold; leave it out",
                f"calibrate {shown(name)}",
            )


def columns_to_hold(
    names: Sequence[str], before: Mapping[str, Any], after: pa.Table, numbers: Mapping[str, Calibrated]
) -> dict[str, Calibrated]:
    """The columns of a release whose totals are to hold, numbers as numbers."""
    found: dict[str, Calibrated] = {}
    for name in names:
        if name in numbers:
            found[name] = numbers[name]
        elif name in after.column_names and name in before and not pa.types.is_string(after[name].type):
            values = column_numbers(pa.chunked_array([before[name]]), name)
            found[name] = np.nan_to_num(values), np.nan_to_num(values)
        else:
            found[name] = before[name], after[name]
    return found
