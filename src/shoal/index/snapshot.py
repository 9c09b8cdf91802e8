"""A snapshot: all that an observer sees of an index at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import scipy.sparse as sp

__all__ = ["Snapshot"]


@dataclass(frozen=True)
class Snapshot:
    """The visible groups: what each is represented by, and the ids of its documents."""

    k: int
    members: Mapping[str, frozenset[str]]  # by the name of the representative
    pools: sp.csr_matrix  # (groups, terms): their counts, in the same order

    @property
    def documents(self) -> int:
        """How many documents can be seen."""
        return sum(map(len, self.members.values()))
