"""Confidential values as their readers see them, and what all promises ask of them."""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.promises import closeness, diversity, likeness
from shoal.promises.requirements import ConfidentialColumn, Requirement
from shoal.request.options import GroupPromises
from shoal.results.claims import LOOKALIKES

VALUE_PROMISES = (diversity, closeness, likeness)  # a new promise of values is a file of this folder, and its name here

LOOKS_LIKE = {"o": "0", "i": "1", "l": "1", "|": "1", "rn": "m"}
NUMBER = re.compile(r"[+-]?(?:1nf(?:1n1ty)?|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,9})?)")
MISSING = {"", ".", "?", "na", "n/a", "nan", "+nan", "-nan", "nu11", "n0ne"}
LONGEST = 1_000_000  # characters of a value: more would not be verified
NOT_SHOWN = {  # marks and fillers; format and control characters are known by their category
    *map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0)),
    *map(chr, range(0xFE00, 0xFE10)),
    *map(chr, range(0xE0100, 0xE01F0)),
}


def codes_of(values: NDArray[Any]) -> NDArray[np.int64]:
    """Each text's place among the different ones, sorted. NumPy's own texts would all take the room of the longest."""
    place = {value: number for number, value in enumerate(sorted(set(values.tolist())))}
    return np.fromiter((place[value] for value in values.tolist()), dtype=np.int64, count=len(values))


def meaning(value: Any) -> str | None:
    """A confidential value as its reader sees it: "Flu " and "flu" are one, so are 1 and 1.0; a missing one is None.

    Characters that nobody sees do not count, nor does the way in which Unicode writes what is seen, nor letters that
    only look alike. Whole numbers are compared exactly, for ids of 18 digits are no doubles; others as doubles.
    """
    if value is None:
        return None
    text = str(value)
    if len(text) > LONGEST:
        raise InputError(f"a confidential value has {len(text):,} characters, at most {LONGEST:,} can be counted")
    text = _as_seen(text)
    if text in MISSING:
        return None
    if not NUMBER.fullmatch(text):
        return text
    if "n" in text:
        return "-infinity" if text.startswith("-") else "infinity"
    if "." in text or "e" in text:
        number = float(text)
        if math.isinf(number):
            return "-infinity" if number < 0 else "infinity"
        if not number.is_integer():
            return repr(number)
        text = str(int(number))
    digits = text.lstrip("+-0")
    return f"{'-' if text[0] == '-' else ''}{digits}" if digits else "0"


def _as_seen(text: str) -> str:
    """The text without what is not seen, in one spelling of Unicode, case, space and letters that look alike."""
    if not text.isascii() or not text.isprintable():
        text = unicodedata.normalize("NFKC", "".join(map(_seen, text)))
        if re.search("[A-Za-z]", text):
            text = text.replace("ν", "v").replace("υ", "u").replace("η", "n")  # Greek, by their small shapes
        text = unicodedata.normalize("NFKC", text.casefold()).casefold().translate(LOOKALIKES)
    text = " ".join(text.casefold().split())
    for letters, others in LOOKS_LIKE.items():
        text = text.replace(letters, others)
    return text


def _seen(character: str) -> str:
    kind = unicodedata.category(character)
    if kind in ("Cf", "Cn", "Co", "Cs") or (kind == "Cc" and not character.isspace()) or character in NOT_SHOWN:
        return ""
    if kind == "Nd":
        return str(unicodedata.decimal(character))
    return "-" if kind == "Pd" or character == "\u2212" else " " if character == "\u2800" else character


def value_codes(values: NDArray[Any]) -> NDArray[np.int64]:
    """Each value's place among the different meanings; -1 for a missing one."""
    meant = meanings(values)
    place = {value: number for number, value in enumerate(sorted({value for value in meant if value is not None}))}
    return np.fromiter((-1 if value is None else place[value] for value in meant), dtype=np.int64, count=len(meant))


def meanings(values: NDArray[Any]) -> list[str | None]:
    """What each value tells."""
    listed = values.tolist()
    of_value = {value: meaning(value) for value in set(listed)}
    return [of_value[value] for value in listed]


def person_numbers(ids: NDArray[Any]) -> NDArray[np.int64]:
    """A number for each person, the same in every file; -1 without an id. Spellings of one id are one person."""
    meant = meanings(ids)
    number = {
        value: int.from_bytes(hashlib.blake2b(value.encode(), digest_size=8).digest(), "big") >> 1
        for value in set(meant)
        if value is not None
    }
    return np.fromiter((-1 if value is None else number[value] for value in meant), np.int64, len(meant))


def counted_values(values: NDArray[Any]) -> Counter[str]:
    """How many records have each value, spelling aside; missing ones do not count."""
    return Counter(value for value in meanings(values) if value is not None)


def value_requirements(
    promises: GroupPromises, columns: Sequence[NDArray[Any]], overall: Sequence[Mapping[str, int]] | None = None
) -> list[Requirement]:
    """What groups must have of each confidential column.

    `overall` has how many of all records have each value, where these are not all.
    """
    asked: list[Requirement] = []
    for number, values in enumerate(columns):
        meant = meanings(values)
        counts = Counter(value for value in meant if value is not None) if overall is None else overall[number]
        ranked = closeness.by_size(counts)
        code = {value: rank for rank, value in enumerate(ranked or sorted(counts))}
        codes = np.fromiter((-1 if value is None else code[value] for value in meant), np.int64, len(meant))
        everywhere = np.fromiter((counts[value] for value in code), np.int64, len(code))
        column = ConfidentialColumn(codes, everywhere, ranked is not None)
        found = (promise.requirement(promises, column) for promise in VALUE_PROMISES)
        asked += [requirement for requirement in found if requirement is not None]
    return asked
