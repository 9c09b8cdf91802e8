"""What a column holds at a glance: a histogram of numbers and dates, the most frequent of other values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.data.columns import is_gap
from shoal.data.kinds.recognition import Recognised, plain_values
from shoal.data.roles import Kind

BANDS = 10
MOST_FREQUENT = 8


@dataclass(frozen=True)
class Band:
    """A value, or a range of numbers, and how many records have it."""

    label: str
    count: int


def bands_of(column: Any, recognised: Recognised) -> tuple[Band, ...]:
    """A histogram of numbers; of other values, the most frequent."""
    if recognised.kind in (Kind.TEXT, Kind.IDENTIFIER):
        return ()  # they would quote single records
    given = column.filter(pc.invert(is_gap(column)))
    are_numbers = recognised.kind in (Kind.NUMBER, Kind.WHOLE) and recognised.certain
    if are_numbers and len(given) and len(plain_values(column)) > BANDS:
        numbers = given.cast(pa.float64(), safe=False).to_numpy()
        numbers = numbers[np.isfinite(numbers)]
        return _bands_of_wholes(numbers) if recognised.kind is Kind.WHOLE else _bands_of_numbers(numbers)
    if pa.types.is_dictionary(given.type):
        given = given.cast(given.type.value_type)
    counted = given.value_counts()
    pairs = [(_spelt(count_of_value["values"]), int(count_of_value["counts"].as_py())) for count_of_value in counted]
    if are_numbers:
        pairs.sort(key=lambda pair: float(pair[0]))
    elif recognised.kind == Kind.DATE:
        return _bands_of_dates(pairs)
    elif recognised.order:
        pairs.sort(key=lambda pair: recognised.order.index(pair[0]) if pair[0] in recognised.order else -1)
    else:
        pairs = sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:MOST_FREQUENT]
    return tuple(Band(label, count) for label, count in pairs[:BANDS])


def _bands_of_numbers(numbers: NDArray[np.float64]) -> tuple[Band, ...]:
    counts, edges = np.histogram(numbers, bins=BANDS)
    return tuple(
        Band(f"{low:.6g} to {high:.6g}", int(count))
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    )


def _bands_of_wholes(numbers: NDArray[np.float64]) -> tuple[Band, ...]:
    """Bands of whole numbers: 17 to 24, 25 to 32."""
    lowest, highest = int(numbers.min()), int(numbers.max())
    width = -(-(highest - lowest + 1) // BANDS)
    starts = range(lowest, highest + 1, width)
    places = np.minimum((numbers - lowest) // width, len(starts) - 1).astype(np.int64)
    counts = np.bincount(places, minlength=len(starts)).tolist()
    ends = (min(start + width - 1, highest) for start in starts)
    return tuple(Band(f"{a} to {b}" if a < b else str(a), n) for a, b, n in zip(starts, ends, counts, strict=True))


def _bands_of_dates(pairs: list[tuple[str, int]]) -> tuple[Band, ...]:
    """By year or decade: four digits that stand apart, or the first of eight, are a year in every form recognised."""
    years: dict[int, int] = {}
    for text, count in pairs:
        year_in_text = re.search(r"(?<!\d)(\d{4})(?:\d{4})?(?!\d)", text)
        if year_in_text:
            years[int(year_in_text[1])] = years.get(int(year_in_text[1]), 0) + count
    if not years:
        return ()
    span = max(years) - min(years)
    width = next(width for width in (1, 10, 100, 1000, 10000) if span // width < BANDS)
    bands: dict[int, int] = {}
    for year, count in years.items():
        bands[year // width * width] = bands.get(year // width * width, 0) + count
    return tuple(
        Band(str(start) if width == 1 else f"{start} to {start + width - 1}", bands[start]) for start in sorted(bands)
    )


def _spelt(value: Any) -> str:
    try:
        return str(value.as_py())
    except ValueError:  # nanoseconds, which Python does not have
        return str(value)
