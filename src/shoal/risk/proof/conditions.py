"""What must be positive for a record to be found, as directions in the space of parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.linking.cones import Cones
from shoal.risk.learned.linking import blocks, margins
from shoal.risk.proof.optimum import LOST, Rivals

__all__ = ["Conditions"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_NUMBERS = 12_000_000  # records times rivals times parameters; of more rivals, the nearest
FIRST_NEAR, MOST_NEAR = 6, 200  # rows of a record that are looked at before others
ROUNDING = 1e-12  # what differs by less, whatever the parameters, does not differ
NEGATIVE = -1e-8  # of a distance; rounding may make a zero a little less


class Conditions:
    """The rows of all records, each attribute on a scale of its own, each row of length 1.

    A point is a vector on these scales, of any length; where it is allowed, it has parameters of the family.
    """

    def __init__(self, rivals: Rivals) -> None:
        self.rivals = rivals
        self.family = family = rivals.family
        owner, rows = _rows(rivals)
        n, reach = len(rivals.records), np.full(family.size, max(abs(family.lower), abs(family.upper)))
        hopeless = np.abs(rows) @ reach < LOST  # no parameters make such a row large enough
        self.never = np.isin(np.arange(n), owner[hopeless])  # the records that are never found
        keep = ~hopeless & ~np.r_[self.never, False][owner]
        self.owner, rows = owner[keep], rows[keep]
        rows[:, np.abs(rows).max(axis=0, initial=0.0) * reach < ROUNDING] = 0.0
        self._scale = np.sqrt(np.mean(rows * rows, axis=0)) if len(rows) else np.ones(family.size)
        self._scale[self._scale == 0] = 1.0
        rows /= self._scale
        length = np.linalg.norm(rows, axis=1)
        rows /= length[:, None]
        starts = np.searchsorted(self.owner, np.arange(n + 2))
        n_always = len(family.rows())  # all are looked at
        near = np.zeros((n + 1, max(MOST_NEAR, n_always)), dtype=np.int64)
        n_near = np.zeros(n + 1, dtype=np.int64)
        for record in range(n + 1):
            lengths = length[starts[record] : starts[record + 1]]
            first = np.argsort(lengths, kind="stable")[: FIRST_NEAR if record < n else max(FIRST_NEAR, n_always)]
            near[record, : len(first)], n_near[record] = starts[record] + first, len(first)
        weight = np.where(self.owner < n, 1.0 / length, 0.0)
        self.cones = Cones(rows, weight, starts, reach * self._scale, near, n_near)

    @property
    def nobody(self) -> Ints:
        """Who owns the rows that hold for all parameters; empty when there are none."""
        n = len(self.rivals.records)
        return np.arange(n, n + 1) if self.cones.n_near[n] else np.arange(0)

    def copy(self) -> Cones:
        """To add rows to those looked at first, side by side with others."""
        return self.cones._replace(near=self.cones.near.copy(), n_near=self.cones.n_near.copy())

    def remember(self, cones: Cones) -> None:
        """Look first at the rows that were needed, from now on."""
        mine = self.cones
        for record in np.flatnonzero(cones.n_near > mine.n_near).tolist():
            many, needed = mine.n_near[record], cones.near[record, : cones.n_near[record]]
            new = np.setdiff1d(needed, mine.near[record, :many])[: mine.near.shape[1] - many]
            mine.near[record, many : many + len(new)] = new
            mine.n_near[record] += len(new)

    def point(self, parameters: Floats) -> Floats:
        """Where parameters are."""
        return parameters * self._scale

    def parameters(self, point: Floats) -> Floats | None:
        """The parameters of a point, None when they are not allowed."""
        family, found = self.family, point / self._scale
        size = found.sum() if family.sums_to_one else np.abs(found).max()
        if not size > 0:
            return None
        found /= size
        if found.min() < family.lower or found.max() > family.upper:
            return None
        if np.any(family.rows() @ found < 0.0) or not family.allows(found):
            return None
        if family.non_negative:
            distances = margins(self.rivals.records, family, found)
            if any(to_all.min() < NEGATIVE for _, _, to_all in distances):
                return None
        return found


def _rows(rivals: Rivals) -> tuple[Ints, Floats]:
    """Of each record what must be positive where it is found, and last, nobody's, what holds for all parameters."""
    family, records = rivals.family, rivals.records
    most = MOST_NUMBERS // (len(records) * family.size)
    parts = []
    for owner, rows in rivals.rows():
        if most < len(records):  # what is left out asks for nothing: what is in conflict still is
            nearest_first = np.lexsort((rows @ family.plain(), owner))
            kept = np.sort(nearest_first[np.arange(len(owner)) - np.searchsorted(owner, owner) < most])
            owner, rows = owner[kept], rows[kept]
        parts.append((owner, rows))
    always = [family.rows()]
    if family.non_negative:
        always += [family.features(records.differences(some)) for some in blocks(records, family.size)]
    rows = np.concatenate([rows.reshape(-1, family.size) for rows in always])
    parts.append((np.full(len(rows), len(records)), rows))
    return np.concatenate([owner for owner, _ in parts]), np.concatenate([rows for _, rows in parts])
