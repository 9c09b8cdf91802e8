"""The rows of a person are looked up together, and whoever has all of them is counted."""

from __future__ import annotations

import numpy as np

from shoal.attacks.people import PeopleIntersection


def test_a_person_in_two_groups_whose_company_differs_is_alone():
    """Ada is in both groups; Ben only in the first, Cy only in the second: two people in each."""
    found = PeopleIntersection(k=2).run(np.array([0, 0, 1, 2]), np.array([0, 1, 0, 1]), {})
    assert (found.people, found.smallest, found.alone) == (3, 1, 1)
    assert (found.exposed.rate, found.exposed.baseline) == (1 / 3, 0.0)
    assert "1 are alone" in found.sentence


def test_people_who_carry_the_same_rows_stay_together():
    found = PeopleIntersection(k=2).run(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), {})
    assert (found.smallest, found.alone, found.exposed.rate) == (2, 0, 0.0)
    assert found.sentence == "Of 2 people, at least 2 carry all rows that any one of them carries."


def test_whoever_carries_more_rows_covers_whoever_carries_fewer():
    """Ada's rows are in both groups, Ben's in the first: for Ben there are two, for Ada one."""
    found = PeopleIntersection(k=2).run(np.array([0, 0, 1]), np.array([0, 1, 0]), {})
    assert (found.smallest, found.exposed.rate) == (1, 0.5)


def test_a_constant_is_told_by_all_groups_where_one_leaves_it_open():
    """Ada's value 7 is the only one in both of her groups; in each of them it is one of two."""
    person, group = np.array([0, 0, 1, 2]), np.array([0, 1, 0, 1])
    found = PeopleIntersection(k=2).run(person, group, {"birth place": np.array([7, 7, 8, 9])})
    (guessed,) = found.constants
    assert guessed.about == "birth place by all groups of a person"
    assert (guessed.rate, guessed.baseline, guessed.n) == (1.0, 0.5, 1)


def test_a_column_that_varies_within_a_person_is_no_constant():
    found = PeopleIntersection(k=2).run(np.array([0, 0, 1]), np.array([0, 1, 0]), {"diagnosis": np.array([1, 2, 1])})
    assert found.constants == ()


def test_several_rows_of_a_person_are_one_piece_of_evidence():
    """Ben's three rows say 8 no louder than Ada's one says 7: in both groups the two are as likely."""
    person, group = np.array([0, 0, 1, 1, 1, 2]), np.array([0, 1, 0, 0, 0, 1])
    found = PeopleIntersection(k=2).run(person, group, {"birth place": np.array([7, 7, 8, 8, 8, 8])})
    (guessed,) = found.constants
    assert (guessed.rate, guessed.baseline) == (0.5, 0.5)


def test_a_value_of_fewer_rows_than_the_person_has_is_not_the_persons():
    """Ada has two rows in the first group, and 8 is there once: it is 7. In the second either is as likely."""
    person, group = np.array([0, 0, 0, 1, 2]), np.array([0, 0, 1, 0, 1])
    found = PeopleIntersection(k=2).run(person, group, {"birth place": np.array([7, 7, 7, 8, 8])})
    (guessed,) = found.constants
    assert (guessed.rate, guessed.baseline) == (1.0, 0.75)
