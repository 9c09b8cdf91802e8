"""Arrow's extension types, which no computation knows, as plain ones: intervals and periods of pandas, and others."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["is_extended", "without_extension"]


def is_extended(kind: pa.DataType) -> bool:
    """Whether a column, or the categories of one, are of an extension type."""
    return isinstance(kind.value_type if pa.types.is_dictionary(kind) else kind, pa.BaseExtensionType)


def without_extension(column: pa.Array) -> pa.Array:
    """Types of pandas as they print, categories in their order if they have one; other types as they are stored."""
    if pa.types.is_dictionary(column.type):
        values = without_extension(column.dictionary)
        return pa.DictionaryArray.from_arrays(column.indices, values, ordered=column.type.ordered)
    if not column.type.extension_name.startswith("pandas."):
        return column.storage
    return pa.array(column.to_pandas().astype("string"), pa.string(), from_pandas=True)
