"""Columns as Arrow holds them: what is text, a number or missing, plain values, numbers, and the order of rows.

Messages name columns and rows, never what a cell holds: that is confidential. Rows count from 1.
"""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.data.files import counted, shown
from shoal.errors import InputError

MISSING = ("", ".", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")
NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
CURRENCY = r"([€$£¥%]|EUR|USD|GBP|CHF)"
_MARKS = (",", ".", " ", "\u00a0", "\u202f", "'", "’")  # between thousands: 1,234 and 1.234 and 1 234 and 1'234
_OTHER_ROLE = "give it another role, confidential or drop"
_LARGEST = 1e150  # squares of larger numbers overflow


def value_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values; of a dictionary, that of what it encodes."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def plain(column: Any) -> Any:
    """The column with dictionaries as their values."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    return any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def holds_numbers(kind: pa.DataType) -> bool:
    """Whether a column of this type, or the values of a dictionary, can be averaged; an empty one can."""
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    return any(test(value_type(kind)) for test in tests)


def is_gap(column: Any) -> Any:
    """Which cells hold no value: null, NaN, or text that stands for a missing value."""
    kind = value_type(column.type)
    if pa.types.is_floating(column.type):
        return pc.is_null(column, nan_is_null=True)
    if not is_text(kind):
        return pc.is_null(column)
    texts = plain(column).cast(pa.large_string())
    return pc.or_(pc.is_null(texts), pc.fill_null(pc.is_in(texts, pa.array(MISSING, pa.large_string())), True))


def all_match(texts: Any, pattern: str) -> bool:
    """Whether there are texts, and every one matches the pattern."""
    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())


def any_match(texts: Any, pattern: str) -> bool:
    """Whether a text matches the pattern."""
    return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())


def thousands_mark(values: Any, decimal: str) -> str | None:
    """The mark between the thousands of amounts such as 1.234,56 or $5, "" for none; None where a text is no amount."""
    for mark in ("", *_MARKS):
        groups = rf"|[1-9]\d{{0,2}}({re.escape(mark)}\d{{3}})+" if mark else ""
        number = rf"[+-]?(\d+{groups})({re.escape(decimal)}\d+)?"
        if mark != decimal and all_match(values, rf"^\s*({CURRENCY}\s*)?{number}(\s*{CURRENCY})?\s*$"):
            return mark
    return None


def plain_amounts(texts: Any, decimal: str, mark: str) -> Any:
    """Amounts as texts that can be cast to numbers; null where a value is missing."""
    bare = pc.replace_substring_regex(texts, rf"{CURRENCY}|\s|^\+", "")
    bare = pc.replace_substring(bare, mark, "") if mark.strip() else bare
    bare = pc.replace_substring_regex(bare, "[\u00a0\u202f]", "")
    return pc.if_else(is_gap(texts), pa.scalar(None, texts.type), pc.replace_substring(bare, decimal, "."))


def without_extension(column: pa.Array) -> pa.Array:
    """Columns of Arrow's extension types, which no computation knows, as plain ones.

    Types of pandas (intervals, periods) as they print, categories in their order if they have one; others as stored.
    """
    if pa.types.is_dictionary(column.type):
        values = without_extension(column.dictionary)
        return pa.DictionaryArray.from_arrays(column.indices, values, ordered=column.type.ordered)
    if not column.type.extension_name.startswith("pandas."):
        return column.storage
    return pa.array(column.to_pandas().astype("string"), pa.string(), from_pandas=True)


def typed_cells(cells: list[Any]) -> pa.Array | None:
    """Cells as a column: whole numbers, numbers, dates, times, or yes and no; None where they are of several types."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {int, float}:
        present = [cell for cell in cells if cell is not None]
        whole = bool(present) and all(float(cell).is_integer() and abs(cell) < 2**53 for cell in present)
        numbers = [None if cell is None else int(cell) if whole else float(cell) for cell in cells]
        return pa.array(numbers, pa.int64() if whole else pa.float64())
    if kinds == {datetime.date, datetime.datetime}:
        midnight = datetime.time()
        cells = [datetime.datetime.combine(cell, midnight) if type(cell) is datetime.date else cell for cell in cells]
        kinds = {datetime.datetime}
    types = {
        bool: pa.bool_(),
        datetime.date: pa.date32(),
        datetime.datetime: pa.timestamp("us"),
        datetime.time: pa.time64("us"),
    }
    kind = kinds.pop()
    return pa.array(cells, types[kind]) if not kinds and kind in types else None


def sort_rows(data: pa.Table) -> NDArray[np.int64]:
    """The canonical order of rows: by their content, column by column, so that it reveals nothing; equal ones stay."""
    sortable = pa.table({name: plain(data[name]) for name in data.column_names})
    keys = [(name, "ascending") for name in data.column_names]
    return np.asarray(pc.sort_indices(sortable, sort_keys=keys), dtype=np.int64)


def tie_keys(names: Iterable[str], *content: bytes) -> NDArray[np.uint64]:
    """A key per row that puts equal ones in an order: by the name of the row, under a secret.

    The secret is a fingerprint of the protected columns, which nobody but the owner has as they were. So what decides a
    tie is neither a value that is released nor, to anyone else, the order of the input; and it can be repeated.
    """
    secret = hashlib.blake2b(digest_size=64)
    for piece in content:
        secret.update(piece)
    key = secret.digest()
    texts = (name.encode("utf-8", "surrogatepass") for name in names)
    digests = (hashlib.blake2b(text, key=key, digest_size=8).digest() for text in texts)
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def sort_protected(quasi: pa.Table, names: Iterable[str]) -> NDArray[np.int64]:
    """The order in which rows are grouped: by their protected columns alone, equal ones by keys of their names."""
    ties = tie_keys(names, *(_cell_bytes(quasi[name]) for name in quasi.column_names))
    return sort_rows(quasi.append_column("\0tie", pa.array(ties)))


def _cell_bytes(column: pa.ChunkedArray) -> bytes:
    column = plain(column)
    if holds_numbers(column.type):  # the same, whether they were read as whole numbers or not
        numbers: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy()
        return numbers.tobytes()
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    return repr(encoded.dictionary.to_pylist()).encode("utf-8", "surrogatepass") + np.asarray(encoded.indices).tobytes()


def check_sortable(data: pa.Table) -> None:
    """Refuse columns that have no order, or cannot be read back: a release could not be verified."""
    for name, column in zip(data.column_names, data.columns, strict=True):
        if pa.types.is_nested(column.type):
            raise InputError(f"column {shown(name)} holds lists or records; drop it or make it text")
        if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            raise InputError(f"column {shown(name)} holds bytes, which no reader can count; drop it or make it text")
        try:
            pc.sort_indices(data.select([name]).slice(0, 1), sort_keys=[(name, "ascending")])
            if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
                pc.min_max(column).as_py()  # fails for years that no calendar of Python has
        except (pa.ArrowException, OverflowError, ValueError):
            reason = f"column {shown(name)} is {column.type}, which cannot be put in order and read back"
            raise InputError(f"{reason}; drop it or make it text") from None


def column_numbers(column: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    """The column as float64, NaN where a value is missing."""
    column = plain(column)
    if not holds_numbers(column.type):
        raise not_numbers(column, name)
    numbers: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    whole = pa.types.is_integer(column.type) or (pa.types.is_decimal(column.type) and column.type.scale <= 0)
    _refuse(np.isinf(numbers), name, "infinite value", "{}; replace them or drop the rows")
    _refuse(
        np.abs(numbers) >= _LARGEST,
        name,
        "number",
        f"of {_LARGEST:g} or more {{}}, too large to square; rescale the column or {_OTHER_ROLE}",
    )
    if whole:
        _refuse(
            np.abs(numbers) >= 2**53,
            name,
            "integer",
            f"of 2^53 or more {{}} would lose digits; rescale the column or {_OTHER_ROLE}",
        )
    return numbers


def _refuse(wrong: NDArray[np.bool_], name: str, noun: str, complaint: str) -> None:
    """Refuse a column with wrong cells: how many there are, and the row of the first."""
    rows = np.flatnonzero(wrong)
    if rows.size:
        message = complaint.format(f"(first in row {rows[0] + 1})")
        raise InputError(f"column {name}: {counted(rows.size, noun)} {message}")


def not_numbers(
    column: pa.ChunkedArray, name: str, remedy: str = "correct them", options: Sequence[str] = ()
) -> InputError:
    """Why this column cannot be averaged, and what to do."""
    kind = column.type
    if pa.types.is_boolean(kind):
        return InputError(f"column {name} is true or false, not a number; recode it as 0 and 1, or {_OTHER_ROLE}")
    if pa.types.is_temporal(kind):
        return InputError(
            f"column {name} holds dates or times, not numbers; recode it, say as a year or days, or {_OTHER_ROLE}"
        )
    if not is_text(kind):
        return InputError(f"column {name} is {kind}, not numbers; {_OTHER_ROLE}")
    is_number = pc.fill_null(pc.match_substring_regex(column.cast(pa.large_string()), NUMBER), True)
    rows = np.flatnonzero(pc.invert(pc.or_(is_gap(column), is_number)).to_numpy())
    if not rows.size:  # also long integers in a CSV, which are kept as text
        return InputError(
            f"column {name} is text, though no value is anything but a number; convert it to numbers below 2^53, "
            f"or {_OTHER_ROLE}"
        )
    return InputError(
        f"column {name} is text, which cannot be averaged: {rows.size} of {counted(len(column), 'value')} not numbers "
        f"(first in row {rows[0] + 1}); {remedy}, or {_OTHER_ROLE}",
        options,
    )


def check_no_gaps(
    columns: Sequence[str], numbers: NDArray[np.float64], remedy: str, options: Sequence[str] = ()
) -> None:
    """Refuse missing values (NaN) of columns side by side: count them by column and name the first row."""
    gaps: list[str] = []
    for number, column in enumerate(columns):
        rows = np.flatnonzero(np.isnan(numbers[:, number]))
        if rows.size and not gaps:
            gaps.append(f"{shown(column)}: {counted(rows.size, 'missing value')} (first in row {rows[0] + 1})")
        elif rows.size:
            gaps.append(f"{shown(column)}: {rows.size}")
    if gaps:
        raise InputError(f"column {', '.join(gaps)}; fill them, drop the rows{remedy}", options)


Ints = NDArray[np.int64]


def equal_rows(table: pa.Table, names: Iterable[str]) -> Ints:
    """The number of each row among the different ones, by these columns."""
    number = np.zeros(table.num_rows, dtype=np.int64)
    for name in names:
        encoded = table[name].combine_chunks().dictionary_encode(null_encoding="encode")
        # Numbered anew at each step, so that products stay within the range of numbers.
        number = number * len(encoded.dictionary) + np.asarray(encoded.indices, dtype=np.int64)
        number = np.unique(number, return_inverse=True)[1].astype(np.int64)
    return number


def value_codes(column: pa.ChunkedArray) -> Ints:
    """The number of each cell's value among the different ones; a missing value has one, too."""
    encoded = plain(column).combine_chunks().dictionary_encode(null_encoding="encode")
    return np.asarray(encoded.indices).astype(np.int64)


def values_of(column: pa.ChunkedArray) -> NDArray[Any]:
    """The values as Python has them."""
    if pa.types.is_temporal(column.type) and getattr(column.type, "unit", "") == "ns":
        column = column.cast(pa.int64())  # Python has no nanoseconds
    values = np.empty(len(column), dtype=object)
    values[:] = column.to_pylist()
    return values
