"""Records that ask for a larger crowd than others, and promises that hold in each slot of a crowd of people."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.promises.requirements import CrowdRequirement, Requirement

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


def in_slots(requirements: Sequence[Requirement], slot_of_row: Ints) -> Sequence[Requirement]:
    """The requirements of each slot; as they are where nobody has two rows."""
    return [InSlots(one, slot_of_row) for one in requirements] if slot_of_row.any() else requirements
