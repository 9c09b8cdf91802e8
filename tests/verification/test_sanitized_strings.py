"""Verify looks for masked strings in the spelling in which the sanitizer keeps them."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shoal.sanitizer.review.strings import Strings, folded
from shoal.verification.sanitized.strings import found_in


@pytest.mark.parametrize(
    ("masked", "written"),
    [
        ("José Núñez-García", "JOSE NUNEZ GARCIA"),
        ("Łukasz", "lukasz"),
        ("Søren Ǿrsted", "Soren Orsted"),
        ("Đorđe", "Dorde"),
        ("Æsa Œuvray", "Aesa Oeuvray"),
        ("Strauß", "STRAUSS"),
        ("Işık", "isik"),
        ("O'Brien", "O\u02bcBrien"),
        ("Kealiʻi", "Kealii"),
        ("van ŉ Berg", "van n Berg"),
    ],
)
def test_spellings_of_a_name_are_the_same_string_to_sanitizer_and_verify(masked: str, written: str) -> None:
    for string, text in ((masked, written), (written, masked)):
        sentence = f"They saw {text}, and left."
        assert [occurrence.string for occurrence in Strings([folded(string)]).find(sentence)] == [folded(string)]
        assert found_in(sentence, [folded(string)]) == {folded(string): 1}


@given(st.text(st.characters(codec="utf-8"), max_size=12))
def test_verify_folds_every_text_as_the_sanitizer_does(text: str) -> None:
    string = folded(text)
    assume(string)
    assert found_in(text, [string]) == {string: 1}
