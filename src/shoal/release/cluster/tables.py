"""A table in parts to the draft of a release: the steps of `release/tables` in each block, figures added up."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
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
from shoal.errors import InputError
from shoal.methods.blocks.block import Block
from shoal.methods.blocks.executors import Schedule
from shoal.methods.blocks.grouping import divided_into_blocks, group_in_blocks
from shoal.release.cluster.parts import join_parts, write_parts
from shoal.release.draft import Draft
from shoal.release.part_facts import GroupTotals, totals_of
from shoal.release.sources import TableSource
from shoal.release.tables import records, released
from shoal.release.tables.draft import (
    SHOWN,
    Findings,
    Publication,
    Spread,
    checked_coarsening,
    deviation_sums,
    draft_of,
    largest_deviation,
    reasons_of,
    spread_of,
    warn_of_few_values,
)
from shoal.release.tables.grouping import join_groups
from shoal.release.tables.labels import Concepts
from shoal.release.tables.reading import (
    CompletePart,
    PartSchema,
    deviations_of,
    filled,
    load_part,
    schema_of,
    smallest_keys,
)
from shoal.release.tables.rows import MaskedRows, TableLayout, TableMethod, TableRows
from shoal.request.options import GroupPromises

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def draft_table_in_parts(
    source: TableSource, k: int, options: records.TableOptions, folders: tuple[Path, Path], schedule: Schedule
) -> Draft:
    """Protect the table and write its rows into the folders (private, release); the draft has the rest."""
    if options.promises.person is not None:
        raise InputError("{option} needs one file: a person's rows may lie in several parts; join them first", "person")
    submit, gather = schedule.submit, schedule.gather
    table, parts = _read(source, k, options, schedule)
    layout, method = table.layout, table.method
    coarsen = checked_coarsening(options, table)
    spread = _spread(parts, table, schedule)
    blocks = [submit(_block_of, part, layout, method) for part in parts]
    parts.clear()  # what nobody holds any more need not be kept
    blocks = _grouped(blocks, table, schedule)
    if options.promises:
        blocks = _joined(blocks, table, options.promises, schedule)
    masked = _coarsened([submit(_represented, block, layout, method) for block in blocks], layout, coarsen, schedule)

    def total(figure: Callable[..., float], *given: Any) -> float:
        return math.fsum(gather([submit(figure, rows, layout, *given) for rows in masked]))

    error = total(released.squared_error)
    steps = released.grid_steps(table, error, spread.spread, partial(total, released.added_error))
    warn_of_few_values(table.few)
    rows = [submit(released.released_rows, part, layout, method, steps, False) for part in masked]
    first = gather([submit(_first_row, part) for part in rows])
    rows = [rows[number] for number in sort_rows(pa.concat_tables(first)).tolist()]

    def write(number: int, target: str, mapping: str) -> Any:
        return submit(_written, rows[number], layout, method, target, mapping)

    facts: list[released.TableFacts] = write_parts("table", write, len(rows), folders, schedule)
    reasons = reasons_of(facts, table, spread)
    publication = Publication(facts, spread, coarsen, steps, error, bound=0.0, reasons=reasons)
    return draft_of(table, publication, Findings(), options)


def _read(
    source: TableSource, k: int, options: records.TableOptions, schedule: Schedule
) -> tuple[records.PreparedTable, list[Any]]:
    """What holds for all files, and the rows of each that are released (futures)."""
    submit, gather, n_parts = schedule.submit, schedule.gather, len(source.parts)
    reading = records.reading_plan(source.roles, options)
    progress.step("reading", 0, n_parts)
    loaded = [submit(load_part, part, reading, False) for part in source.parts]
    schemas: list[PartSchema] = []
    for part in loaded:
        schemas += gather([submit(schema_of, part, reading)])
        progress.step("reading", len(schemas), n_parts)
    plan = records.column_plan(schemas, source.parts, k, options)
    complete = [submit(plan.complete, part, options) for part in loaded]
    statistics = gather([submit(attrgetter("statistics"), part) for part in complete])
    totals = records.TableTotals.of(statistics, source.parts, plan)
    deviations = gather([submit(deviations_of, part, totals.mean) for part in complete])
    return records.prepared_table(plan, totals, deviations, options), complete


def _spread(parts: list[Any], table: records.PreparedTable, schedule: Schedule) -> Spread:
    found = schedule.gather([schedule.submit(_spread_in, part, table.layout) for part in parts])
    farthest, deviations, keys, numbers = zip(*found, strict=True)
    smallest = np.argsort(np.concatenate(keys), kind="stable")[:SHOWN]
    return spread_of(table, np.max(farthest, axis=0), deviations, np.concatenate(numbers)[smallest])


def _spread_in(part: CompletePart, layout: TableLayout) -> tuple[Floats, list[int], NDArray[np.uint64], Floats]:
    """Of a file: the largest deviations, their sums, and keys and numbers of the rows with the smallest keys."""
    numbers = filled(part.values, layout.mean)
    keys, rows = smallest_keys(numbers, layout, SHOWN)
    return largest_deviation(numbers, layout.mean), deviation_sums(numbers, layout.mean), keys, numbers[rows]


def _block_of(part: CompletePart, layout: TableLayout, method: TableMethod) -> Block:
    """The rows of a file as a block: each by its coordinates, with what it holds beside it."""
    n_rows = len(part.values)
    columns = {name: _plain(part.others[name], layout.schema.field(name).type) for name in part.others.column_names}
    row_columns: dict[str, NDArray[Any]] = {"name": part.names}
    row_columns["numbers"] = filled(part.values, layout.mean)
    if layout.has_gaps:
        row_columns["gaps"] = np.isnan(part.values)
    row_columns |= {} if part.person is None else {"person": part.person}
    row_columns |= {} if part.own_k is None else {"own k": part.own_k}
    row_columns |= {f"column {name}": column for name, column in columns.items()}
    block = Block(sp.csr_matrix((n_rows, 0)), row_columns, np.zeros(n_rows, dtype=np.int64))
    points = method.block_coordinates(_rows_in(block, layout))
    ties = tie_keys(part.names.tolist(), points.tobytes())
    return replace(block, X=sp.csr_matrix(points), row_columns=row_columns | {"tie": ties})


def _plain(column: pa.ChunkedArray, kind: pa.DataType) -> NDArray[Any]:
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


def _grouped(blocks: list[Any], table: records.PreparedTable, schedule: Schedule) -> list[Any]:
    """Blocks of like rows, each in groups (futures)."""
    method = table.method
    plan = method.block_plan(table.n_rows)
    if not isinstance(method, Concepts):  # numbers are grouped by their coordinates alone
        return group_in_blocks(blocks, table.n_rows, plan, schedule)
    divided = divided_into_blocks(blocks, table.n_rows, plan, schedule)
    return [schedule.submit(_grouped_block, block, table.layout, method) for block in divided]


def _grouped_block(block: Block, layout: TableLayout, method: TableMethod) -> Block:
    return replace(block, groups=method.group(_rows_in(block, layout))[0])


def _joined(blocks: list[Any], table: records.PreparedTable, promises: GroupPromises, schedule: Schedule) -> list[Any]:
    """Blocks with groups joined until each has what is promised (futures)."""
    layout, method, confidential = table.layout, table.method, table.layout.roles.confidential
    totals = schedule.gather([schedule.submit(_totals, block, confidential) for block in blocks])

    def join(block: Any, overall: list[Counter[str]]) -> Any:
        return schedule.submit(_joined_block, block, layout, method, promises, overall)

    return join_parts(blocks, totals, confidential, method.k, promises, join, schedule)


def _totals(block: Block, confidential: tuple[str, ...]) -> GroupTotals:
    held = block.row_columns
    columns = [held[f"column {name}"] for name in confidential]
    return totals_of(len(block.groups), columns, held.get("person"), held.get("own k"))


def _joined_block(
    block: Block, layout: TableLayout, method: TableMethod, promises: GroupPromises, overall: list[Counter[str]]
) -> Block:
    rows = _rows_in(block, layout)
    return replace(block, groups=join_groups(method, rows, block.groups, layout.roles, promises, overall))


def _represented(block: Block, layout: TableLayout, method: TableMethod) -> MaskedRows:
    return method.represent(_rows_in(block, layout), block.groups)


def _coarsened(masked: list[Any], layout: TableLayout, coarsen: dict[str, int], schedule: Schedule) -> list[Any]:
    """The blocks with columns aggregated once more, in classes over all rows."""
    classes: dict[int, tuple[Floats, Floats]] = {}
    for name, least in coarsen.items():
        column = layout.numbers.index(name)
        counts = schedule.gather([schedule.submit(released.value_counts, rows, column) for rows in masked])
        classes[column] = released.coarse_classes(counts, least)
    return [schedule.submit(released.coarse, rows, classes) for rows in masked] if classes else masked


def _first_row(rows: released.ReleasedRows) -> pa.Table:
    """The first row that will be released."""
    return rows.released.slice(0, 1)


def _written(
    rows: released.ReleasedRows, layout: TableLayout, method: TableMethod, target: str, mapping: str
) -> released.TableFacts:
    """Write the rows, and report what is known of them."""
    released.write_rows(rows, layout.roles.quasi, target, mapping)
    return released.facts_of_rows(rows, layout, method, smallest_keys(rows.before.numbers, layout, SHOWN))
