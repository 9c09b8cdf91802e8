"""Figures about groups that the report and the certificate give."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.microaggregation.requirements import different_values, ratio
from shoal.results.claims import Diversity
from shoal.results.loss import Loss
from shoal.results.promised import DISTINCT, ENTROPY, GroupPromises
from shoal.results.summary import StatedLoss

__all__ = [
    "codes_of",
    "diversity",
    "meaning",
    "meanings",
    "stated_loss",
    "value_codes",
]

MISSING = {"", ".", "?", "na", "n/a", "nan", "+nan", "-nan", "null", "none"}
NUMBER = re.compile(r"[+-]?(?:inf(?:inity)?|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,9})?)")
NOT_SHOWN = {  # marks and fillers; format and control characters are known by their category
    *map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0)),
    *map(chr, range(0xFE00, 0xFE10)),
    *map(chr, range(0xE0100, 0xE01F0)),
}
FEW = 30  # of fewer records that moved, figures about the originals tell each of them
FEW_RECORDS = f"of fewer than {FEW} records, figures about the originals tell each of them"


def codes_of(values: NDArray[Any]) -> NDArray[np.int64]:
    """Each text's place among the different ones, sorted. NumPy's own texts would all take the room of the longest."""
    place = {value: number for number, value in enumerate(sorted(set(values.tolist())))}
    return np.fromiter((place[value] for value in values.tolist()), dtype=np.int64, count=len(values))


def meaning(value: Any) -> str | None:
    """What a confidential value tells: "Flu " and "flu" tell the same, so do 1 and 1.0; a missing one tells nothing.

    Characters that nobody sees do not count, nor does the way in which Unicode writes what is seen. Numbers are
    compared exactly: ids of 18 digits are no doubles.
    """
    if value is None:
        return None
    text = _as_seen(str(value))
    if text in MISSING:
        return None
    if not NUMBER.fullmatch(text):
        return text
    sign, digits, exponent = Decimal(text).as_tuple()
    if exponent == "F":
        return "-infinity" if sign else "infinity"
    significant = "".join(map(str, digits)).lstrip("0").rstrip("0")
    if not significant:
        return "0"
    zeros = len(digits) - len("".join(map(str, digits)).rstrip("0"))
    return f"{'-' if sign else ''}{significant}e{int(exponent) + zeros}"


def _as_seen(text: str) -> str:
    """The text without what is not seen, in one spelling of Unicode, case and space."""
    if not text.isascii() or not text.isprintable():
        seen = (character for character in text if character not in NOT_SHOWN)
        kinds = ((character, unicodedata.category(character)) for character in seen)
        kept = [
            str(unicodedata.decimal(character)) if kind == "Nd" else character
            for character, kind in kinds
            if kind != "Cf" and (kind != "Cc" or character.isspace())
        ]
        text = unicodedata.normalize("NFKC", "".join(kept)).casefold()
        text = unicodedata.normalize("NFKC", text)
    return " ".join(text.casefold().split())


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


def diversity(column: str, values: Mapping[Any, Mapping[str, int]], promises: GroupPromises) -> Diversity:
    """Values of a confidential column; `values` has, by group, how many records have each value."""
    distinct = [len(counts) for counts in values.values()]
    different = {value for counts in values.values() for value in counts}
    found = Diversity(column, min(distinct), sum(count <= 1 for count in distinct), len(distinct), len(different))
    if promises.l is None or promises.diversity == DISTINCT:
        return found
    groups = [np.fromiter(counts.values(), np.int64, len(counts)) for counts in values.values()]
    if promises.diversity == ENTROPY:
        return replace(found, equally_frequent=round(min(map(different_values, groups)), 4))
    return replace(found, ratio=round(max(ratio(counts, int(promises.l)) for counts in groups), 4))


def stated_loss(loss: Loss, publishable: bool, reason: str | None = FEW_RECORDS, digits: int = 6) -> StatedLoss:
    """The loss as it is published: as measured, in so many digits; else the tenths it lies between, and why no more."""
    if publishable:
        sse, ssa = (float(f"{part:.{digits}g}") for part in (loss.sse, loss.ssa))
        share = Loss(sse, ssa).information_loss
        return StatedLoss(share, share, sse, ssa)
    if loss.sse <= 0.0:
        return StatedLoss(0.0, 0.0)  # nothing at all
    high = max(math.ceil(10.0 * loss.information_loss - 1e-9), 1)
    return StatedLoss((high - 1) / 10.0, high / 10.0, reason=reason)
