"""Confidential values as their readers see them, what promises ask of them, and groups counted by what they have."""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.files import shown
from shoal.errors import InputError
from shoal.promises import closeness, diversity, likeness
from shoal.promises.diversity import check_kept, reachable
from shoal.promises.requirements import ConfidentialColumn, Ints, Requirement
from shoal.request.options import GroupPromises
from shoal.results.claims import LOOKALIKES, Crowd

# A new promise of values is a file of this folder, with the OPTION that promises it, and its name here.
VALUE_PROMISES = (diversity, closeness, likeness)

LOOKS_LIKE = {"o": "0", "i": "1", "l": "1", "|": "1", "rn": "m"}
NUMBER = re.compile(r"[+-]?(?:1nf(?:1n1ty)?|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,9})?)")
MISSING = {"", ".", "?", "na", "n/a", "nan", "+nan", "-nan", "nu11", "n0ne"}
LONGEST = 1_000_000  # characters of a value: more would not be verified
NOT_SHOWN = {  # marks and fillers; format and control characters are known by their category
    *map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0)),
    *map(chr, range(0xFE00, 0xFE10)),
    *map(chr, range(0xE0100, 0xE01F0)),
}


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
    promised = [promise for promise in VALUE_PROMISES if getattr(promises, promise.OPTION) is not None]
    asked: list[Requirement] = []
    for number, values in enumerate(columns):
        meant = meanings(values)
        counts = Counter(value for value in meant if value is not None) if overall is None else overall[number]
        ranked = closeness.by_size(counts)
        code = {value: rank for rank, value in enumerate(ranked or sorted(counts))}
        codes = np.fromiter((-1 if value is None else code[value] for value in meant), np.int64, len(meant))
        everywhere = np.fromiter((counts[value] for value in code), np.int64, len(code))
        column = ConfidentialColumn(codes, everywhere, ranked is not None)
        asked += [promise.requirement(promises, column) for promise in promised]
    return asked


@dataclass(frozen=True)
class GroupFacts:
    """Groups as a reader sees them: records of a part that look the same. The facts of two parts add up."""

    sizes: list[int]
    values: dict[str, list[Counter[str]]]  # of each confidential column, how many records of a group have each value
    crowds: Counter[tuple[int, int | None, int | None]]  # groups by records, people and largest own k

    def __add__(self, other: GroupFacts) -> GroupFacts:
        # A reader sees which part a row is in, so equal groups of two parts are two groups.
        values = {name: groups + other.values[name] for name, groups in self.values.items()}
        return GroupFacts(self.sizes + other.sizes, values, self.crowds + other.crowds)


def facts_of(
    groups: Ints,
    confidential: Mapping[str, NDArray[Any]],
    person: Ints | None = None,
    own_k: Ints | None = None,
) -> GroupFacts:
    """The groups of a part: `groups` has the number of each record's, `person` whose each record is."""
    sizes: list[int] = np.bincount(groups).tolist()
    values: dict[str, list[Counter[str]]] = {name: [Counter() for _ in sizes] for name in confidential}
    for name, column in confidential.items():
        for group, value in zip(groups.tolist(), meanings(column), strict=True):
            if value is not None:
                values[name][group][value] += 1
    return GroupFacts(sizes, values, _crowds_in(groups, person, own_k))


@dataclass(frozen=True)
class GroupTotals:
    """What a block has of what is promised to its groups; the holdings of two blocks add up."""

    rows: int
    values: tuple[Counter[str], ...]  # of each confidential column, how many records have each value
    people: frozenset[int] | None  # None: records are counted
    own_k: int  # the largest k that any record asks for

    def __add__(self, other: GroupTotals) -> GroupTotals:
        values = tuple(one + two for one, two in zip(self.values, other.values, strict=True))
        people = None if self.people is None or other.people is None else self.people | other.people
        return GroupTotals(self.rows + other.rows, values, people, max(self.own_k, other.own_k))

    @property
    def crowd(self) -> int:
        """People, or records where these are counted."""
        return self.rows if self.people is None else len(self.people)


def totals_of(
    n_rows: int, confidential: Sequence[NDArray[Any]], person: Ints | None = None, own_k: Ints | None = None
) -> GroupTotals:
    """What some rows have together: values of confidential columns, people, and the largest own k."""
    people = None if person is None else frozenset(person.tolist())
    largest = 1 if own_k is None else int(own_k.max(initial=1))
    return GroupTotals(n_rows, tuple(map(counted_values, confidential)), people, largest)


def misses_promises(held: GroupTotals, k: int, promises: GroupPromises) -> bool:
    """Whether all records together have less than is promised to a group."""
    return held.crowd < max(k, held.own_k) or not all(reachable(promises, values) for values in held.values)


def check_totals(held: GroupTotals, confidential: tuple[str, ...], k: int, promises: GroupPromises) -> None:
    """No grouping gives groups more than all records have together."""
    if held.people is not None and held.crowd < k:
        raise InputError(
            f"k={k} needs at least {k} {promises.units}, column {shown(str(promises.unit))} has {held.crowd}; lower k "
            f"or add {promises.units}"
        )
    if held.own_k > held.crowd:
        whose = "records" if held.people is None else promises.units
        raise InputError(
            f"column {shown(str(promises.k_column))} asks for a crowd of {held.own_k:,}, and there are {held.crowd:,} "
            f"{whose}; lower it to {held.crowd:,} or less"
        )
    for name, values in zip(confidential, held.values, strict=True):
        check_kept(promises, name, values)


def _crowds_in(groups: Ints, person: Ints | None, own_k: Ints | None) -> Counter[tuple[int, int | None, int | None]]:
    rows = np.bincount(groups)
    people: list[Any] = [None] * len(rows)
    largest: list[Any] = [None] * len(rows)
    if person is not None:
        pairs = np.unique(np.column_stack([groups, person]), axis=0)
        people = np.bincount(pairs[:, 0]).tolist()
    if own_k is not None:
        most = np.zeros(len(rows), dtype=np.int64)
        np.maximum.at(most, groups, own_k)
        largest = most.tolist()
    return Counter(zip(rows.tolist(), people, largest, strict=True))


def crowd_figures(facts: GroupFacts, promises: GroupPromises) -> dict[str, Any]:
    """What a summary says of groups: their sizes, and the confidential values in them."""
    crowds = sorted(facts.crowds, key=lambda crowd: [figure or 0 for figure in crowd])
    return {
        "smallest_group": min(facts.sizes),
        "group_sizes": tuple(sorted(Counter(facts.sizes).items())),
        "diversity": tuple(diversity.figures(name, groups, promises) for name, groups in facts.values.items()),
        "closeness": ()
        if promises.t is None
        else tuple(closeness.figures(name, groups) for name, groups in facts.values.items()),
        "likeness": ()
        if promises.beta is None
        else tuple((name, likeness.largest_gain(groups)) for name, groups in facts.values.items()),
        "crowds": tuple(Crowd(facts.crowds[crowd], *crowd) for crowd in crowds),
    }
