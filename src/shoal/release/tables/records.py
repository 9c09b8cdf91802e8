"""A table read: its columns agreed on, the method chosen for them, and the rows as methods take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data.exact_sums import mean_of_sums, scale_of
from shoal.data.files import shown, unknown_column
from shoal.data.kinds.number_forms import Doubles, NumberForm
from shoal.data.kinds.recognition import FEW_VALUES
from shoal.data.roles import ColumnChoices, Kind, Roles
from shoal.errors import InputError
from shoal.methods.masking import RankSwap
from shoal.release.earlier import Earlier
from shoal.release.method_choice import MethodChoice
from shoal.release.sources import TableSource
from shoal.release.tables.columns import OntologyColumns, ProtectedColumns, agreed_columns
from shoal.release.tables.follow_up import FollowUp, followed_up
from shoal.release.tables.following import Following
from shoal.release.tables.labels import Concepts
from shoal.release.tables.methods import averaged, method_of, unexplained
from shoal.release.tables.reading import (
    CompletePart,
    LoadedPart,
    PartSchema,
    PartStatistics,
    ReadingPlan,
    complete_part,
    deviations_of,
    load_part,
    rows_of,
    schema_of,
    with_record_ids,
)
from shoal.release.tables.rows import TableLayout, TableMethod, TableRows
from shoal.request.options import GroupPromises
from shoal.terms.value_mapping import check_mapping, explained_columns

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TableOptions:
    """What is asked for a table beside k."""

    method: MethodChoice
    promises: GroupPromises
    missing: str
    coarsen: Mapping[str, int]
    attack: bool
    choices: ColumnChoices = field(default_factory=ColumnChoices)
    id_column: str | None = None  # that names the records, privately
    after: Earlier | None = None  # the release that this one follows


@dataclass(frozen=True)
class ColumnPlan:
    """What becomes of the columns, from the schemas of all files."""

    schema: PartSchema  # of the first file
    columns: ProtectedColumns
    method: TableMethod
    forms: Mapping[str, NumberForm]  # of quasi-identifiers that are taken for numbers
    unexplained: Sequence[str] | None  # labels without an ontology of their own; None: there are no labels
    hierarchy: bool  # an ontology was given

    def complete(self, loaded: LoadedPart, options: TableOptions) -> CompletePart:
        """The rows of a file that are released."""
        return complete_part(loaded, self.forms, options.missing, self.unexplained, self.hierarchy, options.promises)


@dataclass(frozen=True)
class TableTotals:
    """The statistics of all files together."""

    schema: pa.Schema
    n_rows: int
    withheld: list[str]  # rows that miss a number
    gaps: Ints
    mean: Floats
    lowest: Floats
    highest: Floats
    labels: Mapping[str, tuple[pa.Array, Ints]]
    few: tuple[frozenset[float] | None, ...]

    @staticmethod
    def of(statistics: Sequence[PartStatistics], parts: Sequence[Any], plan: ColumnPlan) -> TableTotals:
        n_rows = sum(part.n_rows for part in statistics)
        withheld = [name for part in statistics for name in part.withheld]
        k = plan.method.k
        if n_rows < k:
            why = f" ({len(withheld)} withheld)" if withheld else ""
            raise InputError(f"k={k} needs at least {k} rows, got {n_rows}{why}; lower k or add rows")
        schema = _agreed_schema(parts, statistics)
        gaps: Ints = np.array([part.gaps for part in statistics], dtype=np.int64).sum(axis=0)
        for name, count in zip(plan.forms, gaps.tolist(), strict=True):
            if count == n_rows:
                raise InputError(f"column {shown(name)} holds no value at all; drop it (--drop)")
        return TableTotals(
            schema,
            n_rows,
            withheld,
            gaps,
            mean_of_sums([part.sums for part in statistics], n_rows) * (n_rows / (n_rows - gaps)),
            np.min([part.lowest for part in statistics], axis=0),
            np.max([part.highest for part in statistics], axis=0),
            {name: _all_labels(statistics, name, schema.field(name).type) for name in statistics[0].labels},
            tuple(_all_values(column) for column in zip(*(part.few for part in statistics), strict=True)),
        )


@dataclass(frozen=True)
class PreparedTable:
    """All that is known of a table beside its rows: columns, scales, and the method prepared for them."""

    schema: PartSchema
    method: TableMethod
    layout: TableLayout
    n_rows: int
    withheld: list[str]  # rows that miss a number
    few: tuple[str, ...]  # numbers of few different values, which are averaged all the same
    follow_up: FollowUp | None = None  # of an earlier release


@dataclass(frozen=True)
class TableRecords:
    """A table in one piece, ready to be grouped."""

    table: PreparedTable
    rows: TableRows


def read_records(source: TableSource, k: int, options: TableOptions) -> TableRecords:
    """Read and check a table, and prepare the method that its columns need."""
    reading = reading_plan(source.roles, options)
    loaded, follow_up = load_part(source.parts[0], reading, whole=True), None
    if options.id_column is not None:
        loaded = with_record_ids(loaded, options.id_column)
        if options.after is not None:
            loaded, follow_up = followed_up(loaded, options.after, k, options.promises)
    plan = column_plan([schema_of(loaded, reading)], source.parts, k, options)
    part = plan.complete(loaded, options)
    totals = TableTotals.of([part.statistics], source.parts, plan)
    table = prepared_table(plan, totals, [deviations_of(part, totals.mean)], options, follow_up)
    return TableRecords(table, rows_of(part, table.layout))


def reading_plan(roles: Roles | None, options: TableOptions) -> ReadingPlan:
    """How files are read: columns that are released unchanged, labels that are explained and ids as they stand."""
    ontology, mapping = options.method.ontology, options.method.mapping
    choices = options.choices.with_roles(roles)
    unchanged = () if roles is None else (*roles.confidential, *roles.insensitive)
    ids = [name for name in (options.promises.person, options.id_column) if name is not None]
    verbatim = (*unchanged, *ids, *explained_columns(ontology, mapping), *choices.as_text)
    return ReadingPlan(roles, choices, OntologyColumns.by(ontology, mapping), verbatim)


def column_plan(schemas: Sequence[PartSchema], parts: Sequence[Any], k: int, options: TableOptions) -> ColumnPlan:
    """The method for the columns that all files have."""
    schema, roles = schemas[0], schemas[0].roles
    _check_same_columns(parts, schemas)
    check_mapping(options.method.mapping, schema.columns)
    _check_promised_columns(options.promises, schema.columns, roles)
    columns = agreed_columns(roles.quasi, [one.quasi for one in schemas], options.choices.with_roles(roles))
    labels = tuple(name for name in roles.quasi if name not in columns.forms)
    estimator = options.method.estimator(columns.numbers, labels)
    numbers = averaged(estimator, roles.quasi, columns.numbers)
    _check_categories(columns, numbers, estimator)
    method = method_of(estimator, k, numbers)
    as_labels = isinstance(method, Concepts)
    by_meaning = [name for name in labels if name not in columns.categories]
    return ColumnPlan(
        schema,
        columns,
        method,
        {name: columns.forms.get(name, Doubles()) for name in numbers},
        unexplained(estimator, by_meaning) if as_labels else None,
        as_labels and estimator.ontology is not None,
    )


def prepared_table(
    plan: ColumnPlan,
    totals: TableTotals,
    deviations: Sequence[list[int]],
    options: TableOptions,
    follow_up: FollowUp | None = None,
) -> PreparedTable:
    """The layout of the table, and the method prepared for it; `deviations` are squared, of each file."""
    roles, n_rows, numbers = plan.schema.roles, totals.n_rows, tuple(plan.forms)
    _check_gaps(plan, totals, options)
    largest = np.maximum(np.abs(totals.lowest), np.abs(totals.highest))
    layout = TableLayout(
        roles=roles,
        schema=totals.schema,
        numbers=numbers,
        labels=tuple(name for name in roles.quasi if name not in numbers),
        forms=tuple(plan.forms.values()),
        mean=totals.mean,
        scale=scale_of(np.sqrt(mean_of_sums(deviations, n_rows)), largest),
        # The rows that are kept of an earlier release may differ where all values now are one.
        constant=(totals.lowest == totals.highest) & (totals.gaps == 0) & (follow_up is None),
        lowest=totals.lowest,
        highest=totals.highest,
        released=tuple(name for name in plan.schema.columns if name in (*numbers, *totals.schema.names)),
        categories={name: how for name, how in plan.columns.categories.items() if name not in numbers},
        has_gaps=bool(totals.gaps.any()),
        averaged=plan.method.averages,
        **_gaps_as_values(totals.gaps, n_rows, options.missing),
    )
    method = plan.method.prepared(layout, totals.labels)
    few = _of_few_values(layout, totals) if method.averages else ()
    if follow_up is not None:
        follow_up.check_numbers(numbers, roles.quasi)
        few = follow_up.few_values  # counted anew, they would reveal who left
        method = Following(method, follow_up.rows, follow_up.row_of, layout)
    return PreparedTable(plan.schema, method, layout, n_rows, totals.withheld, few, follow_up)


def _check_promised_columns(promises: GroupPromises, columns: Sequence[str], roles: Roles) -> None:
    """The columns that promises speak of are there, and are not released."""
    if promises.of_values and not roles.confidential:
        asked = promises.asked.replace(" ", "=", 1)
        raise InputError(f"{asked} needs a confidential column; name it", "confidential")
    for option, name in (("person", promises.person), ("k_column", promises.k_column)):
        if name is None:
            continue
        if name not in columns:
            raise unknown_column(name, columns, "the table")
        if name in (*roles.quasi, *roles.confidential, *roles.insensitive):
            raise InputError(
                f"column {shown(name)} is for {{option}} and would be released, too; take it out of the other roles",
                option,
            )
    if promises.person is not None and promises.person == promises.k_column:
        shared = shown(promises.person)
        raise InputError(f"column {shared} is named for two things; name two columns", ["person", "k_column"])


def _check_categories(columns: ProtectedColumns, numbers: Sequence[str], estimator: Any) -> None:
    """A code is never averaged, whatever the method."""
    for name in numbers:
        if name in columns.categories and not isinstance(estimator, RankSwap):
            kind = columns.kinds[name].in_words
            raise InputError(
                f"column {shown(name)} is a {kind}, which {type(estimator).__name__} would take for an amount; choose "
                f"another method, or say --kind {shown(name)}=number"
            )


def _check_gaps(plan: ColumnPlan, totals: TableTotals, options: TableOptions) -> None:
    """Gaps that are kept need groups."""
    for name, count in zip(plan.forms, totals.gaps.tolist(), strict=True):
        if count and not plan.method.k_anonymous:
            raise InputError(
                f"--missing {options.missing} needs groups over all quasi-identifiers, and this method makes none; "
                "withhold the rows, or choose another method"
            )
        if count and name in options.coarsen:
            raise InputError(
                f"coarsen {shown(name)}={options.coarsen[name]}: the column has gaps; withhold them, or leave it out"
            )


def _gaps_as_values(gaps: Ints, n_rows: int, missing: str) -> dict[str, Any]:
    """Of columns with gaps that count as values: which, shares of gaps, and the deviation of having one."""
    if missing != "group" or not gaps.any():
        return {}
    columns = np.flatnonzero(gaps)
    share = gaps[columns] / n_rows
    return {"gap_columns": columns, "gap_mean": share, "gap_scale": np.sqrt(share * (1.0 - share))}


def _of_few_values(layout: TableLayout, totals: TableTotals) -> tuple[str, ...]:
    """Columns of few whole numbers: a mean of codes would mean nothing, so people are told."""
    names = []
    for name, form, values in zip(layout.numbers, layout.forms, totals.few, strict=True):
        if values is None or not 1 < len(values) <= FEW_VALUES or form.kind not in (Kind.NUMBER, Kind.WHOLE):
            continue
        if 4 * len(values) > totals.n_rows:  # of few records, all columns have few values
            continue
        if all(value.is_integer() for value in values):
            names.append(name)
    return tuple(names)


def _all_labels(statistics: Sequence[PartStatistics], name: str, kind: pa.DataType) -> tuple[pa.Array, Ints]:
    """The different labels of a column over all files, and how many records have each."""
    values = pa.concat_arrays([part.labels[name][0].cast(kind) for part in statistics])
    counts = np.concatenate([part.labels[name][1] for part in statistics])
    encoded = values.dictionary_encode(null_encoding="encode")
    return encoded.dictionary, np.bincount(np.asarray(encoded.indices), weights=counts).astype(np.int64)


def _all_values(sets: Sequence[frozenset[float] | None]) -> frozenset[float] | None:
    """The different values of a number over all files; None where they are not few in one of them."""
    known = [values for values in sets if values is not None]
    return frozenset().union(*known) if len(known) == len(sets) else None


def _check_same_columns(parts: Sequence[Any], schemas: Sequence[PartSchema]) -> None:
    for part, schema in zip(parts, schemas, strict=True):
        if schema.columns != schemas[0].columns:
            raise InputError(
                f"{shown(part)} has {_listed(schema.columns)} where {shown(parts[0])} has "
                f"{_listed(schemas[0].columns)}; give all parts the same columns in the same order"
            )


def _listed(columns: tuple[str, ...]) -> str:
    return ", ".join(shown(name) for name in columns[:10]) + (", …" if len(columns) > 10 else "")


def _agreed_schema(parts: Sequence[Any], statistics: Sequence[PartStatistics]) -> pa.Schema:
    """The types that every file has; a column that is empty in a file may have any type there."""
    schema = statistics[0].schema
    for part, of_part in zip(parts, statistics, strict=True):
        for number, column in enumerate(of_part.schema):
            agreed = schema.field(number)
            if pa.types.is_null(agreed.type):
                schema = schema.set(number, column)
            elif column.type != agreed.type and not pa.types.is_null(column.type):
                raise InputError(
                    f"{shown(part)}: column {shown(column.name)} is {column.type}, in the parts before it "
                    f"{agreed.type}; write all parts with the same types"
                )
    return schema
