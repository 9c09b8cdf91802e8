"""Columns of two tables made comparable: dates as numbers, codes as text, gaps filled where a release has some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.io.kinds.date_columns import dates_as_numbers
from shoal.io.kinds.recognition import is_text_type, recognise
from shoal.io.kinds.vocabulary import Kind
from shoal.io.table import holds_numbers

__all__ = ["comparable_columns"]


def comparable_columns(
    before: pa.Table, after: pa.Table, names: Sequence[str], certified: Mapping[str, Any] | None
) -> tuple[pa.Table, pa.Table]:
    """Both tables with columns that can be compared; `certified` are the parameters of a release, if it is one."""
    stated = certified or {}
    for name in names:
        if _are_dates(name, before[name], after[name], stated):
            date = stated.get("dates", {}).get(name, {})
            pair = dates_as_numbers(name, before[name], after[name], date.get("form"), date.get("generalised_to"))
            before, after = (_replaced(table, name, one) for table, one in zip((before, after), pair, strict=True))
        elif certified is not None and is_text_type(after[name].type) and holds_numbers(before[name].type):
            before = _replaced(before, name, _as_codes(before[name]))
        if "missing" in stated and holds_numbers(before[name].type) and holds_numbers(after[name].type):
            before, after = _filled(before, after, name)
    return before, after


def _are_dates(name: str, before: Any, after: Any, stated: Mapping[str, Any]) -> bool:
    """By the certificate; without one, if both are recognised as dates that are not numbers already."""
    if stated:
        return name in stated.get("dates", {}) and not (holds_numbers(before.type) and holds_numbers(after.type))
    if holds_numbers(before.type) or holds_numbers(after.type):
        return False
    return all(recognise(name, column).kind is Kind.DATE for column in (before, after))


def _as_codes(column: Any) -> pa.Array:
    """Numbers that a release took for names, as it writes them."""
    plain = column.combine_chunks()
    if pa.types.is_dictionary(plain.type):
        plain = plain.cast(plain.type.value_type)
    if pa.types.is_floating(plain.type):
        plain = plain.cast(pa.int64(), safe=False)
    return plain.cast(pa.string())


def _filled(before: pa.Table, after: pa.Table, name: str) -> tuple[pa.Table, pa.Table]:
    """Gaps on both sides as the mean of the original column: so they count in its measures."""
    mean = pc.mean(before[name].cast(pa.float64(), safe=False).drop_null()).as_py()
    sides = []
    for table in (before, after):
        numbers = table[name].combine_chunks().cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        sides.append(_replaced(table, name, np.where(np.isnan(numbers), mean, numbers)))
    return sides[0], sides[1]


def _replaced(table: pa.Table, name: str, column: Any) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, pa.array(column))
