"""Crowds of people joined until each has what is promised, in every slot; records that ask for a larger crowd.

Only people with equally many records are joined: where a confidential value is constant within people, what one slot
has more than the next belongs to those with fewer records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.methods.mdav import numbered_by_first_row
from shoal.methods.people import equal_numbers, slots_in_crowds
from shoal.promises.joining import GroupDistances, join_until
from shoal.promises.requirements import CrowdRequirement, Ints, Requirement
from shoal.promises.values import counted_values, value_codes, value_requirements
from shoal.request.options import GroupPromises

Mask = NDArray[np.bool_]

MORE_RECORDS = "more records than k {} have"  # why some are withheld


class OwnK(CrowdRequirement):
    """As many records, or people, as the one that asks for most."""

    def __init__(self, own_k: Ints, person: Ints | None = None) -> None:
        self.own_k = own_k
        self.person = person

    def met(self, rows: Ints) -> bool:
        crowd = len(rows) if self.person is None else len(np.unique(self.person[rows]))
        return crowd >= int(self.own_k[rows].max(initial=1))


class InSlots:
    """A requirement that the rows of each slot must meet by themselves, for each slot is published as one row."""

    def __init__(self, requirement: Requirement, slot_of_row: Ints) -> None:
        self.requirement = requirement
        self.slot_of_row = slot_of_row

    def met(self, rows: Ints) -> bool:
        return all(map(self.requirement.met, self._slots(rows).values()))

    def reveals_values(self, rows: Ints, parts: list[Ints]) -> bool:
        """As if it were known which slot had too little: whoever does not know that learns less."""
        in_parts = [self._slots(part) for part in parts]
        nothing = np.empty(0, dtype=np.int64)
        return any(
            self.requirement.reveals_values(in_slot, [slots.get(slot, nothing) for slots in in_parts])
            for slot, in_slot in self._slots(rows).items()
        )

    def min_part_size(self, rows: Ints) -> Callable[[Ints], int]:
        needed = {slot: self.requirement.min_part_size(in_slot) for slot, in_slot in self._slots(rows).items()}
        return lambda some: sum(needed[slot](in_slot) for slot, in_slot in self._slots(some).items())

    def _slots(self, rows: Ints) -> dict[int, Ints]:
        slot = self.slot_of_row[rows]
        return {number: rows[slot == number] for number in np.unique(slot).tolist()}


@dataclass(frozen=True)
class PeopleGroups:
    """The crowd of each row's person, and the slot of each row in it: together the group that the row is in."""

    crowd_of_row: Ints
    slot_of_row: Ints

    @property
    def group_of_row(self) -> Ints:
        slot = self.slot_of_row
        return numbered_by_first_row(self.crowd_of_row * (slot.max() + 1) + slot)


def rows_to_keep(
    person: Ints, k: int, own_k: Ints | None, promises: GroupPromises, confidential: Sequence[NDArray[Any]]
) -> Mask:
    """Which rows to release, so that each person has as many rows as at least k people, evenly from those of each.

    People with equally many rows must have what is promised of values. While some have not, numbers of rows must be
    shared by twice as many people, all of them, so that it does not show which had too little.
    """
    person_of_row = numbered_by_first_row(person)
    records = np.bincount(person_of_row)
    least = np.full(len(records), k)
    if own_k is not None:
        np.maximum.at(least, person_of_row, own_k)
    if len(records) < least.max():
        return np.ones(len(person), dtype=bool)  # refused elsewhere
    rank, of_all, most = _rank_within(person_of_row), records[person_of_row], 0
    while True:
        kept = equal_numbers(records, least)[person_of_row]
        chosen: Mask = (rank + 1) * kept // of_all > rank * kept // of_all
        most = most or int(chosen.sum())
        if not promises.of_values:
            return chosen
        if 2 * int(chosen.sum()) < most:
            raise InputError(
                f"{{option}}: {promises.units} with equally many rows have too few different values, and most rows "
                "would have to be withheld; ask for less, or name fewer confidential columns",
                promises.asked,
            )
        requirements = _requirements(promises, [values[chosen] for values in confidential], person[chosen])
        classes = _rows_by(kept[chosen])
        if len(classes) == 1 or all(one.met(rows) for rows in classes for one in requirements):
            return chosen
        least = least * 2


def had_once(columns: Sequence[NDArray[Any]], person: Ints) -> Mask:
    """(rows, values): which rows have a value that everybody has in exactly one row, as each household has one head."""
    of_person = np.unique(person, return_inverse=True)[1]
    n_people, found = int(of_person.max(initial=-1)) + 1, []
    if len(person) > n_people:
        for column in columns:
            codes = value_codes(column)
            for code in np.flatnonzero(np.bincount(codes[codes >= 0]) == n_people).tolist():
                rows = codes == code
                if len(np.unique(of_person[rows])) == n_people:
                    found.append(rows)
    return np.array(found, dtype=bool).reshape(len(found), len(person)).T


def joined_crowds(
    crowd_of_row: Ints,
    person: Ints,
    points: Any,
    promises: GroupPromises,
    confidential: Sequence[NDArray[Any]],
    distances_of: Callable[[Ints, Ints], GroupDistances],
    own_k: Ints | None = None,
    overall: Sequence[Mapping[str, int]] | None = None,
) -> PeopleGroups:
    """Crowds joined until each of their slots has what is promised. Values count by row, and once for each person.

    `distances_of` gives the distances between groups, from some rows and the group of each of these; `overall` has how
    many of all records have each value, where these are not all.
    """
    crowds, slots, n_crowds = np.empty_like(crowd_of_row), np.empty_like(crowd_of_row), 0
    overall = overall or [counted_values(values) for values in confidential]
    person = numbered_by_first_row(person)
    for rows in _rows_by(np.bincount(person)[person]):
        crowd, people = numbered_by_first_row(crowd_of_row[rows]), person[rows]
        if own_k is not None:
            crowd = join_until(crowd, [OwnK(own_k[rows], people)], distances_of(rows, crowd))
        slot = slots_in_crowds(points[rows], people, crowd)
        if promises.of_values:
            values, everybody = [column[rows] for column in confidential], np.arange(len(rows))
            while True:
                in_slots = _requirements(promises, values, people, overall, slot)
                if not slot.any() or all(one.met(everybody) for one in in_slots):
                    break
                slot = slot // 2  # as often as all together have too little in a slot
            crowd = join_until(crowd, in_slots, distances_of(rows, crowd))
        crowds[rows], slots[rows] = crowd + n_crowds, slot
        n_crowds += int(crowd.max()) + 1
    return PeopleGroups(crowds, slots)


def _requirements(
    promises: GroupPromises,
    confidential: Sequence[NDArray[Any]],
    person: Ints,
    overall: Sequence[Mapping[str, int]] | None = None,
    slot_of_row: Ints | None = None,
) -> list[Requirement]:
    """What is promised of the values of all rows, and of those that count once per person; in slots, of each."""
    slot = np.zeros(len(person), dtype=np.int64) if slot_of_row is None else slot_of_row
    once = [_once_per_person(values, person, slot) for values in confidential]
    asked = [*value_requirements(promises, confidential, overall), *value_requirements(promises, once, overall)]
    return [InSlots(one, slot) for one in asked] if slot.any() else asked


def _rows_by(key: Ints) -> list[Ints]:
    """The rows of each key, in order."""
    order = np.argsort(key, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(key[order])) + 1)


def _rank_within(person_of_row: Ints) -> Ints:
    """How many rows of the same person come before each row."""
    order = np.argsort(person_of_row, kind="stable")
    records = np.bincount(person_of_row)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(np.cumsum(records) - records, records)
    return rank


def _once_per_person(values: NDArray[Any], person: Ints, slot_of_row: Ints) -> NDArray[Any]:
    """The values, missing where a row of the same person in the same slot has the value already."""
    seen: set[tuple[Any, ...]] = set()
    once = values.astype(object)
    for row, key in enumerate(zip(person.tolist(), slot_of_row.tolist(), values.tolist(), strict=True)):
        if key in seen:
            once[row] = None
        seen.add(key)
    return once
