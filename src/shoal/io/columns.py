"""The columns of anything that holds rows, and columns put together as the same kind of thing again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.io.files import shown
from shoal.io.frames import Frame

__all__ = ["NotALabel", "columns_of", "is_number", "is_text", "like_columns"]


class NotALabel(InputError, TypeError):
    """A cell holds something that is neither text nor a number."""


def columns_of(X: Any, names: Sequence[str]) -> list[pa.Array]:
    """Each column of a dataframe or an array as Arrow, null where a value is missing (None, NaN)."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return [_plain(_arrow(frame, column, name)) for column, name in zip(frame.columns, names, strict=True)]
    return [_plain(_from_cells(X[:, place], name)) for place, name in enumerate(names)]


def is_text(column: pa.Array) -> bool:
    """Whether the cells are text; a column without any is not."""
    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def is_number(column: pa.Array) -> bool:
    """Whether the cells are numbers, or none is there."""
    kind = column.type
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    return any(test(kind) for test in tests)


def like_columns(columns: Sequence[Sequence[Any]], X: Any, estimator: Any = None) -> Any:
    """Columns (one per column of X, None where a value is missing) as the kind of thing that X is.

    What the estimator's `set_output` asks for comes first. An array is one of numbers if all of them are, NaN where one
    is missing, and one of objects otherwise.
    """
    frame = Frame.wanted(X, estimator)
    if frame is not None:
        named = zip(frame.names, columns, strict=True)
        return frame.of(
            nw.new_series(name, list(cells), _kind(cells), backend=frame.library).to_native() for name, cells in named
        )
    try:
        made = np.array(
            [[np.nan if cell is None else _number(cell) for cell in cells] for cells in columns], np.float64
        )
    except TypeError:
        made = np.empty((len(columns), len(columns[0])), dtype=object)
        for place, cells in enumerate(columns):
            made[place] = cells
    return np.ascontiguousarray(made.T)


def _kind(cells: Sequence[Any]) -> Any:
    """Text says so even where all of it is missing; other kinds are inferred."""
    return nw.String() if any(isinstance(cell, str) for cell in cells) or all(cell is None for cell in cells) else None


def _number(cell: Any) -> float:
    if isinstance(cell, str):
        raise TypeError
    return float(cell)


def _arrow(frame: nw.DataFrame[Any], column: str, name: str) -> pa.Array:
    try:
        values = frame.get_column(column).to_arrow()
    except Exception:  # Each library has its own complaints, which may quote the value.
        return _from_cells(np.asarray(frame.get_column(column).to_numpy(), dtype=object), name)
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    return values


def _from_cells(cells: Any, name: str) -> pa.Array:
    try:
        return pa.array(cells, from_pandas=True)
    except (pa.ArrowException, OverflowError, UnicodeError):
        found = {type(cell).__name__ for cell in cells}
    if found - {"str", "int", "float", "NoneType"}:
        raise NotALabel(f"column {shown(name)}: each cell's argument must be a string or a number; convert the others")
    raise InputError(f"column {shown(name)} mixes text and numbers; make its values all one type")


def _plain(column: Any) -> pa.Array:
    """In one piece, categories as their values."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    return column
