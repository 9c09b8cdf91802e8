"""Two tables, before and after masking, made comparable: the same columns, as many rows, dates and codes alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.data.columns import holds_numbers, is_text, plain
from shoal.data.kinds.number_forms import dates_as_numbers
from shoal.data.kinds.recognition import recognise
from shoal.data.roles import Kind
from shoal.errors import InputError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NumericTable:
    """A table of numbers that was checked: every attack and measure takes it as it is."""

    values: Floats  # (n, d), all finite
    names: tuple[str, ...] | None  # of an array, None


@dataclass(frozen=True)
class NumericPair:
    """Row i of `protected` is what became of row i of `original`; both (n, d)."""

    original: Floats
    protected: Floats
    names: tuple[str, ...]


def numeric_pair(original: Any, protected: Any) -> NumericPair:
    """Two tables of numbers, aligned by row; dataframes by the names of their columns, arrays by their order."""
    given, masked = numeric_table(original, "original"), numeric_table(protected, "protected")
    n_rows, n_columns = given.values.shape
    if n_rows != len(masked.values):
        raise InputError(
            f"the original has {n_rows} rows and the protected table {len(masked.values)}; they are compared row by row"
        )
    if n_rows < 2:
        raise InputError(f"a table must have at least 2 rows to be judged, got {n_rows}")
    after = _in_order_of(given.names, masked, "protected")
    _check_width(after, n_columns, "protected")
    names = given.names or masked.names or tuple(f"column {column + 1}" for column in range(n_columns))
    return NumericPair(given.values, after, names)


def numeric_control(control: Any, pair: NumericPair) -> Floats:
    """Records of people who are not in the original, with the same columns."""
    table = numeric_table(control, "control")
    if not len(table.values):
        raise InputError("the control table has no rows; give records that are not in the original, or none at all")
    _check_width(table.values, pair.original.shape[1], "control")
    return _in_order_of(pair.names, table, "control")


def _in_order_of(names: tuple[str, ...] | None, table: NumericTable, called: str) -> Floats:
    """The columns in the original's order."""
    own = table.names
    if names is None or own is None or names == own:
        return table.values
    missing = [name for name in names if name not in own]
    added = [name for name in own if name not in names]
    if missing or added:
        say = [f"lacks {', '.join(missing)}"] * bool(missing) + [f"also has {', '.join(added)}"] * bool(added)
        raise InputError(f"the {called} table {' and '.join(say)}; give tables with the same columns")
    return np.ascontiguousarray(table.values[:, [own.index(name) for name in names]])


def _check_width(values: Floats, n_columns: int, called: str) -> None:
    if values.shape[1] != n_columns:
        raise InputError(f"the {called} table has {values.shape[1]} columns and the original {n_columns}")


def numeric_table(X: Any, called: str) -> NumericTable:
    """The table as floats, with its column names when it has any; what was checked before is not checked again."""
    if isinstance(X, NumericTable):
        return X
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    names = None
    if isinstance(frame, nw.DataFrame):
        names = tuple(str(name) for name in frame.columns)
        for name in frame.columns:
            kind = frame[name].dtype
            if not (kind.is_numeric() or kind == nw.Boolean):
                raise InputError(f"column {name!r} of the {called} table is not numeric; leave it out or encode it")
        values = np.column_stack([_floats(frame[name]) for name in frame.columns]) if names else np.empty((0, 0))
    else:
        try:
            values = np.array(X, dtype=np.float64)
        except (TypeError, ValueError) as mistake:
            raise InputError(f"the {called} table is not a table of numbers; leave other columns out") from mistake
    if values.ndim != 2 or values.shape[1] == 0:
        raise InputError(f"the {called} table must have rows and columns, got shape {values.shape}")
    unusable = int(np.sum(~np.isfinite(values).all(axis=1)))
    if unusable:
        raise InputError(
            f"missing or infinite values in {unusable} of {len(values)} rows of the {called} table; leave these out"
        )
    return NumericTable(np.ascontiguousarray(values), names)


def _floats(column: Any) -> Floats:
    values: Floats = column.cast(nw.Float64).to_numpy().astype(np.float64)
    return values


def comparable_columns(
    before: pa.Table, after: pa.Table, names: Sequence[str], certified: Mapping[str, Any] | None
) -> tuple[pa.Table, pa.Table]:
    """Both tables with columns that can be compared; `certified` are the parameters of a release, if it is one."""
    stated = certified or {}
    for name in names:
        if _are_dates(name, before[name], after[name], stated):
            date = stated.get("dates", {}).get(name, {})
            pair = dates_as_numbers(name, before[name], after[name], date.get("form"), date.get("generalised_to"))
            before, after = (
                _replaced(table, name, numbers) for table, numbers in zip((before, after), pair, strict=True)
            )
        elif certified is not None and is_text(after[name].type) and holds_numbers(before[name].type):
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
    numbers = plain(column.combine_chunks())
    if pa.types.is_floating(numbers.type):
        numbers = numbers.cast(pa.int64(), safe=False)
    return numbers.cast(pa.string())


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
