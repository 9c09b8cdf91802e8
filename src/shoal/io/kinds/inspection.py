"""inspect: what a table holds, column by column, before anything is done with it. For the owner's eyes only."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.io.corpus import Corpus, looks_like_documents
from shoal.io.files import shown
from shoal.io.kinds.recognition import Recognised, plain_values, recognise
from shoal.io.kinds.sampling import TableSample, is_gap, sample_table
from shoal.io.kinds.suggestion import suggested_role
from shoal.io.kinds.vocabulary import Kind
from shoal.io.table import Role

__all__ = ["Band", "ColumnInspection", "Inspection", "inspect"]

BANDS = 10
MOST_FREQUENT = 8
MOST_DOCUMENTS = 100_000  # that are counted


@dataclass(frozen=True)
class Band:
    """A value, or a range of numbers, and how many records have it."""

    label: str
    count: int


@dataclass(frozen=True)
class ColumnInspection:
    """One column. The bands quote the data: they are for its owner alone."""

    name: str
    kind: Kind
    kind_reason: str
    missing: int
    distinct: int  # in the sample, where there is one: at least so many
    role: Role
    reason: str
    bands: tuple[Band, ...]  # a histogram of numbers and dates, the most frequent of other values
    order: tuple[str, ...] = ()  # of ordered labels


@dataclass(frozen=True)
class Inspection:
    """What a source is, and its columns if it is a table."""

    kind: str  # "table", "documents" or "baskets"
    format: str
    rows: int
    columns: tuple[ColumnInspection, ...] = ()
    sampled: int | None = None  # rows that were looked at closely, where these are not all
    rows_at_least: bool = False  # documents: the count stopped there


def inspect(source: Any) -> Inspection:
    """What a file, folder or dataframe holds: each column's kind, gaps, different values and a role that would suit it.

    Rows and gaps are counted over the whole table. Of a large one, everything else is judged by a sample of 25,000
    to 50,000 rows, evenly spread (`sampled`); `distinct` then counts the values in the sample. Nothing is written.

    >>> import pyarrow as pa
    >>> from shoal import inspect
    >>> column = inspect(pa.table({"age": [31, 45, None], "zip": ["01005", "01007", "01005"]})).columns[1]
    >>> column.kind.value, column.missing, column.distinct, column.role.value
    ('code', 0, 2, 'quasi')
    """
    if isinstance(source, Corpus):
        return _documents(source, "memory")
    if isinstance(source, list | tuple) and source and all(isinstance(text, str) for text in source):
        return _documents(Corpus.from_texts(source), "memory")
    if isinstance(source, str | os.PathLike) and looks_like_documents(source):
        return _documents(Corpus(source), "folder" if os.path.isdir(source) else _suffix(source))
    if isinstance(source, str | os.PathLike) and os.path.isdir(source):
        raise InputError(f"{shown(source)} is a folder of tables; inspect one of its files")
    sample = sample_table(source)
    columns = tuple(_column(name, sample) for name in sample.data.column_names)
    return Inspection(
        "table", sample.format, sample.rows, columns, sampled=None if sample.whole else sample.data.num_rows
    )


def _suffix(source: str | os.PathLike[str]) -> str:
    name = os.fspath(source).lower().removesuffix(".gz")
    return name.rpartition(".")[2]


def _documents(corpus: Corpus, format: str) -> Inspection:
    count = 0
    for _ in corpus:
        count += 1
        if count == MOST_DOCUMENTS:
            break
    kind = "baskets" if corpus.of_items else "documents"
    return Inspection(kind, format, count, rows_at_least=count == MOST_DOCUMENTS)


def _column(name: str, sample: TableSample) -> ColumnInspection:
    column = sample.data[name]
    if pa.types.is_nested(column.type):
        found = Recognised(Kind.LABEL, "holds lists or records, which no release of a table has")
        role, reason = Role.IDENTIFIER, "lists and records cannot be released; leave it out"
        return ColumnInspection(name, found.kind, found.reason, sample.missing[name], 0, role, reason, ())
    found = recognise(name, column)
    values = plain_values(column)
    role, reason = suggested_role(name, found.kind, len(values), column.length())
    return ColumnInspection(
        name=name,
        kind=found.kind,
        kind_reason=found.reason,
        missing=sample.missing[name],
        distinct=len(values),
        role=role,
        reason=reason,
        bands=_bands(column, found),
        order=found.order,
    )


def _bands(column: Any, found: Recognised) -> tuple[Band, ...]:
    """A histogram of numbers; of other values, the most frequent."""
    if found.kind in (Kind.TEXT, Kind.IDENTIFIER):
        return ()  # they would quote single records
    given = column.filter(pc.invert(is_gap(column)))
    are_numbers = found.kind in (Kind.NUMBER, Kind.WHOLE) and found.certain
    if are_numbers and len(given) and len(plain_values(column)) > BANDS:
        numbers = given.cast(pa.float64(), safe=False).to_numpy()
        numbers = numbers[np.isfinite(numbers)]
        return _bands_of_wholes(numbers) if found.kind is Kind.WHOLE else _bands_of_numbers(numbers)
    if pa.types.is_dictionary(given.type):
        given = given.cast(given.type.value_type)
    counted = given.value_counts()
    pairs = [(_spelt(one["values"]), int(one["counts"].as_py())) for one in counted]
    if are_numbers:
        pairs.sort(key=lambda pair: float(pair[0]))
    elif found.kind == Kind.DATE:
        return _bands_of_dates(pairs)
    elif found.order:
        pairs.sort(key=lambda pair: found.order.index(pair[0]) if pair[0] in found.order else -1)
    else:
        pairs = sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:MOST_FREQUENT]
    return tuple(Band(label, count) for label, count in pairs[:BANDS])


def _bands_of_numbers(numbers: NDArray[np.float64]) -> tuple[Band, ...]:
    counts, edges = np.histogram(numbers, bins=BANDS)
    return tuple(
        Band(f"{low:.6g} to {high:.6g}", int(count))
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    )


def _bands_of_wholes(numbers: NDArray[np.float64]) -> tuple[Band, ...]:
    """Bands of whole numbers: 17 to 24, 25 to 32."""
    lowest, highest = int(numbers.min()), int(numbers.max())
    width = -(-(highest - lowest + 1) // BANDS)
    starts = range(lowest, highest + 1, width)
    places = np.minimum((numbers - lowest) // width, len(starts) - 1).astype(np.int64)
    counts = np.bincount(places, minlength=len(starts)).tolist()
    ends = (min(start + width - 1, highest) for start in starts)
    return tuple(Band(f"{a} to {b}" if a < b else str(a), n) for a, b, n in zip(starts, ends, counts, strict=True))


def _bands_of_dates(pairs: list[tuple[str, int]]) -> tuple[Band, ...]:
    """By year or decade: four digits that stand apart, or the first of eight, are a year in every form recognised."""
    years: dict[int, int] = {}
    for text, count in pairs:
        found = re.search(r"(?<!\d)(\d{4})(?:\d{4})?(?!\d)", text)
        if found:
            years[int(found[1])] = years.get(int(found[1]), 0) + count
    if not years:
        return ()
    span = max(years) - min(years)
    width = next(width for width in (1, 10, 100, 1000, 10000) if span // width < BANDS)
    bands: dict[int, int] = {}
    for year, count in years.items():
        bands[year // width * width] = bands.get(year // width * width, 0) + count
    return tuple(
        Band(str(start) if width == 1 else f"{start} to {start + width - 1}", bands[start]) for start in sorted(bands)
    )


def _spelt(value: Any) -> str:
    try:
        return str(value.as_py())
    except ValueError:  # nanoseconds, which Python does not have
        return str(value)
