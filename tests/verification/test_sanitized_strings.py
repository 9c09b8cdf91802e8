"""Verify looks for masked strings in the spelling in which the sanitizer keeps them."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shoal.sanitizer.review.strings import Strings, folded, is_searchable
from shoal.verification.masked_strings import found_in


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
        ("Dunstable", "Dun\u00adsta\u200bble"),
        ("Dunstable", "Dunst\u0430ble"),  # a Cyrillic letter that looks the same
        ("Ελένη", "ΕΛΕΝΗ"),
        ("Griffith", "Gri\ufb03th"),
        ("Dunstable", "𝐃𝐮𝐧𝐬𝐭𝐚𝐛𝐥𝐞"),
        ("account 12345", "account ١٢٣٤٥"),
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


@pytest.mark.parametrize(
    "written",
    [
        "Dunstable's",
        "Dunstables",
        "MacDunstable",
        "DunstableHouse",
        "dunstable2009.pdf",
        "mdunstable@example.org",
        "https://example.org/~idunstable/index.html",
        "IMG_dunstable-01.jpg",
        "xdun\u00adstablex",
        "xDunst\u0430blex",
        "#DUNSTABLEWEDDING",
    ],
)
def test_a_name_is_found_within_a_longer_word(written: str) -> None:
    sentence = f"See {written} there."
    (found,) = Strings(["dunstable"]).readable(sentence)
    assert folded(sentence[found.start : found.end]) == "dunstable"
    assert found_in(sentence, ["dunstable"]) == {"dunstable": 1}


@pytest.mark.parametrize(
    ("string", "word", "readable"),
    [
        ("smith", "blacksmith", False),
        ("smith", "Smithfield", True),
        ("roman", "Romania", False),
        ("kennedy", "Kennedys", True),
        ("Baker", "bakers", False),
        ("Baker", "mbaker", True),
        ("allen", "challenging", False),
    ],
)
def test_nobody_reads_a_name_in_a_word_of_its_own(string: str, word: str, readable: bool) -> None:
    (found,) = Strings([string]).find(f"It was {word}.")
    assert found.is_readable is readable
    assert found_in(f"It was {word}.", [string]) == {string: 1}  # counted, and so it must be accounted for


def test_short_strings_are_not_looked_for_amid_a_word() -> None:
    for string, text in (("khan", "akhanb"), ("123456", "91234569"), ("ann", "planned")):
        assert list(Strings([string]).find(text)) == []
        assert found_in(text, [string]) == {}
    assert found_in("DE8937040044", ["7040044"]) == {"7040044": 1}


LETTERS = st.text("abAB1\u00ad- ﬁи\u0430", max_size=30)


@given(LETTERS, st.lists(st.text("abAB1fi\u0430и", min_size=3, max_size=9), max_size=6))
def test_sanitizer_and_verify_find_the_same_strings(text: str, listed: list[str]) -> None:
    """Each is written on its own; what one overlooks the other would count."""
    strings = {folded(string) for string in listed} | {folded(string).capitalize() for string in listed[:2]}
    strings = {string for string in strings if is_searchable(string)}
    assert Counter(found.string for found in Strings(strings).find(text)) == found_in(text, strings)
    assert all(found.start < found.end for found in Strings(strings).find(text))
