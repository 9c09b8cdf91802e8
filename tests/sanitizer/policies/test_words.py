"""Sentences and paragraphs end where readers see them end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.sanitizer.policies.words import units_of


def parts(text: str, unit: str = "sentence") -> list[str]:
    return [text[start:end] for start, end in units_of(text, unit)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four…", ["One.", "Two!", "Three?", "Four…"]),
        ("Dr. Lee met Gen. Ray. They left.", ["Dr. Lee met Gen. Ray.", "They left."]),
        ("J. F. Kennedy of the U.S. Navy spoke. We sat.", ["J. F. Kennedy of the U.S. Navy spoke.", "We sat."]),
        ('He said "Go." She went.', ['He said "Go."', "She went."]),
        ("It cost 3.5 million. 20 came.", ["It cost 3.5 million.", "20 came."]),
        ("A heading\r\n\r\nA line\r\nthat goes on. End.", ["A heading", "A line\r\nthat goes on.", "End."]),
        ("  \n ", []),
    ],
)
def test_a_sentence_ends_with_a_stop_and_not_with_an_abbreviation(text: str, expected: list[str]) -> None:
    assert parts(text) == expected


def test_a_paragraph_ends_with_an_empty_line() -> None:
    assert parts("One. Two.\nThree.\n \n\n Four.\n", "paragraph") == ["One. Two.\nThree.", "Four."]


def test_a_list_without_stops_ends_with_its_lines() -> None:
    assert parts("\n".join(["item " * 60] * 5)) == [("item " * 60).strip()] * 5


def test_an_unknown_unit_is_refused() -> None:
    with pytest.raises(InputError, match="unit='page' is unknown"):
        units_of("", "page")


@given(
    st.lists(st.sampled_from(["a", "B", ".", " ", "\n", "\r\n", "?", '"', "é", "🐟"])).map("".join),
    st.sampled_from(["sentence", "paragraph"]),
)
def test_nothing_but_white_space_lies_between_units(text: str, unit: str) -> None:
    places = [0, *(place for bounds in units_of(text, unit) for place in bounds), len(text)]
    assert places == sorted(places)
    between = [text[start:end] for start, end in zip(places[::2], places[1::2], strict=True)]
    assert "".join(between).strip() == ""
    assert all(between[1:-1])
