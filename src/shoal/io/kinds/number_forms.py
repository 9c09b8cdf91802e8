"""Columns with numbers behind them: plain and whole numbers, dates, ordered labels. Read as numbers, written again.

Every form has the same four parts: `numbers` reads a column (NaN where a value is missing), `rounded` gives the nearest
numbers that can be written, `written` writes them, and `median` says whether the middle of a group stands for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.io.delimited import MISSING
from shoal.io.files import counted, shown
from shoal.io.kinds.dates import DateForm
from shoal.io.kinds.periods import period_texts
from shoal.io.kinds.recognition import is_text_type
from shoal.io.kinds.vocabulary import Kind
from shoal.io.table import column_numbers

__all__ = [
    "DateColumn",
    "Doubles",
    "NumberForm",
    "Ranks",
    "StoredDates",
    "Wholes",
    "Years",
    "date_parameters",
    "present_texts",
    "unit_of",
]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799  # of the years 1 to 9999


class NumberForm(Protocol):
    """See the module."""

    kind: Kind
    median: bool
    step: float  # what is written are multiples of it; 0: any number
    type: pa.DataType  # of what is written

    def numbers(self, column: Any, name: str) -> Floats:
        """The column as numbers, NaN where a value is missing."""

    def rounded(self, numbers: Floats) -> Floats:
        """The nearest numbers that can be written."""

    def written(self, numbers: Floats, gaps: Mask) -> pa.Array:
        """Rounded numbers as they are released, null where there are gaps."""


@dataclass(frozen=True)
class Doubles:
    """Numbers as they are."""

    in_text: bool = False  # somebody says that text holds numbers

    kind = Kind.NUMBER
    median = False
    step = 0.0
    type = pa.float64()

    def numbers(self, column: Any, name: str) -> Floats:
        return column_numbers(_numbers_in_text(column, name) if self.in_text else column, name)

    def rounded(self, numbers: Floats) -> Floats:
        return numbers

    def written(self, numbers: Floats, gaps: Mask) -> pa.Array:
        return pa.array(numbers, self.type, mask=gaps)


@dataclass(frozen=True)
class Wholes(Doubles):
    """Numbers that are whole in the release."""

    kind = Kind.WHOLE
    step = 1.0
    type = pa.int64()

    def rounded(self, numbers: Floats) -> Floats:
        return np.rint(numbers)

    def written(self, numbers: Floats, gaps: Mask) -> pa.Array:
        return pa.array(numbers.astype(np.int64), self.type, mask=gaps)


@dataclass(frozen=True)
class Years(Wholes):
    """Years in a column of numbers, or their decades."""

    period: str | None = None

    kind = Kind.DATE

    @property
    def type(self) -> pa.DataType:
        return pa.int64() if self.period is None else pa.string()

    def numbers(self, column: Any, name: str) -> Floats:
        years = super().numbers(column, name)
        given = years[~np.isnan(years)]
        if np.any((given < 1) | (given > 9999) | (given != np.rint(given))):
            raise InputError(
                f"column {name}: a number is no year from 1 to 9999; correct it, or say --kind {name}=number"
            )
        return years

    def rounded(self, numbers: Floats) -> Floats:
        whole = np.rint(numbers)
        return whole if self.period is None else period_texts(whole, "year", self.period)[1]

    def written(self, numbers: Floats, gaps: Mask) -> pa.Array:
        if self.period is None:
            return super().written(numbers, gaps)
        return pa.array(np.array(period_texts(numbers, "year", self.period)[0], dtype=object), pa.string(), mask=gaps)


@dataclass(frozen=True)
class Ranks:
    """Labels in an order; their places are the numbers, and the middle one stands for a group."""

    order: tuple[str, ...]

    kind = Kind.ORDERED
    median = True
    step = 1.0
    type = pa.string()

    def numbers(self, column: Any, name: str) -> Floats:
        texts = _texts(column)
        missing = _is_missing(texts)
        places = pc.index_in(pc.utf8_trim_whitespace(texts), value_set=pa.array(self.order, pa.large_string()))
        unknown = np.asarray(pc.and_(pc.is_null(places), pc.invert(missing)))
        if unknown.any():
            values = len(texts.filter(pa.array(unknown)).unique())
            raise InputError(
                f"column {name}: {counted(values, 'label')} (in {counted(int(unknown.sum()), 'row')}, first in row "
                f"{np.flatnonzero(unknown)[0] + 1}) not in its order; add them: --order {name}=lowest<…<highest"
            )
        numbers = np.asarray(places.fill_null(0)).astype(np.float64)
        return np.where(np.asarray(missing), np.nan, numbers)

    def rounded(self, numbers: Floats) -> Floats:
        return np.clip(np.rint(numbers), 0, len(self.order) - 1)

    def written(self, numbers: Floats, gaps: Mask) -> pa.Array:
        texts = pa.array(self.order, self.type).take(pa.array(numbers.astype(np.int64)))
        return pc.if_else(pa.array(gaps), pa.scalar(None, self.type), texts)


@dataclass(frozen=True)
class DateColumn:
    """Dates written as text, or generalised to a period."""

    form: DateForm
    period: str | None = None  # month, year or decade

    kind = Kind.DATE
    median = False
    step = 1.0
    type = pa.string()

    def numbers(self, column: Any, name: str) -> Floats:
        texts = _texts(column)
        encoded = texts.dictionary_encode()
        numbers = np.append(self.form.numbers(encoded.dictionary), np.nan)
        found: Floats = numbers[encoded.indices.fill_null(len(numbers) - 1).to_numpy()]
        return found

    def rounded(self, numbers: Floats) -> Floats:
        whole = np.rint(numbers)
        return whole if self.period is None else period_texts(whole, self.form.unit, self.period)[1]

    def written(self, numbers: Floats, gaps: Mask) -> pa.Array:
        different, place = np.unique(numbers, return_inverse=True)
        if self.period is None:
            texts = self.form.texts(different)
        else:
            texts = period_texts(different, self.form.unit, self.period)[0]
        return pa.array(np.array(texts, dtype=object)[place.ravel()], self.type, mask=gaps)


@dataclass(frozen=True)
class StoredDates:
    """Dates of a type of their own, as Parquet and dataframes have them; by the day if none has a time of day."""

    stored: pa.DataType
    unit: str  # day or second
    period: str | None = None

    kind = Kind.DATE
    median = False
    step = 1.0

    @property
    def type(self) -> pa.DataType:
        return self.stored if self.period is None else pa.string()

    def numbers(self, column: Any, name: str) -> Floats:
        seconds = _seconds(column)
        if np.any((seconds < _FIRST_SECOND) | (seconds > _LAST_SECOND)):
            raise InputError(f"column {name}: a date is before the year 1 or after 9999; correct it")
        return seconds / 86400.0 if self.unit == "day" else seconds

    def rounded(self, numbers: Floats) -> Floats:
        whole = np.rint(numbers)
        return whole if self.period is None else period_texts(whole, self.unit, self.period)[1]

    def written(self, numbers: Floats, gaps: Mask) -> pa.Array:
        if self.period is not None:
            different, place = np.unique(numbers, return_inverse=True)
            texts = np.array(period_texts(different, self.unit, self.period)[0], dtype=object)
            return pa.array(texts[place.ravel()], self.type, mask=gaps)
        seconds = numbers.astype(np.int64) * (86400 if self.unit == "day" else 1)
        if pa.types.is_date32(self.stored):
            return pa.array((seconds // 86400).astype(np.int32), pa.int32(), mask=gaps).cast(self.stored)
        per_second = 1000 if pa.types.is_date64(self.stored) else _PER_SECOND[self.stored.unit]
        return pa.array(seconds * per_second, pa.int64(), mask=gaps).cast(self.stored)

    @classmethod
    def units(cls, column: Any) -> tuple[str, ...]:
        """The units in which a column's dates are whole."""
        seconds = _seconds(column)
        return ("day", "second") if np.all((seconds % 86400 == 0) | np.isnan(seconds)) else ("second",)


_PER_SECOND = {"s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}


def _seconds(column: Any) -> Floats:
    """Of a column of dates or timestamps, since 1970."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_date32(column.type):
        factor, numbers = 86400.0, column.cast(pa.int32())
    else:
        factor = 1e-3 if pa.types.is_date64(column.type) else 1.0 / _PER_SECOND[column.type.unit]
        numbers = column.cast(pa.int64())
    there = np.asarray(pc.is_valid(numbers))
    return np.where(there, np.asarray(numbers.fill_null(0)) * factor, np.nan)


def _texts(column: Any) -> pa.Array:
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.large_string())


def _is_missing(texts: pa.Array) -> pa.Array:
    return pc.or_(pc.is_null(texts), pc.fill_null(pc.is_in(texts, pa.array(MISSING, pa.large_string())), True))


def present_texts(column: Any) -> tuple[pa.Array, NDArray[np.int64]]:
    """The texts that are there, and the row of each."""
    texts = _texts(column)
    there = pc.invert(_is_missing(texts))
    return texts.filter(there), np.flatnonzero(np.asarray(there))


def _numbers_in_text(column: Any, name: str) -> Any:
    """Text as numbers, where somebody says that it is; other columns as they are."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not is_text_type(kind):
        return column
    texts = _texts(column)
    plain = pc.if_else(_is_missing(texts), pa.scalar(None, pa.large_string()), pc.utf8_trim_whitespace(texts))
    try:
        return plain.cast(pa.float64())
    except pa.ArrowInvalid:
        wrong = np.asarray(pc.invert(pc.fill_null(pc.match_substring_regex(plain, _NUMBER), True)))
        rows = np.flatnonzero(wrong)
        where = f" (first in row {rows[0] + 1})" if len(rows) else ""
        raise InputError(
            f"column {shown(name)}: {counted(max(len(rows), 1), 'value')} not a number{where}; correct them, or give "
            "the column another kind"
        ) from None


_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def date_parameters(form: Any) -> dict[str, str]:
    """How a column of dates is written, and to which period it was generalised."""
    spelling = form.form.spelling if isinstance(form, DateColumn) else "%Y" if isinstance(form, Years) else "stored"
    return {"form": spelling} | ({} if form.period is None else {"generalised_to": form.period})


def unit_of(form: Any) -> str:
    """What the numbers behind dates count: year, month, day, minute or second."""
    return form.form.unit if isinstance(form, DateColumn) else str(getattr(form, "unit", "year"))
