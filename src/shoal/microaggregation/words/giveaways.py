"""Giveaways: pools from which a member can be read off, though nothing in them was taken apart.

Where most members of a group are the same few words over again, the pool shows them: the terms that it has most often
are a member. Such groups exchange members with near ones until no member can be read off; where that does not help,
they are joined with the nearest.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.microaggregation.refine.regions import numbered_by_first_row

__all__ = ["read_off", "without_giveaways"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

CANDIDATES = 30  # near records that a member may be exchanged for
SEARCHED = 100_000  # records among which near ones are looked for: of more, evenly spread ones are near enough
LARGEST = 8  # groups are joined up to so many times the smallest: documents that most others repeat stay visible


def read_off(counts: Ints) -> NDArray[np.bool_]:
    """Which members (rows of counts) are the terms that their pool has most often, from a level up, in even parts."""
    pool = counts.sum(axis=0)
    has = counts > 0
    rarest_of_own = np.where(has, pool, np.iinfo(np.int64).max).min(axis=1)
    commonest_of_others = np.where(has | (pool == 0), 0, pool).max(axis=1)
    on_top: NDArray[np.bool_] = rarest_of_own > commonest_of_others
    if not on_top.any():
        return on_top
    counts, has = counts[on_top], has[on_top]
    as_even = np.zeros(len(counts), dtype=np.bool_)
    for sharers in range(1, len(on_top) + 1):  # members that a part may be of
        for rounded in (np.floor, np.rint, np.ceil):
            even = np.maximum(rounded(pool / sharers), 1)
            as_even |= np.all((counts == even) | ~has, axis=1)
    on_top[on_top] = as_even
    return on_top


def without_giveaways(counts: sp.csr_matrix, X: sp.csr_matrix, lengths: Floats, groups: Ints) -> Ints:
    """Groups, none smaller than the smallest was, from whose pools no member can be read off if that is possible.

    `counts` are whole numbers, `X` the same rows weighted and at unit length, `lengths` theirs before.
    """
    crowd = _Crowd(counts, X, lengths, groups)
    most = LARGEST * int(np.bincount(groups).min())
    waiting = [group for group in sorted(crowd.members) if crowd.gives_away(crowd.members[group])]
    while waiting:
        group = waiting.pop()
        if group in crowd.members and crowd.gives_away(crowd.members[group]) and not crowd.exchange(group):
            crowd.join_until_hidden(group, most)
    return crowd.groups()


class _Crowd:
    """Groups that exchange members."""

    def __init__(self, counts: sp.csr_matrix, X: sp.csr_matrix, lengths: Floats, groups: Ints) -> None:
        self._counts, self._X, self._lengths = counts, X, lengths
        self._searched = np.arange(0, X.shape[0], -(-X.shape[0] // SEARCHED))
        self._by_term = sp.csc_matrix(X if len(self._searched) == X.shape[0] else X[self._searched])
        self._group_of = groups.copy()
        order = np.argsort(groups, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(groups))[:-1])
        self.members: dict[int, list[int]] = {group: rows.tolist() for group, rows in enumerate(parts)}

    def groups(self) -> Ints:
        return numbered_by_first_row(self._group_of)

    def gives_away(self, rows: list[int]) -> bool:
        return bool(read_off(self._dense_counts(rows)).any())

    def exchange(self, group: int) -> bool:
        """Members leave for others, one by one, where that costs least; False if members can still be read off."""
        before = self.members[group].copy()
        swaps: list[tuple[int, int]] = []
        for _ in range(len(before)):
            swap = self._best_swap(group)
            if swap is None:
                break
            self._swap(*swap)
            swaps.append(swap)
            if not self.gives_away(self.members[group]):
                return True
        for one, two in reversed(swaps):
            self._swap(two, one)
        return False

    def join_until_hidden(self, group: int, most: int) -> None:
        """Join the group with near ones until nobody can be read off; if that takes too many, all stays as it was."""
        joins: list[tuple[int, int, list[int]]] = []
        here: int | None = group
        while here is not None and self.gives_away(self.members[here]):
            rows = self.members[here]
            there = self._join(here, most)
            if there is not None:
                joins.append((here, there, rows))
            here = there
        if here is None:
            for part, there, rows in reversed(joins):
                self.members[there] = self.members[there][: -len(rows)]
                self.members[part] = rows
                self._group_of[rows] = part

    def _join(self, group: int, most: int) -> int | None:
        """The group becomes part of a near one, that with which it loses least; None if all get larger than `most`."""
        rows = self.members[group]
        near = sorted({int(self._group_of[row]) for row in self._near(rows).tolist()})
        near = [other for other in near if len(self.members[other]) + len(rows) <= most]
        if not near:
            return None
        sums, own = self._sums([*(self.members[other] for other in near), rows]), len(near)
        alone = _worth_of(*(side[:own] for side in sums))
        together = _worth_of(*(side[:own] + side[own] for side in sums))
        there = near[int(np.argmin(alone - together))]
        self.members[there] = self.members[there] + self.members.pop(group)
        self._group_of[rows] = there
        return there

    def _best_swap(self, group: int) -> tuple[int, int] | None:
        """A member that can be read off and a near record, whose exchange gives no member of the other group away."""
        here = self.members[group]
        one = here[int(np.flatnonzero(read_off(self._dense_counts(here)))[0])]
        near = self._near(here)
        if not len(near):
            return None
        there = [self.members[int(self._group_of[two])] for two in near.tolist()]
        rows = np.unique([row for rows in (here, *there) for row in rows])
        unit = _dense(self._X[rows])
        sides = unit, unit * self._lengths[rows, None]  # rows at unit length, and as they were
        leaves, joins = np.searchsorted(rows, [one]), np.searchsorted(rows, near)
        own, *others = (np.searchsorted(rows, members) for members in (here, *there))
        own_sums = [side[own].sum(axis=0) for side in sides]
        sums = [np.array([side[members].sum(axis=0) for members in others]) for side in sides]
        after = _worth_of(*(now - side[leaves] + side[joins] for now, side in zip(own_sums, sides, strict=True)))
        after += _worth_of(*(now + side[leaves] - side[joins] for now, side in zip(sums, sides, strict=True)))
        for place in np.argsort(_worth_of(*sums) - after, kind="stable").tolist():
            two = int(near[place])
            if not self.gives_away(_changed(there[place], two, one)):
                return one, two
        return None

    def _swap(self, one: int, two: int) -> None:
        here, there = int(self._group_of[one]), int(self._group_of[two])
        self.members[here] = _changed(self.members[here], one, two)
        self.members[there] = _changed(self.members[there], two, one)
        self._group_of[[one, two]] = there, here

    def _near(self, rows: list[int]) -> Ints:
        """The records of other groups that are nearest to the pool of these."""
        pool = self._X[rows].T @ self._lengths[rows]
        terms = np.flatnonzero(pool)
        likeness = self._by_term[:, terms] @ pool[terms]
        most = min(CANDIDATES + len(rows), len(likeness))
        likest = np.flatnonzero(likeness >= np.partition(likeness, -most)[-most])  # with ties
        near: Ints = self._searched[likest[np.argsort(-likeness[likest], kind="stable")[:most]]]
        return near[~np.isin(near, rows)][:CANDIDATES]

    def _sums(self, groups: list[list[int]]) -> tuple[Floats, Floats]:
        """Of each group, the sum of its rows at unit length, and as they were."""
        rows = np.concatenate(groups)
        place = np.repeat(np.arange(len(groups)), [len(members) for members in groups])
        unit = self._X[rows]
        belongs = sp.csr_matrix((np.ones(len(rows)), (place, np.arange(len(rows)))))
        weighed = sp.csr_matrix((self._lengths[rows], (place, np.arange(len(rows)))))
        columns = np.unique(unit.indices)
        sides = ((by @ unit)[:, columns].toarray() for by in (belongs, weighed))
        at_unit_length, as_they_were = sides
        return at_unit_length, as_they_were

    def _dense_counts(self, rows: list[int]) -> Ints:
        return _dense(self._counts[rows]).astype(np.int64)


def _dense(rows: sp.csr_matrix) -> Floats:
    """The rows without the columns that none of them has."""
    columns, place = np.unique(rows.indices, return_inverse=True)
    dense: Floats = np.zeros((rows.shape[0], len(columns)))
    dense[np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), place] = rows.data
    return dense


def _worth_of(unit: Floats, pool: Floats) -> Floats:
    """How far rows with this sum at unit length point the way of their pool, for each pair of sums."""
    worth: Floats = np.sum(unit * pool, axis=1) / np.linalg.norm(pool, axis=1)
    return worth


def _changed(rows: list[int], leaves: int, joins: int) -> list[int]:
    return [joins if row == leaves else row for row in rows]
