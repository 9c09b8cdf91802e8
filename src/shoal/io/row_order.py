"""The canonical order of a table's rows: by what they hold, so that their order tells nothing."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import InputError

__all__ = ["check_sortable", "sort_rows", "sortable"]


def sort_rows(data: pa.Table) -> NDArray[np.int64]:
    """The rows in the order of their content, column by column; equal ones stay as they stand."""
    plain = pa.table({field.name: sortable(data[field.name]) for field in data.schema})
    for name in plain.column_names:
        check_sortable(name, plain[name])
    keys = [(name, "ascending") for name in plain.column_names]
    return np.asarray(pc.sort_indices(plain, sort_keys=keys), dtype=np.int64)


def sortable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dictionaries and the like as their values: sorting then goes by what is read."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def check_sortable(name: str, column: pa.ChunkedArray) -> None:
    """Refuse what has no order, or cannot be read back: a release could not be verified."""
    if pa.types.is_nested(column.type):
        raise InputError(f"column {name} holds lists or records; drop it or make it text")
    try:
        pc.sort_indices(pa.table({name: column.slice(0, 1)}), sort_keys=[(name, "ascending")])
        if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
            pc.min_max(column).as_py()  # fails for years that no calendar of Python has
    except (pa.ArrowException, OverflowError, ValueError):
        reason = f"column {name} is {column.type}, which cannot be put in order and read back"
        raise InputError(f"{reason}; drop it or make it text") from None
