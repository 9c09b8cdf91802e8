"""Mappings of values to concepts: read, proposed, and written for a person to correct."""

from __future__ import annotations

import difflib
import random
import re
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import Hierarchy, InputError
from shoal.terms.suggestion import Spellings
from shoal.terms.value_mapping import mappings_of, propose_mapping, read_mapping

GOOD = "column,value,concept,gloss\njob,Adm-clerical,clerk,keeps records\njob,Sales,sale\ncountry,Hong,hong_kong,\n"


@pytest.fixture
def write(tmp_path):
    def written(content):
        path = tmp_path / "mapping.csv"
        path.write_text(content, encoding="utf-8")
        return path

    return written


def test_a_file_gives_a_concept_to_each_value_of_a_column(write):
    assert read_mapping(write(GOOD)) == {
        "job": {"Adm-clerical": "clerk", "Sales": "sale"},
        "country": {"Hong": "hong_kong"},
    }


def test_rows_given_twice_count_once(write):
    assert read_mapping(write(GOOD + "job,Sales,sale\n"))["job"]["Sales"] == "sale"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("column,value\njob,secret\n", "must begin with the columns column, value, concept"),
        (GOOD + "job,secret,?clerk\n", r"1 proposal not confirmed \(first in row 4\); check each"),
        (GOOD + "job,secret, \n", r"1 row without a concept \(first: row 4\); fill them in"),
        (GOOD + "job,Sales,clerk\n", r"1 value with two concepts \(first in row 4\); keep one"),
        (GOOD + "job,secret\n", "row 4 has no column, value and concept"),
        ("", "is empty"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_without_quoting_it(write, content, message):
    with pytest.raises(InputError, match=message) as refused:
        read_mapping(write(content))
    assert "secret" not in str(refused.value)


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        mappings_of(tmp_path / "none.csv", ["job"])


def test_a_dict_is_for_all_columns_or_for_each(write):
    assert mappings_of(None, ["job"]) == {"job": {}}
    assert mappings_of({"a": "b"}, ["job", "country"]) == {"job": {"a": "b"}, "country": {"a": "b"}}
    assert mappings_of({"job": {"a": " b "}}, ["job", "country"]) == {"job": {"a": "b"}, "country": {}}
    assert mappings_of(write(GOOD), ["country"]) == {"country": {"Hong": "hong_kong"}}


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        (["a"], "a mapping is a CSV file"),
        ({"a": "b", "c": {"d": "e"}}, "mixes concepts and dicts"),
        ({"secret": "?b"}, "1 value without a confirmed concept"),
        ({"secret": ""}, "1 value without a confirmed concept"),
        ({"secret": 3}, "1 value without a confirmed concept"),
    ],
)
def test_a_dict_that_is_no_mapping_is_refused(mapping, message):
    with pytest.raises(InputError, match=message) as refused:
        mappings_of(mapping, ["job"])
    assert "secret" not in str(refused.value)


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


def test_an_unknown_value_is_compared_with_few_words(monkeypatch):
    """Comparing it with every word of its letter took 50 ms, and a column has thousands of values."""
    draw = random.Random(0)
    values = sorted({"".join(draw.choices("abcdefghijklmnoprstuvwxyz", k=9)) for _ in range(100)})
    compared = []

    def close_matches(value, words, **options):
        compared.extend(words)
        return difflib.get_close_matches(value, words, **options)

    monkeypatch.setattr("shoal.terms.suggestion.difflib", SimpleNamespace(get_close_matches=close_matches))
    assert len(propose_mapping(pd.DataFrame({"x": values}), ["x"])) == len(values)
    assert 0 < len(compared) < 20 * len(values)


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
