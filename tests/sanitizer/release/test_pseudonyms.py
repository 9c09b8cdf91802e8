"""Every entity gets one pseudonym, a pseudonym means one entity, and what is more general never says the name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.results.sanitizing import KINDS, Entity, Mention
from shoal.sanitizer.propose import Proposing, check_proposing
from shoal.sanitizer.release.pseudonyms import pseudonyms_of


def entity(kind: str, name: str, start: int = 0) -> Entity:
    return Entity(kind, (Mention(start, start + len(name)),), name, "direct", 1.0)


DOCUMENTS = st.lists(
    st.lists(
        st.builds(
            entity,
            st.sampled_from(["PERSON", "ORG"]),
            st.sampled_from(["Ann", "ANN", "Bob  Lee", "Bob Lee", "Carl"]),
            st.integers(0, 50),
        ),
        max_size=5,
    ),
    min_size=1,
    max_size=5,
)


@given(DOCUMENTS, st.randoms(use_true_random=False))
def test_in_a_collection_the_same_entity_has_the_same_pseudonym_whatever_the_order(
    documents: list[list[Entity]], chance: object
) -> None:
    chance.shuffle(documents)  # type: ignore[attr-defined]
    pseudonyms = pseudonyms_of(documents, [""] * len(documents), scope="collection")
    pairs = {
        ((one.kind, " ".join(one.name.lower().split())), pseudonym)
        for row, given_row in zip(documents, pseudonyms, strict=True)
        for one, pseudonym in zip(row, given_row, strict=True)
    }
    assert len(pairs) == len({key for key, _ in pairs}) == len({pseudonym for _, pseudonym in pairs})


@given(DOCUMENTS)
def test_the_numbers_of_a_kind_have_no_gaps(documents: list[list[Entity]]) -> None:
    pseudonyms = pseudonyms_of(documents, [""] * len(documents), scope="collection")
    people = {int(given[4:]) for row in pseudonyms for given in row if given.startswith("Pers")}
    assert people == set(range(1, len(people) + 1))


def test_numbers_follow_the_text_and_not_the_list() -> None:
    assert pseudonyms_of([[entity("PERSON", "Bob", 20), entity("PERSON", "Ann", 3)]], [""]) == (("Pers2", "Pers1"),)


def test_each_document_counts_for_itself_unless_the_scope_is_the_collection() -> None:
    documents = [[entity("PERSON", "Ann")], [entity("PERSON", "Bob"), entity("PERSON", "Ann", 9)]]
    assert pseudonyms_of(documents, ["", ""]) == (("Pers1",), ("Pers1", "Pers2"))
    assert pseudonyms_of(documents, ["", ""], scope="collection") == (("Pers1",), ("Pers2", "Pers1"))


def test_spellings_that_were_linked_share_a_pseudonym() -> None:
    documents = [[entity("PERSON", "Ann Lee")], [entity("PERSON", "Dr. Lee"), entity("PERSON", "Bob", 9)]]
    assert pseudonyms_of(documents, ["", ""], scope="collection") == (("Pers1",), ("Pers1", "Pers2"))


@given(st.lists(st.integers(0, 30), max_size=8), st.sampled_from(["Pers", "PERS", "pers"]))
def test_a_pseudonym_is_never_a_string_that_the_text_has(numbers: list[int], prefix: str) -> None:
    text = " ".join(f"{prefix}{number}" for number in numbers)
    ((first, second),) = pseudonyms_of([[entity("PERSON", "Ann", 0), entity("PERSON", "Bob", 5)]], [text])
    assert first != second
    assert first.lower() not in text.lower() and second.lower() not in text.lower()


def test_a_number_that_any_text_of_the_collection_has_is_left_out() -> None:
    documents = [[entity("PERSON", "Ann")], []]
    assert pseudonyms_of(documents, ["", "see Pers1"], scope="collection") == (("Pers2",), ())
    assert pseudonyms_of(documents, ["", "see Pers1"]) == (("Pers1",), ())


def test_a_place_and_an_organisation_of_one_name_keep_their_kinds() -> None:
    documents = [[entity("ORG", "Girona"), entity("LOC", "Girona", 9)]]
    assert pseudonyms_of(documents, [""]) == (("Org1", "Loc1"),)


def test_the_category_alone_tells_no_two_entities_apart() -> None:
    documents = [[entity("PERSON", "Ann"), entity("PERSON", "Bob", 5), entity("EMAIL", "a@b.org", 9)]]
    assert pseudonyms_of(documents, [""], style="category") == (("[person]", "[person]", "[e-mail address]"),)


@pytest.mark.parametrize("style", ["numbered", "category", "general"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_pseudonym_without_the_name(kind: str, style: str) -> None:
    ((pseudonym,),) = pseudonyms_of([[entity(kind, "Xanadu Qwerty")]], [""], style=style)
    assert pseudonym and "xanadu" not in pseudonym.lower() and "qwerty" not in pseudonym.lower()


@pytest.mark.parametrize(
    ("given", "message"), [({"style": "plain"}, "style='plain'"), ({"scope": "all"}, "scope='all'")]
)
def test_an_unknown_style_or_scope_is_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_proposing(Proposing(**given))


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("PROFESSION", "cardiologist", "a specialist"),
        ("PROFESSION", "physician", "a medical practitioner"),
        ("PROFESSION", "software engineer", "an engineer"),
        ("PROFESSION", "anselm", "a professional"),  # a name: "a bishop" would tell whose
        ("PROFESSION", "cummings", "a professional"),  # WordNet has E. E. Cummings in small letters, too
        ("PROFESSION", "mason", "a craftsman"),  # also the name of two people
        ("ORG", "University of Girona", "a university"),
        ("ORG", "Tarragona General Hospital", "a hospital"),
        ("ORG", "Imagine Inc.", "a company"),
        ("ORG", "Zyx", "an organisation"),
        ("LOC", "Lyon", "a city in France"),
        ("LOC", "Paris", "a city in France"),  # "the capital of France" would be its name
        ("LOC", "New York", "a place"),  # "a city in New York" would be, too
        ("LOC", "Zyxtown", "a place"),
        ("DATE", "3 May 2009", "a day in 2009"),
        ("DATE", "May 3rd, 2009", "a day in 2009"),
        ("DATE", "2009-05-03", "a day in 2009"),
        ("DATE", "03/05/2009", "a day in 2009"),
        ("DATE", "May 2009", "2009"),
        ("DATE", "2009", "the 2000s"),
        ("DATE", "the 1980s", "the 20th century"),
        ("DATE", "between 1999 and 2001", "a date"),
        ("DATE", "12:30 on 3 May 2001", "a date"),
        ("DATE", "last Monday", "a date"),
        ("AGE", "43", "40 to 49"),
        ("AGE", "17-year-old", "10 to 19-year-old"),
        ("AGE", "aged 93", "aged 90 or more"),
        ("AGE", "twelve", "an age"),
        ("AGE", "Ann Lee, 43", "an age"),
        ("AGE", "3 months", "an age"),
        ("PERSON", "Ann Lee", "a person"),
    ],
)
def test_an_entity_becomes_more_general(kind: str, name: str, expected: str) -> None:
    entity = Entity(kind, (Mention(0, len(name)),), name, "quasi", 1.0)
    assert pseudonyms_of([[entity]], [name], style="general") == ((expected,),)
