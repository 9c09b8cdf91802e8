"""Columns of anything that holds rows, and back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal import InputError
from shoal.data.columns import holds_numbers, is_text
from shoal.data.frames import NotALabel, columns_of, like_columns

PANDAS = pd.DataFrame({"town": ["Ash", None, "Elm"], "age": [1.5, np.nan, 3.0]})


@pytest.mark.parametrize("convert", [lambda frame: frame, pl.from_pandas, pa.Table.from_pandas])
def test_columns_are_the_same_whatever_holds_them(convert):
    town, age = columns_of(convert(PANDAS), ["town", "age"])
    assert is_text(town.type)
    assert holds_numbers(age.type)
    assert town.to_pylist() == ["Ash", None, "Elm"]
    assert age.to_pylist() == [1.5, None, 3.0]


def test_categories_and_chunks_are_plain_columns():
    frame = pd.DataFrame({"town": pd.Categorical(["Ash", "Elm", "Ash"])})
    assert columns_of(frame, ["town"])[0].to_pylist() == ["Ash", "Elm", "Ash"]
    table = pa.table({"town": pa.chunked_array([["Ash"], ["Elm"]])})
    assert columns_of(table, ["town"])[0].to_pylist() == ["Ash", "Elm"]


def test_arrays_of_objects_are_looked_into():
    town, age = columns_of(np.array([["Ash", 1], [None, 2]], dtype=object), ["0", "1"])
    assert (town.to_pylist(), age.to_pylist()) == (["Ash", None], [1, 2])


def test_cells_that_are_no_labels_are_refused_and_never_quoted():
    with pytest.raises(InputError, match="column 0 mixes text and numbers") as refused:
        columns_of(np.array([["secret"], [1]], dtype=object), ["0"])
    assert "secret" not in str(refused.value)
    with pytest.raises(NotALabel, match="column 0: each cell's argument must be a string or a number"):
        columns_of(np.array([[1], [{"secret": 1}]], dtype=object), ["0"])


def test_arrays_of_numbers_stay_numbers_and_others_become_objects():
    numbers = like_columns([[1, None], [2.5, 3]], np.zeros((2, 2)))
    assert numbers.dtype == np.float64
    assert np.isnan(numbers[1, 0])
    mixed = like_columns([["Ash", None], [2.5, 3]], np.zeros((2, 2)))
    assert mixed.tolist() == [["Ash", 2.5], [None, 3]]


def test_frames_keep_their_kind_their_names_and_pandas_its_row_labels():
    frame = PANDAS.set_axis(["x", "y", "z"])
    made = like_columns([[None, None, None], [1, 2, 3]], frame)
    assert made.index.tolist() == ["x", "y", "z"]
    assert made.columns.tolist() == ["town", "age"]
    assert like_columns([[None] * 3, [1, 2, 3]], pl.from_pandas(PANDAS)).schema["town"] == pl.String
