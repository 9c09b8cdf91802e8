"""1,000 random histories: at every moment everything visible is a crowd, and no observer narrows it down."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.index import Changes, Deletion, DynamicIndex, Insertion, simulate
from shoal.risk.intersection import intersection_attack

K, TERMS = 3, 6
COUNTS = st.lists(st.integers(0, 3), min_size=TERMS, max_size=TERMS).filter(any)
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), COUNTS),
        st.tuples(st.just("batch"), st.lists(COUNTS, min_size=K, max_size=3 * K)),
        st.tuples(st.just("delete"), st.integers(0, 1_000)),
    ),
    max_size=30,
)


def history(events: list[tuple[str, object]]) -> list[Insertion | Deletion]:
    """Documents are numbered as they come; a deletion picks one of those that are there."""
    there: list[str] = []
    made: list[Insertion | Deletion] = []
    number = 0
    for verb, what in events:
        if verb == "delete":
            if there:
                made.append(Deletion(there.pop(what % len(there))))  # type: ignore[operator]
            continue
        counts = np.array([what] if verb == "insert" else what, dtype=np.int64)
        names = tuple(f"d{number + row}" for row in range(len(counts)))
        number += len(names)
        there += names
        made.append(Insertion(names, sp.csr_matrix(counts)))
    return made


@given(EVENTS, st.sampled_from([None, 0.5, 0.9]))
@settings(max_examples=1_000, deadline=None)
def test_at_every_moment_everything_visible_is_a_crowd(events: list[tuple[str, object]], embargo: float | None) -> None:
    made = history(events)
    index = DynamicIndex(K, np.ones(TERMS), embargo=embargo)
    counts_of = {
        name: row
        for event in made
        if isinstance(event, Insertion)
        for name, row in zip(event.documents, event.counts.toarray(), strict=True)
    }
    inside: set[str] = set()
    founders: dict[str, frozenset[str]] = {}
    snapshots = []
    for event, snapshot in zip(made, simulate(index, made), strict=True):
        inside = inside - {event.document} if isinstance(event, Deletion) else inside | set(event.documents)
        snapshots.append(snapshot.members)
        seen = [document for members in snapshot.members.values() for document in members]
        assert len(seen) == len(set(seen))
        assert set(seen) <= inside
        for (name, members), pool in zip(snapshot.members.items(), snapshot.pools.toarray(), strict=True):
            assert len(members) >= K
            founders.setdefault(name, members)
            # Nothing is averaged that was not there, and at least k were: the pool is a sum over k founders or more.
            assert np.all(pool <= sum(counts_of[document] for document in founders[name]))
            assert pool.sum() >= K
    found = intersection_attack(snapshots, K)
    assert found.exposed == 0
    assert not found.sizes or found.smallest >= K


@given(st.lists(COUNTS, min_size=K, max_size=3 * K), COUNTS)
@settings(max_examples=100, deadline=None)
def test_centroids_that_are_recomputed_give_the_newcomer_away(batch: list[list[int]], newcomer: list[int]) -> None:
    made = history([("batch", batch), ("insert", newcomer)])
    index = DynamicIndex(K, np.ones(TERMS), embargo=None)
    before, after = simulate(index, made, recompute=True)
    name = f"d{len(batch)}"
    found = intersection_attack([before.members, after.members], K)
    assert found.sizes[name] == 1
    assert found.exposed >= 1
    difference = after.pools.sum(axis=0) - before.pools.sum(axis=0)
    assert np.asarray(difference).ravel().tolist() == newcomer


def test_the_same_history_without_recomputing_gives_nobody_away() -> None:
    made = history(
        [("batch", [[1, 2, 0, 0, 0, 1], [2, 1, 1, 0, 0, 0], [0, 1, 1, 1, 0, 0]]), ("insert", [0, 0, 0, 1, 1, 1])]
    )
    snapshots = [snapshot.members for snapshot in simulate(DynamicIndex(K, np.ones(TERMS), embargo=None), made)]
    found = intersection_attack(snapshots, K)
    assert (found.smallest, found.exposed) == (3, 0)
    assert found.distribution == ((3, 3), (4, 1))


@given(EVENTS, st.sampled_from([None, 0.5]))
@settings(max_examples=200, deadline=None)
def test_a_copy_that_applies_all_changes_is_the_same_index(
    events: list[tuple[str, object]], embargo: float | None
) -> None:
    index, copy, stored = (DynamicIndex(K, np.ones(TERMS), embargo=embargo) for _ in range(3))
    made = history(events)
    for _ in simulate(index, made):
        changes = index.changes()
        copy.apply(changes)
        assert copy.snapshot().members == index.snapshot().members
        assert copy.waiting == index.waiting
        query = sp.csr_matrix(np.ones((1, TERMS), dtype=np.int64))
        assert copy.search(query, limit=100) == index.search(query, limit=100)
    stored.apply(index_as_changes(copy))
    assert stored.snapshot().members == index.snapshot().members
    assert len(stored) == len(index)


def index_as_changes(index: DynamicIndex) -> Changes:
    """The visible part of an index, as a database has it, and those that wait."""
    snapshot = index.snapshot()
    whole = Changes(published=dict(zip(snapshot.members, snapshot.pools, strict=True)))
    for name, members in snapshot.members.items():
        whole.placed.update((document, (name, 0.5)) for document in members)
    hidden = len(index) - snapshot.documents - len(index.waiting)
    whole.waiting.update(
        (document, (sp.csr_matrix(np.ones((1, TERMS), dtype=np.int64)), "")) for document in index.waiting
    )
    if hidden:
        pool = sp.csr_matrix(np.full((1, TERMS), 9, dtype=np.int64))
        whole.published["hidden"] = pool
        whole.placed.update((f"hidden {number}", ("hidden", 0.5)) for number in range(hidden))
    return whole
