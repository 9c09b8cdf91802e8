"""Columns that give people away: they single records out, or repeat as the number of a person or household would."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data.columns import NUMBER, all_match, is_text, plain, value_codes
from shoal.data.corpus import Corpus
from shoal.data.files import shown
from shoal.data.kinds.recognition import plain_values, recognise
from shoal.data.records import keys_of_first, read_columns
from shoal.data.roles import Kind, Roles
from shoal.errors import InputError, Note

FEWEST_ROWS = 20  # below, most columns have as many values as rows
DETERMINED = 0.95  # of the rows: a column from which so many values of another follow gives that one away
COMMON = 0.8  # of the rows with the most frequent value: guessing it is no better


def giveaways(data: pa.Table, roles: Roles) -> dict[str, str]:
    """The columns that should not be released as they are, and why."""
    reasons = {}
    for name in (*roles.confidential, *roles.insensitive):
        reason = _names_records(name, data[name])
        if reason is None and name in roles.insensitive:
            reason = _singles_out(data[name]) or determines(data, name, roles.quasi)
        if reason is not None:
            reasons[name] = reason
    return reasons


def check_released_columns(data: pa.Table, roles: Roles, allowed: Sequence[str]) -> None:
    """Refuse columns that give records away, unless they are allowed."""
    for name, reason in giveaways(data, roles).items():
        if name not in allowed:
            raise InputError(
                f"column {shown(name)} would be released as it is, and {reason}; drop it, protect it, or say that it "
                "may be released with {option}",
                f"allow {shown(name)}",
            )
        warnings.warn(f"column {shown(name)} is released as it is, and {reason}", stacklevel=2)
    released = {*roles.confidential, *roles.insensitive}
    for name in allowed:
        if name not in released:
            raise InputError(f"column {shown(name)} is not released as it is, so nothing need be allowed; leave it out")


def _names_records(name: str, column: pa.ChunkedArray) -> str | None:
    if len(column) < FEWEST_ROWS:
        return None
    kind = recognise(name, column).kind
    if kind is Kind.IDENTIFIER:
        values = plain_values(column)
        amounts = is_text(values.type) and all_match(values, NUMBER)  # an income is no name
        return None if amounts else "nearly every record has a value of its own"
    return "it holds sentences, which can hold names" if kind is Kind.TEXT else None


def _singles_out(column: pa.ChunkedArray) -> str | None:
    if len(column) < FEWEST_ROWS or 2 * len(column.unique()) <= len(column):
        return None
    return f"{len(column.unique()):,} of {len(column):,} rows have a value of their own"


def determines(data: pa.Table, name: str, quasi: Sequence[str]) -> str | None:
    """Whether the values of a protected column follow from this one."""
    n_rows, codes = data.num_rows, value_codes(data[name])
    if n_rows < FEWEST_ROWS or not codes.any():
        return None
    for protected in quasi:
        others = value_codes(data[protected])
        if np.bincount(others).max() > COMMON * n_rows:
            continue
        pairs, counts = np.unique(codes * (int(others.max()) + 1) + others, return_counts=True)
        likeliest = np.zeros(int(codes.max()) + 1, dtype=np.int64)
        np.maximum.at(likeliest, pairs // (int(others.max()) + 1), counts)
        if likeliest.sum() >= DETERMINED * n_rows:
            share = f"{likeliest.sum() / n_rows:.0%}"
            return f"it gives {shown(protected)} away, which is protected: {share} of its values follow from it"
    return None


FEWEST_VALUES = 10
MOST_ROWS = 50  # per value, on average: a town or a year has more
LIKENESS = 0.8  # of the way from chance to certainty, that two rows of one value agree in a column
FEWEST_ALIKE, ALIKE = 2, 0.2  # columns that are alike: at least so many, and this share of the others
LOOKED_AT = 20_000  # documents
OWNER = re.compile(r"(?i)(^|_|\b)(author|sender|from|writer|user|speaker|patient|person|owner|customer|client|member)")

Ints = NDArray[np.int64]


def owner_like(data: pa.Table, candidates: Iterable[str]) -> dict[str, str]:
    """The columns whose values repeat, in rows that are alike in several other columns; and how."""
    codes = {name: value_codes(data[name]) for name in data.column_names if not pa.types.is_nested(data[name].type)}
    found = {}
    for name in candidates:
        kind = plain(data[name]).type if name in codes else pa.float64()
        if pa.types.is_floating(kind) or pa.types.is_temporal(kind) or pa.types.is_boolean(kind):
            continue
        rows = _rows_per_value(np.bincount(codes[name]))
        if rows is None:
            continue
        alike = [other for other in codes if other != name and _likeness(codes[name], codes[other]) >= LIKENESS]
        # Amounts that follow from each other have as many values; a person's town or sex has fewer.
        fewest = max(FEWEST_ALIKE, ALIKE * (len(codes) - 1))
        if len(alike) >= fewest and any(2 * codes[other].max() <= codes[name].max() for other in alike):
            listed = ", ".join(alike[:3]) + (" and others" if len(alike) > 3 else "")
            found[name] = f"its values have {rows:.1f} rows each, which are alike in {listed}"
    return found


def warn_of_owners(owners: dict[str, str]) -> None:
    """Tell the owner of the data which column may hold people, so that they can be the unit."""
    for name, how in owners.items():
        warnings.warn(
            Note(
                f"column {shown(name)} repeats as a person's number would: {how}; if they belong to one person, crowds "
                "are of records and not of people unless you pass {option}",
                f"person {shown(name)}",
            ),
            stacklevel=2,
        )


def author_like(path: Path, kind: str | None, used: Sequence[str | None]) -> dict[str, str]:
    """The columns beside the documents that are called like an author's, and repeat."""
    if kind == "jsonl":
        columns = keys_of_first(path)
    elif kind in ("csv", "tsv", "parquet"):
        columns = read_columns(path, kind)
    else:
        return {}
    found = {}
    for name in columns:
        if name in (*used, "id", "text") or not OWNER.search(name):
            continue
        people = Counter(one.person for one in islice(Corpus(path, text_column=used[0], person_column=name), LOOKED_AT))
        rows = _rows_per_value(np.array(list(people.values())))
        if rows is not None:
            found[name] = f"its values have {rows:.1f} documents each"
    return found


def _rows_per_value(counts: Ints) -> float | None:
    """How many rows a value has; None if they repeat too little, or too much, to be those of people."""
    if len(counts) < FEWEST_VALUES or 2 * int(counts[counts > 1].sum()) < int(counts.sum()):
        return None
    mean = float(counts.mean())
    return mean if mean <= MOST_ROWS else None


def _likeness(key: Ints, values: Ints) -> float:
    """How far rows of one key agree more than any two rows: 0 by chance, 1 always; 0 where most have one value."""
    first = np.unique(key, return_index=True)[1][key]
    others = np.flatnonzero(first != np.arange(len(key)))
    shares = np.bincount(values) / len(values)
    chance = float(shares @ shares)
    if chance > 0.9:
        return 0.0
    return (float(np.mean(values[others] == values[first[others]])) - chance) / (1.0 - chance)
