"""Confidential values in groups: how many differ, how evenly they occur, and how far they are from those of all rows.

Spellings of one value count once. The owner's side counts with code of its own.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.results.claims import LOOKALIKES, Claim
from shoal.verification.release_files import Refused

DIGITS = str.maketrans("oil|", "0111")  # what they look like; numbers and words alike
MISSING = {text.translate(DIGITS) for text in ("", ".", "?", "na", "n/a", "nan", "+nan", "-nan", "null", "none")}
NUMBER = re.compile(r"([+-]?)(\d*)(\.\d*)?(e[+-]?\d{1,9})?", re.ASCII)
INFINITE = re.compile(r"([+-]?)1nf(?:1n1ty)?")
NOT_SHOWN = {"Cf", "Cn", "Co", "Cs"}  # format characters, unassigned, for private use
# Marks and fillers that are not shown, whatever their category.
UNSEEN = {*map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0))}
UNSEEN |= {*map(chr, range(0xFE00, 0xFE10)), *map(chr, range(0xE0100, 0xE01F0))}
BLANK, MINUS = "\u2800", "\u2212"  # a pattern of no dots; a sign that is no dash
LATIN = re.compile("[A-Za-z]")
AMONG_LATIN = str.maketrans("νυη", "vun")  # Greek letters whose capitals look like others
LONGEST = 1_000_000  # characters of a value
MOST_GROWTH = 1_000_000  # characters by which the values of a column may more than double when they are normalised
LONG = 200  # characters of a value of which only a digest is kept
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
LAST_DIGIT = 1.01e-4  # figures are stated in four decimals
ROUNDING = 1e-9


def meaning_of(value: Any) -> str | None:
    """A value as a reader sees it; None for a missing one. "Flu ", "flu" and "fIu" are one value, so are 1 and 1.0."""
    if value is None:
        return None
    text = str(value)
    if not (text.isascii() and text.isprintable()):
        text = _as_seen(text)
    text = " ".join(text.casefold().split()).translate(DIGITS).replace("rn", "m")
    return None if text in MISSING else _number(text) or text


def _as_seen(text: str) -> str:
    """The text without what is not seen, in one spelling of Unicode and in Latin letters where it looks Latin."""
    text = unicodedata.normalize("NFKC", text.translate({ord(letter): _shown(letter) for letter in set(text)}))
    if LATIN.search(text):
        text = text.translate(AMONG_LATIN)
    return unicodedata.normalize("NFKC", text.casefold()).casefold().translate(LOOKALIKES)


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category in NOT_SHOWN or character in UNSEEN or (category == "Cc" and not character.isspace()):
        return ""
    if character == BLANK:
        return " "
    if category == "Pd" or character == MINUS:
        return "-"
    return str(unicodedata.decimal(character)) if category == "Nd" else character


def _number(text: str) -> str | None:
    """A number in one spelling: a whole one exactly, others as the doubles that readers get; None for other text."""
    if infinite := INFINITE.fullmatch(text):
        return infinite[1].replace("+", "") + "infinity"
    found = NUMBER.fullmatch(text)
    if found is None or not any(map(str.isdigit, text)):
        return None
    if found[3] or found[4]:
        value = float(text)
        if abs(value) == float("inf"):
            return f"{value}inity"
        if not value.is_integer():
            return repr(value)
        text = str(int(value))
    digits = text.lstrip("+-0")
    return ("-" if text.startswith("-") else "") + digits if digits else "0"


def growth_of(text: str) -> int:
    """How many characters the text has more once it is normalised; U+FDFA, for one, becomes eighteen."""
    return sum(
        count * (len(unicodedata.normalize("NFKC", letter)) - 1)
        for letter, count in Counter(text).items()
        if letter > "~"
    )


def _key_of(meaning: str | None) -> str | None:
    """A long text by its digest; numbers stay, for they have an order."""
    if meaning is None or len(meaning) <= LONG or NUMBER.fullmatch(meaning):
        return meaning
    return hashlib.blake2b(meaning.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()


class DistinctValues:
    """The different values of a confidential column, and how often each group has which."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._growth = 0  # characters by which normalised values are more than twice as long
        self._pairs: list[NDArray[np.int64]] = []  # group and value, each pair once per batch
        self._rows: list[NDArray[np.int64]] = []  # that have them

    def add(self, group_of_row: NDArray[np.int64], column: pa.Array, file: str = "") -> None:
        """Take in a batch of rows."""
        encoded = column if pa.types.is_dictionary(column.type) else _as_numbers(column).dictionary_encode()
        if pa.types.is_string(encoded.dictionary.type) or pa.types.is_large_string(encoded.dictionary.type):
            longest = pc.max(pc.utf8_length(encoded.dictionary)).as_py() or 0
            if longest > LONGEST:
                raise Refused("size", f"a value has {longest:,} characters, at most {LONGEST:,} are read", file)
        texts = encoded.dictionary.to_pylist()
        other_scripts = [text for text in texts if isinstance(text, str) and not text.isascii()]
        self._growth += sum(growth_of(text) - len(text) for text in other_scripts)
        if self._growth > MOST_GROWTH:
            raise Refused("size", "values are far longer when normalised than as written", file)
        values = (_key_of(meaning_of(text)) for text in texts)
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


def value_claims(
    values: Mapping[str, DistinctValues], n_groups: int, promises: dict[str, Any], file: str
) -> Iterator[Claim]:
    """What is promised of each confidential column."""
    yield from _only_of_confidential(promises, file)
    for name, found in values.items():
        yield _diversity(name, found, n_groups, promises, file)
    if "closeness" in promises:
        yield from _closeness(values, n_groups, promises, file)


def bounds_of_copy(
    shown: Mapping[str, DistinctValues], n_groups: int, promises: dict[str, Any], file: str
) -> Iterator[Claim]:
    """A copy may show two values as one: what is promised of confidential values holds there as well."""
    l, kind, c = promises["diversity"]["l"], promises["diversity"].get("kind"), promises["diversity"].get("c", 0.0)
    for name, column in shown.items():
        group, code, rows = column.counted()
        broken = []
        if l is not None and kind is None and int(np.bincount(group, minlength=n_groups).min()) < l:
            broken.append(f"l={l:g}")
        if l is not None and kind == "entropy" and least_even(group, rows, n_groups) < l * (1.0 - ROUNDING):
            broken.append(f"l={l:g}")
        if l is not None and kind == "recursive" and most_dominant(group, rows, n_groups, int(l)) >= c:
            broken.append(f"l={l:g}")
        if "closeness" in promises and farthest(column, n_groups)[0] > promises["closeness"]["t"] + ROUNDING:
            broken.append(f"t={promises['closeness']['t']:g}")
        if "likeness" in promises and not within_likeness(group, code, rows, n_groups, promises["likeness"]["bound"]):
            broken.append(f"β={promises['likeness']['bound']:g}")
        if broken:
            detail = f"{name!r}: values that differ in the rows are one here, which breaks {', '.join(broken)}"
            yield Claim("l-diversity", False, detail, file)


def within_likeness(group: Ints, code: Ints, rows: Ints, n_groups: int, beta: float) -> bool:
    """A share p of all rows becomes at most p · (1 + min(β, -ln p)) of a group."""
    p, q = shares(group, code, rows, n_groups)
    return bool(np.all(q <= p * (1.0 + np.minimum(beta, -np.log(p))) + ROUNDING))


def shares(group: Ints, code: Ints, rows: Ints, n_groups: int) -> tuple[Floats, Floats]:
    """For each value of each group, its share of all rows and of the rows of the group."""
    in_all = np.bincount(code, weights=rows)
    return (in_all / max(rows.sum(), 1))[code], rows / np.bincount(group, weights=rows, minlength=n_groups)[group]


def _only_of_confidential(promises: dict[str, Any], file: str) -> Iterator[Claim]:
    """What is said of diversity is said of each confidential column and of no other, so that all of it is counted."""
    confidential = [column["name"] for column in promises["columns"] if column["role"] == "confidential"]
    stated = [found["column"] for found in promises["diversity"]["columns"]]
    if sorted(stated) != sorted(confidential):
        yield Claim("l-diversity", False, "it is not stated of the confidential columns, of each once", file)
    elif promises["diversity"]["l"] is not None and not confidential:
        yield Claim("l-diversity", False, "l is promised where no column is confidential", file)
    figure = {"entropy": "equally_frequent", "recursive": "ratio"}.get(promises["diversity"].get("kind"))
    if any({"equally_frequent", "ratio"} & found.keys() - {figure} for found in promises["diversity"]["columns"]):
        yield Claim("l-diversity", False, "a figure is stated of a kind of diversity that is not promised", file)
    if "c" in promises["diversity"] and figure != "ratio":
        yield Claim("l-diversity", False, "c is stated where no recursive diversity is promised", file)


def _diversity(column: str, found: DistinctValues, n_groups: int, promises: dict[str, Any], file: str) -> Claim:
    """Each group has as many confidential values as stated, and at least l where l is promised."""
    promised = promises["diversity"]
    stated = {one["column"]: one for one in promised["columns"]}.get(column)
    if stated is None:
        return Claim("l-diversity", False, f"nothing is stated of the confidential column {column!r}", file)
    group, _, rows = found.counted()
    distinct = np.bincount(group, minlength=n_groups)
    least, l, kind = int(distinct.min()), promised["l"], promised.get("kind")
    if l is not None and kind is None and least < l:
        return Claim("l-diversity", False, f"{column!r}: a group has {least} value(s), l={l}", file)
    figures = (stated["least"], stated["single_valued_groups"], stated["groups"], stated["values"])
    if (least, int(np.sum(distinct <= 1)), n_groups, len(found.values)) != figures:
        return Claim("l-diversity", False, f"{column!r}: the counts by group differ from those stated", file)
    if kind is not None:
        return _evenness(column, group, rows, n_groups, promised, stated, file)
    return Claim("l-diversity", True, f"{column!r}: at least {least} distinct value(s) in every group", file)


def _evenness(
    column: str,
    group: Ints,
    rows: Ints,
    n_groups: int,
    promised: dict[str, Any],
    stated: dict[str, Any],
    file: str,
) -> Claim:
    """Entropy or recursive l-diversity, as promised."""
    l, kind, c = promised["l"], promised["kind"], promised.get("c", 0.0)
    if l is None or l <= 1 or (kind == "recursive") != ("c" in promised) or ("c" in promised and l != int(l)):
        return Claim("l-diversity", False, f"{column!r}: {kind} diversity is promised without what it needs", file)
    if kind == "entropy":
        even = least_even(group, rows, n_groups)
        holds = even >= l * (1.0 - ROUNDING) and abs(even - stated.get("equally_frequent", -1.0)) <= LAST_DIGIT
        kept = f"at least as hard to guess as {even:.4g} equally frequent values in every group (entropy, l={l:g})"
    else:
        ratio = most_dominant(group, rows, n_groups, int(l))
        holds = ratio < c and abs(ratio - stated.get("ratio", -1.0)) <= LAST_DIGIT
        kept = f"the most frequent value is {ratio:.4g} times as frequent as those from the {int(l)}th on, at most"
        kept += f" (recursive, c={c:g}, l={int(l)})"
    wrong = f"a group does not have the {kind} diversity that is promised, or other figures than stated"
    return Claim("l-diversity", holds, f"{column!r}: {kept if holds else wrong}", file)


def least_even(group: Ints, rows: Ints, n_groups: int) -> float:
    """e to the least entropy of any group; 0 if one has no value."""
    total = np.bincount(group, weights=rows, minlength=n_groups)
    if not np.all(total):
        return 0.0
    share = rows / total[group]
    return float(np.exp(np.bincount(group, weights=-share * np.log(share), minlength=n_groups).min()))


def most_dominant(group: Ints, rows: Ints, n_groups: int, l: int) -> float:
    """The largest share of a group's most frequent value by that of all from the l-th on; infinite without any."""
    order = np.lexsort((-rows, group))
    group, rows = group[order], rows[order]
    if len(np.unique(group)) < n_groups:
        return float("inf")
    first = np.searchsorted(group, np.arange(n_groups))
    place = np.arange(len(group)) - first[group]
    rest = np.bincount(group, weights=rows * (place >= l - 1), minlength=n_groups)
    return float("inf") if np.any(rest == 0) else float((rows[first] / rest).max())


def _closeness(
    values: Mapping[str, DistinctValues], n_groups: int, promises: dict[str, Any], file: str
) -> Iterator[Claim]:
    """No group's values are farther than t from those of all rows, and as far as stated."""
    promised = promises["closeness"]
    t, stated = promised["t"], {one["column"]: one for one in promised["columns"]}
    if not 0 < t <= 1 or stated.keys() != values.keys() or len(stated) < len(promised["columns"]) or not stated:
        yield Claim("t-closeness", False, "it is not stated of the confidential columns, of each once", file)
        return
    for name, found in values.items():
        distance, ordered = farthest(found, n_groups)
        said = stated[name]
        holds = distance <= t + ROUNDING and ordered == said["ordered"] and abs(distance - said["t"]) <= LAST_DIGIT
        kept = f"{name!r}: every group is within {distance:.4f} of the whole (t={t:g})"
        wrong = f"{name!r}: a group is {distance:.4f} from the whole, t={t:g} and {said['t']:g} are stated"
        yield Claim("t-closeness", holds, kept if holds else wrong, file)


def farthest(found: DistinctValues, n_groups: int) -> tuple[float, bool]:
    """The earth mover's distance of the farthest group from all rows, and whether values are numbers, by rank."""
    group, code, rows = found.counted()
    rank, ordered = _ranks(found.values)
    if len(rank) <= 1:
        return 0.0, ordered
    value = rank[code]
    overall = np.bincount(value, weights=rows, minlength=len(rank)) / rows.sum()
    share = rows / np.bincount(group, weights=rows, minlength=n_groups)[group]
    if not ordered:
        gained = np.bincount(group, weights=np.maximum(share - overall[value], 0.0), minlength=n_groups)
        return float(gained.max()), ordered
    return float(_areas(group, value, share, overall, n_groups).max()), ordered


def _areas(group: Ints, value: Ints, share: Floats, overall: Floats, n_groups: int) -> Floats:
    """Between the cumulative shares of each group and of all, over the ranks: summed a step of the group at a time."""
    order = np.lexsort((value, group))
    group, value, share = group[order], value[order], share[order]
    there = np.unique(group)
    # A group's steps: nothing up to its first value, and from each value on what it has so far.
    steps = np.concatenate([there, group])
    start = np.concatenate([np.zeros(len(there), dtype=np.int64), value])
    so_far = np.cumsum(share)
    before = np.concatenate([[0.0], so_far])[np.searchsorted(group, there)]
    height = np.concatenate([np.zeros(len(there)), so_far - before[np.searchsorted(there, group)]])
    order = np.lexsort((np.arange(len(steps)), start, steps))
    steps, start, height = steps[order], start[order], height[order]
    last = np.append(steps[1:] != steps[:-1], True)
    stop = np.where(last, len(overall), np.append(start[1:], 0))
    below = np.cumsum(overall)
    summed = np.concatenate([[0.0], np.cumsum(below)])
    cross = np.clip(np.searchsorted(below, height), start, stop)  # from there on, all are above the group
    area = height * (2 * cross - start - stop) + summed[start] + summed[stop] - 2.0 * summed[cross]
    found: Floats = np.bincount(steps, weights=area, minlength=n_groups) / (len(overall) - 1)
    return found


def _ranks(values: list[str]) -> tuple[Ints, bool]:
    """Each value's place in the order of numbers, if all are numbers; else in any."""
    try:
        order = sorted(range(len(values)), key=lambda place: Decimal(values[place]))
    except InvalidOperation:
        return np.arange(len(values)), False
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values))
    return rank, True
