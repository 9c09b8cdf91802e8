"""The intersection attack, on snapshots written down by hand."""

from __future__ import annotations

from shoal.attacks.intersection import intersection_attack


def test_whoever_was_not_always_with_a_document_is_no_candidate() -> None:
    one = {"A": frozenset({"1", "2", "3"}), "B": frozenset({"4", "5"})}
    two = {"C": frozenset({"1", "4"}), "D": frozenset({"2", "3", "5"})}
    found = intersection_attack([one, two], k=2)
    assert found.sizes == {"1": 1, "2": 2, "3": 2, "4": 1, "5": 1}
    assert (found.smallest, found.exposed) == (1, 3)


def test_documents_that_were_deleted_still_count() -> None:
    one = {"A": frozenset({"1", "2", "3"}), "B": frozenset({"4", "5", "6"})}
    two = {"B": frozenset({"2", "3", "4", "5", "6"})}
    found = intersection_attack([one, two], k=3)
    assert found.sizes == {"1": 3, "2": 3, "3": 3, "4": 3, "5": 3, "6": 3}


def test_what_two_representatives_differ_by_is_taken_out() -> None:
    # A was made of three documents, B of the same and a fourth: the difference is the fourth.
    one = {"A": frozenset({"1", "2", "3"})}
    two = {"B": frozenset({"1", "2", "3", "4"})}
    assert intersection_attack([one, two], k=3).sizes == {"1": 3, "2": 3, "3": 3, "4": 1}


def test_a_deletion_after_which_the_representative_is_made_anew_gives_the_deleted_away() -> None:
    one = {"A": frozenset({"1", "2", "3", "4"})}
    two = {"B": frozenset({"1", "2", "3"})}
    assert intersection_attack([one, two], k=3).sizes["4"] == 1


def test_nothing_visible_is_nothing_found() -> None:
    found = intersection_attack([{}, {}], k=3)
    assert (found.smallest, found.exposed) == (0, 0)
