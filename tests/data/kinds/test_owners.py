"""Columns that repeat as a person's number would."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from shoal import Roles, inspect, protect
from shoal.data.kinds.giveaways import author_like, owner_like


def survey() -> pd.DataFrame:
    """60 households of one to five members under one roof each, in eight villages."""
    random = np.random.default_rng(1)
    household = np.repeat(np.arange(60), random.integers(1, 6, 60))
    return pd.DataFrame(
        {
            "number": household,
            "village": random.integers(0, 8, 60)[household],
            "roof": random.choice(["tile", "tin", "straw"], 60)[household],
            "age": random.integers(0, 90, len(household)),
            "income": random.integers(100, 900, len(household)),
        }
    )


def owners(frame: pd.DataFrame) -> list[str]:
    return list(owner_like(pa.Table.from_pandas(frame, preserve_index=False), frame.columns))


def test_a_household_number_is_found_by_what_its_rows_share():
    assert owners(survey()) == ["number"]


def test_amounts_that_follow_from_each_other_are_no_owners():
    earned = np.random.default_rng(2).integers(1, 100, 300) * 100
    assert owners(pd.DataFrame({"earned": earned, "tax": earned // 5, "net": earned - earned // 5})) == []


def test_a_column_whose_rows_have_nothing_in_common_is_no_owner():
    frame = survey().assign(number=np.random.default_rng(3).permutation(survey()["number"]))
    assert owners(frame) == []


def test_protect_names_the_column_unless_it_is_the_person(tmp_path):
    roles = Roles(quasi=("village", "age"))
    with pytest.warns(UserWarning, match=r"column number repeats as a person's number would.*person='number'"):
        protect(survey(), 3, tmp_path / "rows", roles=roles, categorical=["village"], refine=False, attack=False)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*repeats as")
        asked = {"person": "number", "categorical": ["village"], "refine": False, "attack": False}
        protect(survey(), 3, tmp_path / "people", roles=roles, **asked)


def test_inspection_says_it_beside_the_column():
    frame = survey().sample(frac=1.0, random_state=4)  # in order, they would be taken for numbers of households
    notes = {column.name: " ".join(column.notes) for column in inspect(frame).columns}
    assert 'alike in village, roof: if they belong to one person, write role = "person"' in notes["number"]
    assert "one person" not in notes["village"]


def test_a_column_of_authors_is_named_for_documents(tmp_path):
    path = tmp_path / "letters.jsonl"
    lines = [{"text": f"tide boat {'sail' if n % 2 else 'net'}", "author": f"a{n % 12}", "day": n} for n in range(36)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert author_like(path, "jsonl", [None]) == {"author": "its values have 3.0 documents each"}
    with pytest.warns(UserWarning, match=r"column author repeats .*person='author'"):
        protect(path, 3, tmp_path / "release", refine=False, attack=False)
