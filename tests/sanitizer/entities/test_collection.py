"""One number per entity of a collection."""

from __future__ import annotations

from itertools import permutations

from shoal.results.sanitizing import Entity, Mention
from shoal.sanitizer.entities.collection import same_entities


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
