"""Columns that repeat as the number of a person or household would: their rows may belong together."""

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

from shoal.data.columns import plain, value_codes
from shoal.data.corpus import Corpus
from shoal.data.files import shown
from shoal.data.records import keys_of_first, read_columns
from shoal.errors import Note

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
