"""The dynamic index: groups, merges, embargo and search, on cases worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from shoal.errors import InputError
from shoal.index import DynamicIndex


def rows(*counts: tuple[int, ...]) -> sp.csr_matrix:
    return sp.csr_matrix(np.array(counts, dtype=np.int64))


def at_angle(degrees: float) -> tuple[int, int]:
    return round(1000 * np.cos(np.radians(degrees))), round(1000 * np.sin(np.radians(degrees)))


def started(k: int = 2, **options: object) -> DynamicIndex:
    """Ages 10, 21 and 30 as angles: the nearer two ages are, the higher the cosine."""
    index = DynamicIndex(k, np.ones(2), **options)
    for pair, age in ((("r1", "r2"), 10), (("r3", "r4"), 21), (("r5", "r6"), 30)):
        index.insert_groups([pair], rows(at_angle(age)))
    return index


def groups_of(index: DynamicIndex) -> set[frozenset[str]]:
    return set(index.snapshot().members.values())


def test_what_remains_of_a_group_takes_the_nearest_representative_as_it_is() -> None:
    index = started()
    before = {members: name for name, members in index.snapshot().members.items()}
    index.delete("r6")
    after = index.snapshot()
    assert after.members[before[frozenset({"r3", "r4"})]] == {"r3", "r4", "r5"}
    assert after.pools.toarray().tolist() == [list(at_angle(10)), list(at_angle(21))]


def test_a_newcomer_joins_the_nearest_group_and_changes_no_representative() -> None:
    index = started()
    before = index.snapshot()
    placement = index.insert("r7", rows(at_angle(24)))
    assert index.snapshot().members[placement.representative] == {"r3", "r4", "r7"}
    assert list(index.snapshot().members) == list(before.members)
    assert (index.snapshot().pools != before.pools).nnz == 0


def test_an_owner_can_choose_the_group_without_showing_a_vector() -> None:
    index = started()
    name = next(iter(index.snapshot().members))
    index.insert_into("r7", name)
    assert index.snapshot().members[name] == {"r1", "r2", "r7"}


def test_fewer_than_k_documents_in_all_are_not_visible_until_there_are_k_again() -> None:
    index = DynamicIndex(2, np.ones(2), embargo=None)
    index.insert_batch(["a", "b"], rows((1, 2), (2, 1)))
    index.delete("a")
    assert index.snapshot().documents == 0
    assert index.search(rows((1, 1))) == []
    index.insert("c", rows((1, 1)))
    assert groups_of(index) == {frozenset({"b", "c"})}


def test_an_empty_index_starts_by_itself_once_k_documents_wait() -> None:
    index = DynamicIndex(3, np.ones(3))
    assert index.insert("a", rows((1, 0, 1))).waits
    assert index.insert("b", rows((1, 1, 0))).waits
    assert not index.insert("c", rows((0, 1, 2))).waits
    assert groups_of(index) == {frozenset({"a", "b", "c"})}
    assert index.snapshot().pools.toarray().tolist() == [[2, 2, 3]]


def test_documents_like_no_group_wait_until_k_of_them_are_alike() -> None:
    index = DynamicIndex(2, np.ones(4), embargo=0.5)
    index.insert_groups([["a", "b"]], rows((3, 4, 0, 0)))
    assert index.insert("c", rows((0, 0, 3, 1))).waits
    assert index.waiting == ("c",)
    assert index.snapshot().documents == 2
    index.insert("d", rows((0, 0, 2, 3)))
    assert index.waiting == ()
    assert groups_of(index) == {frozenset({"a", "b"}), frozenset({"c", "d"})}
    assert index.snapshot().pools.toarray().tolist() == [[3, 4, 0, 0], [0, 0, 5, 4]]


def test_others_that_wait_join_a_new_group_that_they_are_like() -> None:
    index = DynamicIndex(2, np.ones(4), embargo=0.6)
    index.insert_groups([["a", "b"]], rows((3, 4, 0, 0)))
    # c and d have 0.1 and 1.0 with their pool (1, 10), 0.55 on average; d has 0.62 with the pool of c and e, (10, 8).
    for name, counts in (("c", (0, 0, 1, 0)), ("d", (0, 0, 0, 10)), ("e", (0, 0, 9, 8))):
        index.insert(name, rows(counts))
    assert groups_of(index) == {frozenset({"a", "b"}), frozenset({"c", "d", "e"})}
    assert index.snapshot().pools.toarray()[1].tolist() == [0, 0, 10, 8]


def test_k_copies_of_a_text_are_a_crowd_of_their_own() -> None:
    index = DynamicIndex(2, np.ones(4), embargo=0.5)
    index.insert_groups([["a", "b"]], rows((3, 4, 0, 0)))
    for name in ("c", "d"):
        index.insert(name, rows((0, 0, 1, 1)))
    assert index.waiting == ()
    assert {"c", "d"} in index.snapshot().members.values()


def test_a_wait_can_be_ended_and_a_waiting_document_deleted() -> None:
    index = started(embargo=0.999)
    index.insert("r7", rows(at_angle(60)))
    index.insert("r8", rows(at_angle(80)))
    assert index.waiting == ("r7", "r8")
    placement = index.admit("r7")
    assert index.snapshot().members[placement.representative] == {"r5", "r6", "r7"}
    index.delete("r8")
    assert index.waiting == ()
    assert "r8" not in index


def test_a_batch_becomes_groups_of_its_own() -> None:
    index = started()
    counts = rows((0, 5), (1, 40), (1, 5), (9, 50))
    placements = index.insert_batch(["s1", "s2", "s3", "s4"], counts)
    members = index.snapshot().members
    assert all(len(members[placement.representative]) >= 2 for placement in placements)
    together = frozenset().union(*(members[placement.representative] for placement in placements))
    assert together == {"s1", "s2", "s3", "s4"}


def test_groups_with_equal_pools_are_one_group() -> None:
    index = DynamicIndex(2, np.ones(2))
    index.insert_groups([["a", "b"], ["c", "d"]], rows((1, 2), (1, 2)))
    assert groups_of(index) == {frozenset("abcd")}


def test_a_search_ranks_groups_and_says_which_terms_matched() -> None:
    index = DynamicIndex(2, np.array([1.0, 1.0, 3.0]))
    index.insert_groups([["a", "b"], ["c", "d"]], rows((1, 1, 0), (0, 4, 3)))
    hits = index.search(rows((0, 1, 1)), limit=3)
    assert [hit.document in "cd" for hit in hits] == [True, True, False]
    assert hits[0].terms == (2, 1)
    # The query is (0, 1, 3), the pool (0, 4, 9).
    assert hits[0].similarity == pytest.approx(31 / np.sqrt(10 * 97))


def test_documents_of_a_group_come_in_an_order_that_is_stable_and_has_nothing_to_do_with_their_ids() -> None:
    ids = [f"{number:02}" for number in range(20)]
    orders = set()
    for seed in range(3):
        index = DynamicIndex(2, np.ones(1), random_state=seed)
        index.insert_groups([ids], rows((7,)))
        order = tuple(hit.document for hit in index.search(rows((1,)), limit=20))
        assert order == tuple(hit.document for hit in index.search(rows((1,)), limit=20))
        orders.add(order)
    assert len(orders) == 3
    assert tuple(ids) not in orders


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda index: index.insert("r1", rows((1, 1))), "in the index already"),
        (lambda index: index.insert("r9", rows((0, 0))), "none of the index's terms"),
        (lambda index: index.insert("r9", rows((1, 1, 1))), "counts are 1 x 3; give 1 x 2"),
        (lambda index: index.insert("r9", rows((-1, 1))), "a count is below 1"),
        (lambda index: index.insert_batch(["r9"], rows((1, 1))), "fewer than k=2"),
        (lambda index: index.insert_groups([["r8", "r8"]], rows((1, 1))), "in the index already"),
        (lambda index: index.insert_into("r9", "no such name"), "not in use"),
        (lambda index: index.delete("r9"), "no such document"),
        (lambda index: index.admit("r1"), "does not wait"),
    ],
)
def test_mistakes_get_one_clear_line_and_change_nothing(action: object, message: str) -> None:
    index = started()
    before = index.snapshot()
    with pytest.raises(InputError, match=message):
        action(index)  # type: ignore[operator]
    assert index.snapshot().members == before.members
    assert len(index) == 6


@pytest.mark.parametrize(("options", "message"), [({"k": 1}, "k=1"), ({"embargo": 1.5}, "embargo=1.5")])
def test_parameters_out_of_bounds_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        DynamicIndex(**{"k": 2, "idf": np.ones(2)} | options)  # type: ignore[arg-type]


def test_documents_that_were_too_few_to_be_seen_join_the_next_group_that_is_made() -> None:
    index = DynamicIndex(2, np.ones(2))
    index.insert_groups([("r1", "r2")], rows(at_angle(10)))
    index.delete("r1")
    assert groups_of(index) == set()
    index.insert_groups([("r3", "r4")], rows(at_angle(30)))
    assert groups_of(index) == {frozenset({"r2", "r3", "r4"})}


def test_a_batch_may_hold_the_pool_of_the_group_that_cannot_be_seen() -> None:
    index = DynamicIndex(3, np.ones(3), embargo=None)
    pool, other = sp.csr_matrix([[2, 1, 0]]), sp.csr_matrix([[0, 0, 3]])
    index.insert_groups([["a", "b", "c"]], pool)
    index.delete("a")  # two are left, in the only group
    assert index.sizes() == {}
    index.insert_groups([["d", "e", "f"], ["g", "h", "i"]], sp.vstack((other, pool), format="csr"))
    assert groups_of(index) == {frozenset("def"), frozenset("bcghi")}
