"""What is promised of confidential values, as requirements that groups are joined for; and whether it can be kept."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.io.files import shown
from shoal.microaggregation.requirements import (
    Close,
    Distinct,
    Entropy,
    Recursive,
    Requirement,
    different_values,
    ratio,
)
from shoal.protection.closeness import by_size
from shoal.protection.groups import meanings
from shoal.results.promised import DISTINCT, ENTROPY, GroupPromises

__all__ = ["check_kept", "counted_values", "reachable", "value_requirements"]

Ints = NDArray[np.int64]


def counted_values(values: NDArray[Any]) -> Counter[str]:
    """How many records have each value, spelling aside; missing ones do not count."""
    return Counter(value for value in meanings(values) if value is not None)


def value_requirements(
    promises: GroupPromises, columns: Sequence[NDArray[Any]], overall: Sequence[Mapping[str, int]] | None = None
) -> list[Requirement]:
    """What groups must have of each confidential column.

    `overall` has how many of all records have each value, where these are not all.
    """
    found: list[Requirement] = []
    for place, values in enumerate(columns):
        meant = meanings(values)
        counts = Counter(value for value in meant if value is not None) if overall is None else overall[place]
        ranked = by_size(counts)
        code = {value: number for number, value in enumerate(ranked or sorted(counts))}
        codes = np.fromiter((-1 if value is None else code[value] for value in meant), np.int64, len(meant))
        if promises.l is not None:
            found.append(_diversity(promises, codes))
        if promises.t is not None:
            everywhere = np.fromiter((counts[value] for value in code), np.int64, len(code))
            found.append(Close(codes, promises.t, everywhere, ranked is not None))
    return found


def _diversity(promises: GroupPromises, codes: Ints) -> Requirement:
    assert promises.l is not None
    if promises.diversity == DISTINCT:
        return Distinct(codes, int(promises.l))
    if promises.diversity == ENTROPY:
        return Entropy(codes, promises.l)
    assert promises.c is not None
    return Recursive(codes, promises.c, int(promises.l))


def reachable(promises: GroupPromises, values: Mapping[str, int]) -> bool:
    """Whether all records together, with these values of a column, have what is promised of them by l."""
    counts = np.fromiter(values.values(), np.int64, len(values))
    if promises.l is None or not len(counts):
        return promises.l is None
    rows = np.repeat(np.arange(len(counts)), counts)
    return _diversity(promises, rows).met(np.arange(len(rows)))


def check_kept(promises: GroupPromises, column: str, values: Mapping[str, int]) -> None:
    """No grouping gives groups more than all records have together."""
    if reachable(promises, values):
        return
    counts, l, name = np.fromiter(values.values(), np.int64, len(values)), promises.l, shown(column)
    assert l is not None
    if promises.diversity == DISTINCT or len(counts) < l:
        needed = math.ceil(l)
        raise InputError(f"l={l} needs {needed} different values, column {name} has {len(counts)}; lower l")
    if promises.diversity == ENTROPY:
        most = math.floor(100 * different_values(counts)) / 100
        raise InputError(
            f"l={l} by entropy is more than column {name} has in all: it is as hard to guess as {most:g} equally "
            f"frequent values; lower l to {most:g} or less"
        )
    least = math.floor(100 * ratio(counts, int(l)) + 1) / 100
    raise InputError(
        f"c={promises.c} with l={l} is less than column {name} has in all: its most frequent value has {least:g} times "
        f"the records of those from the {int(l)}th on; raise c above that, or lower l"
    )
