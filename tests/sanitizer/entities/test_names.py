"""One number per entity, and one entity per number."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.results.sanitizing import Entity, Mention
from shoal.sanitizer.entities.names import PersonName, may_be_one, owners, same_entities


def entity(kind: str, name: str) -> Entity:
    return Entity(kind, (Mention(0, len(name)),), name, "direct", 0.9)


def test_spellings_of_a_name_share_a_number() -> None:
    numbers = same_entities(
        [
            [entity("PERSON", "Mrs Anna Jensen"), entity("LOC", "İzmir")],
            [entity("PERSON", "Jensen"), entity("LOC", "IZMIR"), entity("PERSON", "A. Jensen")],
        ]
    )
    assert numbers == [(0, 1), (0, 1, 0)]


def test_a_surname_that_fits_two_people_is_a_third() -> None:
    numbers = same_entities(
        [[entity("PERSON", "Karl Weber")], [entity("PERSON", "Doris Weber")], [entity("PERSON", "Weber")]]
    )
    assert numbers == [(0,), (1,), (2,)]


def test_a_person_and_a_place_of_one_name_differ() -> None:
    assert same_entities([[entity("PERSON", "Lincoln"), entity("LOC", "Lincoln")]]) == [(0, 1)]


def test_the_order_of_documents_does_not_change_who_is_the_same() -> None:
    documents = [[entity("PERSON", name)] for name in ("Smith", "John Smith", "J. Smith", "Eve Smith", "Eve")]
    for order in permutations(range(5)):
        numbers = same_entities([documents[place] for place in order])
        of_name = {documents[place][0].name: numbers[at][0] for at, place in enumerate(order)}
        assert of_name["John Smith"] == of_name["J. Smith"]
        assert of_name["Eve Smith"] == of_name["Eve"]
        assert len({of_name["Smith"], of_name["John Smith"], of_name["Eve Smith"]}) == 3


@pytest.mark.parametrize(
    "spelling",
    ["Smith", "J. Smith", "J Smith", "Smith, John", "SMITH, J.", "JOHN SMITH", "Dr Smith", "Mr Smith", "John\nSmith"],
)
def test_spellings_of_john_smith_are_his(spelling: str) -> None:
    assert may_be_one(PersonName.of(spelling), PersonName.of("John Smith"))
    assert may_be_one(PersonName.of("John A. Smith"), PersonName.of(spelling))


@pytest.mark.parametrize(
    "spelling", ["Mrs Smith", "Ms J. Smith", "Mrs Anna Smith", "Jane Smith", "K. Smith", "Smithson"]
)
def test_others_are_not_john_smith(spelling: str) -> None:
    assert not may_be_one(PersonName.of(spelling), PersonName.of("John Smith"))


def test_mr_and_mrs_smith_have_two_numbers_and_smith_a_third() -> None:
    names = ("Mr Smith", "Mrs Smith", "Smith", "Mr Smith")
    assert same_entities([[entity("PERSON", name)] for name in names]) == [(0,), (1,), (2,), (0,)]


def test_when_either_may_be_kim_jones_neither_is() -> None:
    names = ("Kim Jones", "Mr Jones", "Ms Jones")
    assert same_entities([[entity("PERSON", name) for name in names]]) == [(0, 1, 2)]


def test_what_fits_a_husband_by_his_initial_does_not_take_his_wife_along() -> None:
    names = ("John Smith", "J. Smith", "Mrs Smith", "Mr Smith")
    assert same_entities([[entity("PERSON", name) for name in names]]) == [(0, 0, 1, 0)]


def test_father_and_son_of_one_name_are_two() -> None:
    assert same_entities([[entity("PERSON", name) for name in ("Al Roe Sr.", "Al Roe Jr.")]]) == [(0, 1)]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Katarzyna Kowalczyk", "Katarzyna Kowalzcyk", True),
        ("Katarzyna Kowalczyk", "Katarzyna Kowalcyk", True),
        ("Erik Hansen", "Erik Hanson", False),  # both are names
        ("Ivan Sidorov", "Ivan Sidorova", False),
        ("K. Kowalczyk", "K. Kowalzcyk", False),  # may be Karol and Klara
        ("Kowalczyk", "Kowalzcyk", False),
    ],
)
def test_a_misspelling_is_forgiven_only_in_a_long_word_of_a_full_name(one: str, other: str, same: bool) -> None:
    assert may_be_one(PersonName.of(one), PersonName.of(other), misspelt=True) is same
    assert not may_be_one(PersonName.of(one), PersonName.of(other))  # never from one document to another


@given(st.permutations(["Smith", "J. Smith", "John Smith", "Mrs Smith", "Eva Smith", "E. Smith", "Mr Smith", "Eva"]))
def test_who_is_who_does_not_depend_on_the_order_of_names(names: list[str]) -> None:
    owner = {name: PersonName.of(name) for name in names}
    found = owners(owner.values())
    assert {name: " ".join(found[key].words) for name, key in owner.items()} == {
        "John Smith": "john smith",
        "J. Smith": "john smith",
        "Mr Smith": "john smith",
        "Eva Smith": "eva smith",
        "E. Smith": "eva smith",
        "Mrs Smith": "eva smith",
        "Eva": "eva smith",
        "Smith": "smith",
    }
