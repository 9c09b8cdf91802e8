"""Months, years and decades: what a date becomes when it is generalised."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.io.kinds.dates import parts_of_date

__all__ = ["PERIODS", "check_period", "period_numbers", "period_texts"]

Floats = NDArray[np.float64]

PERIODS = ("month", "year", "decade")
_UNITS = ("second", "minute", "day", "month", "year", "decade")  # from fine to coarse
_PER_DAY = {"day": 1, "minute": 1440, "second": 86400}


def check_period(unit: str, period: str) -> bool:
    """Whether dates of a unit can be generalised to a period."""
    return _UNITS.index(period) >= _UNITS.index(unit)


def period_texts(numbers: Floats, unit: str, period: str) -> tuple[list[str], Floats]:
    """The period in which each date lies, as text, and the number in the middle of it.

    >>> period_texts(np.array([3785.0]), "day", "year")  # 13 May 1980
    (['1980'], array([3834.]))
    """
    texts, middles = [], []
    for number in numbers.tolist():
        year, month, *_ = parts_of_date(int(number), unit, 0)
        if period == "month":
            texts.append(f"{year:04d}-{month:02d}")
            first, last = (year - 1970) * 12 + month - 1, (year - 1970) * 12 + month
        else:
            start, width = (year, 1) if period == "year" else (year // 10 * 10, 10)
            texts.append(f"{start:04d}" if period == "year" else f"{start}s")
            first, last = (start - 1970) * 12, (start + width - 1970) * 12
        middles.append(_middle(first, last, unit))
    return texts, np.array(middles, dtype=np.float64)


def period_numbers(column: Any, unit: str, period: str) -> Floats:
    """The number in the middle of each period that a release names; NaN where it names none."""
    middle_of: dict[str | None, float] = {None: np.nan, "": np.nan}
    for text in set(column.to_pylist()) - {None, ""}:
        year, _, month = text.removesuffix("s").partition("-")
        first = (int(year) - 1970) * 12 + (int(month) - 1 if month else 0)
        middle_of[text] = _middle(first, first + {"month": 1, "year": 12, "decade": 120}[period], unit)
    return np.array([middle_of[text] for text in column.to_pylist()], dtype=np.float64)


def _middle(first: int, last: int, unit: str) -> float:
    """Of the months from the first up to the last, which is not among them."""
    if unit == "year":
        return 1970 + (first // 12 + last // 12 - 1) // 2 if last - first > 12 else 1970 + first // 12
    if unit == "month":
        return (first + last - 1) // 2
    days = [np.datetime64(month, "M").astype("datetime64[D]").astype(np.int64) for month in (first, last)]
    return float((int(days[0]) + int(days[1]) - 1) // 2 * _PER_DAY[unit])
