"""Crowds of people joined until each has what is promised, in every slot; records that ask for a larger crowd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.methods.mdav import numbered_by_first_row
from shoal.methods.people import Slots, slots_in_crowds
from shoal.promises.joining import GroupDistances, join_until
from shoal.promises.requirements import CrowdRequirement, Requirement
from shoal.promises.values import value_requirements
from shoal.request.options import GroupPromises

Ints = NDArray[np.int64]


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
    slots: Slots

    @property
    def group_of_row(self) -> Ints:
        slot = self.slots.slot_of_row
        return numbered_by_first_row(self.crowd_of_row * (slot.max() + 1) + slot)


def joined_crowds(
    crowd_of_row: Ints,
    person: Ints,
    points: Any,
    k: int,
    promises: GroupPromises,
    confidential: Sequence[NDArray[Any]],
    distances_of: Callable[[Ints], GroupDistances],
    own_k: Ints | None = None,
) -> PeopleGroups:
    """Crowds joined until each of their slots has what is promised. Values count by row, and once for each person.

    `distances_of` gives the distances between the groups that it is given.
    """
    if own_k is not None:
        crowd_of_row = join_until(crowd_of_row, [OwnK(own_k, person)], distances_of(crowd_of_row))
    k_of_crowd: Ints = np.full(int(crowd_of_row.max()) + 1, k)
    if own_k is not None:
        np.maximum.at(k_of_crowd, crowd_of_row, own_k)
    slots = slots_in_crowds(points, person, crowd_of_row, k_of_crowd)
    if promises.of_values:
        slot = slots.slot_of_row
        once = [_once_per_person(values, person, slot) for values in confidential]
        requirements = [*value_requirements(promises, confidential), *value_requirements(promises, once)]
        in_slots = [InSlots(requirement, slot) if slot.any() else requirement for requirement in requirements]
        crowd_of_row = join_until(crowd_of_row, in_slots, distances_of(crowd_of_row))
    return PeopleGroups(crowd_of_row, slots)


def _once_per_person(values: NDArray[Any], person: Ints, slot_of_row: Ints) -> NDArray[Any]:
    """The values, missing where a row of the same person in the same slot has the value already."""
    seen: set[tuple[Any, ...]] = set()
    once = values.astype(object)
    for row, key in enumerate(zip(person.tolist(), slot_of_row.tolist(), values.tolist(), strict=True)):
        if key in seen:
            once[row] = None
        seen.add(key)
    return once
