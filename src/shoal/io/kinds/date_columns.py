"""Columns of dates: the forms in which they can be read, and two of them side by side as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.io.files import counted, shown
from shoal.io.kinds.dates import FORMS, fitting_forms, misfits
from shoal.io.kinds.number_forms import DateColumn, StoredDates, Years, present_texts, unit_of
from shoal.io.kinds.periods import period_numbers
from shoal.io.kinds.recognition import is_text_type
from shoal.io.table import holds_numbers

__all__ = ["date_forms", "dates_as_numbers"]

Floats = NDArray[np.float64]


def date_forms(name: str, column: Any, spelling: str | None, period: str | None, said: bool) -> Iterator[Any]:
    """Every form in which a column holds dates; refused if there is none. `said`: somebody says that it does."""
    stored = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_date(stored) or pa.types.is_timestamp(stored):
        yield from (StoredDates(stored, unit, period) for unit in StoredDates.units(column))
        return
    if holds_numbers(stored) and (spelling == "%Y" or (spelling is None and _are_short(column))):
        yield Years(period=period)
        return
    if not is_text_type(stored) and not holds_numbers(stored):
        raise InputError(f"column {shown(name)} is {stored}, which holds no dates; give it another kind")
    texts, rows = present_texts(column)
    forms = FORMS if said else tuple(form for form in FORMS if form != "%Y")
    forms = (spelling,) if spelling else forms
    fitting = fitting_forms(texts.unique(), forms)
    if not fitting and len(texts):
        written, count, first, all_written = misfits(texts, forms)
        row = f"first in row {rows[first] + 1}"
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
    largest = pc.max(column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column).as_py()
    return largest is None or not largest >= 10_000


def dates_as_numbers(
    name: str, before: Any, after: Any, spelling: str | None = None, period: str | None = None
) -> tuple[Floats, Floats]:
    """Dates before and after protection as numbers of one unit; `period` is what those after were generalised to."""
    form = next(date_forms(name, before, spelling if spelling in FORMS else None, None, True))
    numbers = form.numbers(before, shown(name))
    if period is not None:
        return numbers, period_numbers(after, unit_of(form), period)
    return numbers, form.numbers(after, shown(name))
