"""What was counted against what was promised, one claim each; how many rows are equal in each part, and the rows of
people or households that a release numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.results.claims import Claim
from shoal.verification.delimited import is_whole
from shoal.verification.release_files import Refused
from shoal.verification.values import LAST_DIGIT, DistinctValues, shares, value_claims, within_likeness

Ints = NDArray[np.int64]


@dataclass
class Counts:
    """What was counted of the rows and a report shows."""

    group_sizes: Counter[int] = field(default_factory=Counter)  # how many groups have each
    lengths: Counter[int] = field(default_factory=Counter)  # how many sketches have each
    documents_with: dict[str, int] = field(default_factory=dict)  # how many documents have each term
    texts: dict[str, dict[str | None, int]] = field(default_factory=dict)  # the different ones of protected columns


def columns_as_promised(expected: list[str], found: list[str], promises: dict[str, Any], file: str) -> Claim:
    """The columns are those of the certificate, in its order."""
    promised = [column["name"] for column in promises["columns"]]
    same = expected == found == promised
    columns = "1 column" if len(found) == 1 else f"{len(found)} columns"
    return Claim("schema", same, f"{columns}, as promised" if same else "the columns differ", file)


def rows_as_promised(rows: int, promises: dict[str, Any], file: str) -> Claim:
    """As many rows as certified."""
    promised = promises["rows"]
    if rows == promised:
        return Claim("rows", True, f"{rows:,} rows, as promised", file)
    return Claim("rows", False, f"{rows:,} rows where {promised:,} are promised", file)


def gaps_as_promised(found: Mapping[str, int], promises: dict[str, Any], file: str) -> Iterator[Claim]:
    """As many gaps in protected columns as certified; that whole groups have them is counted with the crowds."""
    promised = {column["name"]: column["gaps"] for column in promises["columns"] if "gaps" in column}
    if found == promised and not promised:
        return
    listed = ", ".join(f"{count:,} in {name}" for name, count in sorted(found.items()))
    if found == promised:
        yield Claim("gaps", True, f"{listed}, each shared by its whole group", file)
    else:
        yield Claim("gaps", False, f"{listed or 'none'}, where others are promised", file)


def check_rows(rows: int, promises: dict[str, Any], file: str) -> None:
    """Before rows are read: there are not more than certified."""
    if rows > promises["rows"]:
        raise Refused("rows", rows_as_promised(rows, promises, file).detail, file)


def crowd_claims(
    sets: Sequence[GroupCounts],
    whole: GroupCounts,
    values: Mapping[str, DistinctValues],
    in_order: bool,
    promises: dict[str, Any],
    file: str,
) -> Iterator[Claim]:
    """What is promised of rows once all are counted: by equal values in each set of columns, and by whole rows."""
    yield anonymity(min(min(groups.sizes) for groups in sets), promises, file)
    yield from crowds_as_promised(Counter(whole.sizes), promises, file)
    yield from value_claims(values, len(whole), promises, file)
    if "likeness" in promises:
        yield from likeness_claims(values, len(whole), promises, file)
    yield canonical_order(in_order, file)


def anonymity(smallest: int, promises: dict[str, Any], file: str) -> Claim:
    """Every record shares its protected values with at least k - 1 others."""
    promised = promises["anonymity"]
    if promised["k"] is None:
        same = smallest == promised["smallest_group"] and promised["whole_rows"] is False
        found = f"none is promised: a row may be one of a kind; the fewest that are equal are {smallest}"
        return Claim("no crowd", same, found if same else "the rows that are equal are not as many as stated", file)
    k, whole = promised["k"], promised["whole_rows"]
    promise = "k-anonymity" if whole else "shared values"
    what = "row" if whole else "row's values in each group of columns"
    over = " | ".join(", ".join(map(str, part)) for part in promised["shared_columns"])
    if smallest < k:
        return Claim(promise, False, f"a row is shared by {smallest} only, k={k} is promised", file)
    if smallest != promised["smallest_group"]:
        return Claim(promise, False, f"the smallest group has {smallest}, not {promised['smallest_group']!r}", file)
    caution = "" if whole else "; NO k-anonymity: a whole row may be one of a kind"
    return Claim(promise, True, f"every {what} is shared by at least {smallest} (k={k}) in {over}{caution}", file)


def crowds_as_promised(sizes: Counter[int], promises: dict[str, Any], file: str) -> Iterator[Claim]:
    """The groups are as many of each size as stated, and each has the people and the records that are promised.

    Whose a row is, and the k that it asks for, are the owner's word: a release does not say it.
    """
    stated, k = promises.get("crowds"), promises["anonymity"]["k"] or 1
    if stated is None:
        return
    of_people, of_own_k = (any(crowd[name] is not None for crowd in stated) for name in ("people", "own_k"))
    if not (of_people or of_own_k) or not promises["anonymity"]["whole_rows"]:
        yield Claim("crowds", False, "crowds are stated of which nothing is promised", file)
        return
    found: Counter[int] = Counter()
    for crowd in stated:
        found[crowd["rows"]] += crowd["groups"]
    same = found == sizes
    if of_people:
        who = "people" if "unit" not in promises else "households"
        least = min(crowd["people"] or 0 for crowd in stated)
        holds = same and least >= k and all(crowd["people"] <= crowd["rows"] for crowd in stated)
        kept = f"groups are of the sizes stated; the owner's word: each has at least {least} different {who} (k={k})"
        yield Claim("people", holds, kept if holds else f"the crowds stated are not those of k {who} found", file)
    if of_own_k:
        asked = [(crowd["own_k"] or 0, crowd["people"] if of_people else crowd["rows"]) for crowd in stated]
        holds = same and all(crowd is not None and 0 < own_k <= crowd for own_k, crowd in asked)
        most = max(own_k for own_k, _ in asked)
        kept = f"every group is as large as its records ask for by the owner's word, up to {most:,}"
        yield Claim("own k", holds, kept if holds else "a group is not of the size that its records ask for", file)


def visible_claims(showing: Mapping[str, Counter[str | None]], promises: dict[str, Any], file: str) -> Iterator[Claim]:
    """Values that keep their share are shown by as many rows as stated, and are in no set with others."""
    for one in promises.get("visible", ()):
        name, value, found = one["column"], one["value"], showing[one["column"]]
        among = sum(rows for text, rows in found.items() if text == "*" or value in (text or "").split(" | ")[1:])
        among += sum(rows for text, rows in found.items() if (text or "").startswith(f"{value} | "))
        holds = found[value] == one["rows"] and not among
        kept = f"{name!r}: {found[value]:,} rows show a value that keeps its share, and it is in no set"
        yield Claim("visible", holds, kept if holds else f"{name!r}: a value is not shown as stated", file)


def canonical_order(holds: bool, file: str) -> Claim:
    """Rows are sorted by their content, so their order tells nothing."""
    return Claim("order", holds, "rows are in the order of their content" if holds else "rows are out of order", file)


class GroupCounts:
    """Sizes of groups. A group is the rows of one part that share the same bytes: a reader can tell parts apart."""

    def __init__(self) -> None:
        self.sizes: list[int] = []  # by group number
        self._number_of: dict[bytes, int] = {}  # in the part that is being counted

    def __len__(self) -> int:
        return len(self.sizes)

    def next_part(self) -> None:
        """The rows that follow are those of another part."""
        self._number_of = {}

    def add(self, shared: bytes, rows: int) -> int:
        """Count rows that share these bytes; the number of their group."""
        number = self._number_of.setdefault(shared, len(self.sizes))
        if number == len(self.sizes):
            self.sizes.append(0)
        self.sizes[number] += rows
        return number


def likeness_claims(
    values: Mapping[str, DistinctValues], n_groups: int, promises: dict[str, Any], file: str
) -> Iterator[Claim]:
    """A share p of all rows becomes at most p · (1 + min(β, -ln p)) of a group; and the gain is the one stated."""
    promised = promises["likeness"]
    beta, stated = promised["bound"], {column["column"]: column["gain"] for column in promised["columns"]}
    if beta <= 0 or stated.keys() != values.keys() or len(stated) < len(promised["columns"]) or not stated:
        yield Claim("β-likeness", False, "it is not stated of the confidential columns, of each once", file)
        return
    for name, column in values.items():
        group, code, rows = column.counted()
        p, q = shares(group, code, rows, n_groups)
        gain = float((q / p - 1.0).max(initial=0.0))
        within = within_likeness(group, code, rows, n_groups, beta)
        holds = within and abs(gain - stated[name]) <= LAST_DIGIT
        kept = f"{name!r}: no value is more than {1 + gain:.4f} times as frequent in a group as in all (β={beta:g})"
        wrong = f"{name!r}: a value is {1 + gain:.4f} times as frequent in a group as in all, β={beta:g}"
        yield Claim("β-likeness", holds, kept if holds else f"{wrong} and {stated[name]:g} are stated", file)


class Units:
    """The rows of each person or household, by the number that is released."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._numbers: list[Ints] = []
        self._groups: list[Ints] = []
        self._is_new: list[NDArray[np.bool_]] = []  # rows that differ from the one before in some other column
        self._last_row = ""

    def add(self, table: pa.Table, group_of_row: Ints, file: str) -> None:
        """Take in some rows."""
        texts = table[self._name].cast(pa.string())
        if texts.null_count or not all(map(is_whole, texts.unique().to_pylist())):
            raise Refused("numbers", "a number of a person is missing, or none", file)
        rest = table.drop_columns([self._name])
        is_new = np.zeros(table.num_rows, dtype=bool)
        for column in rest.columns:
            encoded = column.chunk(0) if pa.types.is_dictionary(column.type) else column.chunk(0).dictionary_encode()
            codes = np.asarray(encoded.indices.fill_null(-1))
            is_new[1:] |= codes[1:] != codes[:-1]
        first, last = (repr([column[place].as_py() for column in rest.columns]) for place in (0, -1))
        is_new[0] = first != self._last_row
        self._numbers.append(texts.cast(pa.int64()).to_numpy())
        self._groups.append(group_of_row)
        self._is_new.append(is_new)
        self._last_row = last

    def of_each(self) -> tuple[list[int], list[tuple[int, ...]], list[tuple[int, ...]]]:
        """Numbers, rising; of each the groups of its rows, and the places of its rows among the different ones."""
        numbers, groups = np.concatenate(self._numbers), np.concatenate(self._groups)
        place = np.cumsum(np.concatenate(self._is_new))
        of_unit: dict[int, list[tuple[int, int]]] = {}
        for number, group, content in zip(numbers.tolist(), groups.tolist(), place.tolist(), strict=True):
            of_unit.setdefault(number, []).append((group, content))
        rising = sorted(of_unit)
        return (
            rising,
            [tuple(sorted(group for group, _ in of_unit[number])) for number in rising],
            [tuple(sorted(content for _, content in of_unit[number])) for number in rising],
        )


def unit_claims(units: Units, group_sizes: Sequence[int], promises: dict[str, Any], file: str) -> Iterator[Claim]:
    """At least k people carry the rows that any one of them carries, each as often; and numbers say no more."""
    numbers, groups, contents = units.of_each()
    k, stated = promises["anonymity"]["k"] or 1, promises.get("crowds", ())
    alike = min(Counter(groups).values())
    found = f"at least {alike} people or households have the same rows, each as often (k={k})"
    people = Counter(group for of_unit in groups for group in set(of_unit))
    crowds = Counter((size, people[group]) for group, size in enumerate(group_sizes))
    same = crowds == sum((Counter({(one["rows"], one["people"]): one["groups"]}) for one in stated), Counter())
    holds = alike >= k and same
    wrong = f"only {alike} have the same rows, k={k}" if alike < k else "the crowds stated are not those of the numbers"
    yield Claim("whole people", holds, found if holds else wrong, file)
    in_order = numbers == list(range(1, len(numbers) + 1)) and contents == sorted(contents)
    said = "people are numbered by what is released of them" if in_order else "the numbers of people are out of order"
    yield Claim("numbers", in_order, said, file)
