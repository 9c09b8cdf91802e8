"""Which concepts are proposed for values, and which of them a person must confirm."""

from __future__ import annotations

import difflib
import random
import re
import time

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import Hierarchy, WordNet
from shoal.ontology.proposals import propose_mapping
from shoal.ontology.suggestion import Spellings


def proposed(value, ontology=None):
    [proposal] = propose_mapping(pd.DataFrame({"x": [value]}), ["x"], ontology)
    return proposal


@pytest.mark.parametrize("code", ["2", "10", "F", "m", "A12", "10-19", "3.5", "#1"])
def test_codes_are_not_looked_up_in_wordnet(code):
    assert (proposed(code).concept, proposed(code).found, proposed(code).others) == ("", False, ())


def test_codes_that_a_hierarchy_has_are_found():
    codes = Hierarchy.from_pairs([("1", "any"), ("F", "any")])
    assert [(proposed(code, codes).concept, proposed(code, codes).found) for code in ("1", "F")] == [
        ("1", True),
        ("F", True),
    ]


@pytest.mark.parametrize("value", ["urban", "Urban", "rural", "widowed"])
def test_a_word_that_is_no_noun_is_not_taken_for_a_misspelt_one(value):
    assert (proposed(value).concept, proposed(value).found) == ("", False)


@pytest.mark.parametrize(
    ("value", "concept"),
    [
        ("Masters", "masters.n.01"),  # a tournament; or masters
        ("Bachelors", "bachelor.n.01"),  # of two senses
        ("single", "single.n.01"),  # a hit in baseball
        ("Private", "private.n.01"),  # a soldier
        ("china", "china.n.01"),  # the country, in small letters
    ],
)
def test_words_that_may_well_mean_something_else_are_guesses(value, concept):
    assert (proposed(value).concept, proposed(value).found) == (concept, False)


def test_what_masters_are_the_plural_of_is_offered_too():
    assert any(other.startswith("maestro.n.01: ") for other in proposed("Masters").others)


@pytest.mark.parametrize("value", ["clerk", "Librarians", "Mexico", "welder", "computer.n.01", "United-States"])
def test_plain_words_and_names_are_found(value):
    assert proposed(value).found


def test_many_unknown_values_take_seconds():
    draw = random.Random(0)
    values = {"".join(draw.choices("abcdefghijklmnoprstuvwxyz", k=9)) for _ in range(1500)}
    WordNet().suggest("rugbi")  # reads the words of this letter
    start = time.process_time()
    assert len(propose_mapping(pd.DataFrame({"x": sorted(values)}), ["x"])) == len(values)
    assert time.process_time() - start < 20  # about 2; it was 75


WORDS = ["apple", "apples", "ape", "application", "applet", "maple", "a-p-p-l-e", "apply", "Aple"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        # By difflib's ratio: 10/10 (apple), 10/11 (applet, apples); then what begins so, the shortest first.
        ("apple", ["apple", "applet", "apples"]),
        ("aplle", ["Aple", "apple", "ape"]),  # 8/9, 8/10, 6/8
        ("appl", ["apply", "apple", "applet", "apples"]),  # 8/9, 8/9, 8/10; begins so: apple, apply, apples
        ("ap", []),
        ("xyz", []),
    ],
)
def test_words_like_a_value_are_the_nearest_by_difflib_and_the_shortest_that_begin_so(value, expected):
    assert list(Spellings(WORDS).like(value)) == expected


LETTERS = st.text(alphabet="abcA-_ é", min_size=1, max_size=12)


@given(st.lists(LETTERS | st.text(alphabet="ab", min_size=60, max_size=70), max_size=30), LETTERS)
def test_the_index_of_spellings_finds_what_looking_at_every_word_finds(words, value):
    assert list(Spellings(words).like(value)) == like_by_looking_at_every_word(value, words)


def like_by_looking_at_every_word(value, words):
    def plain(word):
        return re.sub(r"[\W_]+", "", word).lower()

    if len(plain(value)) < 3:
        return []
    with_initial = [word for word in words if word[:1].lower() == plain(value)[0]]
    word_of = {}
    for word in with_initial:
        word_of.setdefault(plain(word), word)
    close = difflib.get_close_matches(plain(value), word_of, n=3, cutoff=0.75)
    begins = sorted((word for word in with_initial if plain(word).startswith(plain(value))), key=lambda w: (len(w), w))
    return list(dict.fromkeys([*(word_of[spelt] for spelt in close), *begins[:3]]))
