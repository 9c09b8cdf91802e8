"""One file of a table: read, checked, and turned into rows. None of it sees two files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal.data.columns import (
    MISSING,
    check_no_gaps,
    check_sortable,
    holds_numbers,
    is_gap,
    plain,
    sort_protected,
    values_of,
)
from shoal.data.files import counted, shown
from shoal.data.kinds.giveaways import check_released_columns, owner_like, warn_of_owners
from shoal.data.kinds.number_forms import NumberForm
from shoal.data.parts import LoadedPart
from shoal.data.roles import Kind
from shoal.errors import InputError
from shoal.methods.blocks.executors import memory_of
from shoal.methods.blocks.tree import sample_keys
from shoal.promises.people import MORE_RECORDS, had_once, rows_to_keep
from shoal.promises.values import check_totals, person_numbers, totals_of
from shoal.release.tables.columns import ColumnPlan, TableOptions
from shoal.release.tables.rows import Floats, Ints, TableLayout, TableRows, spelt
from shoal.release.tables.weights import checked_weights
from shoal.request.options import GroupPromises

INCOMPLETE = "a quasi-identifier is missing"
RARE = "fewer than k records have these values of the kept columns"
KEPT = ", or pass {option} group, impute or withhold"  # what else can be done with gaps
LARGEST_CROWD = 2**31  # that anybody may ask for
UNIT = 1126  # sums are whole multiples of 2**-1126, which every float64 with its 53 digits is one of
HALF = 26  # of those digits are summed apart, so that sums of 2**36 rows fit in 64 bits


@dataclass(frozen=True)
class PartStatistics:
    """What must be known of every file before its rows can be grouped; sums and sets that add up."""

    schema: pa.Schema  # of the columns that stay as they are and of labels, in the file's order
    n_rows: int
    sums: list[int]  # exact, of each number
    gaps: Ints  # in each number
    lowest: Floats
    highest: Floats
    withheld: list[tuple[str, str]]  # rows that are not released, and why
    labels: Mapping[str, tuple[pa.Array, Ints]]  # different values of each column of labels, and their counts


@dataclass(frozen=True)
class CompletePart:
    """The rows of one file that are released."""

    statistics: PartStatistics
    rows: TableRows  # numbers are NaN where one is missing

    def __sizeof__(self) -> int:
        columns = sum(int(column.nbytes) for column in self.rows.columns.values())
        return memory_of(self.rows.numbers, self.rows.names) + columns


def complete_part(loaded: LoadedPart, plan: ColumnPlan, options: TableOptions) -> CompletePart:
    """The rows that are released, sorted by quasi-identifiers if they are all."""
    roles, data, forms, promises = loaded.roles, loaded.table.data, plan.forms, options.promises
    for name, form in plan.periods.items():
        data = data.set_column(data.column_names.index(name), name, _periods(data[name], form, shown(name)))
    values = np.empty((data.num_rows, len(forms)), dtype=np.float64)
    for column, (name, form) in enumerate(forms.items()):
        values[:, column] = form.numbers(data[name], shown(name))
    beside_means = [np.where(is_gap(data[name]), np.nan, 0.0) for name in plan.not_averaged]
    measured = np.column_stack([values, *beside_means])
    complete: NDArray[np.bool_] = np.ones(len(values), dtype=bool)
    if options.missing == "refuse":
        check_no_gaps((*forms, *plan.not_averaged), measured, KEPT, ["missing"])
    elif options.missing == "withhold":
        complete = np.logical_not(np.isnan(measured).any(axis=1))
        for name in roles.quasi:
            complete &= np.logical_not(np.asarray(is_gap(data[name])))
    elif options.missing == "impute":
        remedy = f"{KEPT.replace(', impute', '')}; only averaged columns can be filled"
        check_no_gaps(plan.not_averaged, measured[:, len(forms) :], remedy, ["missing"])
    labels = tuple(name for name in roles.quasi if name not in forms and name not in plan.kept)
    beside = (*labels, *plan.kept, *roles.confidential, *roles.insensitive, *roles.weight)
    others = pa.table(
        {
            name: _kept(data[name], plan.schema.outlines[name].kind)
            if name in plan.kept
            else (_codes if options.choices.kind_of(name)[0] is Kind.CODE else plain)(data[name])
            for name in data.column_names
            if name in beside
        }
    )
    for name in roles.weight:
        column = pa.array(checked_weights(data[name], name))
        others = others.set_column(others.column_names.index(name), name, column)
    check_sortable(others)
    check_released_columns(data, roles, options.allow)
    if not loaded.part and promises.unit is None and plan.method.k_anonymous:
        used = {*roles.quasi, *beside, promises.k_column, options.id_column}
        warn_of_owners(owner_like(loaded.table.data, [name for name in data.column_names if name not in used]))
    crowd: dict[str, Ints] = {}
    if promises.unit is not None:
        crowd["person"] = _people(data[promises.unit], shown(promises.unit))
    if promises.k_column is not None:
        crowd["own_k"] = _own_k(data[promises.k_column], shown(promises.k_column))
    prefix = f"{Path(loaded.part).name}:" if loaded.part else ""
    row_numbers = range(len(complete)) if loaded.rows is None else loaded.rows.tolist()
    names = np.array([f"{prefix}{row + 1}" for row in row_numbers], dtype=object)
    reasons = np.where(complete, "", INCOMPLETE).astype(object)
    if plan.kept or plan.visible:
        _withhold_rare(reasons, others, plan, None if "person" in crowd else crowd.get("own_k"))
        complete = reasons == ""
    rows = np.flatnonzero(complete)
    if not loaded.part:
        order = sort_protected(data.select(list(roles.quasi)), names.tolist())
        rows = order[complete[order]]
    if "person" in crowd:
        confidential = [values_of(others[name]) for name in roles.confidential]
        check_totals(totals_of(len(others), confidential, crowd["person"]), roles.confidential, plan.method.k, promises)
        # Rows with a value that everybody has once come last, which are never withheld for being too many.
        once = had_once([values_of(others[name].take(pa.array(rows))) for name in labels], crowd["person"][rows])
        _withhold_of_people(reasons, others, plan, promises, crowd, rows[np.argsort(once.any(axis=1), kind="stable")])
        rows = rows[reasons[rows] == ""]
    values, others_of_rows = values[rows], others.take(pa.array(rows)) if others.num_columns else others
    counted_labels = {name: pc.value_counts(others_of_rows[name]) for name in labels}
    statistics = PartStatistics(
        schema=others.schema,
        n_rows=len(rows),
        sums=exact_sums(np.nan_to_num(values)),
        gaps=np.isnan(values).sum(axis=0),
        lowest=np.where(np.isnan(values), np.inf, values).min(axis=0, initial=np.inf),
        highest=np.where(np.isnan(values), -np.inf, values).max(axis=0, initial=-np.inf),
        withheld=[(name, reason) for name, reason in zip(names.tolist(), reasons.tolist(), strict=True) if reason],
        labels={name: (one.field("values"), one.field("counts").to_numpy()) for name, one in counted_labels.items()},
    )
    records = None if loaded.records is None else loaded.records[rows]
    columns = {name: others_of_rows[name].combine_chunks() for name in others_of_rows.column_names}
    of_rows = {name: asked[rows] for name, asked in crowd.items()}
    return CompletePart(statistics, TableRows(values, None, columns, names[rows], **of_rows, records=records))


def _periods(column: pa.ChunkedArray, form: NumberForm, name: str) -> pa.Array:
    """The month, year or decade of each date."""
    numbers = form.numbers(column, name)
    return form.written(np.nan_to_num(numbers, nan=2000.0), np.isnan(numbers))  # gaps stay gaps


def _kept(column: pa.ChunkedArray, kind: Kind) -> pa.ChunkedArray:
    """A column that is released as it is and counted with the crowd: a number, a date or text; codes are text."""
    column = _codes(column) if kind is Kind.CODE else plain(column)
    if pa.types.is_integer(column.type) and not column.null_count:
        return column.cast(pa.int64())
    if pa.types.is_floating(column.type) and not column.null_count and bool(pc.all(pc.is_finite(column)).as_py()):
        return pc.add(column.cast(pa.float64()), 0.0)  # no negative zeros
    if pa.types.is_temporal(column.type):
        return column
    return pc.if_else(is_gap(column), None, column.cast(pa.string()))


def _codes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Codes as text: nobody who gets the release averages them."""
    if not holds_numbers(column.type):
        return plain(column)
    encoded = plain(column).combine_chunks().dictionary_encode()
    texts = pa.array(map(spelt, encoded.dictionary.to_pylist()), pa.string())
    return pa.chunked_array([texts.take(encoded.indices)])


def stratum_of_row(others: pa.Table, plan: ColumnPlan) -> Ints:
    """A number for each combination of values of the kept columns, and of values that stay visible."""
    strata = np.zeros(others.num_rows, dtype=np.int64)
    for name in (*plan.kept, *plan.visible):
        encoded = others[name].combine_chunks().dictionary_encode(null_encoding="encode")
        codes = np.asarray(encoded.indices, dtype=np.int64)
        if name in plan.visible:
            texts, named = [spelt(value) for value in encoded.dictionary.to_pylist()], plan.visible[name]
            codes = np.array([named.index(text) + 1 if text in named else 0 for text in texts], dtype=np.int64)[codes]
        strata = np.unique(np.column_stack([strata, codes]), axis=0, return_inverse=True)[1].reshape(-1)
    return strata


def _strata(others: pa.Table, plan: ColumnPlan, rows: Ints) -> list[Ints]:
    """These rows by what groups never cross, each in the order given."""
    if not (plan.kept or plan.visible) or not len(rows):
        return [rows] if len(rows) else []
    strata = stratum_of_row(others, plan)[rows]
    order = np.argsort(strata, kind="stable")
    return np.split(rows[order], np.flatnonzero(np.diff(strata[order])) + 1)


def _withhold_rare(reasons: NDArray[Any], others: pa.Table, plan: ColumnPlan, own_k: Ints | None) -> None:
    """Withhold rows whose values of kept columns too few records share.

    None is withheld for its confidential values: that would tell them.
    """
    for rows in _strata(others, plan, np.flatnonzero(reasons == "")):
        while own_k is not None and (own_k[rows] > len(rows)).any():  # without them, others may lack company, too
            reasons[rows[own_k[rows] > len(rows)]] = RARE
            rows = rows[own_k[rows] <= len(rows)]
        if len(rows) < plan.method.k:
            reasons[rows] = RARE


def _withhold_of_people(
    reasons: NDArray[Any],
    others: pa.Table,
    plan: ColumnPlan,
    promises: GroupPromises,
    crowd: Mapping[str, Ints],
    rows: Ints,
) -> None:
    """Withhold rows that people have more of than at least k others, and strata of fewer than k people."""
    for stratum in _strata(others, plan, rows):
        person, own_k = crowd["person"][stratum], crowd["own_k"][stratum] if "own_k" in crowd else None
        most = plan.method.k if own_k is None else max(plan.method.k, int(own_k.max()))
        if (plan.kept or plan.visible) and len(np.unique(person)) < most:
            reasons[stratum] = RARE
            continue
        taken = others.take(pa.array(stratum))
        confidential = [values_of(taken[name]) for name in plan.schema.roles.confidential]
        left_out = ~rows_to_keep(person, plan.method.k, own_k, promises, confidential)
        reasons[stratum[left_out]] = MORE_RECORDS.format(promises.units)


def _people(column: pa.ChunkedArray, name: str) -> Ints:
    """A number for each person."""
    numbers = person_numbers(values_of(column))
    missing = np.flatnonzero(numbers < 0)
    if len(missing):
        raise InputError(
            f"column {name}: {counted(len(missing), 'value')} missing (first in row {missing[0] + 1}), and it is not "
            "known whose these rows are; fill them in, or drop the rows"
        )
    return numbers


def _own_k(column: pa.ChunkedArray, name: str) -> Ints:
    """The k of each row; 1, which asks for nothing, where it is missing."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.if_else(pc.is_in(column, pa.array(MISSING, column.type)), None, column)
    try:
        numbers = column.cast(pa.float64()).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"column {name} is {column.type}, and a crowd is a whole number; correct it, or leave out {{option}}",
            "k_column",
        ) from None
    asked = np.where(np.isnan(numbers), 1.0, numbers)
    wrong = np.flatnonzero((asked < 1) | (asked > LARGEST_CROWD) | (asked != np.floor(asked)))
    if len(wrong):
        raise InputError(
            f"column {name}: {counted(len(wrong), 'value')} no whole number from 1 to {LARGEST_CROWD:,} (first in row "
            f"{wrong[0] + 1}); correct them, or leave them empty"
        )
    return asked.astype(np.int64)


def exact_sums(values: Floats) -> list[int]:
    """The sum of each column without any rounding, in units of 2**-1126. Sums of parts may be added in any order."""
    sums = []
    for column in values.T:
        mantissas, exponents = np.frexp(column)
        whole = np.ldexp(mantissas, 53).astype(np.int64)
        high, low = whole >> HALF, whole & ((1 << HALF) - 1)
        total = 0
        for exponent in np.unique(exponents).tolist():
            here = exponents == exponent
            total += ((int(high[here].sum()) << HALF) + int(low[here].sum())) << (exponent - 53 + UNIT)
        sums.append(total)
    return sums


def mean_of_sums(sums: Sequence[Sequence[int]], n_rows: int) -> Floats:
    """The mean of each column, rounded once, from the exact sums of all parts."""
    return np.array([float(Fraction(sum(column), n_rows << UNIT)) for column in zip(*sums, strict=True)])


def squared_deviations(values: Floats, mean: Floats, person: Ints | None = None) -> tuple[list[int], Floats]:
    """Of each number: the exact sum of its squared deviations, and the largest one, of a record or of a person.

    A gap stands at the mean.
    """
    squares = (np.where(np.isnan(values), mean, values) - mean) ** 2
    largest = squares
    if person is not None:
        number = np.unique(person, return_inverse=True)[1]
        largest = np.column_stack([np.empty((number.max() + 1, 0)), *(np.bincount(number, one) for one in squares.T)])
    return exact_sums(squares), largest.max(axis=0, initial=0.0)


def filled_rows(part: CompletePart, layout: TableLayout) -> TableRows:
    """The rows of a file; gaps stand at the mean of their column."""
    gaps = np.isnan(part.rows.numbers)
    numbers = np.where(gaps, layout.mean, part.rows.numbers)
    return replace(part.rows, numbers=numbers, gaps=gaps if layout.has_gaps else None)


def smallest_keys(numbers: Floats, layout: TableLayout, most: int) -> tuple[NDArray[np.uint64], Ints]:
    """The rows with the smallest keys, and these: the same sample whatever the files."""
    keys = sample_keys(sp.csr_matrix(layout.standardised(numbers)))
    rows = np.argsort(keys, kind="stable")[:most]
    return keys[rows], rows
