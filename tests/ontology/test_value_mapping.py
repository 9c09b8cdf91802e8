"""Mappings: what a file or a dict says, and that no message quotes a value."""

from __future__ import annotations

import pytest

from shoal import InputError
from shoal.ontology.value_mapping import mappings_of, read_mapping

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
