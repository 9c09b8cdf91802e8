"""A column before and after protection as numbers or as labels, whatever a release wrote: bands, sets, gaps, codes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.data.columns import MISSING, holds_numbers, is_text, plain
from shoal.data.files import shown
from shoal.kernels import Floats
from shoal.language import sayable

LARGEST = 1e150  # squares of larger numbers overflow; they count as missing
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_BAND = re.compile(rf"^[\[(]?\s*({_NUMBER})\s*(?:-|–|,|\.\.|to)\s*({_NUMBER})\s*[\])]?$")
_OPEN = re.compile(rf"^(?:(?:<|>|<=|>=|≤|≥)\s*({_NUMBER})|({_NUMBER})\s*\+)$")
_SET = re.compile(rf"^\{{?\s*{_NUMBER}(?:\s*\|\s*{_NUMBER})*\s*\}}?$")

ANYTHING = (*MISSING, "...", "*")  # released for any value

Labels = NDArray[np.object_]


@dataclass(frozen=True)
class PairedColumn:
    """A column of both tables: numbers with NaN for a gap, or labels with None."""

    name: str
    before: Any  # (n,)
    after: Any  # (n,)
    is_number: bool
    note: str = ""  # how released text was read, in a sentence


def paired_column(name: str, before: Any, after: Any, coded: bool = False) -> PairedColumn | None:
    """A column as both tables have it; None for dates and nested values, of which nothing is estimated.

    `coded`: the release says that digits of this column are names, unless it shows bands.
    """
    before, after = (plain(side).combine_chunks() for side in (before, after))
    if any(pa.types.is_temporal(side.type) or pa.types.is_nested(side.type) for side in (before, after)):
        return None
    values, note = (None, "")
    numbers = as_numbers(before) if holds_numbers(before.type) or coded else None
    if numbers is not None:
        values, note = released_numbers(name, after, coded)
    if values is not None:
        return PairedColumn(name, numbers, values, True, note)
    return PairedColumn(name, as_labels(before), as_labels(after), False, note)


def released_numbers(name: str, column: pa.Array, coded: bool) -> tuple[Floats | None, str]:
    """What a release shows of numbers: as they are, or by the middle of bands; and how it was read, if not plainly.

    None where cells are something else: then they are equal or not.
    """
    if not is_text(column.type):
        return as_numbers(column), ""
    texts = column.cast(pa.large_string()).to_pylist()
    middles = {text: band_middle(text) for text in set(texts)}
    bands = any(_is_band(text) for text in middles)
    if None not in middles.values() and (bands or not coded):
        note = sayable("column {column}: released bands of numbers are compared by their middles", column=shown(name))
        return np.array([middles[text] for text in texts], dtype=np.float64), note if bands else ""
    if coded and not bands:
        return None, ""
    return None, sayable(
        "column {column}: released text is not comparable as numbers; values are equal or not", column=shown(name)
    )


def _is_band(text: str | None) -> bool:
    return text is not None and bool(_BAND.match(text.strip()) or _OPEN.match(text.strip()))


def band_middle(text: str | None) -> float | None:
    """The middle of a band or a set of numbers; of an open band its bound, of a gap NaN, of other text None.

    >>> [band_middle(text) for text in ("20-29", "[20, 30)", "{1 | 3}", "90+", "7", "", "many")]
    [24.5, 25.0, 2.0, 90.0, 7.0, nan, None]
    """
    text = "" if text is None else text.strip()
    if text in ANYTHING:
        return float("nan")
    if match := _BAND.match(text):
        return (float(match[1]) + float(match[2])) / 2
    if match := _OPEN.match(text):
        return float(match[1] or match[2])
    if _SET.match(text):
        values = [float(value) for value in text.strip("{} ").split("|")]
        return sum(values) / len(values)
    return None


def as_numbers(column: pa.Array) -> Floats | None:
    """The column as numbers, NaN where one is missing; None when it is something else."""
    if is_text(column.type):
        texts = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
        texts = pc.if_else(pc.is_in(texts, pa.array(MISSING, texts.type)), None, texts)
        try:
            column = texts.cast(pa.float64())
        except pa.ArrowException:
            return None
    elif not holds_numbers(column.type):
        return None
    values: Floats = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.where(np.abs(values) < LARGEST, values, np.nan)


def as_labels(column: pa.Array) -> Labels:
    """The column as texts, None where one is missing."""
    if pa.types.is_floating(column.type):  # codes that gaps made floats
        whole = column.cast(pa.int64(), safe=False)
        column = whole if pc.all(pc.equal(whole.cast(pa.float64()), column)).as_py() else column
    texts = column.cast(pa.large_string()).to_pylist()
    labels = np.empty(len(texts), dtype=object)
    labels[:] = [None if text is None or text.strip() in ANYTHING else text for text in texts]
    return labels


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which cells hold no value."""
    return np.array([value is None or value != value for value in values.tolist()], dtype=bool)
