"""Files of SPSS, Stata and SAS by pyreadstat: values, and the dictionary of labels and missing codes."""

from __future__ import annotations

import math
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.data.columns import typed_cells
from shoal.data.files import shown
from shoal.errors import InputError, MissingExtra
from shoal.results.summary import Code, ColumnDictionary

CATALOGUE = ".sas7bcat"  # beside a .sas7bdat: the labels of its values
READERS = {"sav": "read_sav", "dta": "read_dta", "sas7bdat": "read_sas7bdat", "xpt": "read_xport"}

Dictionary = dict[str, ColumnDictionary]


def read_statistical(
    path: str, format: str, verbatim: frozenset[str], encoding: str | None
) -> tuple[pa.Table, Dictionary]:
    """The rows and the dictionary. Missing codes are missing values; in `verbatim` columns they stay."""
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtra("formats", f"reading .{format}") from None
    options: dict[str, Any] = {"encoding": encoding, "output_format": "dict"}
    if format != "xpt":
        options["user_missing"] = True
    if format == "sas7bdat" and (catalogue := Path(path).with_suffix(CATALOGUE)).is_file():
        options["catalog_file"] = os.fspath(catalogue)
    if _is_cut_off(Path(path), format):
        raise InputError(f"{shown(path)} is cut off; copy or write the file again")
    try:
        columns, facts = getattr(pyreadstat, READERS[format])(path, **options)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeError, ValueError, OverflowError):
        raise InputError(f"{shown(path)} cannot be read as what its name says; write the file again") from None
    read: dict[str, pa.Array] = {}
    dictionary: Dictionary = {}
    for name, values in columns.items():
        read[name], dictionary[name] = _column(name, list(values), facts, name in verbatim)
    return pa.table(read), dictionary


def _is_cut_off(path: Path, format: str) -> bool:
    """Whether the file is truncated, which the reader does not notice: rows or labels would be lost."""
    with path.open("rb") as file:
        head, size = file.read(11), file.seek(0, os.SEEK_END)
        file.seek(max(size - 12, 0))
        if format == "dta" and head == b"<stata_dta>":
            return file.read() != b"</stata_dta>"
        return format == "xpt" and head == b"HEADER RECO" and size % 80 != 0  # it is made of records of 80 bytes


def _column(name: str, values: list[Any], facts: Any, verbatim: bool) -> tuple[pa.Array, ColumnDictionary]:
    values = [None if _is_gap(value) else value for value in values]
    labels = {_code(code): str(label) for code, label in facts.variable_value_labels.get(name, {}).items()}
    ranges = tuple((_code(value["lo"]), _code(value["hi"])) for value in facts.missing_ranges.get(name, ()))
    letters = set(facts.missing_user_values.get(name) or ()) if facts.missing_user_values else set()
    about = {
        "label": facts.column_names_to_labels.get(name) or "",
        "measure": {"unknown": ""}.get(facts.variable_measure.get(name, ""), facts.variable_measure.get(name, "")),
    }
    is_text = facts.readstat_variable_types.get(name) == "string"

    def is_missing(value: Any) -> bool:
        if isinstance(value, str) and not is_text:
            return value in letters
        return any(_within(value, low, high) for low, high in ranges)

    present = {value for value in values if value is not None}
    if labels and all(_code(value) in labels or is_missing(value) for value in present):
        texts = _unique_labels({code: labels.get(code, _spelt(code)) for code in {*labels, *map(_code, present)}})
        labels_of_rows = [None if value is None else texts[_code(value)] for value in values]
        codes = tuple(sorted(texts.items(), key=lambda pair: (isinstance(pair[0], str), pair[0])))
        column = pa.array(labels_of_rows, pa.string()).dictionary_encode()
        lettered = any(isinstance(code, str) for code, _ in codes) and not is_text
        return column, ColumnDictionary(values=codes, missing=ranges, letters=lettered, category=True, **about)
    if not verbatim:
        values = [None if value is not None and is_missing(value) else value for value in values]
        return _typed(values, is_text), ColumnDictionary(**about)
    partly = tuple(labels.items())
    if letters and any(isinstance(value, str) for value in present):
        spelt = [
            None if value is None else f".{value}" if isinstance(value, str) else _spelt(value) for value in values
        ]
        return pa.array(spelt, pa.string()), ColumnDictionary(values=partly, letters=True, **about)
    return _typed(values, is_text), ColumnDictionary(values=partly, missing=ranges, **about)


def _is_gap(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _code(value: Any) -> Code:
    return value if isinstance(value, str) else float(value) if isinstance(value, int | float) else str(value)


def _within(value: Any, low: Code, high: Code) -> bool:
    if isinstance(value, str) or isinstance(low, str):
        return isinstance(value, str) and value.rstrip() in (str(low).rstrip(), str(high).rstrip())
    return isinstance(value, int | float) and float(low) <= value <= float(high)


def _spelt(code: Any) -> str:
    return f"{code:.15g}" if isinstance(code, int | float) else str(code)


def _unique_labels(labels: dict[Code, str]) -> dict[Code, str]:
    """Distinct labels: where several codes share one, each has its code added."""
    twice = {label for label, count in Counter(label.strip() for label in labels.values()).items() if count > 1}
    return {
        code: f"{label.strip()} ({_spelt(code)})" if label.strip() in twice or not label.strip() else label.strip()
        for code, label in labels.items()
    }


def _typed(values: list[Any], is_text: bool) -> pa.Array:
    """Numbers, whole ones as such, dates and times, or text."""
    if is_text:
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    typed = typed_cells(values)
    if typed is None:  # letters of a column that is not kept
        return pa.array([value if isinstance(value, int | float) else None for value in values], pa.float64())
    return typed
