"""A table read: its columns agreed on, the method chosen for them, and the rows as methods take them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from shoal import progress
from shoal.data.files import shown
from shoal.data.inputs import TableSource
from shoal.data.kinds.outlines import OntologyColumns
from shoal.data.parts import PartSchema, ReadingPlan, agreed_parts, loaded_part, schema_of, with_record_ids
from shoal.data.recoding import LevelUp
from shoal.data.roles import Roles
from shoal.data.table import read_table
from shoal.errors import InputError
from shoal.methods.numeric import scale_of
from shoal.release.figures import check_coarsened_columns
from shoal.release.tables.columns import ColumnPlan, TableOptions, column_plan
from shoal.release.tables.following import Following, FollowUp, followed_up
from shoal.release.tables.reading import (
    PartStatistics,
    complete_part,
    filled_rows,
    mean_of_sums,
    squared_deviations,
    stratum_of_row,
)
from shoal.release.tables.rows import Floats, Ints, TableLayout, TableMethod, TableRows
from shoal.terms.hierarchy import Hierarchy
from shoal.terms.value_mapping import ontology_columns


@dataclass(frozen=True)
class PreparedTable:
    """All that is known of a table beside its rows: columns, scales, and the method prepared for them."""

    schema: PartSchema
    method: TableMethod
    n_rows: int
    withheld: list[tuple[str, str]]  # rows that are not released, and why
    coarsen: Mapping[str, int]  # columns to aggregate once more, and the least number of records that share a value
    follow_up: FollowUp | None = None  # of an earlier release
    treat: Mapping[str, str] = field(default_factory=dict)  # columns that are kept, generalised or blanked

    @property
    def layout(self) -> TableLayout:
        return self.method.layout


@dataclass(frozen=True)
class TableRecords:
    """A table in one piece, ready to be grouped."""

    table: PreparedTable
    rows: TableRows
    strata: tuple[TableRows, ...]  # the rows by their values of kept columns: what is grouped together


def _by_stratum(rows: TableRows, plan: ColumnPlan) -> tuple[TableRows, ...]:
    """The rows by what groups never cross."""
    strata = stratum_of_row(pa.table(dict(rows.columns)), plan)
    _check_people(rows.person, strata, (*plan.kept, *plan.visible))
    order = np.argsort(strata, kind="stable")
    return tuple(rows.take(piece) for piece in np.split(order, np.flatnonzero(np.diff(strata[order])) + 1))


def _check_people(person: Ints | None, strata: Ints, kept: Sequence[str]) -> None:
    """A person whose rows lie in several strata would be alone in the crowds that these have in common."""
    if person is None:
        return
    in_several = len(np.unique(np.column_stack([person, strata]), axis=0)) - len(np.unique(person))
    if in_several:
        raise InputError(
            f"{', '.join(map(shown, kept))}: kept, but not the same in all rows of a person or household "
            f"({in_several:,} times); keep only what is",
            "treat",
        )


def read_records(source: TableSource, k: int, options: TableOptions) -> TableRecords:
    """Read and check a table, and prepare the method that its columns need."""
    reading, follow_up = reading_plan(source.roles, options), None
    progress.step("reading", 0, 1)
    loaded = loaded_part(read_table(source.parts[0], reading.verbatim), reading)
    if options.id_column is not None:
        loaded = with_record_ids(loaded, options.id_column)
        if options.after is not None:
            loaded, follow_up = followed_up(loaded, options.after, k, options.promises)
    plan = column_plan(agreed_parts([schema_of(loaded, reading)], reading.choices), k, options)
    part = complete_part(loaded, plan, options)
    mean = column_means(plan, part.statistics)
    deviations, largest = squared_deviations(part.rows.numbers, mean, part.rows.person)
    table = prepared_table(plan, part.statistics, mean, ([deviations], largest), options, follow_up)
    progress.step("reading", 1, 1)
    rows = filled_rows(part, table.layout)
    return TableRecords(table, rows, _by_stratum(rows, plan) if plan.kept or plan.visible else (rows,))


def reading_plan(roles: Roles | None, options: TableOptions) -> ReadingPlan:
    """How files are read."""
    choices, promises, method = options.choices, options.promises, options.method
    ids = tuple(name for name in (promises.household, promises.person, options.id_column) if name is not None)
    levels = levels_above(method.ontology, choices.recode) if choices.recode else {}
    explained = OntologyColumns()
    if method.ontology is not None or method.mapping is not None:
        explained = ontology_columns(method.ontology, method.mapping)
    return ReadingPlan(roles, choices, explained, levels, ids)


def levels_above(ontology: Any, recoded: Collection[str]) -> dict[str, LevelUp]:
    """How the hierarchies of recoded columns go up."""
    named = ontology if isinstance(ontology, Mapping) else dict.fromkeys(recoded, ontology)
    return {name: given.above for name, given in named.items() if isinstance(given, Hierarchy)}


def column_means(plan: ColumnPlan, statistics: PartStatistics) -> Floats:
    """The mean of each number over all rows; refused for fewer than k rows, and of a column that holds nothing."""
    k, n_rows, gaps = plan.method.k, statistics.n_rows, statistics.gaps
    if n_rows < k:
        why = f" ({len(statistics.withheld)} withheld)" if statistics.withheld else ""
        raise InputError(f"k={k} needs at least {k} rows, got {n_rows}{why}; lower k or add rows")
    for name, count in zip(plan.forms, gaps.tolist(), strict=True):
        if count == n_rows:
            raise InputError(f"column {shown(name)} holds no value at all; drop it ({{option}})", "drop")
    means: Floats = mean_of_sums([statistics.sums], n_rows) * (n_rows / (n_rows - gaps))
    return means


def prepared_table(
    plan: ColumnPlan,
    statistics: PartStatistics,
    mean: Floats,
    deviations: tuple[Sequence[list[int]], Floats],
    options: TableOptions,
    follow_up: FollowUp | None = None,
) -> PreparedTable:
    """The layout of the table, and the method prepared for it.

    `statistics` are those of all files; `deviations` the sums of squared ones, of each file, and the largest of all.
    """
    roles, n_rows, numbers, gaps = plan.schema.roles, statistics.n_rows, tuple(plan.forms), statistics.gaps
    if gaps.any():
        _check_gaps(plan, gaps, options)
    for column in statistics.schema:
        if pa.types.is_null(column.type):
            raise InputError(f"column {shown(column.name)} holds no value at all; drop it")
    variance, constant = mean_of_sums(deviations[0], n_rows), statistics.lowest == statistics.highest
    layout = TableLayout(
        roles=roles,
        schema=statistics.schema,
        numbers=numbers,
        labels=tuple(name for name in roles.quasi if name not in numbers and name not in plan.kept),
        kept=plan.kept,
        recoded=frozenset(options.choices.recode),
        forms=tuple(plan.forms.values()),
        mean=mean,
        scale=scale_of(np.sqrt(variance), np.maximum(np.abs(statistics.lowest), np.abs(statistics.highest))),
        # The rows that are kept of an earlier release may differ where all values now are one.
        constant=constant & (gaps == 0) & (follow_up is None),
        lowest=statistics.lowest,
        highest=statistics.highest,
        squares=n_rows * variance,
        largest_square=deviations[1],
        released=tuple(name for name in plan.schema.columns if name in (*numbers, *statistics.schema.names)),
        unit=options.promises.unit if options.promises.pseudonym else None,
        categories=plan.categories,
        has_gaps=bool(gaps.any()),
        averaged=plan.method.averages,
        **(_gaps_as_values(gaps, n_rows) if options.missing == "group" and gaps.any() else {}),
    )
    method = plan.method.prepared(layout, statistics.labels)
    if follow_up is not None:
        follow_up.check_numbers(numbers, roles.quasi)
        method = Following(method, follow_up.rows, follow_up.row_of, layout)
    if options.coarsen:
        averaged = [name for name, form in plan.forms.items() if not form.median]
        check_coarsened_columns(options.coarsen, plan.schema.columns, roles, averaged, n_rows)
    coarsen = {name: options.coarsen[name] for name in roles.quasi if name in options.coarsen}
    return PreparedTable(plan.schema, method, n_rows, statistics.withheld, coarsen, follow_up, plan.treat)


def _check_gaps(plan: ColumnPlan, gaps: Ints, options: TableOptions) -> None:
    """Gaps that are kept need groups."""
    for name, count in zip(plan.forms, gaps.tolist(), strict=True):
        if count and not plan.method.k_anonymous:
            raise InputError(
                "{option} needs groups over all quasi-identifiers, and this method makes none; "
                "withhold the rows, or choose another method",
                f"missing {options.missing}",
            )
        if count and name in options.coarsen:
            raise InputError(
                f"coarsen {shown(name)}={options.coarsen[name]}: the column has gaps; withhold them, or leave it out"
            )


def _gaps_as_values(gaps: Ints, n_rows: int) -> dict[str, Any]:
    """Of columns with gaps that count as values: which, shares of gaps, and the deviation of having one."""
    columns = np.flatnonzero(gaps)
    share = gaps[columns] / n_rows
    return {"gap_columns": columns, "gap_mean": share, "gap_scale": np.sqrt(share * (1.0 - share))}
