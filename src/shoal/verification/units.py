"""People or households that a release numbers: at least k carry the same rows, and the numbers say no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.results.claims import Claim
from shoal.verification import delimited
from shoal.verification.release_files import Refused

Ints = NDArray[np.int64]


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
        if texts.null_count or not all(map(delimited.is_whole, texts.unique().to_pylist())):
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
