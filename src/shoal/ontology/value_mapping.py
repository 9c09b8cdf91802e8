"""Mappings from values to concepts: a CSV file with the columns column, value and concept, for a person to correct.

A concept that begins with a question mark is a proposal nobody has confirmed yet.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shoal.errors import InputError
from shoal.io.delimited import stream_rows
from shoal.io.files import counted, is_folder, kind_of, open_text, reading, shown

__all__ = ["ABSENT_VALUE", "HEADER", "UNCONFIRMED", "check_mapping", "explained_columns", "mappings_of", "read_mapping"]

HEADER = ("column", "value", "concept")
UNCONFIRMED = "?"
ABSENT_VALUE = "(missing)"  # in place of a concept: the value says that there is none

ByColumn = dict[str, dict[str, str]]


def read_mapping(path: str | os.PathLike[str]) -> ByColumn:
    """The concept of each value, column by column. Messages give rows and counts, never values."""
    name = shown(path)
    if is_folder(path):
        raise InputError(f"{name} is a folder; give a CSV file with the columns {', '.join(HEADER)}")
    found: ByColumn = {}
    unconfirmed, empty, twice = [], [], []
    with reading(path), open_text(path, newline="") as stream:
        header, rows = stream_rows(stream, kind_of(path) or "csv", name)
        if tuple(header[:3]) != HEADER:
            raise InputError(f"{name} must begin with the columns {', '.join(HEADER)}; correct its first line")
        for row in rows:
            if row is None or len(row) < len(HEADER):
                raise InputError(f"{name}: row {rows.number} has no column, value and concept; correct it")
            column, value, concept = row[0], row[1], row[2].strip()
            if not concept:
                empty.append(rows.number)
            elif concept.startswith(UNCONFIRMED):
                unconfirmed.append(rows.number)
            elif found.setdefault(column, {}).setdefault(value, concept) != concept:
                twice.append(rows.number)
    if unconfirmed:
        raise InputError(
            f"{name}: {counted(len(unconfirmed), 'proposal')} not confirmed (first in row {unconfirmed[0]}); "
            f"check each, correct it if need be, and remove its {UNCONFIRMED}"
        )
    if empty:
        raise InputError(
            f"{name}: {counted(len(empty), 'row')} without a concept (first: row {empty[0]}); fill them in"
        )
    if twice:
        raise InputError(
            f"{name}: {counted(len(twice), 'value')} with two concepts (first in row {twice[0]}); keep one"
        )
    return found


def mappings_of(mapping: Any, columns: Iterable[str]) -> ByColumn:
    """The concepts of each column's values, from what the user gave.

    That is a file, a dict of value: concept for all columns, a dict of column: such a dict, or None.
    """
    names = list(columns)
    if mapping is None:
        return {name: {} for name in names}
    if isinstance(mapping, str | os.PathLike):
        mapping = read_mapping(mapping)
    if not isinstance(mapping, Mapping):
        raise InputError("a mapping is a CSV file, a dict of value: concept, or a dict of column: such a dict")
    nested = [isinstance(one, Mapping) for one in mapping.values()]
    if any(nested) and not all(nested):
        raise InputError("the mapping mixes concepts and dicts; give value: concept, or column: {value: concept}")
    return {name: _checked(mapping.get(name, {}) if any(nested) else mapping, name) for name in names}


def explained_columns(ontology: Any, mapping: Any) -> tuple[str, ...]:
    """The columns that an ontology or a mapping names: they hold labels, even where these look like numbers."""
    if isinstance(mapping, str | os.PathLike):
        mapping = read_mapping(mapping)
    nested = isinstance(mapping, Mapping) and all(isinstance(one, Mapping) for one in mapping.values())
    names = (*(ontology if isinstance(ontology, Mapping) else ()), *(mapping if nested else ()))
    return tuple(dict.fromkeys(str(name) for name in names))


def check_mapping(mapping: Any, columns: Sequence[str]) -> None:
    """Refuse a mapping of columns that the table does not have."""
    unknown = [name for name in explained_columns(None, mapping) if name not in columns]
    if unknown:
        more = f" and {counted(len(unknown) - 1, 'other column')}" if len(unknown) > 1 else ""
        of = f"{shown(mapping)}: rows" if isinstance(mapping, str | os.PathLike) else "the mapping: values"
        close = difflib.get_close_matches(unknown[0], columns, n=1)
        meant = f"; did you mean {shown(close[0])}?" if close else "; correct the name, or take them out"
        raise InputError(f"{of} for column {shown(unknown[0])}{more}, which the table does not have{meant}")


def _checked(mapping: Mapping[Any, Any], column: str) -> dict[str, str]:
    wrong = sum(not isinstance(one, str) or not one.strip() or one.startswith(UNCONFIRMED) for one in mapping.values())
    if wrong:
        raise InputError(
            f"the mapping of column {shown(column)} has {counted(wrong, 'value')} without a confirmed concept; "
            "give each the name of one"
        )
    return {str(value): concept.strip() for value, concept in mapping.items()}
