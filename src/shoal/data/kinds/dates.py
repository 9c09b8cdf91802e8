"""Dates as people write them: which form a column has, the numbers behind it, and numbers written in that form again.

A form is spelt with the letters of strftime: %Y-%m-%d, %d.%m.%Y %H:%M, and %d %b %Y where a month has its name. The
calendar is the Gregorian one for all years from 1 to 9999. Times with an offset from UTC are compared in UTC. A date is
generalised to its month, year or decade.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_LONG = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
}
_SHORT = {
    "en": "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    "en, Sept": "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec",
    "de": "Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez",
    "de, Mrz": "Jan Feb Mrz Apr Mai Jun Jul Aug Sep Okt Nov Dez",
    "fr": "janv févr mars avr mai juin juil août sept oct nov déc",
    "es": "ene feb mar abr may jun jul ago sep oct nov dic",
}
TABLES = tuple(tuple(names.split()) for names in (*_LONG.values(), *_SHORT.values()))


def _folded(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.strip().rstrip(".").replace("ae", "a")).encode("ascii", "ignore")
    return plain.decode().lower()


NUMBER_OF = {_folded(name): number for table in TABLES for number, name in enumerate(table, 1)}


def month_number(name: str) -> int:
    """1 to 12; 0 for a word that names no month.

    >>> month_number("März"), month_number("Dec."), month_number("août"), month_number("ward")
    (3, 12, 8, 0)
    """
    return NUMBER_OF.get(_folded(name), 0)


def spelt_like(names: list[str]) -> tuple[str, ...] | None:
    """The twelve names of the language and length in which these are written, in their case and with their points.

    >>> spelt_like(["MAR", "OCT"])[11]
    'DEC'
    """
    folded = {_folded(name) for name in names}
    table = next((table for table in TABLES if folded <= {_folded(name) for name in table}), None)
    if table is None or not names:
        return None
    point = "." if all(name.endswith(".") for name in names) else ""
    case = str.upper if all(name.isupper() for name in names) else str.lower if names[0].islower() else str.title
    return tuple(case(name) + point for name in table)


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DAYS = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%Y.%m.%d")
_TIMES = (" %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S", " %H:%M:%S.%f", "T%H:%M:%S.%f")
_NAMED = (
    *("%d %b %Y", "%d. %b %Y", "%d-%b-%Y", "%d/%b/%Y", "%d%b%Y", "%b %d, %Y", "%b %d %Y", "%d de %b de %Y", "%d %b %y"),
    *("%d-%b-%y", "%d%b%y", "%b %Y", "%b-%Y", "%b/%Y", "%Y %b", "%Y-%b", "%b %y", "%b-%y", "%b de %Y"),
)
_SHORT_YEARS = ("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y")
FORMS = (
    *_DAYS,
    *(f"{day}{time}{zone}" for day in _DAYS for time in _TIMES for zone in ("", "%z")),
    *_NAMED,
    *_SHORT_YEARS,
    "%Y-%m",
    "%m/%Y",
    "%m.%Y",
    "%Y%m%d",
    "%Y",
)
PLAIN_DIGITS = ("%Y%m%d", "%Y")  # numbers as well: dates only where all of them can be, or the owner says so

_PATTERN = {
    "%Y": r"(?P<year>\d{4})",
    "%y": r"(?P<year>\d{2})",
    "%b": r"(?P<name>\pL{3,10}\.?)",
    "%m": r"(?P<month>\d{1,2})",
    "%d": r"(?P<day>\d{1,2})",
    "%H": r"(?P<hour>\d{1,2})",
    "%M": r"(?P<minute>\d{2})",
    "%S": r"(?P<second>\d{2})",
    "%f": r"(?P<fraction>\d{1,9})",
    "%z": r"(?P<zone>Z|[+-]\d{2}:?\d{2})",
}
_TOKEN = re.compile("%[YymbdHMSfz]")
PIVOT = 30  # years of two digits: 30 to 99 are of the 20th century, 00 to 29 of the 21st, as spreadsheets have it
PERIODS = ("month", "year", "decade")
_UNITS = ("second", "minute", "day", "month", "year", "decade")  # from fine to coarse
_PER_DAY = {"day": 1, "minute": 1440, "second": 86400}


@dataclass(frozen=True)
class DateForm:
    """How a column writes dates."""

    spelling: str
    padded: bool = True  # 05.04.1980, not 5.4.1980
    zone: str = "+00:00"  # in which times with an offset are written
    digits: int = 0  # of the fraction of a second
    months: tuple[str, ...] = ()  # their names, where a name stands for the month

    @cached_property
    def pattern(self) -> str:
        """Matches what has this form, with the parts by name."""
        compact = self.spelling == "%Y%m%d"
        pieces = _TOKEN.split(self.spelling)
        tokens = [_PATTERN[token] for token in _TOKEN.findall(self.spelling)]
        if compact:
            tokens = [token.replace("{1,2}", "{2}") for token in tokens]
        between = [re.escape(piece) for piece in pieces]
        return r"^\s*" + "".join(a + b for a, b in zip(between, [*tokens, ""], strict=True)) + r"\s*$"

    @property
    def unit(self) -> str:
        """The finest part that the form shows, and so what its numbers count: year, month, day, minute or second."""
        for token, unit in (("%S", "second"), ("%M", "minute"), ("%d", "day"), ("%m", "month"), ("%b", "month")):
            if token in self.spelling:
                return unit
        return "year"

    def numbers(self, texts: pa.Array) -> Floats:
        """Years, or months, days, minutes or seconds since 1970; NaN where a text has not this form or is no date."""
        parts = pc.extract_regex(texts.cast(pa.string()), self.pattern)
        there = np.asarray(pc.is_valid(parts))

        def part(name: str, default: int) -> Ints:
            if f"<{name}>" not in self.pattern:
                return np.full(len(there), default, dtype=np.int64)
            cells = pc.fill_null(pc.struct_field(parts, name), str(default))
            numbers: Ints = pc.if_else(pc.equal(cells, ""), str(default), cells).cast(pa.int64()).to_numpy()
            return numbers

        year, month, day = part("year", 1), part("month", 1), part("day", 1)
        if "%y" in self.spelling:
            year = np.where(year < PIVOT, 2000, 1900) + year
        if "%b" in self.spelling:
            month = _months_of(pc.struct_field(parts, "name"))
        hour, minute, second = part("hour", 0), part("minute", 0), part("second", 0)
        there &= (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1)
        there &= (hour <= 23) & (minute <= 59) & (second <= 59)
        months = (year - 1970) * 12 + np.clip(month, 1, 12) - 1
        first, following = (_days_of_months(month_numbers) for month_numbers in (months, months + 1))
        there &= day <= following - first
        days = (first + day - 1).astype(np.float64)
        if self.unit in ("year", "month", "day"):
            counted = {"year": year, "month": months, "day": days}[self.unit].astype(np.float64)
        else:
            minutes = days * 1440.0 + hour * 60 + minute - self._offsets(parts, len(there))
            counted = minutes if self.unit == "minute" else minutes * 60.0 + second + self._fractions(parts)
        return np.where(there, counted, np.nan)

    def _offsets(self, parts: pa.Array, n: int) -> Floats:
        """Minutes that the clock is ahead of UTC."""
        if "%z" not in self.spelling:
            return np.zeros(n)
        zones = pc.struct_field(parts, "zone").dictionary_encode()
        minutes = np.array([*map(_minutes_of, zones.dictionary.to_pylist()), 0.0])
        offsets: Floats = minutes[zones.indices.fill_null(len(minutes) - 1).to_numpy()]
        return offsets

    def _fractions(self, parts: pa.Array) -> Floats | float:
        if "%f" not in self.spelling:
            return 0.0
        cells = pc.fill_null(pc.struct_field(parts, "fraction"), "0")
        fractions: Floats = pc.binary_join_element_wise("0", cells, ".").cast(pa.float64()).to_numpy()
        return fractions

    def texts(self, numbers: Floats) -> list[str]:
        """Whole numbers of the unit as dates in this form."""
        return [self._text(int(number)) for number in numbers.tolist()]

    def _text(self, number: int) -> str:
        year, month, day, minute, second = parts_of_date(number, self.unit, self._shift)
        values = {
            "%Y": f"{year:04d}",
            "%y": f"{year % 100:02d}",
            "%b": self.months[month - 1] if self.months else "",
            "%m": f"{month:02d}" if self.padded else str(month),
            "%d": f"{day:02d}" if self.padded else str(day),
            "%H": f"{minute // 60:02d}",
            "%M": f"{minute % 60:02d}",
            "%S": f"{second:02d}",
            "%f": "0" * max(self.digits, 1),
            "%z": self.zone,
        }
        return _TOKEN.sub(lambda token: values[token.group()], self.spelling)

    @property
    def _shift(self) -> int:
        return int(_minutes_of(self.zone)) if "%z" in self.spelling else 0

    def fitted(self, texts: pa.Array) -> DateForm:
        """The form with what these texts show of it: zeros before digits, one zone for all, digits of a fraction."""
        parts = pc.extract_regex(texts.cast(pa.string()), self.pattern)

        def shortest(name: str) -> int:
            there = f"<{name}>" in self.pattern
            return int(pc.min(pc.utf8_length(pc.struct_field(parts, name))).as_py() or 2) if there else 2

        zones = pc.struct_field(parts, "zone").unique().drop_null().to_pylist() if "%z" in self.spelling else []
        digits = pc.max(pc.utf8_length(pc.struct_field(parts, "fraction"))).as_py() if "%f" in self.spelling else 0
        names = pc.struct_field(parts, "name").unique().drop_null().to_pylist() if "%b" in self.spelling else []
        return DateForm(
            self.spelling,
            padded=min(shortest("month"), shortest("day")) > 1,
            zone=zones[0] if len(zones) == 1 else "+00:00",
            digits=int(digits or 0),
            months=spelt_like(names) or (),
        )


def fitting_forms(texts: pa.Array, forms: Sequence[str]) -> tuple[DateForm, ...]:
    """The forms in which each of these texts is a date of the calendar; none where there is no text."""
    if not len(texts):
        return ()
    first = texts.slice(0, 1)
    shaped = [form for form in map(DateForm, forms) if not np.isnan(_matches(form, first)).any()]
    fitting = (form.fitted(texts) for form in shaped if not np.isnan(form.numbers(texts)).any())
    return tuple(form for form in fitting if form.months or "%b" not in form.spelling)


def misfits(texts: pa.Array, forms: Sequence[str]) -> tuple[str, int, int, bool]:
    """Why texts are not dates of one form: the form that most have, how many are none in it, the place of the first,
    and whether all are written so, but some name no day of the calendar."""
    sample = texts.unique().slice(0, 1000)
    wrong = [int(np.isnan(DateForm(spelling).numbers(sample)).sum()) for spelling in forms]
    form = DateForm(forms[int(np.argmin(wrong))])
    astray = np.flatnonzero(np.isnan(form.numbers(texts)))
    written = not np.isnan(_matches(form, texts)).any()
    return form.spelling, len(astray), int(astray[0]) if len(astray) else 0, written


def _matches(form: DateForm, texts: pa.Array) -> Floats:
    """0 where a text has the form, NaN elsewhere."""
    plain = re.sub(r"\(\?P<\w+>", "(?:", form.pattern)
    there = np.asarray(pc.fill_null(pc.match_substring_regex(texts.cast(pa.string()), plain), False))
    return np.where(there, 0.0, np.nan)


def _months_of(names: pa.Array) -> Ints:
    """The numbers of months by their names; 0 for what is none."""
    encoded = names.dictionary_encode()
    numbers = np.array([*(month_number(name) for name in encoded.dictionary.to_pylist()), 0], dtype=np.int64)
    months: Ints = numbers[encoded.indices.fill_null(len(numbers) - 1).to_numpy()]
    return months


def _days_of_months(months: Ints) -> Ints:
    days: Ints = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return days


def _minutes_of(zone: str) -> float:
    if zone == "Z":
        return 0.0
    sign = -1.0 if zone[0] == "-" else 1.0
    return sign * (60 * int(zone[1:3]) + int(zone[-2:]))


def parts_of_date(number: int, unit: str, shift: int) -> tuple[int, int, int, int, int]:
    """Year, month, day, minute of the day and second of a number."""
    if unit == "year":
        return number, 1, 1, 0, 0
    if unit == "month":
        return 1970 + number // 12, number % 12 + 1, 1, 0, 0
    second = number % 60 if unit == "second" else 0
    minutes = {"day": number * 1440, "minute": number, "second": number // 60}[unit] + shift
    day = np.datetime64(minutes // 1440, "D")
    year, month = (int(part) for part in str(day.astype("datetime64[M]")).rsplit("-", 1))
    first = int(day.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64))
    return year, month, minutes // 1440 - first + 1, minutes % 1440, second


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
