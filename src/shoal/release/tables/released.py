"""Masked rows of a table as they will be released: coarsened, on their grids, in canonical order; and what is
counted of them. None of it sees more rows than it is given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.data.columns import equal_rows, is_text, sort_rows, values_of
from shoal.data.roles import CATEGORIES, ColumnChoices, Kind
from shoal.errors import InputError
from shoal.methods.blocks.executors import memory_of
from shoal.methods.numeric import coarsened
from shoal.promises.values import GroupFacts, facts_of
from shoal.release.figures import chosen_steps, moved_records, on_grid
from shoal.release.folders import csv_text, replacing
from shoal.release.tables.files import write_table
from shoal.release.tables.records import PreparedTable
from shoal.release.tables.rows import (
    Floats,
    Ints,
    Mask,
    MaskedLabels,
    MaskedRows,
    TableLayout,
    TableMethod,
    TableRows,
)
from shoal.release.tables.weights import check_calibrated, columns_to_hold, released_weights
from shoal.release.writing import formulas_in, write_mapping_part
from shoal.results.summary import WeightFigures
from shoal.results.utility import Loss
from shoal.utility.survey_estimates import SurveyOptions, survey_utility

Classes = Mapping[int, tuple[Floats, Floats]]  # by column of numbers: masked values, and what they become
Cells = Counter[str]  # how many are true, coarser, changed or blank
Sample = tuple[NDArray[np.uint64], Ints]  # keys, and the rows that have them


@dataclass(frozen=True)
class ReleasedRows:
    """Rows as they will be released, in canonical order; and as they were."""

    released: pa.Table
    before: TableRows
    numbers: Floats  # as released, a gap as the mean of its column
    gaps: Mask | None  # (rows, numbers), where a gap is released
    labels: Mapping[str, MaskedLabels]
    moved: Mapping[str, int]  # records whose value the representative of their group changed, by column
    loss: Loss
    weights: WeightFigures | None = None

    def __sizeof__(self) -> int:
        return memory_of(self.before.names, self.before.numbers, self.numbers) + int(self.released.nbytes)


@dataclass(frozen=True)
class TableFacts:
    """What is known of rows that were released: their groups, and sums over each quasi-identifier. Facts add up."""

    groups: GroupFacts
    smallest: int  # fewest rows that share a value of the columns protected together
    moved: Mapping[str, int]
    loss: Loss
    lost: Floats  # squared error of each number
    spread: Floats  # squares before
    sample: tuple[NDArray[np.uint64], Floats, Floats]  # keys, numbers before, numbers after; NaN where there is a gap
    concepts: Mapping[str, Counter[tuple[int, int]]]  # of each column of labels: records by concept before and after
    texts: Mapping[str, Counter[tuple[Any, Any]]]  # and by what was written
    spelt: Mapping[str, Mapping[int, str]]  # how concepts are written in the release
    formulas: Counter[str]  # cells of each column that a spreadsheet would run
    gaps: Mapping[str, int]  # cells of each number in which a gap stands for the group
    cells: Mapping[str, Cells]  # of each quasi-identifier


def value_counts(masked: MaskedRows, column: int) -> tuple[Floats, Ints]:
    """The different masked values of a number, and how many rows have each."""
    values, counts = np.unique(masked.numbers[:, column], return_counts=True)
    return values, counts


def coarse_classes(counts: Sequence[tuple[Floats, Ints]], least: int) -> tuple[Floats, Floats]:
    """Classes of at least so many rows, from the counted values of a number: each value, and what it becomes."""
    values, times = (np.concatenate(side) for side in zip(*counts, strict=True))
    column = np.sort(np.repeat(values, times))
    different, first = np.unique(column, return_index=True)
    return different, np.asarray(coarsened(column, least))[first]


def coarse(masked: MaskedRows, classes: Classes) -> MaskedRows:
    """The rows with numbers aggregated once more."""
    numbers = masked.numbers.copy()
    for column, (values, becomes) in classes.items():
        numbers[:, column] = becomes[np.searchsorted(values, numbers[:, column])]
    return replace(masked, numbers=numbers)


def squared_error(masked: MaskedRows, scale: Floats) -> float:
    """Of the masked numbers, each column on the scale of its deviation."""
    return float(np.sum(((masked.rows.numbers - masked.numbers) / scale) ** 2))


def rounding_error(masked: MaskedRows, scale: Floats, steps: Floats) -> float:
    """What rounding to multiples of `steps` adds to that."""
    return float(np.sum(((on_grid(masked.numbers, steps) - masked.numbers) / scale) ** 2))


def grid_steps(table: PreparedTable, error: float, spread: Floats, added: Callable[[Floats], float]) -> Floats:
    """The step of each column's grid, 0 where nothing is rounded; `added` is what rounding adds to the error."""
    layout = table.layout
    if table.follow_up is not None:  # the grid of the rows that are kept
        return table.follow_up.steps(layout.numbers)
    if not table.method.averages:
        return np.zeros(len(layout.numbers))
    steps = chosen_steps(error, table.n_rows, spread, added)
    units = np.array([form.step for form in layout.forms])
    # Ranks and periods are coarse as they are; dates and whole numbers have steps of at least one.
    unrounded = [form.median or getattr(form, "period", None) is not None for form in layout.forms]
    return np.where(np.array(unrounded, dtype=bool) | layout.constant, 0.0, np.maximum(steps, units))


def writable(masked: MaskedRows, layout: TableLayout, steps: Floats) -> Floats:
    """The masked numbers on their grids, as they can be written, and within the range that their column had."""
    rounded = on_grid(masked.numbers, steps)
    for column, form in enumerate(layout.forms):
        numbers, step = form.rounded(rounded[:, column]), max(float(steps[column]), form.step)
        if layout.averaged and step > 0.0 and getattr(form, "period", None) is None:
            low, high = layout.lowest[column], layout.highest[column]
            numbers = np.where(numbers > high, numbers - step, np.where(numbers < low, numbers + step, numbers))
            numbers = form.rounded(np.clip(numbers, low, high))
        rounded[:, column] = numbers
    # The mean of equal values may differ from them by a rounding; and no negative zeros.
    return np.where(layout.constant, masked.rows.numbers, rounded) + 0.0


def released_rows(
    masked: MaskedRows, method: TableMethod, steps: Floats, in_text: bool, calibrate: Sequence[str] = ()
) -> ReleasedRows:
    """The rows in the order of what will be released of them, means on a grid of the given steps."""
    layout = method.layout
    moved = np.where(layout.constant, 0, moved_records(masked.rows.numbers, masked.numbers)).tolist()
    numbers = writable(masked, layout, steps)
    gaps = np.zeros(numbers.shape, dtype=bool) if masked.gaps is None else masked.gaps
    columns: dict[str, Any] = {name: labels.released for name, labels in masked.labels.items()}
    columns |= {name: masked.rows.columns[name] for name in layout.schema.names if name not in columns}
    for column, (name, form) in enumerate(zip(layout.numbers, layout.forms, strict=True)):
        columns[name] = form.written(numbers[:, column], gaps[:, column])
    for name, column in columns.items():
        if in_text and is_text(column.type):  # text files have no sign for a missing text but the empty one
            columns[name] = pc.fill_null(column, "")
    weight_figures = None
    if layout.roles.weight:
        weights, weight_figures = _weighed(masked, method, columns, numbers, calibrate)
        columns[layout.roles.weight[0]] = pa.array(weights)
    released = pa.table({name: columns[name] for name in layout.released})
    if layout.unit is not None and masked.rows.person is not None:
        released = released.append_column(layout.unit, pa.array(_unit_numbers(released, masked.rows.person)))
    order = sort_rows(released)
    sse, sst = method.squares(masked, numbers)
    # The rest is released as it is.
    labels_before = {name: masked.rows.columns[name] for name in (*masked.labels, *layout.roles.weight)}
    return ReleasedRows(
        released=released.take(pa.array(order)),
        before=replace(masked.rows, columns=labels_before).take(order),
        numbers=numbers[order],
        gaps=gaps[order] if layout.has_gaps else None,
        labels={
            name: MaskedLabels(labels.released.take(pa.array(order)), labels.before[order], labels.after[order])
            for name, labels in masked.labels.items()
        },
        moved=dict(zip(layout.numbers, moved, strict=True))
        | {name: int(np.sum(labels.before != labels.after)) for name, labels in masked.labels.items()},
        loss=Loss(sse, sst - sse),
        weights=weight_figures,
    )


def _unit_numbers(released: pa.Table, person: Ints) -> Ints:
    """A number for each person, in the order of what is released of them: it says nothing that their rows do not."""
    content = equal_rows(released, released.column_names)
    order = sort_rows(released)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.append(0, np.cumsum(np.diff(content[order]) != 0))
    by_person = np.lexsort((rank, person))
    people, first = np.unique(person[by_person], return_index=True)
    rows = [tuple(ranks.tolist()) for ranks in np.split(rank[by_person], first[1:])]
    number = np.empty(len(people), dtype=np.int64)
    number[sorted(range(len(people)), key=rows.__getitem__)] = np.arange(1, len(people) + 1)
    return number[np.searchsorted(people, person)]


def _weighed(
    masked: MaskedRows, method: TableMethod, columns: Mapping[str, Any], numbers: Floats, calibrate: Sequence[str]
) -> tuple[Floats, WeightFigures]:
    """The weights of the rows: one for each crowd, which is the rows that are equal in all protected columns."""
    layout = method.layout
    name = layout.roles.weight[0]
    if not method.k_anonymous:
        raise InputError("{option}: a weight stands for a group, and this method makes none; drop it", f"weight {name}")
    check_calibrated(calibrate, layout.released, name)
    released = pa.table({other: columns[other] for other in layout.released if other != name})
    amounts = {
        other: (masked.rows.numbers[:, place], numbers[:, place])
        for place, (other, form) in enumerate(zip(layout.numbers, layout.forms, strict=True))
        if form.kind in (Kind.NUMBER, Kind.WHOLE)
    }
    held = columns_to_hold(calibrate, masked.rows.columns, released, amounts)
    crowds = equal_rows(released, layout.roles.quasi)
    return released_weights(name, masked.rows.columns[name].to_numpy(), crowds, method.k, held)


def facts_of_rows(rows: ReleasedRows, method: TableMethod, sample: Sample) -> TableFacts:
    """What is known of rows; `sample` are those whose distances the report may show."""
    layout = method.layout
    before, after = (layout.standardised(numbers) for numbers in (rows.before.numbers, rows.numbers))
    keys, sampled = sample
    shown_before, shown_after = rows.before.numbers, rows.numbers
    if rows.before.gaps is not None and rows.gaps is not None:
        shown_before, shown_after = (
            np.where(rows.before.gaps, np.nan, shown_before),
            np.where(rows.gaps, np.nan, shown_after),
        )
    groups = equal_rows(rows.released, layout.roles.quasi)
    confidential = {name: values_of(rows.released[name]) for name in layout.roles.confidential}
    return TableFacts(
        groups=facts_of(groups, confidential, rows.before.person, rows.before.own_k),
        smallest=min(int(np.bincount(equal_rows(rows.released, columns)).min()) for columns in method.shared_columns),
        moved=rows.moved,
        loss=rows.loss,
        lost=np.sum((before - after) ** 2, axis=0),
        spread=np.sum(before**2, axis=0),
        sample=(keys, shown_before[sampled], shown_after[sampled]),
        concepts={name: _pairs(labels.before, labels.after) for name, labels in rows.labels.items()},
        texts={name: _texts(rows.before.columns[name], labels.released) for name, labels in rows.labels.items()},
        spelt={name: _spelt(labels) for name, labels in rows.labels.items()},
        formulas=formulas_in(rows.released),
        gaps={name: _gaps(rows.released[name]) for name in layout.numbers if layout.has_gaps},
        cells=_cells(rows, method),
    )


def _cells(rows: ReleasedRows, method: TableMethod) -> dict[str, Cells]:
    """How many cells of each quasi-identifier are as they were, coarser, others, or blank."""
    n_rows, layout = len(rows.before), method.layout
    cells = {name: Counter(true=n_rows) for name in layout.kept}
    for column, (name, form) in enumerate(zip(layout.numbers, layout.forms, strict=True)):
        before, after = rows.before.numbers[:, column], rows.numbers[:, column]
        if getattr(form, "period", None) is not None:  # a period is true of every date in it
            different, row_of = np.unique(before, return_inverse=True)
            before = form.rounded(different)[row_of]
        had, has = (
            np.ones(n_rows, dtype=bool) if gaps is None else ~gaps[:, column] for gaps in (rows.before.gaps, rows.gaps)
        )
        true = (had == has) & (~had | (before == after))
        cells[name] = Counter(true=int(true.sum()), blank=int((had & ~has).sum()))
        cells[name]["changed"] = n_rows - cells[name].total()
    for name, labels in rows.labels.items():
        known = np.asarray(pc.is_valid(labels.released)) & (np.asarray(pc.fill_null(labels.released, "")) != "")
        true = int(np.sum(labels.before == labels.after))
        blank = int(np.sum((labels.before != labels.after) & ~known))
        coarser = method.coarser(name, labels)
        cells[name] = Counter(true=true, coarser=coarser, blank=blank, changed=n_rows - true - coarser - blank)
    for name in layout.recoded & cells.keys():  # what was recoded is coarser than it was
        cells[name]["coarser"] += cells[name].pop("true", 0)
    return cells


def write_rows(rows: ReleasedRows, quasi: Sequence[str], target: str | Path, mapping: str | Path) -> None:
    """Write the rows, and privately which record became which of them."""
    with replacing(target) as path:
        write_table(rows.released, path)
    write_mapping_part(rows.before.names, equal_rows(rows.released, quasi), mapping, rows.before.records)


def _texts(before: pa.Array, after: pa.Array) -> Counter[tuple[Any, Any]]:
    pairs = pa.table({"before": before, "after": after}).group_by(["before", "after"]).aggregate([([], "count_all")])
    return Counter({(pair["before"], pair["after"]): pair["count_all"] for pair in pairs.to_pylist()})


def _gaps(column: pa.ChunkedArray) -> int:
    """Cells without a value; text files have no other sign for it than the empty text."""
    empty = pc.sum(pc.equal(column, "")).as_py() if pa.types.is_string(column.type) else 0
    return int(column.null_count + (empty or 0))


def _pairs(before: Ints, after: Ints) -> Counter[tuple[int, int]]:
    pairs, counts = np.unique(np.column_stack([before, after]), axis=0, return_counts=True)
    return Counter(dict(zip(map(tuple, pairs.tolist()), counts.tolist(), strict=True)))


def _spelt(labels: MaskedLabels) -> dict[int, str]:
    concepts, first = np.unique(labels.after, return_index=True)
    texts = labels.released.take(pa.array(first)).to_pylist()
    return {concept: text for concept, text in zip(concepts.tolist(), texts, strict=True) if text}


def coded_columns(layout: TableLayout, choices: ColumnChoices) -> frozenset[str]:
    """Columns beside the protected ones whose digits are names, as the owner says."""
    beside = (*layout.roles.confidential, *layout.roles.insensitive)
    return frozenset(name for name in beside if choices.kind_of(name)[0] in CATEGORIES)


def estimates_csv(rows: ReleasedRows, layout: TableLayout, choices: ColumnChoices) -> str:
    """What the survey estimates from the released records before and after, for the owner; recoded columns apart."""
    compared = [name for name in layout.released if name not in layout.recoded]
    before = {name: rows.before.columns.get(name, rows.released[name]) for name in compared}
    for place, (name, form) in enumerate(zip(layout.numbers, layout.forms, strict=True)):
        gaps = np.False_ if rows.before.gaps is None else rows.before.gaps[:, place]
        if form.kind in (Kind.NUMBER, Kind.WHOLE):
            before[name] = pa.array(np.where(gaps, np.nan, rows.before.numbers[:, place]))
        else:
            before.pop(name, None)  # dates and ranks, of which nothing is estimated
    coded = [name for name in layout.labels if not pa.types.is_floating(before.get(name, rows.released[name]).type)]
    coded += [name for name in compared if name in coded_columns(layout, choices)]
    asked = SurveyOptions(weight=layout.roles.weight[0])
    lines = survey_utility(pa.table(before), rows.released.select(list(before)), asked, coded=coded).rows()
    return csv_text(tuple(lines[0]), [tuple(line.values()) for line in lines])
