"""Columns with numbers behind them: plain and whole numbers, dates, ordered labels. Read as numbers, written again.

Every form has the same four parts: `numbers` reads a column (NaN where a value is missing), `rounded` gives the nearest
numbers that can be written, `written` writes them, and `median` says whether the middle of a group stands for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.data.columns import (
    NUMBER,
    column_numbers,
    holds_numbers,
    is_gap,
    is_text,
    plain,
    plain_amounts,
    thousands_mark,
    value_type,
)
from shoal.data.files import counted, shown
from shoal.data.kinds.dates import FORMS, DateForm, fitting_forms, misfits, period_numbers, period_texts
from shoal.data.roles import Kind
from shoal.errors import InputError

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799  # of the years 1 to 9999
_PER_SECOND = {"s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}


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

    in_text: bool = False  # the owner says that text holds numbers

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


class Dates:
    """Whole numbers of a unit since 1970, written as dates or as the periods in which these lie."""

    kind = Kind.DATE
    median = False
    step = 1.0
    unit: str  # what the numbers count: year, month, day, minute or second
    period: str | None  # month, year or decade
    dates: pa.DataType  # of dates that are written as such

    @property
    def type(self) -> pa.DataType:
        return self.dates if self.period is None else pa.string()

    def rounded(self, numbers: Floats) -> Floats:
        whole = np.rint(numbers)
        return whole if self.period is None else period_texts(whole, self.unit, self.period)[1]

    def written(self, numbers: Floats, gaps: Mask) -> pa.Array:
        if self.period is None:
            return self.written_dates(numbers, gaps)
        different, row_of = np.unique(numbers, return_inverse=True)
        texts = np.array(period_texts(different, self.unit, self.period)[0], dtype=object)
        return pa.array(texts[row_of.ravel()], pa.string(), mask=gaps)

    def written_dates(self, numbers: Floats, gaps: Mask) -> pa.Array:
        """Whole numbers as dates, null where there are gaps."""
        raise NotImplementedError


@dataclass(frozen=True)
class Years(Dates):
    """Years in a column of numbers, or their decades."""

    period: str | None = None

    unit = "year"
    dates = pa.int64()

    def numbers(self, column: Any, name: str) -> Floats:
        years = column_numbers(column, name)
        given = years[~np.isnan(years)]
        if np.any((given < 1) | (given > 9999) | (given != np.rint(given))):
            raise InputError(
                f"column {name}: a number is no year from 1 to 9999; correct it, or say {{option}}",
                f"kinds {name}=number",
            )
        return years

    def written_dates(self, numbers: Floats, gaps: Mask) -> pa.Array:
        return pa.array(numbers.astype(np.int64), self.dates, mask=gaps)


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
        missing = is_gap(texts)
        places = pc.index_in(pc.utf8_trim_whitespace(texts), value_set=pa.array(self.order, pa.large_string()))
        unknown = np.asarray(pc.and_(pc.is_null(places), pc.invert(missing)))
        if unknown.any():
            values = len(texts.filter(pa.array(unknown)).unique())
            raise InputError(
                f"column {name}: {counted(values, 'label')} (in {counted(int(unknown.sum()), 'row')}, first in row "
                f"{np.flatnonzero(unknown)[0] + 1}) not in its order; add them: {{option}}",
                f"order {name}=lowest<…<highest",
            )
        numbers = np.asarray(places.fill_null(0)).astype(np.float64)
        return np.where(np.asarray(missing), np.nan, numbers)

    def rounded(self, numbers: Floats) -> Floats:
        return np.clip(np.rint(numbers), 0, len(self.order) - 1)

    def written(self, numbers: Floats, gaps: Mask) -> pa.Array:
        texts = pa.array(self.order, self.type).take(pa.array(numbers.astype(np.int64)))
        return pc.if_else(pa.array(gaps), pa.scalar(None, self.type), texts)


@dataclass(frozen=True)
class DateColumn(Dates):
    """Dates written as text."""

    form: DateForm
    period: str | None = None

    dates = pa.string()

    @property
    def unit(self) -> str:  # type: ignore[override]
        return self.form.unit

    def numbers(self, column: Any, name: str) -> Floats:
        texts = _texts(column)
        encoded = texts.dictionary_encode()
        numbers = np.append(self.form.numbers(encoded.dictionary), np.nan)
        of_rows: Floats = numbers[encoded.indices.fill_null(len(numbers) - 1).to_numpy()]
        return of_rows

    def written_dates(self, numbers: Floats, gaps: Mask) -> pa.Array:
        different, row_of = np.unique(numbers, return_inverse=True)
        texts = np.array(self.form.texts(different), dtype=object)
        return pa.array(texts[row_of.ravel()], self.dates, mask=gaps)


@dataclass(frozen=True)
class StoredDates(Dates):
    """Dates of a type of their own, as Parquet and dataframes have them; by the day if none has a time of day."""

    dates: pa.DataType
    unit: str  # day or second
    period: str | None = None

    def numbers(self, column: Any, name: str) -> Floats:
        seconds = _seconds(column)
        if np.any((seconds < _FIRST_SECOND) | (seconds > _LAST_SECOND)):
            raise InputError(f"column {name}: a date is before the year 1 or after 9999; correct it")
        return seconds / 86400.0 if self.unit == "day" else seconds

    def written_dates(self, numbers: Floats, gaps: Mask) -> pa.Array:
        seconds = numbers.astype(np.int64) * (86400 if self.unit == "day" else 1)
        if pa.types.is_date32(self.dates):
            return pa.array((seconds // 86400).astype(np.int32), pa.int32(), mask=gaps).cast(self.dates)
        per_second = 1000 if pa.types.is_date64(self.dates) else _PER_SECOND[self.dates.unit]
        return pa.array(seconds * per_second, pa.int64(), mask=gaps).cast(self.dates)

    @classmethod
    def units(cls, column: Any) -> tuple[str, ...]:
        """The units in which a column's dates are whole."""
        seconds = _seconds(column)
        return ("day", "second") if np.all((seconds % 86400 == 0) | np.isnan(seconds)) else ("second",)


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
    return plain(column).cast(pa.large_string())


def _numbers_in_text(column: Any, name: str) -> Any:
    """A column of text as numbers; other columns as they are."""
    if not is_text(value_type(column.type)):
        return column
    texts = _texts(column)
    trimmed = pc.if_else(is_gap(texts), pa.scalar(None, pa.large_string()), pc.utf8_trim_whitespace(texts))
    try:
        return trimmed.cast(pa.float64())
    except pa.ArrowInvalid:
        for decimal in ".,":
            mark = thousands_mark(trimmed.unique().drop_null(), decimal)
            if mark is not None:
                return plain_amounts(trimmed, decimal, mark).cast(pa.float64())
        wrong = np.asarray(pc.invert(pc.fill_null(pc.match_substring_regex(trimmed, NUMBER), True)))
        rows = np.flatnonzero(wrong)
        where = f" (first in row {rows[0] + 1})" if len(rows) else ""
        raise InputError(
            f"column {shown(name)}: {counted(max(len(rows), 1), 'value')} not a number{where}; correct them, or give "
            "the column another kind"
        ) from None


def date_parameters(form: Any) -> dict[str, str]:
    """How a column of dates is written, and to which period it was generalised."""
    spelling = form.form.spelling if isinstance(form, DateColumn) else "%Y" if isinstance(form, Years) else "stored"
    return {"form": spelling} | ({} if form.period is None else {"generalised_to": form.period})


def unit_of(form: Any) -> str:
    """What the numbers behind dates count: year, month, day, minute or second."""
    return form.form.unit if isinstance(form, DateColumn) else str(getattr(form, "unit", "year"))


def date_forms(name: str, column: Any, spelling: str | None, period: str | None, given: bool) -> Iterator[Any]:
    """Every form in which a column holds dates; refused if there is none. `given`: the owner says that it does."""
    stored = value_type(column.type)
    if pa.types.is_date(stored) or pa.types.is_timestamp(stored):
        yield from (StoredDates(stored, unit, period) for unit in StoredDates.units(column))
        return
    if holds_numbers(stored) and (spelling == "%Y" or (spelling is None and _are_short(column))):
        yield Years(period=period)
        return
    if not is_text(stored) and not holds_numbers(stored):
        raise InputError(f"column {shown(name)} is {stored}, which holds no dates; give it another kind")
    texts = _texts(column)
    there = pc.invert(is_gap(texts))
    texts, rows = texts.filter(there), np.flatnonzero(np.asarray(there))
    forms = FORMS if given else tuple(form for form in FORMS if form != "%Y")
    forms = (spelling,) if spelling else forms
    fitting = fitting_forms(texts.unique(), forms)
    if not fitting and len(texts):
        written, count, first, all_written = misfits(texts, forms)
        row = f"first in row {rows[first] + 1}"
        if not count:
            raise InputError(
                f"column {shown(name)}: months have names of several languages or lengths; write all in one form"
            )
        if all_written:
            raise InputError(
                f"column {shown(name)}: {counted(count, 'date')} that no calendar has (read as {written}, {row}); "
                "correct them"
            )
        raise InputError(
            f"column {shown(name)}: {count} of {counted(len(texts), 'value')} not written as {written} ({row}); write "
            "all dates in one form, or give the column another kind"
        )
    yield from (DateColumn(form, period) for form in fitting)


def _are_short(column: Any) -> bool:
    """Whether numbers are years rather than 19801231."""
    largest = pc.max(plain(column)).as_py()
    return largest is None or not largest >= 10_000


def dates_as_numbers(
    name: str, before: Any, after: Any, spelling: str | None, period: str | None
) -> tuple[Floats, Floats]:
    """Dates before and after protection as numbers of one unit; `period` is what those after were generalised to."""
    form = next(date_forms(name, before, spelling if spelling in FORMS else None, None, True))
    numbers = form.numbers(before, shown(name))
    if period is not None:
        return numbers, period_numbers(after, unit_of(form), period)
    return numbers, form.numbers(after, shown(name))
