"""What a table holds, column by column, before anything is done with it, and a plan proposed from that.

For the owner's eyes only.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.data.columns import all_match, equal_rows, is_gap, is_text
from shoal.data.corpus import Corpus, looks_like_documents
from shoal.data.files import shown
from shoal.data.kinds.giveaways import determines, giveaways, owner_like
from shoal.data.kinds.missing_codes import Code, cut_off_at, suspected_codes, without_codes
from shoal.data.kinds.number_forms import date_forms
from shoal.data.kinds.outlines import ColumnOutline, agreed_columns
from shoal.data.kinds.proposals import (
    WeightsByNumbers,
    numbers_members,
    says_nothing,
    suggested_role,
    weights_by_numbers,
)
from shoal.data.kinds.recognition import FEW_VALUES, IF_CODES, Recognised, plain_values, recognise
from shoal.data.kinds.sampling import TableSample, sample_table
from shoal.data.roles import AVERAGED, LISTED, ColumnChoices, Kind, Role, Roles
from shoal.data.sources import TableFile
from shoal.errors import InputError
from shoal.request.request import Request
from shoal.results.notebook import html_table

BANDS = 10
FEWEST_NESTED = 20  # rows that show that codes begin with others
MOST_FREQUENT = 8
MOST_DOCUMENTS = 100_000  # that are counted
MOST_WITHHELD = 0.1  # share of rows with gaps that a proposal leaves out; more are kept, and a gap is a value
WITH_UNIT = r"^\s*[+-]?\d+([.,]\d+)*\s*([A-Za-zµ°]{1,6}|%|€|£|\$)\s*$"  # 72 kg, 12.5 %


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
    missing_codes: tuple[Code, ...] = ()  # values that look like codes for a missing one
    notes: tuple[str, ...] = ()  # what else the owner should know, with what to write in the plan


@dataclass(frozen=True)
class Inspection:
    """What a source is, and its columns if it is a table."""

    kind: str  # "table", "documents" or "baskets"
    format: str
    rows: int
    columns: tuple[ColumnInspection, ...] = ()
    sampled: int | None = None  # rows that were looked at closely, where these are not all
    rows_at_least: bool = False  # documents: the count stopped there
    reading: Mapping[str, int] = field(default_factory=dict)  # rows above the header, or of it, that were recognised

    def _repr_html_(self) -> str:
        header = ("Column", "Kind", "Different", "Missing", "Proposed role", "Why")
        rows = [
            (one.name, one.kind.value, one.distinct, one.missing, one.role.value, one.reason) for one in self.columns
        ]
        least = "at least " if self.rows_at_least else ""
        return html_table(f"{self.kind.capitalize()} ({self.format}), {least}{self.rows:,} rows", header, rows)


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
        suffix = os.fspath(source).lower().removesuffix(".gz").rpartition(".")[2]
        return _documents(Corpus(source), "folder" if os.path.isdir(source) else suffix)
    if isinstance(source, str | os.PathLike) and os.path.isdir(source):
        raise InputError(f"{shown(source)} is a folder of tables; inspect one of its files")
    sample, reading = _sample(source)
    weights = weights_by_numbers(sample.data)
    columns = tuple(_column(name, sample, weights) for name in sample.data.column_names)
    columns = _with_owners(_agreed(columns, sample.data), sample.data)
    sampled = None if sample.whole else sample.data.num_rows
    return Inspection("table", sample.format, sample.rows, columns, sampled, reading=reading)


def _with_owners(columns: Sequence[ColumnInspection], data: pa.Table) -> tuple[ColumnInspection, ...]:
    """Columns that repeat as a person's number would, where no column is the person yet."""
    if any(column.role in (Role.PERSON, Role.HOUSEHOLD) for column in columns):
        return tuple(columns)
    found = owner_like(data, [column.name for column in columns if column.role is not Role.WEIGHT])
    note = '{}: if they belong to one person, write role = "person"'
    noted = [
        replace(column, notes=(*column.notes, note.format(found[column.name]))) if column.name in found else column
        for column in columns
    ]
    codes = [column.name for column in columns if column.kind is Kind.CODE and column.distinct > FEW_VALUES]
    for first, second in combinations([] if found else codes, 2):
        others = data.drop_columns([first, second])
        if how := owner_like(others.append_column("", pa.array(equal_rows(data, [first, second]))), [""]).get(""):
            reason = f"together with {shown(first)} it is one number: {how}: dropped; if these are households, add a "
            reason += 'column that joins both, with role = "household"'
            return tuple(
                replace(column, role=Role.IDENTIFIER, reason=reason) if column.name == second else column
                for column in noted
            )
    return tuple(noted)


def _sample(source: Any) -> tuple[TableSample, dict[str, int]]:
    """The rows; a header that seems to stand elsewhere is looked for there."""
    reading: dict[str, int] = {}
    for _ in range(2):
        try:
            return sample_table(_read_with(source, reading)), reading
        except InputError as problem:
            option, _, number = "".join(problem.options[:1]).partition(" ")
            if option not in ("skip_rows", "header_rows") or not number or option in reading:
                raise
            reading[option] = int(number)
    return sample_table(_read_with(source, reading)), reading


def _read_with(source: Any, reading: Mapping[str, int]) -> Any:
    if not reading:
        return source
    given = source if isinstance(source, TableFile) else TableFile(source)
    return replace(
        given,
        skip_rows=reading.get("skip_rows", given.skip_rows),
        header_rows=reading.get("header_rows", given.header_rows),
    )


def _documents(corpus: Corpus, format: str) -> Inspection:
    count = 0
    for _ in corpus:
        count += 1
        if count == MOST_DOCUMENTS:
            break
    kind = "baskets" if corpus.of_items else "documents"
    return Inspection(kind, format, count, rows_at_least=count == MOST_DOCUMENTS)


def _column(name: str, sample: TableSample, weights: WeightsByNumbers) -> ColumnInspection:
    column = sample.data[name]
    if pa.types.is_nested(column.type):
        recognised = Recognised(Kind.LABEL, "holds lists or records, which no release of a table has")
        role, reason = Role.IDENTIFIER, "lists and records cannot be released; leave it out"
        return ColumnInspection(name, recognised.kind, recognised.reason, sample.missing[name], 0, role, reason, ())
    codes = suspected_codes(column)
    known = without_codes(pa.table({name: column}), {name: codes}, frozenset())[name] if codes else column
    recognised = _dates_in_one_form(name, recognise(name, known), known)
    values = plain_values(known)
    role, reason = suggested_role(name, recognised.kind, known, sample.data, weights)
    if recognised.kind is Kind.WHOLE and len(values) > FEW_VALUES and says_nothing(name):
        recognised = replace(recognised, note=IF_CODES)
    notes = [*_notes(recognised, codes, values, cut_off_at(known))]
    if role is Role.QUASI and name in weights.doubtful:
        notes.append('its numbers spread like sampling weights: if it is one, write role = "weight"')
    if role is Role.WEIGHT and recognised.kind is Kind.CODE:
        recognised = Recognised(Kind.NUMBER, "holds weights")
    coded = known.null_count - column.null_count if sample.whole else 0
    return ColumnInspection(
        name=name,
        kind=recognised.kind,
        kind_reason=recognised.reason,
        missing=sample.missing[name] + max(coded, 0),
        distinct=len(values),
        missing_codes=codes,
        notes=tuple(notes),
        role=role,
        reason=reason,
        bands=bands_of(known, recognised),
        order=recognised.order,
    )


def _dates_in_one_form(name: str, recognised: Recognised, column: Any) -> Recognised:
    """Dates of several forms are labels until they are written alike."""
    if recognised.kind is Kind.DATE:
        try:
            forms = list(date_forms(name, column, None, None, given=True))
            agreed_columns([name], [{name: ColumnOutline(Kind.DATE, tuple(forms))}], ColumnChoices())
        except InputError as problem:
            return Recognised(Kind.LABEL, f"holds dates, but {problem.message.partition(': ')[2]}")
    return recognised


def _notes(recognised: Recognised, codes: Sequence[Code], values: Any, highest: Code | None) -> Iterator[str]:
    """What the owner should check, and what to write in the plan."""
    if codes:
        listed = ", ".join(json.dumps(code, ensure_ascii=False) for code in codes)
        yield f"looks like codes for missing values: missing_codes = [{listed}]; if they are values, leave that out"
    if highest is not None and recognised.kind in AVERAGED:
        yield f"many have the highest number: if it stands for a missing value, write missing_codes = [{highest}]"
    if recognised.note:
        yield recognised.note
    if recognised.kind in (Kind.CODE, Kind.LABEL) and is_text(values.type) and all_match(values, WITH_UNIT):
        yield "numbers with a unit are names here: to have them averaged, write them in the file without it"
    if recognised.kind is Kind.DATE and "%y" in recognised.reason:
        yield recognised.reason.partition(": ")[2] + "; if that is wrong, write years of four digits"


def _agreed(columns: Sequence[ColumnInspection], data: pa.Table) -> tuple[ColumnInspection, ...]:
    """One weight and one unit for the table, and nothing released that gives records away."""
    agreed: list[ColumnInspection] = []
    for role in (Role.WEIGHT, Role.HOUSEHOLD, Role.PERSON):
        of_role = [column for column in columns if column.role is role]
        rest = of_role[1:] if role is not Role.PERSON or not any(c.role is Role.HOUSEHOLD for c in columns) else of_role
        for column in rest:
            reason = f"another column is the {role} already: dropped; to have this one, exchange their roles"
            agreed.append(replace(column, role=Role.IDENTIFIER, reason=reason))
    for household in [column.name for column in columns if column.role is Role.HOUSEHOLD][:1]:
        for column in columns:
            if column.role is Role.QUASI and numbers_members(data, column.name, household):
                reason = f"it numbers the members of each {shown(household)}: dropped; to release it, write protect"
                agreed.append(replace(column, role=Role.IDENTIFIER, reason=reason, notes=()))
    changed = {column.name: column for column in agreed}
    now = [_code_of_label(changed.get(column.name, column), columns, data) for column in columns]
    names = {role: tuple(column.name for column in now if column.role is role) for role in LISTED}
    roles = Roles(**{role.value: listed for role, listed in names.items()})
    reasons = giveaways(data, roles)
    for number, column in enumerate(now):
        repeats = column.role is Role.WEIGHT and 2 * column.distinct <= data.num_rows
        if repeats and (given_away := determines(data, column.name, roles.quasi)) is not None:
            note = f"{given_away}; groups show its mean, which tells less: if that is too much, write drop"
            now[number] = replace(column, notes=(*column.notes, note))
    return tuple(
        replace(
            column, role=Role.IDENTIFIER, reason=f"{reasons[column.name]}: dropped; to release it, write allow = true"
        )
        if column.name in reasons
        else column
        for column in now
    )


def _code_of_label(column: ColumnInspection, columns: Sequence[ColumnInspection], data: pa.Table) -> ColumnInspection:
    """Whole numbers that go with the labels of another column, one to one, are their codes; and those that begin with
    the digits of another column: 3550308 in 35."""
    if column.kind is not Kind.WHOLE or column.distinct < 3:
        return column
    for other in columns:
        alike = other.kind in (Kind.LABEL, Kind.ORDERED) and other.distinct == column.distinct
        reason = ""
        if alike and len(np.unique(equal_rows(data, [column.name, other.name]))) == column.distinct:
            reason = f"holds a number for each value of {shown(other.name)}: names, not amounts"
        elif other.kind is Kind.CODE and other.distinct > 2 and _begins_with(data[column.name], data[other.name]):
            reason = f"begins with the digits of {shown(other.name)}: names, not amounts"
        if reason:
            note = 'if these are amounts, write kind = "number"'
            kept = (note_kept for note_kept in column.notes if note_kept != IF_CODES)
            return replace(column, kind=Kind.CODE, kind_reason=reason, notes=(*kept, note))
    return column


def _begins_with(longer: Any, shorter: Any) -> bool:
    """Whether whole numbers begin with the digits of others in every row, and have as many more digits."""
    if not pa.types.is_integer(longer.type) or not pa.types.is_integer(shorter.type):
        return False
    both = pa.table({"longer": longer, "shorter": shorter}).drop_null()
    long, short = both["longer"].to_numpy(), both["shorter"].to_numpy()
    if len(long) < FEWEST_NESTED or short.min() <= 0:
        return False
    scale = int(long[0]) // int(short[0])
    step = 10 ** (len(str(scale)) - 1)
    return step > 1 and bool(np.mean(long // step == short) > 0.99)  # but for codes of missing values


def proposed_request(inspection: Inspection, request: Request) -> tuple[Request, dict[str, str]]:
    """The request with what suits the columns, as a proposal to check, and for each column the reason."""
    columns = inspection.columns
    protected = [column for column in columns if column.role is Role.QUASI]
    if not protected:
        raise InputError("no column looks like one that others may know; name those to protect", "quasi")
    lists = {name: [column.name for column in columns if column.role is role] for name, role in _OPTION_OF.items()}
    units = {role.value: [column.name for column in columns if column.role is role] for role in _UNITS}
    coded = [column for column in columns if column.kind is Kind.CODE and column.role in _RELEASED_AS_IT_IS]
    kinds = {column.name: column.kind.value for column in (*protected, *coded)}
    order = {column.name: column.order for column in protected if column.order}
    codes = {column.name: column.missing_codes for column in columns if column.missing_codes}
    given = request.reading.missing_codes or {}
    watched = [column.distinct for column in columns if column.role is Role.CONFIDENTIAL]
    gaps = sum(column.missing for column in protected) / max(inspection.rows, 1)
    refused = any(column.missing for column in protected if column.kind in (*AVERAGED, Kind.ORDERED))
    proposed = request.with_options(
        **{name: names or None for name, names in lists.items()},
        **{name: names[0] if names else None for name, names in units.items()},
        **inspection.reading,
        kinds=kinds or None,
        order=order or None,
        missing_codes={**codes, **given} or None,
        missing=None if not refused else "withhold" if gaps < MOST_WITHHELD else "group",
        l=2 if watched and min(watched) > 1 else None,
        force=None,
    )
    why = {column.name: "; ".join((column.kind.in_words, column.reason, *column.notes)) for column in columns}
    return proposed, why


_OPTION_OF = {
    "quasi": Role.QUASI,
    "confidential": Role.CONFIDENTIAL,
    "insensitive": Role.INSENSITIVE,
    "drop": Role.IDENTIFIER,
}
_RELEASED_AS_IT_IS = (Role.CONFIDENTIAL, Role.INSENSITIVE)
_UNITS = (Role.WEIGHT, Role.PERSON, Role.HOUSEHOLD)  # one column each


def bands_of(column: Any, recognised: Recognised) -> tuple[Band, ...]:
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
