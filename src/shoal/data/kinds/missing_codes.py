"""Values that stand for a missing one: 999 in a column of body mass, -9 in one of ages, "unknown" among numbers.

Codes that are declared become gaps when a table is read. Those that are not are suspected by what surrounds them: a
conventional code beyond a gap in the range, negative codes in a column that is positive otherwise, a spike far outside.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.data.columns import NUMBER, holds_numbers, is_gap, is_text, plain, value_type
from shoal.data.files import shown, unknown_column
from shoal.errors import Note

Code = int | float | str
Floats = NDArray[np.float64]

HIGH = {float(10**n - step) for n in range(1, 8) for step in range(1, 4)} | {88.0, 888.0, 8888.0, 77.0}
HIGH |= {777.0, 7777.0, 99.9, 999.9, 99.99, 999.99, 9999.99, 9.99}  # 9, 8, 7, 99, 98, 97, 999, ...; 96 is often "other"
LOW = {-float(number) for number in (*range(1, 10), 66, 77, 88, 96, 97, 98, 99, 997, 998, 999, 9999, 99999)}
WORDS = {
    *("unknown", "missing", "n/a", "na", "none", "nil", "dk", "rf", "refused", "don't know", "-", "--"),
    *("k.a.", "k. a.", "unbekannt", "keine angabe", "inconnu", "nsp", "ns/nc", "nc", "ns", "desconocido", "x", "xx"),
    *("xxx", "*", "#"),
}
DATES = (
    *("9999-12-31", "1900-01-01", "1800-01-01", "0001-01-01", "2999-12-31", "31.12.9999", "01.01.1900", "01/01/1900"),
    *("31/12/9999", "12/31/9999", "99991231", "19000101", "9999"),
)
FEWEST_ROWS = 20
FEW = 12  # different values: a column of codes
FAR = 3.0  # times the range of the other values: so far outside lies no value of the same kind
MOST = 5  # codes of a column
STANDS_OUT = 5.0  # times as frequent as the values below


def without_codes(data: pa.Table, codes: Mapping[str, Sequence[Code]], verbatim: frozenset[str]) -> pa.Table:
    """The table with these codes of columns as gaps; text that then holds nothing but numbers becomes numbers."""
    for name, of_column in codes.items():
        if name not in data.column_names:
            raise unknown_column(name, data.column_names, "the table")
        words = [code for code in of_column if not _is_number(code)]
        if words and holds_numbers(data[name].type):
            warnings.warn(
                Note(
                    f"{{option}}: column {shown(name)} holds only numbers, and the code is not one; correct it, or "
                    "leave it out",
                    f"missing_codes {shown(name)}={words[0]}",
                ),
                stacklevel=3,
            )
        column = _without(data[name], of_column)
        if is_text(column.type) and name not in verbatim:
            column = _as_numbers(column)
        data = data.set_column(data.column_names.index(name), name, column)
    return data


def _without(column: Any, codes: Sequence[Code]) -> Any:
    """The column with gaps in place of the codes."""
    if pa.types.is_dictionary(column.type):  # the dictionary, and so the order of categories, stays
        keep = pc.invert(_has(plain(column), codes))
        return pc.if_else(keep, column, pa.scalar(None, column.type))
    return pc.if_else(_has(column, codes), pa.scalar(None, column.type), column)


def _has(column: Any, codes: Sequence[Code]) -> Any:
    if holds_numbers(column.type):
        numbers = [float(code) for code in codes if _is_number(code)]
        return pc.fill_null(pc.is_in(column.cast(pa.float64(), safe=False), pa.array(numbers, pa.float64())), False)
    texts = column.cast(pa.large_string()) if is_text(column.type) else column.cast(pa.string()).cast(pa.large_string())
    spelt = {text for code in codes for text in (str(code), f"{code:g}" if isinstance(code, float) else str(code))}
    return pc.fill_null(pc.is_in(pc.utf8_trim_whitespace(texts), pa.array(sorted(spelt), pa.large_string())), False)


def _is_number(code: Code) -> bool:
    try:
        float(code)
    except ValueError:
        return False
    return True


def _as_numbers(column: Any) -> Any:
    """Text of which every cell is a plain number or a gap, as numbers; none with leading zeros, which are names."""
    there = pc.utf8_trim_whitespace(column.filter(pc.invert(is_gap(column))).cast(pa.large_string()))
    plain_number = NUMBER.replace(r"\s*", "").replace(r"(\d+\.?\d*", r"((0|[1-9]\d{0,14})(\.\d*)?")
    if not len(there) or not pc.all(pc.match_substring_regex(there, plain_number)).as_py():
        return column
    cells = pc.if_else(is_gap(column), pa.scalar(None, column.type), pc.utf8_trim_whitespace(column))
    whole = pc.all(pc.match_substring_regex(there, r"^[+-]?\d+$")).as_py()
    return pc.replace_substring_regex(cells, r"^\+", "").cast(pa.int64() if whole else pa.float64())


def suspected_codes(column: Any) -> tuple[Code, ...]:
    """Values of a column that look like codes for a missing one."""
    if pa.types.is_dictionary(column.type) or pa.types.is_nested(column.type) or len(column) < FEWEST_ROWS:
        return ()
    if is_text(value_type(column.type)):
        return _suspected_texts(column)
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        counts = {str(one["values"])[:10]: one["counts"].as_py() for one in column.drop_null().value_counts()}
        return tuple(text for text in DATES if counts.get(text, 0) > 1)
    if not holds_numbers(column.type) or pa.types.is_null(column.type):
        return ()
    numbers: Floats = column.cast(pa.float64(), safe=False).drop_null().to_numpy()
    return suspected_numbers(numbers[np.isfinite(numbers)])


def is_conventional(code: Code) -> bool:
    """Whether a code is one of those that many files have, so that a message may quote it."""
    return code in DATES or str(code).lower() in WORDS or (_is_number(code) and float(code) in HIGH | LOW)


def _suspected_texts(column: Any) -> tuple[Code, ...]:
    """Words among numbers, and impossible days among dates."""
    counted = column.filter(pc.invert(is_gap(column))).cast(pa.large_string()).value_counts()
    counts = {str(one["values"]).strip(): int(one["counts"].as_py()) for one in counted}
    dates = tuple(text for text in DATES if counts.get(text, 0) > 1)
    if dates:
        return dates
    numbers = {text: float(text) for text in counts if _is_number(text) and text.lower() not in ("nan", "inf", "-inf")}
    words = tuple(text for text in counts if text not in numbers)
    rows = sum(counts.values())
    astray = sum(counts[text] for text in words)
    among_numbers = len(numbers) > FEW and 0 < len(words) <= MOST and astray <= 0.5 * rows
    among_codes = 0 < len(words) <= 2 and len(numbers) > 1 and all(word.lower() in WORDS for word in words)
    if not (among_numbers or among_codes):
        return ()
    values = np.repeat(list(numbers.values()), [counts[text] for text in numbers])
    return (*words, *suspected_numbers(values))


def suspected_numbers(numbers: Floats) -> tuple[Code, ...]:
    """Codes among numbers, the most extreme first."""
    values, counts = np.unique(numbers, return_counts=True)
    codes: list[float] = []
    negative = values[values < 0]
    if len(values) > len(negative) + 1 and 0 < len(negative) <= MOST and set(negative.tolist()) <= LOW:
        codes += negative.tolist()
        values, counts = values[len(negative) :], counts[len(negative) :]
    # Numbers may be cut to a highest one; two that stand out at the top, such as 98 and 99, are codes.
    spikes = _spikes_at_top(values, counts)
    above: list[float] = values[: -spikes - 1 : -1].tolist() if spikes > 1 else []
    values, counts = (values[:-spikes], counts[:-spikes]) if above else (values, counts)
    while len(values) > 2 and len(above) < MOST and _stands_apart(values, counts):
        above.append(float(values[-1]))
        values, counts = values[:-1], counts[:-1]
    codes += above
    return tuple(int(code) if code.is_integer() else code for code in codes)


def _stands_apart(values: Floats, counts: NDArray[np.int64]) -> bool:
    """Whether the highest value is a code: a conventional one beyond a gap, or a spike far beyond the rest."""
    count, below = int(counts[-1]), len(values) - 1
    if values[-1] in HIGH:  # other codes may stand beside it: 98 and 99, 7 and 9
        while below > 1 and values[below - 1] in HIGH and values[below - 1] >= 0.75 * values[below]:
            below -= 1
    others, gap = values[:below], float(values[below] - values[below - 1])
    reach = float(others[-1] - others[0])
    spike = count >= max(3, 0.002 * counts.sum())
    if len(others) > FEW and spike and gap > FAR * reach:
        return True
    if values[-1] not in HIGH or len(others) < 2:
        return False
    nearest = counts[max(below - (5 if len(others) > FEW else 1), 0) : below].mean()
    if len(others) <= FEW:  # codes such as 1, 2, 3 and 9
        wide = gap > float(np.diff(others).max())
        return gap > reach or (wide and count > (nearest if gap < 3 else 0.5 * nearest) and gap >= 2)
    return (gap >= 0.1 * reach and count > nearest) or gap > reach


def _spikes_at_top(values: Floats, counts: NDArray[np.int64]) -> int:
    """How many of the highest of many numbers are conventional codes, each far more frequent than the numbers below."""
    if len(values) <= FEW + MOST:
        return 0
    spikes = 0
    while spikes < MOST and values[len(values) - spikes - 1] in HIGH:
        spikes += 1
    usual = counts[len(counts) - spikes - 5 : len(counts) - spikes].mean()
    frequent = counts[len(counts) - spikes :][::-1] >= max(5, STANDS_OUT * usual)
    return spikes if frequent.all() else int(np.argmin(frequent))


def cut_off_at(column: Any) -> Code | None:
    """The highest number if it alone stands out: others may have been cut to it, or it stands for a missing one."""
    if not holds_numbers(column.type) or pa.types.is_null(column.type):
        return None
    numbers: Floats = column.cast(pa.float64(), safe=False).drop_null().to_numpy()
    values, counts = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
    return int(values[-1]) if _spikes_at_top(values, counts) == 1 else None
