"""A masked text hides what was accepted, and comes back to the last character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.results.sanitizing import Entity, Mention
from shoal.sanitizer.release.masking import REMOVED, masked, replacements_of, unmasked
from shoal.sanitizer.release.pseudonyms import pseudonyms_of

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
AWKWARD_TEXT = st.lists(
    st.sampled_from(["Pers1", "Pers", "1", "\r\n", "é", "e\u0301", "\U0001f41f", "\u200d", "[removed]", " ", "Ann"]),
    max_size=20,
).map("".join)


Case = tuple[str, list[tuple[int, int, str]], list[tuple[int, int]]]


@st.composite
def texts_and_stretches(draw: st.DrawFn) -> Case:
    """A text, replacements that may overlap and touch, and blocks that may, too."""
    text = draw(ANY_TEXT | AWKWARD_TEXT)
    if not text:
        return text, [], []
    places = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(sorted).filter(lambda p: p[0] < p[1])
    pseudonyms = st.sampled_from(["Pers1", "Pers12", "Org1", "[person]", REMOVED, ""])
    replacements = [(*draw(places), draw(pseudonyms)) for _ in range(draw(st.integers(0, 8)))]
    blocks = [tuple(draw(places)) for _ in range(draw(st.integers(0, 3)))]
    return text, replacements, blocks


@given(texts_and_stretches())
def test_unmasking_gives_back_every_character(case: Case) -> None:
    text, replacements, blocks = case
    hidden = masked(text, replacements, blocks)
    assert unmasked(hidden.text, hidden.pieces) == text
    assert unmasked(hidden.text, hidden.pieces).encode() == text.encode()


@given(texts_and_stretches())
def test_all_that_was_accepted_is_hidden_and_all_else_is_shown(case: Case) -> None:
    text, replacements, blocks = case
    accepted = {place for start, end, *_ in [*replacements, *blocks] for place in range(start, end)}
    hidden = masked(text, replacements, blocks)
    shown = hidden.text
    for start, end, _ in reversed(hidden.pieces):
        shown = shown[:start] + shown[end:]
    assert shown == "".join(character for place, character in enumerate(text) if place not in accepted)
    assert sorted("".join(original for *_, original in hidden.pieces)) == sorted(text[place] for place in accepted)


@given(
    st.lists(st.sampled_from(["ЖЗИ", "ЙКЛ", "ЖЗИ ЙКЛ", "met ", "Pers1 ", "\r\n", "2"]), max_size=20),
    st.sampled_from(["numbered", "category", "general"]),
    st.booleans(),
)
def test_nothing_of_the_vault_is_in_the_masked_text(parts: list[str], style: str, as_blocks: bool) -> None:
    """Names are in Cyrillic letters, which nothing else has."""
    text = "".join(parts)
    entities = [
        Entity("PERSON", mentions_of(name, text), name, "direct", 1.0)
        for name in ("ЖЗИ", "ЙКЛ", "ЖЗИ ЙКЛ")
        if name in text
    ]
    (pseudonyms,) = pseudonyms_of([entities], [text], style)
    blocks = [(mention.start, mention.end) for entity in entities for mention in entity.mentions] if as_blocks else []
    hidden = masked(text, replacements_of(entities, pseudonyms), blocks)
    assert not set(hidden.text) & set("ЖЗИЙКЛ")
    assert unmasked(hidden.text, hidden.pieces) == text


def test_the_example_of_the_specification() -> None:
    text = (
        "Prof. Smith asked Imagine Inc. to start the project in New York, where the NY University could provide a "
        "laboratory near the Washington Square Park. Prof. Smith wants to study the birds of the Washington Square "
        "Park."
    )
    names = [
        ("ORG", "Imagine Inc."),
        ("PERSON", "Prof. Smith"),
        ("LOC", "New York"),
        ("ORG", "NY University"),
        ("LOC", "Washington Square Park"),
    ]
    entities = [Entity(kind, mentions_of(name, text), name, "direct", 1.0) for kind, name in names]
    (pseudonyms,) = pseudonyms_of([entities], [text])
    hidden = masked(text, replacements_of(entities, pseudonyms))
    assert hidden.text == (
        "Pers1 asked Org1 to start the project in Loc1, where the Org2 could provide a laboratory near the Loc2. Pers1 "
        "wants to study the birds of the Loc2."
    )
    assert unmasked(hidden.text, hidden.pieces) == text


def mentions_of(name: str, text: str) -> tuple[Mention, ...]:
    starts = [place for place in range(len(text)) if text.startswith(name, place)]
    return tuple(Mention(start, start + len(name)) for start in starts)


def test_of_overlapping_mentions_the_longest_one_speaks_for_all() -> None:
    hidden = masked("Smith Hospital in York", [(0, 5, "Pers1"), (0, 14, "Org1"), (10, 22, "Loc1")])
    assert hidden.text == "Org1"
    assert hidden.pieces == ((0, 4, "Smith Hospital in York"),)


def test_adjacent_mentions_keep_their_own_pseudonyms() -> None:
    assert masked("AnnBob", [(3, 6, "Pers2"), (0, 3, "Pers1")]).text == "Pers1Pers2"


def test_a_block_hides_its_entities_and_those_that_reach_into_it() -> None:
    text = "Ann left. Bob went to New York. Carl stayed."
    hidden = masked(text, [(0, 3, "Pers1"), (10, 13, "Pers2"), (22, 30, "Loc1"), (32, 36, "Pers3")], [(10, 25)])
    assert hidden.text == "Pers1 left. [removed]. Pers3 stayed."


def test_blocks_that_touch_become_one_so_that_their_number_is_not_told() -> None:
    assert masked("One. Two. Three.", [], [(0, 5), (5, 9)]).text == "[removed] Three."


def test_a_digit_after_a_name_never_makes_another_pseudonym() -> None:
    hidden = masked("Ann2 and Bob", [(0, 3, "Pers1")])
    assert hidden.text == "Pers1 2 and Bob"
    assert unmasked(hidden.text, hidden.pieces) == "Ann2 and Bob"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He is a physician.", "He is a medical practitioner."),
        ("The\nphysician left.", "a medical practitioner left."),
        ("He became physician.", "He became a medical practitioner."),
        ("Banana physician", "Banana a medical practitioner"),
        ("a physician", "a medical practitioner"),
    ],
)
def test_no_second_article_stands_before_something_more_general(text: str, expected: str) -> None:
    place = text.index("physician")
    hidden = masked(text, [(place, place + len("physician"), "a medical practitioner")])
    assert hidden.text == expected
    assert unmasked(hidden.text, hidden.pieces) == text


def test_an_article_that_is_hidden_already_is_not_taken_twice() -> None:
    hidden = masked("Ann the nurse", [(0, 7, "Pers1"), (8, 13, "a worker")])
    assert hidden.text == "Pers1 a worker"
    assert unmasked(hidden.text, hidden.pieces) == "Ann the nurse"


@pytest.mark.parametrize("stretch", [(3, 3), (4, 2), (-1, 2), (0, 13)])
def test_a_stretch_outside_of_the_text_is_refused(stretch: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="a text of 12 characters"):
        masked("Ann met Bob.", [], [stretch])


def test_pieces_of_another_text_are_refused() -> None:
    with pytest.raises(InputError, match="does not fit a masked text of 5 characters"):
        unmasked("Pers1", [(8, 13, "Bob")])


def test_the_pieces_are_not_in_a_printed_value() -> None:
    assert "Ann" not in repr(masked("Ann left", [(0, 3, "Pers1")]))
