"""The Python signatures are the option table: the same names, types and defaults, written out for editors and mypy."""

from __future__ import annotations

import inspect

import pytest

from shoal import InputError, assess, audit, explore, protect
from shoal.request.plan import request_of
from shoal.request.request import OPTIONS, options_of_command

POSITIONAL = {
    "protect": ["source", "k", "out"],
    "explore": ["source", "out"],
    "assess": ["original", "protected", "out"],
    "audit": ["source", "out"],
}


@pytest.mark.parametrize("function", [protect, explore, assess, audit], ids=lambda function: function.__name__)
def test_a_signature_is_the_option_table(function):
    name = function.__name__
    inputs = {"source", "original", "protected"}
    given = {one.name: one for one in inspect.signature(function).parameters.values() if one.name not in inputs}
    table = options_of_command(name)
    assert set(given) == set(table)
    assert {one: given[one].annotation for one in given} == {one: table[one].annotation for one in given}
    assert {one: given[one].default for one in given} == {one: table[one].default for one in given}
    by_place = [one.name for one in inspect.signature(function).parameters.values() if one.kind is not one.KEYWORD_ONLY]
    assert by_place == POSITIONAL[name]


@pytest.mark.parametrize("option", OPTIONS.values(), ids=lambda option: option.name)
def test_an_option_is_one_plain_sentence(option):
    assert option.about.help[0].isupper()
    assert option.about.help.endswith(".")
    assert "\n" not in option.about.help


def test_whole_numbers_may_be_floats_as_those_of_r_are():
    request = request_of("table.csv", {"k": 5.0, "l": 2.0})
    assert (request.k, request.promises.l) == (5, 2)
    assert all(type(number) is int for number in (request.k, request.promises.l))
    with pytest.raises(InputError, match=r"k=5\.5 must be a whole number of at least 2"):
        request_of("table.csv", {"k": 5.5})
