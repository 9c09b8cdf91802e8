"""A table in parts to the draft of a release: the steps of `release/tables` in each block, figures added up."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from shoal import progress
from shoal.data.columns import sort_rows, tie_keys, values_of
from shoal.data.files import PathLike, shown
from shoal.data.inputs import TableSource
from shoal.data.parts import LoadedPart, PartSchema, ReadingPlan, agreed_parts, loaded_part, schema_of
from shoal.data.sources import local_copy
from shoal.data.table import read_table
from shoal.errors import InputError
from shoal.methods.blocks.block import Block
from shoal.methods.blocks.executors import Schedule
from shoal.methods.blocks.grouping import divided_into_blocks, group_in_blocks
from shoal.promises.values import GroupTotals, totals_of
from shoal.release.cluster.parts import join_parts, write_parts
from shoal.release.tables import reading, released
from shoal.release.tables.columns import TableOptions, column_plan
from shoal.release.tables.draft import SHOWN, Findings, Spread, TablePublication, draft_of, reasons_of, spread_of
from shoal.release.tables.generalised import Generalised
from shoal.release.tables.grouping import join_groups
from shoal.release.tables.labels import Concepts
from shoal.release.tables.reading import CompletePart, PartStatistics
from shoal.release.tables.records import PreparedTable, column_means, prepared_table, reading_plan
from shoal.release.tables.rows import Floats, Ints, MaskedRows, TableLayout, TableMethod, TableRows
from shoal.release.writing import Draft
from shoal.request.options import KEEP, GroupPromises


def draft_table_in_parts(
    source: TableSource, k: int, options: TableOptions, folders: tuple[Path, Path], schedule: Schedule
) -> Draft:
    """Protect the table and write its rows into the folders (private, release); the draft has the rest."""
    if (unit := options.promises.unit) is not None:
        option = "person" if options.promises.household is None else "household"
        raise InputError(
            f"{{option}} needs one file: rows of {shown(unit)} may lie in several parts; join them", option
        )
    if source.roles is not None and source.roles.weight:
        raise InputError("{option} needs one file: groups are weighed as a whole; join the parts first", "weight")
    kept = [f"treat {shown(name)}={KEEP}" for name in options.choices.treated(KEEP)]
    for option in [*kept, *(f"keep_visible {shown(name)}" for name in options.visible)]:
        message = "{option} needs one file: records with the same value may lie in several parts; join the parts"
        raise InputError(message, option)
    submit, gather = schedule.submit, schedule.gather
    table, parts = _read(source, k, options, schedule)
    method = table.method
    spread = _spread(parts, table, schedule)
    blocks = [submit(_block_of, part, method) for part in parts]
    parts.clear()  # what nobody holds any more need not be kept
    blocks = _grouped(blocks, table, schedule)
    if options.promises.asked:
        blocks = _joined(blocks, table, options.promises, schedule)
    masked = _coarsened([submit(_represented, block, method) for block in blocks], table, schedule)

    def total(figure: Callable[..., float], *given: Any) -> float:
        return math.fsum(gather([submit(figure, rows, table.layout.scale, *given) for rows in masked]))

    error = total(released.squared_error)
    steps = released.grid_steps(table, error, spread.spread, partial(total, released.rounding_error))
    rows = [submit(released.released_rows, part, method, steps, False) for part in masked]
    first = gather([submit(_first_row, part) for part in rows])
    rows = [rows[number] for number in sort_rows(pa.concat_tables(first)).tolist()]

    def write(number: int, target: str, mapping: str) -> Any:
        return submit(_written, rows[number], method, target, mapping)

    facts: list[released.TableFacts] = write_parts("table", write, len(rows), folders, schedule)
    reasons, publishable = reasons_of(facts, table, spread.dominance)
    publication = TablePublication(None, facts, spread, steps, error, 0.0, reasons, publishable)
    return draft_of(table, publication, Findings(), options)


def _read(source: TableSource, k: int, options: TableOptions, schedule: Schedule) -> tuple[PreparedTable, list[Any]]:
    """What holds for all files, and the rows of each that are released (futures)."""
    submit, gather, n_parts = schedule.submit, schedule.gather, len(source.parts)
    how, names = reading_plan(source.roles, options), [os.fspath(part) for part in source.parts]
    progress.step("reading", 0, n_parts)
    loaded = [submit(_loaded, part, how) for part in source.parts]
    schemas: list[PartSchema] = []
    for name, part in zip(names, loaded, strict=True):
        schemas += gather([submit(_named, name, schema_of, part, how)])
        progress.step("reading", len(schemas), n_parts)
    _check_same_columns(source.parts, schemas)
    plan = column_plan(agreed_parts(schemas, how.choices), k, options)
    complete = [
        submit(_named, name, reading.complete_part, part, plan, options)
        for name, part in zip(names, loaded, strict=True)
    ]
    of_parts = gather([submit(attrgetter("statistics"), part) for part in complete])
    statistics = _added_up(source.parts, of_parts)
    mean = column_means(plan, statistics)
    sums, largest = zip(*gather([submit(_deviations, part, mean) for part in complete]), strict=True)
    return prepared_table(plan, statistics, mean, (sums, np.max(largest, axis=0)), options), complete


def _named(part: str, step: Callable[..., Any], *given: Any) -> Any:
    """A step on one of several files; mistakes in it say which it is."""
    try:
        return step(*given)
    except InputError as problem:
        raise InputError(f"{shown(part)}: {problem}") from None


def _loaded(part: PathLike, how: ReadingPlan) -> LoadedPart:
    name = os.fspath(part)
    with local_copy(part) as path:
        table = read_table(path, verbatim=how.verbatim)
    loaded: LoadedPart = _named(name, loaded_part, table, how, name)
    return loaded


def _deviations(part: CompletePart, mean: Floats) -> tuple[list[int], Floats]:
    return reading.squared_deviations(part.rows.numbers, mean)


def _added_up(parts: Sequence[Any], statistics: Sequence[PartStatistics]) -> PartStatistics:
    """The statistics of all files together."""
    schema = _agreed_schema(parts, statistics)
    return PartStatistics(
        schema,
        sum(part.n_rows for part in statistics),
        [sum(sums) for sums in zip(*(part.sums for part in statistics), strict=True)],
        np.array([part.gaps for part in statistics], dtype=np.int64).sum(axis=0),
        np.min([part.lowest for part in statistics], axis=0),
        np.max([part.highest for part in statistics], axis=0),
        [name for part in statistics for name in part.withheld],
        {name: _all_labels(statistics, name, schema.field(name).type) for name in statistics[0].labels},
    )


def _all_labels(statistics: Sequence[PartStatistics], name: str, kind: pa.DataType) -> tuple[pa.Array, Ints]:
    """The different labels of a column over all files, and how many records have each."""
    values = pa.concat_arrays([part.labels[name][0].cast(kind) for part in statistics])
    counts = np.concatenate([part.labels[name][1] for part in statistics])
    encoded = values.dictionary_encode(null_encoding="encode")
    return encoded.dictionary, np.bincount(np.asarray(encoded.indices), weights=counts).astype(np.int64)


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


def _spread(parts: list[Any], table: PreparedTable, schedule: Schedule) -> Spread:
    samples = schedule.gather([schedule.submit(_sampled, part, table.layout) for part in parts])
    keys, numbers = (np.concatenate(side) for side in zip(*samples, strict=True))
    return spread_of(table, numbers[np.argsort(keys, kind="stable")[:SHOWN]])


def _sampled(part: CompletePart, layout: TableLayout) -> tuple[NDArray[np.uint64], Floats]:
    """Keys and numbers of the rows of a file with the smallest keys."""
    numbers = reading.filled_rows(part, layout).numbers
    keys, rows = reading.smallest_keys(numbers, layout, SHOWN)
    return keys, numbers[rows]


def _block_of(part: CompletePart, method: TableMethod) -> Block:
    """The rows of a file as a block: each by its coordinates, with what it holds beside it."""
    layout, rows = method.layout, reading.filled_rows(part, method.layout)
    n_rows = len(rows)
    row_columns: dict[str, Any] = {"name": rows.names, "numbers": rows.numbers}
    beside = {"gaps": rows.gaps, "person": rows.person, "own k": rows.own_k}
    row_columns |= {name: values for name, values in beside.items() if values is not None}
    for name, column in rows.columns.items():
        row_columns[f"column {name}"] = _plain(column, layout.schema.field(name).type)
    block = Block(sp.csr_matrix((n_rows, 0)), row_columns, np.zeros(n_rows, dtype=np.int64))
    points = method.block_coordinates(_rows_in(block, layout))
    ties = tie_keys(rows.names.tolist(), points.tobytes())
    return replace(block, X=sp.csr_matrix(points), row_columns=row_columns | {"tie": ties})


def _plain(column: pa.Array, kind: pa.DataType) -> NDArray[Any]:
    """The values as Python has them; dates and times as the numbers behind them."""
    column = column.cast(kind)
    return values_of(column.cast(_number_behind(kind)) if pa.types.is_temporal(kind) else column)


def _number_behind(kind: pa.DataType) -> pa.DataType:
    """What a date or time is carried as: Python has no nanoseconds."""
    return pa.int32() if kind.bit_width == 32 else pa.int64()


def _rows_in(block: Block, layout: TableLayout) -> TableRows:
    """The rows of a block, as methods take them."""
    held = block.row_columns
    columns = {}
    for field in layout.schema:
        values, kind = held[f"column {field.name}"].tolist(), field.type
        stored = pa.array(values, _number_behind(kind)) if pa.types.is_temporal(kind) else pa.array(values, kind)
        columns[field.name] = stored.cast(kind)
    return TableRows(held["numbers"], held.get("gaps"), columns, held["name"], held.get("person"), held.get("own k"))


def _grouped(blocks: list[Any], table: PreparedTable, schedule: Schedule) -> list[Any]:
    """Blocks of like rows, each in groups (futures)."""
    method = table.method
    plan = method.block_plan(table.n_rows)
    if not isinstance(method, Concepts | Generalised):  # numbers are grouped by their coordinates alone
        return group_in_blocks(blocks, table.n_rows, plan, schedule)
    divided = divided_into_blocks(blocks, table.n_rows, plan, schedule)
    return [schedule.submit(_grouped_block, block, method) for block in divided]


def _grouped_block(block: Block, method: TableMethod) -> Block:
    return replace(block, groups=method.group(_rows_in(block, method.layout))[0])


def _joined(blocks: list[Any], table: PreparedTable, promises: GroupPromises, schedule: Schedule) -> list[Any]:
    """Blocks with groups joined until each has what is promised (futures)."""
    method, confidential = table.method, table.layout.roles.confidential
    totals = schedule.gather([schedule.submit(_totals, block, confidential) for block in blocks])

    def join(block: Any, overall: list[Counter[str]]) -> Any:
        return schedule.submit(_joined_block, block, method, promises, overall)

    return join_parts(blocks, totals, confidential, method.k, promises, join, schedule)


def _totals(block: Block, confidential: tuple[str, ...]) -> GroupTotals:
    held = block.row_columns
    columns = [held[f"column {name}"] for name in confidential]
    return totals_of(len(block.groups), columns, held.get("person"), held.get("own k"))


def _joined_block(block: Block, method: TableMethod, promises: GroupPromises, overall: list[Counter[str]]) -> Block:
    rows = _rows_in(block, method.layout)
    return replace(block, groups=join_groups(method, rows, block.groups, promises, overall))


def _represented(block: Block, method: TableMethod) -> MaskedRows:
    return method.represent(_rows_in(block, method.layout), block.groups)


def _coarsened(masked: list[Any], table: PreparedTable, schedule: Schedule) -> list[Any]:
    """The blocks with columns aggregated once more, in classes over all rows."""
    classes: dict[int, tuple[Floats, Floats]] = {}
    for name, least in table.coarsen.items():
        column = table.layout.numbers.index(name)
        counts = schedule.gather([schedule.submit(released.value_counts, rows, column) for rows in masked])
        classes[column] = released.coarse_classes(counts, least)
    return [schedule.submit(released.coarse, rows, classes) for rows in masked] if classes else masked


def _first_row(rows: released.ReleasedRows) -> pa.Table:
    """The first row that will be released."""
    return rows.released.slice(0, 1)


def _written(rows: released.ReleasedRows, method: TableMethod, target: str, mapping: str) -> released.TableFacts:
    """Write the rows, and report what is known of them."""
    released.write_rows(rows, method.layout.roles.quasi, target, mapping)
    return released.facts_of_rows(rows, method, reading.smallest_keys(rows.before.numbers, method.layout, SHOWN))
