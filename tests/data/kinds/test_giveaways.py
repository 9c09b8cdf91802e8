"""Columns released as they are that give records away: refused by name, and why."""

from __future__ import annotations

import pyarrow as pa
import pytest

from shoal.data.kinds.giveaways import check_released_columns, giveaways
from shoal.data.roles import Roles
from shoal.errors import InputError

N = 40
DATA = pa.table(
    {
        "age": [20 + row % 10 for row in range(N)],
        "region": ["north", "south", "east", "west"] * 10,
        "case": [f"K-{row:04d}" for row in range(N)],
        "note": [f"Seen on day {row} by doctor {row % 7} for a cough" for row in range(N)],
        "weight": [[1.5, 2.5, 3.5, 4.5][row % 4] for row in range(N)],
        "score": [row / 7 for row in range(N)],
        "ward": ["a", "b", "c", "c", "b"] * 8,
        "income": [1000 + 13 * row for row in range(N)],
    }
)


def test_identifiers_text_unique_values_and_functions_of_protected_columns_are_found():
    roles = Roles(
        quasi=("age", "region"), confidential=("income",), insensitive=("case", "note", "weight", "score", "ward")
    )
    reasons = giveaways(DATA, roles)
    assert reasons == {
        "case": "nearly every record has a value of its own",
        "note": "it holds sentences, which can hold names",
        "weight": "it gives region away, which is protected: 100% of its values follow from it",
        "score": "40 of 40 rows have a value of their own",
    }


def test_a_confidential_column_may_have_many_values_but_names_no_record():
    roles = Roles(quasi=("age",), confidential=("income", "case"))
    assert list(giveaways(DATA, roles)) == ["case"]


def test_what_gives_records_away_is_refused_unless_it_is_allowed():
    roles = Roles(quasi=("age",), insensitive=("case",))
    with pytest.raises(InputError, match="column case would be released as it is, and nearly every record"):
        check_released_columns(DATA, roles, ())
    with pytest.warns(UserWarning, match="column case is released as it is"):
        check_released_columns(DATA, roles, ("case",))
    with pytest.raises(InputError, match="column ward is not released as it is"):
        check_released_columns(DATA, Roles(quasi=("age",)), ("ward",))


def test_few_rows_and_one_value_are_no_reason():
    few = DATA.slice(0, 10)
    assert giveaways(few, Roles(quasi=("age",), insensitive=("case", "score"))) == {}
    same = DATA.append_column("land", pa.array(["x"] * N))
    assert giveaways(same, Roles(quasi=("age",), insensitive=("land",))) == {}
