"""Hundreds of random histories: at every moment everything visible is a crowd, and no observer narrows it down."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from shoal.attacks.intersection import intersection_attack
from shoal.index import Deletion, DynamicIndex, Insertion, simulate

K, TERMS = 3, 6
# Counts from 0 to 3, not all 0, as the digits of one number: drawing each by itself takes most of the time.
COUNTS = st.integers(1, 4**TERMS - 1).map(lambda number: [number // 4**term % 4 for term in range(TERMS)])
CROWD = st.lists(COUNTS, min_size=K, max_size=2 * K)
WHICH = st.integers(0, 1_000)


def matrix(rows: list[list[int]]) -> sp.csr_matrix:
    return sp.csr_matrix(np.array(rows, dtype=np.int64))


class Histories(RuleBasedStateMachine):
    """Everything that can happen to an index; after each event, all that can be seen is looked at."""

    @initialize(embargo=st.sampled_from([None, 0.5, 0.9]))
    def start(self, embargo: float | None) -> None:
        self.index = DynamicIndex(K, np.ones(TERMS), embargo=embargo)
        self.hidden = ""  # the name of the last group that fell below k, and may be seen again
        self.counts_of: dict[str, tuple[int, ...]] = {}
        self.inside: list[str] = []
        self.snapshots: list[dict[str, frozenset[str]]] = []

    @rule(counts=COUNTS)
    def insert(self, counts: list[int]) -> None:
        [name] = self.named([counts])
        self.index.insert(name, matrix([counts]))
        self.look()

    @precondition(lambda self: len(self.inside) < K)  # it is slow, and an index starts with one
    @rule(crowd=CROWD)
    def insert_batch(self, crowd: list[list[int]]) -> None:
        self.index.insert_batch(self.named(crowd), matrix(crowd))
        self.look()

    @rule(crowds=st.lists(CROWD, min_size=1, max_size=2))
    def insert_groups(self, crowds: list[list[list[int]]]) -> None:
        pools = matrix([np.sum(crowd, axis=0).tolist() for crowd in crowds])
        self.index.insert_groups([self.named(crowd) for crowd in crowds], pools)
        self.look()

    @precondition(lambda self: self.index.sizes())
    @rule(counts=COUNTS, which=WHICH)
    def insert_into(self, counts: list[int], which: int) -> None:
        groups = sorted(self.index.sizes())
        self.index.insert_into(*self.named([counts]), groups[which % len(groups)])
        self.look()

    @precondition(lambda self: self.index.sizes() and self.index.waiting)
    @rule(which=WHICH)
    def admit(self, which: int) -> None:
        self.index.admit(self.index.waiting[which % len(self.index.waiting)])
        self.look()

    @precondition(lambda self: self.inside)
    @rule(which=WHICH)
    def delete(self, which: int) -> None:
        self.index.delete(self.inside.pop(which % len(self.inside)))
        self.look()

    def named(self, rows: list[list[int]]) -> list[str]:
        names = [f"d{len(self.counts_of) + row}" for row in range(len(rows))]
        self.counts_of.update(zip(names, map(tuple, rows), strict=True))
        self.inside += names
        return names

    def look(self) -> None:
        """Groups are crowds, and new pools are of crowds."""
        snapshot = self.index.snapshot()
        known = set(self.snapshots[-1]) if self.snapshots else set()
        self.snapshots.append(dict(snapshot.members))
        seen = list(chain.from_iterable(snapshot.members.values()))
        assert len(seen) == len(set(seen)) and set(seen) <= set(self.inside)
        assert all(len(members) >= K for members in snapshot.members.values())
        for pool, (name, members) in zip(snapshot.pools.toarray().tolist(), snapshot.members.items(), strict=True):
            if name not in known and name != self.hidden:
                assert self.is_of_a_crowd(tuple(pool), sorted(members))
        self.hidden = next(iter(known)) if known and not snapshot.members else self.hidden

    def is_of_a_crowd(self, pool: tuple[int, ...], entered: list[str]) -> bool:
        """Is a pool the sum of k or more of those who entered with it?"""
        subsets = chain.from_iterable(combinations(entered, size) for size in range(len(entered), K - 1, -1))
        return any(
            tuple(map(sum, zip(*(self.counts_of[document] for document in founders), strict=True))) == pool
            for founders in subsets
        )

    def teardown(self) -> None:
        found = intersection_attack(self.snapshots, K)
        assert found.exposed == 0
        assert not found.sizes or found.smallest >= K


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=100, stateful_step_count=10, deadline=None)


@given(st.lists(COUNTS, min_size=K, max_size=3 * K), COUNTS)
@settings(max_examples=30, deadline=None)
def test_centroids_that_are_recomputed_give_the_newcomer_away(batch: list[list[int]], newcomer: list[int]) -> None:
    names = tuple(f"d{row}" for row in range(len(batch)))
    made = [Insertion(names, matrix(batch)), Insertion(("newcomer",), matrix([newcomer]))]
    index = DynamicIndex(K, np.ones(TERMS), embargo=None)
    before, after = simulate(index, made, recompute=True)
    found = intersection_attack([before.members, after.members], K)
    assert found.sizes["newcomer"] == 1
    assert found.exposed >= 1
    difference = after.pools.sum(axis=0) - before.pools.sum(axis=0)
    assert np.asarray(difference).ravel().tolist() == newcomer


def test_the_same_history_without_recomputing_gives_nobody_away() -> None:
    batch = [[1, 2, 0, 0, 0, 1], [2, 1, 1, 0, 0, 0], [0, 1, 1, 1, 0, 0]]
    made: list[Insertion | Deletion] = [
        Insertion(("a", "b", "c"), matrix(batch)),
        Insertion(("newcomer",), matrix([[0, 0, 0, 1, 1, 1]])),
    ]
    snapshots = [snapshot.members for snapshot in simulate(DynamicIndex(K, np.ones(TERMS), embargo=None), made)]
    found = intersection_attack(snapshots, K)
    assert (found.smallest, found.exposed) == (3, 0)
    assert sorted(found.sizes.values()) == [3, 3, 3, 4]
