"""What a table holds, column by column, before anything is done with it, and a roles file proposed from that.

For the owner's eyes only.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.data.columns import is_gap
from shoal.data.corpus import Corpus, looks_like_documents
from shoal.data.files import shown
from shoal.data.kinds.owners import owner_like
from shoal.data.kinds.recognition import Recognised, plain_values, recognise, suggested_role
from shoal.data.kinds.sampling import TableSample, sample_table
from shoal.data.roles import Kind, Role
from shoal.errors import InputError
from shoal.request.request import Request

BANDS = 10
MOST_FREQUENT = 8
MOST_DOCUMENTS = 100_000  # that are counted
_HEADING = """\
# Which column plays which part: a proposal to check and correct. Only you know what others know.
#   quasi         others may know it of a person: protected
#   confidential  what nobody should learn: released as it is, and watched
#   insensitive   released as it is
#   identifier    points at a person: dropped
"""
_KINDS_HEADING = f"""
# What the values are; correct it where it is wrong: {", ".join(kind.value for kind in Kind)}
[kinds]
"""
_ORDERS_HEADING = """
# Ordered labels, from the lowest to the highest
[order]
"""


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
    owners = owner_like(sample.data, sample.data.column_names)
    columns = tuple(
        replace(
            column, reason=f"{column.reason}; {owners[column.name]}: if they belong to one person, make it the person"
        )
        if column.name in owners
        else column
        for column in (_column(name, sample) for name in sample.data.column_names)
    )
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
        recognised = Recognised(Kind.LABEL, "holds lists or records, which no release of a table has")
        role, reason = Role.IDENTIFIER, "lists and records cannot be released; leave it out"
        return ColumnInspection(name, recognised.kind, recognised.reason, sample.missing[name], 0, role, reason, ())
    recognised = recognise(name, column)
    values = plain_values(column)
    role, reason = suggested_role(name, recognised.kind, len(values), column.length())
    return ColumnInspection(
        name=name,
        kind=recognised.kind,
        kind_reason=recognised.reason,
        missing=sample.missing[name],
        distinct=len(values),
        role=role,
        reason=reason,
        bands=_bands(column, recognised),
        order=recognised.order,
    )


def _bands(column: Any, recognised: Recognised) -> tuple[Band, ...]:
    """A histogram of numbers; of other values, the most frequent."""
    if recognised.kind in (Kind.TEXT, Kind.IDENTIFIER):
        return ()  # they would quote single records
    given = column.filter(pc.invert(is_gap(column)))
    are_numbers = recognised.kind in (Kind.NUMBER, Kind.WHOLE) and recognised.certain
    if are_numbers and len(given) and len(plain_values(column)) > BANDS:
        numbers = given.cast(pa.float64(), safe=False).to_numpy()
        numbers = numbers[np.isfinite(numbers)]
        return _bands_of_wholes(numbers) if recognised.kind is Kind.WHOLE else _bands_of_numbers(numbers)
    if pa.types.is_dictionary(given.type):
        given = given.cast(given.type.value_type)
    counted = given.value_counts()
    pairs = [(_spelt(count_of_value["values"]), int(count_of_value["counts"].as_py())) for count_of_value in counted]
    if are_numbers:
        pairs.sort(key=lambda pair: float(pair[0]))
    elif recognised.kind == Kind.DATE:
        return _bands_of_dates(pairs)
    elif recognised.order:
        pairs.sort(key=lambda pair: recognised.order.index(pair[0]) if pair[0] in recognised.order else -1)
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
        year_in_text = re.search(r"(?<!\d)(\d{4})(?:\d{4})?(?!\d)", text)
        if year_in_text:
            years[int(year_in_text[1])] = years.get(int(year_in_text[1]), 0) + count
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


def proposed_request(inspection: Inspection, request: Request) -> tuple[Request, dict[str, str]]:
    """The request with what suits the columns, as a proposal to check, and for each column the reason."""
    columns = inspection.columns
    protected = [column for column in columns if column.role is Role.QUASI]
    lists = {name: [column.name for column in columns if column.role is role] for name, role in _OPTION_OF.items()}
    kinds = {column.name: column.kind.value for column in protected}
    order = {column.name: column.order for column in protected if column.order}
    proposed = request.with_options(
        **{name: names or None for name, names in lists.items()},
        kinds=kinds or None,
        order=order or None,
        categorical=[column.name for column in protected if column.kind is Kind.LABEL] or None,
        missing="withhold" if any(column.missing for column in protected) else None,
        l=2 if any(column.distinct > 1 for column in columns if column.role is Role.CONFIDENTIAL) else None,
        force=None,
    )
    return proposed, {column.name: _why(column) for column in columns}


_OPTION_OF = {
    "quasi": Role.QUASI,
    "confidential": Role.CONFIDENTIAL,
    "insensitive": Role.INSENSITIVE,
    "drop": Role.IDENTIFIER,
}


def roles_toml(inspection: Inspection) -> str:
    """The roles file as text."""
    if inspection.kind != "table":
        raise InputError(f"this is a collection of {inspection.kind}, whose columns have no roles; leave out the file")
    text = _HEADING
    for role in Role:
        columns = [column for column in inspection.columns if column.role is role]
        lines = "".join(f"    {_name(column)},  # {_why(column)}\n" for column in columns)
        text += f"\n{role.value} = [\n{lines}]\n" if columns else f"\n{role.value} = []\n"
    text += _KINDS_HEADING
    text += "".join(f"{_name(column)} = {json.dumps(column.kind.value)}\n" for column in inspection.columns)
    ordered = [column for column in inspection.columns if column.order]
    if ordered:
        text += _ORDERS_HEADING
        for column in ordered:
            text += f"{_name(column)} = {json.dumps(list(column.order), ensure_ascii=False)}\n"
    return text


def write_roles(inspection: Inspection, path: str | os.PathLike[str], force: bool = False) -> None:
    """Write the roles file; an existing one is replaced only with `force`."""
    text = roles_toml(inspection)
    try:
        with Path(path).open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"{shown(path)} exists already; give another name or {{option}}", "force") from None
    except OSError as problem:
        raise InputError(f"{shown(path)} cannot be written: {problem.strerror}; give another name") from None


def _name(column: ColumnInspection) -> str:
    """A quoted TOML key or string: what JSON writes is both."""
    return json.dumps(column.name, ensure_ascii=False).replace("\x7f", "\\u007f")


def _why(column: ColumnInspection) -> str:
    return f"{column.kind.in_words}; {column.reason}"
