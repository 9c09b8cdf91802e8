"""Recoding of whole columns before anything else: bands, limits, steps, prefixes, classes of codes, levels.

A rule is a short text, such as `0-17,18-64,65+`, `top 250000`, `round 100`, `prefix 2`, `icd10 chapter` or `level 2`.
What a rule releases is coarser than the original and true of it.
"""

from __future__ import annotations

import itertools
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.data.columns import column_numbers, holds_numbers, is_gap, plain, value_type
from shoal.data.files import counted, shown
from shoal.data.kinds.dates import PERIODS
from shoal.data.table import Table
from shoal.errors import InputError

ONWARDS = "..."
_NUMBER = r"-?\d+(?:\.\d+)?"
_BAND = re.compile(rf"({_NUMBER})\s*-\s*({_NUMBER})")
_OPEN = re.compile(rf"({_NUMBER})\s*\+")
_BELOW = re.compile(rf"<\s*({_NUMBER})")
_WORDS = re.compile(r"(top|bottom|round|prefix|level)\s+(-?\d+(?:\.\d+)?)")
# The first category of each chapter of ICD-10, and the first division of each section of NACE (revision 2).
_ICD10 = "A00 C00 D50 E00 F00 G00 H00 H60 I00 J00 K00 L00 M00 N00 O00 P00 Q00 R00 S00 U00 V00 Z00"
_CHAPTERS = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XXII XX XXI"
_NACE = "01 05 10 35 36 41 45 49 55 58 64 68 69 77 84 85 86 90 94 97 99"
MOST_BANDS = 10_000
LevelUp = Callable[[Any, int], Any]  # the concept so many steps above a value


@dataclass(frozen=True)
class Bands:
    """Numbers to bands, each named by its ends; a band reaches to where the next one begins."""

    lows: tuple[float, ...]
    labels: tuple[str, ...]
    end: float  # where the last band ends, infinite if it is open

    def apply(self, column: Any, name: str) -> pa.Array:
        numbers = column_numbers(_as_numbers(column, name), name)
        gaps = np.isnan(numbers)
        outside = ~gaps & ((numbers < self.lows[0]) | (numbers >= self.end))
        if outside.any():
            raise InputError(
                f"column {name}: {counted(int(outside.sum()), 'value')} in no band; begin with one such as <18, or end "
                "with one such as 85+",
                "recode",
            )
        places = np.searchsorted(self.lows, np.where(gaps, self.lows[0], numbers), side="right") - 1
        return pa.array(np.array(self.labels, dtype=object)[places], pa.string(), mask=gaps)

    def merged(self, first: int, last: int) -> str:
        """The band that several bands next to each other make."""
        low, high = self.labels[first], self.labels[last]
        if first == last:
            return low
        if low.startswith("<"):
            return ONWARDS if high.endswith("+") else f"<{_spelt(self.lows[last + 1])}"
        begin = _spelt(self.lows[first])
        return f"{begin}+" if high.endswith("+") else f"{begin}-{_BAND.fullmatch(high)[2]}"  # type: ignore[index]


@dataclass(frozen=True)
class Limits:
    """Numbers beyond a limit become the limit: top and bottom coding."""

    bottom: float
    top: float
    step: float = 0.0  # and numbers are rounded to multiples of it

    def apply(self, column: Any, name: str) -> pa.Array:
        numbers = column_numbers(_as_numbers(column, name), name)
        limited = np.clip(numbers, self.bottom, self.top)
        if self.step:
            limited = np.rint(limited / self.step) * self.step
        gaps = np.isnan(limited)
        whole = bool(np.all(gaps | (limited == np.rint(limited)))) and pa.types.is_integer(value_type(column.type))
        kind = pa.int64() if whole else pa.float64()
        return pa.array(np.where(gaps, 0.0, limited), pa.float64(), mask=gaps).cast(kind)


@dataclass(frozen=True)
class Codes:
    """Codes to classes: the first characters, a chapter, or a level of the column's hierarchy."""

    class_of: Callable[[str], str]
    built: str = ""  # the pattern of codes that have such classes

    def apply(self, column: Any, name: str) -> pa.Array:
        gaps = is_gap(column)
        encoded = pc.if_else(gaps, None, plain(column).cast(pa.string())).combine_chunks().dictionary_encode()
        codes = [code.strip() for code in encoded.dictionary.to_pylist()]
        if codes and not any(re.match(self.built, code, re.IGNORECASE) for code in codes):
            raise InputError(
                f"column {name} holds no codes of this classification; name the column of codes, or take another rule "
                "({option})",
                "recode",
            )
        classes = [self.class_of(code) for code in codes]
        return pa.array(classes, pa.string()).take(encoded.indices)


@dataclass(frozen=True)
class Level:
    """Labels to the concepts so many steps above them in the column's hierarchy."""

    steps: int


@dataclass(frozen=True)
class Period:
    """Dates to the month, year or decade in which they lie."""

    name: str


Rule = Bands | Limits | Codes | Level | Period


def rule_of(text: str) -> Rule:
    """The rule that a text stands for; a ValueError says what it may be."""
    words = " ".join(text.split())
    if words in PERIODS:
        return Period(words)
    if words in _CLASSES:
        return Codes(_CLASSES[words], _BUILT[words.split()[0]])
    numbers = [(match[1], float(match[2])) for match in _WORDS.finditer(words)]
    if numbers and not _WORDS.sub("", words).strip(" ,"):
        if len(dict(numbers)) < len(numbers):
            raise ValueError("says the same twice; leave out one of the two")
        return _of_words(dict(numbers))
    return _bands(words)


def recoded(table: Table, rules: Mapping[str, str], levels: Mapping[str, LevelUp]) -> Table:
    """The table with these columns recoded; `levels` knows the hierarchies of columns."""
    data = table.data
    for name, text in rules.items():
        rule = rule_of(text)
        if isinstance(rule, Period) or name not in data.column_names:  # dates are written as periods at the end
            continue
        if isinstance(rule, Level):
            if name not in levels:
                raise InputError(
                    f"recode {shown(name)}={text} needs the column's hierarchy; give it: {{option}}",
                    f"ontology {shown(name)}=…",
                )
            rule = Codes(_level(levels[name], rule.steps))
        column = rule.apply(data[name], shown(name))
        data = data.set_column(data.column_names.index(name), name, column)
    return replace(table, data=data)


def _level(above: LevelUp, steps: int) -> Callable[[str], str]:
    return lambda label: str(above(label, steps))


def _of_words(numbers: Mapping[str, float]) -> Rule:
    if numbers.keys() <= {"top", "bottom", "round"}:
        limits = Limits(numbers.get("bottom", -math.inf), numbers.get("top", math.inf), numbers.get("round", 0.0))
        if limits.bottom > limits.top or numbers.get("round", 1.0) <= 0:
            raise ValueError("must have a bottom below its top, and a step above 0")
        return limits
    (word, number), *others = numbers.items()
    if others or number != int(number) or number < 1:
        raise ValueError("must be alone, with a whole number of at least 1")
    return Level(int(number)) if word == "level" else Codes(lambda code: code[: int(number)])


def _bands(text: str) -> Bands:
    """Bands such as <18,18-64,65+; `...` goes on with the width of the band before it."""
    ends: list[tuple[float, float]] = []  # of each band, as written
    pieces = [piece.strip() for piece in text.replace("…", ONWARDS).split(",")]
    for number, piece in enumerate(pieces):
        band, opened, below = _BAND.fullmatch(piece), _OPEN.fullmatch(piece), _BELOW.fullmatch(piece)
        if piece == ONWARDS and len(ends) > 1 and number + 1 < len(pieces):
            following = re.match(_NUMBER, pieces[number + 1])
            width = ends[-1][0] - ends[-2][0]
            while following and width > 0 and ends[-1][0] + width < float(following[0]):
                ends.append((ends[-1][0] + width, ends[-1][1] + width))
                if len(ends) > MOST_BANDS:
                    raise ValueError(f"makes more than {MOST_BANDS:,} bands; take wider ones")
        elif band:
            ends.append((float(band[1]), float(band[2])))
        elif opened and number + 1 == len(pieces):
            ends.append((float(opened[1]), math.inf))
        elif below and number == 0:
            ends.append((-math.inf, float(below[1])))
        else:
            raise ValueError(
                "is no recoding; write bands such as <18,18-64,65+ or 0-4,5-9,...,85+, or top 100, bottom 0, round 10, "
                f"prefix 2, level 1, {', '.join(_CLASSES)}, {', '.join(PERIODS)}"
            )
    unit = 10.0 ** -max(len(piece.partition(".")[2]) for piece in re.findall(_NUMBER, text))
    for (low, high), (following_low, _) in itertools.pairwise([*ends, (math.inf, math.inf)]):
        if low > high:
            raise ValueError("has a band that ends before it begins; write the lower number first")
        if math.isfinite(high) and following_low != math.inf and not 0 <= following_low - high <= 1.000001 * unit:
            raise ValueError("has bands that overlap, do not rise or leave a gap; write each from where one ended")
    labels = tuple(
        f"<{_spelt(high)}" if low == -math.inf else f"{_spelt(low)}+" if high == math.inf else _range(low, high)
        for low, high in ends
    )
    touching = any(high == low for (_, high), (low, _) in itertools.pairwise(ends))  # 0-5,5-10: 5 is in the second
    end = math.nextafter(ends[-1][1], math.inf) if touching else ends[-1][1] + unit
    return Bands(tuple(low for low, _ in ends), labels, end)


def _range(low: float, high: float) -> str:
    return f"{_spelt(low)}-{_spelt(high)}"


def _spelt(number: float) -> str:
    return f"{number:.15g}"


def _as_numbers(column: Any, name: str) -> Any:
    """A column of texts that are numbers, as numbers."""
    if holds_numbers(column.type):
        return column
    texts = pc.if_else(is_gap(column), None, pc.utf8_trim_whitespace(plain(column).cast(pa.string())))
    try:
        return texts.cast(pa.float64())
    except pa.ArrowInvalid:
        raise InputError(
            f"column {name} holds texts that are no numbers; correct them, or take another rule ({{option}})", "recode"
        ) from None


def _icd10_chapter(code: str) -> str:
    category = code[:3].upper()
    if not re.fullmatch(r"[A-Z]\d[0-9A-Z]", category):
        return code
    return f"chapter {_CHAPTERS.split()[bisect_right(_ICD10.split(), category) - 1]}"


def _nace_section(code: str) -> str:
    division = code[:2]
    if not division.isdigit() or division == "00":
        return code[:1]
    return chr(ord("A") + bisect_right(_NACE.split(), division) - 1)


_CLASSES: dict[str, Callable[[str], str]] = {
    "icd10 chapter": _icd10_chapter,
    "icd10 category": lambda code: code[:3],
    "nace section": _nace_section,
    "nace division": lambda code: code[:2],
    "isco major": lambda code: code[:1],
}
_BUILT = {"icd10": r"[A-Z]\d", "nace": r"[A-U]?\d|[A-U]$", "isco": r"\d"}
