"""One small table in every format, made by the libraries that people use."""

from __future__ import annotations

import datetime
import sqlite3
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat

ROWS = 24
VALUE_LABELS = {"sex": {1: "male", 2: "female", 9: "refused"}, "score": {99: "no answer"}}


def people() -> pd.DataFrame:
    """Numbers, codes with labels, a missing code, text and dates."""
    return pd.DataFrame(
        {
            "age": [20.0 + n % 17 for n in range(ROWS)],
            "pay": [1000.5 + n * 31 % 97 for n in range(ROWS)],
            "sex": [9.0 if n % 7 == 0 else 1.0 + n % 2 for n in range(ROWS)],
            "score": [99.0 if n % 6 == 0 else float(n % 5) for n in range(ROWS)],
            "note": [f"s3cret {'abé'[n % 3]}" for n in range(ROWS)],
            "born": [datetime.date(1980 + n % 9, 1, 1 + n) for n in range(ROWS)],
        }
    )


def with_letters() -> pd.DataFrame:
    """As Stata has it: .a is a missing value with a reason."""
    frame = people()
    frame["score"] = ["a" if score == 99.0 else score for score in frame["score"]]
    return frame


def write(path: Path) -> Path:
    """The table in the format that the name says."""
    frame: Any = people()
    if path.suffix == ".sav":
        pyreadstat.write_sav(
            frame,
            path,
            column_labels={"sex": "Sex of the person"},
            variable_value_labels=VALUE_LABELS,
            missing_ranges={"sex": [9], "score": [{"lo": 98, "hi": 99}]},
            variable_measure={"sex": "nominal"},
        )
    elif path.suffix == ".dta":
        pyreadstat.write_dta(
            with_letters(),
            path,
            column_labels={"sex": "Sex of the person"},
            variable_value_labels={"sex": VALUE_LABELS["sex"], "score": {"a": "no answer"}},
            missing_user_values={"score": ["a"]},
        )
    elif path.suffix == ".xpt":
        pyreadstat.write_xport(frame, path, column_labels={"sex": "Sex of the person"})
    elif path.suffix == ".xlsx":
        frame.to_excel(path, index=False, engine="xlsxwriter")
    elif path.suffix == ".feather":
        frame.to_feather(path)
    elif path.suffix == ".csv":
        frame.to_csv(path, sep=";", decimal=",", index=False, encoding="windows-1252")
    else:
        with sqlite3.connect(path) as connection:
            frame.to_sql("people", connection, index=False)
        connection.close()
    return path
