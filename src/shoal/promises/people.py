"""Crowds of people, and records that ask for a larger crowd than others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.promises.requirements import CrowdRequirement

Ints = NDArray[np.int64]


class People(CrowdRequirement):
    """At least k different people."""

    def __init__(self, person: Ints, k: int) -> None:
        self.person = person
        self.k = k

    def met(self, rows: Ints) -> bool:
        return len(np.unique(self.person[rows])) >= self.k


class OwnK(CrowdRequirement):
    """As many records, or people, as the one that asks for most."""

    def __init__(self, own_k: Ints, person: Ints | None = None) -> None:
        self.own_k = own_k
        self.person = person

    def met(self, rows: Ints) -> bool:
        crowd = len(rows) if self.person is None else len(np.unique(self.person[rows]))
        return crowd >= int(self.own_k[rows].max(initial=1))
