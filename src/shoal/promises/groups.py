"""Groups counted: what each has of what is promised, and what all records have together."""

from __future__ import annotations

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
from shoal.promises.values import counted_values, meanings
from shoal.request.options import GroupPromises
from shoal.results.claims import Crowd

Ints = NDArray[np.int64]


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
            f"k={k} needs at least {k} people, column {shown(str(promises.unit))} has {held.crowd}; lower k or add "
            "people"
        )
    if held.own_k > held.crowd:
        whose = "records" if held.people is None else "people"
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
        "closeness": tuple(closeness.figures(name, groups) for name, groups in facts.values.items()),
        "further": tuple(further for further in [likeness.promise(promises, facts.values)] if further is not None),
        "crowds": tuple(Crowd(facts.crowds[crowd], *crowd) for crowd in crowds),
    }
