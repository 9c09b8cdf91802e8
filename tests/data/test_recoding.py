"""Rules that make a whole column coarser: bands, limits, prefixes, classes of codes, levels of a hierarchy."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from shoal.data.recoding import Bands, Codes, Limits, recoded, rule_of
from shoal.data.table import Table
from shoal.errors import InputError
from shoal.terms.hierarchy import Hierarchy


def applied(rule: str, *values: Any) -> list[Any]:
    made = rule_of(rule)
    assert isinstance(made, Bands | Limits | Codes)
    return list(made.apply(pa.chunked_array([pa.array(values)]), "x").to_pylist())


def test_a_band_reaches_to_where_the_next_one_begins() -> None:
    assert applied("<18,18-64,65+", 17.9, 18.0, 64.5, 65.0, None) == ["<18", "18-64", "18-64", "65+", None]


def test_bands_go_on_in_the_same_steps() -> None:
    assert applied("0-4,5-9,...,20+", 0, 4, 9, 14, 19, 20, 99) == ["0-4", "0-4", "5-9", "10-14", "15-19", "20+", "20+"]


def test_bands_next_to_each_other_make_one_band() -> None:
    bands = rule_of("<10,10-19,20-29,30+")
    assert isinstance(bands, Bands)
    assert [bands.merged(*pair) for pair in ((1, 1), (1, 2), (0, 1), (2, 3), (0, 3))] == [
        "10-19",
        "10-29",
        "<20",
        "20+",
        "...",
    ]


def test_a_number_outside_of_all_bands_is_refused_without_being_quoted() -> None:
    with pytest.raises(InputError, match="1 value in no band") as refused:
        applied("0-17,18-64", 12, 471)
    assert "471" not in str(refused.value)


def test_limits_and_steps_keep_numbers_numbers() -> None:
    assert applied("top 100 bottom 10", 3, 50, 700) == [10, 50, 100]
    assert applied("round 50", 24, 26, 75.0) == [0.0, 50.0, 100.0]


def test_codes_become_their_first_characters_or_classes() -> None:
    assert applied("prefix 2", "01005", "01097", None) == ["01", "01", None]
    assert applied("icd10 chapter", "C50.1", "D50", "H59", "H60", "U07.1", "unknown") == [
        "chapter II",
        "chapter III",
        "chapter VII",
        "chapter VIII",
        "chapter XXII",
        "unknown",
    ]
    assert applied("nace section", "01", "35.1", "62", "99") == ["A", "D", "J", "U"]


@pytest.mark.parametrize("rule", ["isco major", "nace division", "icd10 category"])
def test_words_have_no_classes_of_codes(rule: str) -> None:
    with pytest.raises(InputError, match="holds no codes of this classification"):
        applied(rule, "shop assistant", "cook", None)


def test_a_level_goes_up_in_the_hierarchy_of_the_column() -> None:
    towns = Hierarchy.from_pairs([("Wick", "north"), ("Deal", "south"), ("north", "land"), ("south", "land")])
    table = Table(pa.table({"town": ["Wick", "Deal"]}), "memory")
    up = recoded(table, {"town": "level 1"}, {"town": towns.above}).data["town"].to_pylist()
    top = recoded(table, {"town": "level 9"}, {"town": towns.above}).data["town"].to_pylist()
    assert (up, top) == (["north", "south"], ["land", "land"])
    with pytest.raises(InputError, match="needs the column's hierarchy"):
        recoded(table, {"town": "level 1"}, {})


@pytest.mark.parametrize(
    "rule", ["", "5", "0-4,...", "0-4,10-14", "0-10,5-20", "9-5", "65+,0-64", "prefix 0", "prefix 2 top 3", "top x"]
)
def test_what_is_no_rule_is_refused(rule: str) -> None:
    with pytest.raises(ValueError):
        rule_of(rule)
