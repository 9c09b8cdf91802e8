"""Pools: what is published of a group of documents depends on the sums of their term counts, and on nothing else.

A mean of unit rows can be taken apart: each document keeps a scale of its own in it, 1 / its length. A sum of counts
has no such scale; every way to part the sums among the members fits it as well as the true one. Weights are made of
the sums alone, the document frequencies in them too. See docs/methods/pooling.md.

A pool can still give a member away: where most members of a group are the same few words over again, the terms that
the pool has most often are a member. Such groups exchange members with near ones until no member can be read off;
where that does not help, they are joined with the nearest.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms
from sklearn.utils.sparsefuncs import inplace_row_scale

from shoal.methods.mdav import numbered_by_first_row

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Error = Callable[[list[int]], float]  # of a group with these members

DECIMALS = 9  # of a published weight: no digit depends on a single member
THOUSAND = 1000  # document frequencies are estimated in thousandths, as whole numbers: sums of parts are then exact

# How much the length of a document counts in grouping, and how fast likeness falls with the ratio of two lengths. A
# document's say in its pool grows with its length, so a group of like lengths is nearer to what is published of it.
# Measured on Reuters R8, letters and FRUS; the optimum is flat.
SHARE = 0.2
ANGLE = 0.6
CANDIDATES = 30  # near records that a member may be exchanged for
SEARCHED = 100_000  # records among which near ones are looked for: of more, evenly spread ones are near enough
MOST_TIMES = 8  # groups are joined up to this many times the smallest: documents that most others repeat stay visible


def unit_rows(counts: sp.csr_matrix, idf: Floats) -> tuple[sp.csr_matrix, Floats]:
    """Rows of count times weight at unit length, and their lengths before."""
    weights = counts.data * idf[counts.indices]
    unit = sp.csr_matrix((weights, counts.indices.copy(), counts.indptr.copy()), shape=counts.shape)
    lengths: Floats = row_norms(unit)
    inplace_row_scale(unit, 1.0 / np.where(lengths > 0, lengths, 1.0))
    return unit, lengths


def with_length(X: sp.csr_matrix, lengths: Floats) -> sp.csr_matrix:
    """Unit rows with two columns more, in which rows are the nearer the more alike their lengths are."""
    angle = ANGLE * np.log(lengths)
    columns = np.sqrt(SHARE) * np.column_stack((np.cos(angle), np.sin(angle)))
    wider = sp.csr_matrix(sp.hstack((X, sp.csr_matrix(columns)), format="csr"))
    wider.data /= np.sqrt(1.0 + SHARE)  # in place: there may be millions of rows
    return wider


def without_length(X: sp.csr_matrix) -> sp.csr_matrix:
    """The unit rows again."""
    # By hand: slicing takes several times the room of the rows. No row is empty, for every one has a length.
    n_columns = X.shape[1] - 2
    is_term = X.indices < n_columns
    data = X.data[is_term]
    data *= np.sqrt(1.0 + SHARE)
    ends = np.concatenate(([0], np.cumsum(np.add.reduceat(is_term, X.indptr[:-1], dtype=np.int64))))
    return sp.csr_matrix((data, X.indices[is_term], ends), shape=(X.shape[0], n_columns))


def pooled_counts(counts: sp.csr_matrix, groups: Ints) -> sp.csr_matrix:
    """How often each group has each term: its pool, (g, d) whole numbers."""
    belongs = sp.csr_matrix((np.ones(len(groups), dtype=np.int64), (groups, np.arange(len(groups)))))
    pools = sp.csr_matrix(belongs @ counts.astype(np.int64, copy=False))
    pools.sort_indices()
    return pools


def members_with(pools: sp.csr_matrix, sizes: Ints) -> Ints:
    """About how many members have each term, over all groups, in thousandths; from the pools alone.

    Of s members with S occurrences together, S·s / (S + s - 1): one for one, and never all. Groups with equal pools are
    one group to the reader, so they are one here.
    """
    rank = rank_of_pools(pools)
    first = np.unique(rank, return_index=True)[1]
    pools, sizes = pools[first], np.bincount(rank, weights=sizes).astype(np.int64)
    occurrences, members = pools.data, np.repeat(sizes, np.diff(pools.indptr))
    both = occurrences + members - 1
    expected = THOUSAND * occurrences * members // both  # rounded down: always below all
    total = np.zeros(pools.shape[1], dtype=np.int64)
    np.add.at(total, pools.indices, expected)
    return total


def rank_of_pools(pools: sp.csr_matrix) -> Ints:
    """The place of each pool when they are sorted by terms, then counts; equal pools share a place."""
    # Big-endian bytes of what is not negative sort as the numbers do, and take a tenth of the memory of lists.
    terms, counts = pools.indices.astype(">i4"), pools.data.astype(">i8")
    ends = pairwise(pools.indptr.tolist())
    content = [(terms[start:end].tobytes(), counts[start:end].tobytes()) for start, end in ends]
    rank_of = {row: number for number, row in enumerate(sorted(set(content)))}
    return np.array([rank_of[row] for row in content], dtype=np.int64)


def pooled_weights(pools: sp.csr_matrix, frequency: Ints | None, n_rows: int) -> sp.csr_matrix:
    """The pools as rows of length 1: counts times ln(n / frequency), which is in thousandths; None: counts alone."""
    idf = np.ones(pools.shape[1])
    if frequency is not None:
        used = frequency > 0
        idf[used] = np.log(THOUSAND * n_rows / frequency[used])
    weights, _ = unit_rows(pools.astype(np.float64), idf)
    weights.data = np.round(weights.data, DECIMALS)
    return weights


def counts_of(vectors: sp.csr_matrix, lengths: Floats, idf: Floats) -> sp.csr_matrix:
    """How often each document has each term, from its row of length 1, its length and what an occurrence weighs.

    The counts share the places of the vectors.
    """
    counts = vectors.data * np.repeat(lengths, np.diff(vectors.indptr))
    counts /= idf[vectors.indices]
    whole = np.rint(counts, out=counts).astype(np.int32)  # as they were counted
    return sp.csr_matrix((whole, vectors.indices, vectors.indptr), shape=vectors.shape)


def without_visible_members(
    X: sp.csr_matrix, lengths: Floats, groups: Ints, idf: Floats, error: Error | None = None
) -> Ints:
    """Groups that exchange members until none can be read off the pool of its group, if that is possible.

    `X` has the columns of `with_length`.
    """
    vectors = without_length(X)
    return without_giveaways(counts_of(vectors, lengths, idf), vectors, lengths, groups, error)


def read_off(counts: Ints, only_shared: bool = False) -> NDArray[np.bool_]:
    """Which members (rows of counts) are the terms that their pool has most often, from a level up, in even parts.

    `only_shared`: the pool has only terms of two or more members.
    """
    has = counts > 0
    pool = np.where(has.sum(axis=0) > 1, counts.sum(axis=0), 0) if only_shared else counts.sum(axis=0)
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


def without_giveaways(
    counts: sp.csr_matrix, X: sp.csr_matrix, lengths: Floats, groups: Ints, error: Error | None = None
) -> Ints:
    """Groups, none smaller than the smallest was, from whose pools no member can be read off if that is possible.

    `counts` are whole numbers, `X` the same rows weighted and at unit length, `lengths` theirs before. `error` tells
    how much a group loses by meaning, where its pool has only terms of two or more; by default, it has all terms, and
    loses how far its rows are from it.
    """
    crowd = _Crowd(counts, X, lengths, groups, error)
    most = MOST_TIMES * int(np.bincount(groups).min())
    waiting = [group for group in sorted(crowd.members) if crowd.gives_away(crowd.members[group])]
    while waiting:
        group = waiting.pop()
        if group in crowd.members and crowd.gives_away(crowd.members[group]) and not crowd.exchange(group):
            crowd.join_until_hidden(group, most)
    return crowd.groups()


class _Crowd:
    """Groups that exchange members."""

    def __init__(
        self, counts: sp.csr_matrix, X: sp.csr_matrix, lengths: Floats, groups: Ints, error: Error | None
    ) -> None:
        self._counts, self._X, self._lengths, self._error = counts, X, lengths, error
        self._searched = np.arange(0, X.shape[0], -(-X.shape[0] // SEARCHED))
        self._by_term = sp.csc_matrix(X if len(self._searched) == X.shape[0] else X[self._searched])
        self._group_of = groups.copy()
        order = np.argsort(groups, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(groups))[:-1])
        self.members: dict[int, list[int]] = {group: rows.tolist() for group, rows in enumerate(parts)}

    def groups(self) -> Ints:
        return numbered_by_first_row(self._group_of)

    def gives_away(self, rows: list[int]) -> bool:
        return bool(self._read_off(rows).any())

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
        for leaving, joining in reversed(swaps):
            self._swap(joining, leaving)
        return False

    def join_until_hidden(self, group: int, most: int) -> None:
        """Join the group with near ones until no member can be read off; if that takes too many, nothing changes."""
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
        there = near[int(np.argmin(self._costs_of_joining(rows, near)))]
        self.members[there] = self.members[there] + self.members.pop(group)
        self._group_of[rows] = there
        return there

    def _costs_of_joining(self, rows: list[int], groups: list[int]) -> Floats:
        if self._error is not None:
            errors = [self._error(self.members[other] + rows) - self._error(self.members[other]) for other in groups]
            return np.array(errors)
        sums, own = self._sums([*(self.members[other] for other in groups), rows]), len(groups)
        alone = _worth_of(*(side[:own] for side in sums))
        return alone - _worth_of(*(side[:own] + side[own] for side in sums))

    def _best_swap(self, group: int) -> tuple[int, int] | None:
        """A member that can be read off and a near record, whose exchange gives no member of the other group away."""
        own_members = self.members[group]
        leaving = own_members[int(np.flatnonzero(self._read_off(own_members))[0])]
        near = self._near(own_members)
        if not len(near):
            return None
        members_nearby = [self.members[int(self._group_of[joining])] for joining in near.tolist()]
        costs = self._costs_of_swapping(leaving, near, own_members, members_nearby)
        for candidate in np.argsort(costs, kind="stable").tolist():
            joining = int(near[candidate])
            if not self.gives_away(_changed(members_nearby[candidate], joining, leaving)):
                return leaving, joining
        return None

    def _costs_of_swapping(
        self, leaving: int, near: Ints, own_members: list[int], members_nearby: list[list[int]]
    ) -> Floats:
        if self._error is not None:
            changed = [
                self._error(_changed(own_members, leaving, joining)) + self._error(_changed(others, joining, leaving))
                for joining, others in zip(near.tolist(), members_nearby, strict=True)
            ]
            return np.array(changed) - [self._error(others) for others in members_nearby]
        rows = np.unique([row for rows in (own_members, *members_nearby) for row in rows])
        unit = _dense(self._X[rows])
        sides = unit, unit * self._lengths[rows, None]  # rows at unit length, and as they were
        leaving_row, joining_rows = np.searchsorted(rows, [leaving]), np.searchsorted(rows, near)
        own, *others = (np.searchsorted(rows, members) for members in (own_members, *members_nearby))
        own_sums = [side[own].sum(axis=0) for side in sides]
        sums = [np.array([side[members].sum(axis=0) for members in others]) for side in sides]
        after = _worth_of(
            *(now - side[leaving_row] + side[joining_rows] for now, side in zip(own_sums, sides, strict=True))
        )
        after += _worth_of(
            *(now + side[leaving_row] - side[joining_rows] for now, side in zip(sums, sides, strict=True))
        )
        return _worth_of(*sums) - after

    def _swap(self, leaving: int, joining: int) -> None:
        home, away = int(self._group_of[leaving]), int(self._group_of[joining])
        self.members[home] = _changed(self.members[home], leaving, joining)
        self.members[away] = _changed(self.members[away], joining, leaving)
        self._group_of[[leaving, joining]] = away, home

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
        group_of_row = np.repeat(np.arange(len(groups)), [len(members) for members in groups])
        unit = self._X[rows]
        belongs = sp.csr_matrix((np.ones(len(rows)), (group_of_row, np.arange(len(rows)))))
        weighed = sp.csr_matrix((self._lengths[rows], (group_of_row, np.arange(len(rows)))))
        columns = np.unique(unit.indices)
        sides = ((by @ unit)[:, columns].toarray() for by in (belongs, weighed))
        at_unit_length, as_they_were = sides
        return at_unit_length, as_they_were

    def _read_off(self, rows: list[int]) -> NDArray[np.bool_]:
        return read_off(_dense(self._counts[rows]).astype(np.int64), only_shared=self._error is not None)


def _dense(rows: sp.csr_matrix) -> Floats:
    """The rows without the columns that none of them has."""
    columns, column_of_entry = np.unique(rows.indices, return_inverse=True)
    dense: Floats = np.zeros((rows.shape[0], len(columns)))
    dense[np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), column_of_entry] = rows.data
    return dense


def _worth_of(unit: Floats, pool: Floats) -> Floats:
    """How well rows with this sum at unit length align with their pool, for each pair of sums."""
    worth: Floats = np.sum(unit * pool, axis=1) / np.linalg.norm(pool, axis=1)
    return worth


def _changed(rows: list[int], leaves: int, joins: int) -> list[int]:
    return [joins if row == leaves else row for row in rows]
