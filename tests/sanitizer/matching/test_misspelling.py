"""Misspellings are few edits away, and edits are counted as by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.sanitizer.matching.misspelling import Misspellings, edits_between


@pytest.mark.parametrize(
    ("first", "second", "edits"),
    [
        ("missile", "missile", 0),
        ("missile", "misile", 1),
        ("missile", "misisle", 1),  # neighbours swapped
        ("missile", "mussile", 1),
        ("missile", "missive", 1),
        ("missile", "misles", 3),
        ("", "abc", 3),
    ],
)
def test_edits_are_counted(first: str, second: str, edits: int) -> None:
    assert edits_between(first, second) == edits_between(second, first) == edits


WORDS = st.text("abcd", min_size=6, max_size=14)


@given(st.lists(WORDS, max_size=20), WORDS)
def test_the_shortcut_finds_what_comparing_with_every_word_would(known: list[str], word: str) -> None:
    graded = sorted((edits_between(word, other), other) for other in set(known) if other[0] == word[0])
    nearest = [other for edits, other in graded if edits <= (2 if min(len(word), len(other)) >= 12 else 1)]
    expected = nearest[0] if graded and nearest and nearest[0] == graded[0][1] else None
    assert Misspellings(known).meant_by(word) == expected
