"""What confidential values tell, spelling aside. Part of verification: the owner's side counts with code of its own."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["DistinctValues", "meaning_of"]

MISSING = {"", ".", "?", "na", "n/a", "nan", "+nan", "-nan", "null", "none"}
NUMBER = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,9}))?", re.ASCII)
INFINITE = re.compile(r"([+-]?)inf(?:inity)?")
# Marks and fillers that are not shown; other such characters have a category of their own (Cf, Cc).
UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def meaning_of(value: Any) -> str | None:
    """What a value tells: 1 and 1.0 the same, "Flu " and "flu", a missing one nothing; ids however long all differ."""
    if value is None:
        return None
    text = str(value)
    if not (text.isascii() and text.isprintable()):
        text = unicodedata.normalize("NFKC", "".join(map(_shown, UNSEEN.sub("", text))))
        text = unicodedata.normalize("NFKC", text.casefold())
    text = " ".join(text.casefold().split())
    if text in MISSING:
        return None
    return _number(text) or text


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf" or (category == "Cc" and not character.isspace()):
        return ""
    return str(unicodedata.decimal(character)) if category == "Nd" else character


def _number(text: str) -> str | None:
    """A number by its sign, its digits and its exponent, none of them written in two ways; None for other text."""
    if infinite := INFINITE.fullmatch(text):
        return infinite[1].replace("+", "") + "infinity"
    found = NUMBER.fullmatch(text)
    if found is None or not (found[2] or found[3]):
        return None
    fraction = found[3] or ""
    digits = (found[2] + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return "0"
    exponent = int(found[4] or 0) - len(fraction) + len(digits) - len(significant)
    return f"{found[1].replace('+', '')}{significant}e{exponent}"


class DistinctValues:
    """The different values of a confidential column, and how often each group has which."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._pairs: list[NDArray[np.int64]] = []  # group and value, each pair once per batch
        self._rows: list[NDArray[np.int64]] = []  # that have them

    def add(self, group_of_row: NDArray[np.int64], column: pa.Array) -> None:
        """Take in a batch of rows."""
        encoded = column if pa.types.is_dictionary(column.type) else _as_numbers(column).dictionary_encode()
        values = map(meaning_of, encoded.dictionary.to_pylist())
        codes = [-1 if value is None else self._codes.setdefault(value, len(self._codes)) for value in values]
        places = encoded.indices.fill_null(len(codes)).to_numpy(zero_copy_only=False)
        code_of_row = np.array([*codes, -1], dtype=np.int64)[places]
        telling = code_of_row >= 0
        pairs, rows = np.unique((group_of_row[telling] << 32) | code_of_row[telling], return_counts=True)
        self._pairs.append(pairs)
        self._rows.append(rows)

    @property
    def values(self) -> list[str]:
        """Every value there is; a value's code is its place here."""
        return list(self._codes)

    def counted(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Group, code of a value, and how many rows of the group have it; by group, and each pair once."""
        if not self._pairs:
            return (np.empty(0, dtype=np.int64),) * 3
        pairs, place = np.unique(np.concatenate(self._pairs), return_inverse=True)
        rows = np.bincount(place, weights=np.concatenate(self._rows)).astype(np.int64)
        return pairs >> 32, pairs & 0xFFFFFFFF, rows


def _as_numbers(column: pa.Array) -> pa.Array:
    """Dates and times as the numbers behind them: Python has no nanoseconds."""
    if pa.types.is_temporal(column.type):
        return column.view(pa.int32() if column.type.bit_width == 32 else pa.int64())
    return column
